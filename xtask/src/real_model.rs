//! `cargo xtask test --real-model`: a real small model, served by llama.cpp on loopback, as the judge.
//!
//! Python packages bring both. They are kept under the digest of their versions, like the agent programs.

use crate::agents::problem;
use crate::cargo::{self, Workspace, cannot_start};
use crate::failure::Failure;
use crate::python;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The variable that tells the tests where the server is.
const URL_VARIABLE: &str = "COUNTERSIGN_REAL_MODEL";

/// Installs what is missing, starts the server, runs the tests, stops the server.
pub fn run(workspace: &Workspace) -> Result<(), Failure> {
    let folder = cargo::step("real model", || python::provide(workspace.root(), "real-model"))?;
    let server = cargo::step("llama.cpp server", || Server::start(workspace.root(), &folder))?;
    let step = "cargo test --locked --package countersign --test real_model -- --ignored --nocapture";
    let mut command = workspace.cargo(["test", "--locked", "--package", "countersign"]);
    command.args(["--test", "real_model", "--", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(URL_VARIABLE, &server.url);
    cargo::run(step, command)
}

/// The running server. It ends with this value, and by itself when we are gone.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(root: &Path, folder: &Path) -> Result<Self, Failure> {
        let log = folder.join("server.log");
        let file = fs::File::create(&log).map_err(|error| problem("write", &log, &error))?;
        let mut command = Command::new(folder.join("bin/python"));
        command.arg(root.join("xtask/real-model/serve.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(file).spawn().map_err(|error| cannot_start("serve.py", &error))?;
        let mut server = Self { child, url: String::new() };
        if let Some(stdout) = server.child.stdout.take() {
            let _ = BufReader::new(stdout).read_line(&mut server.url);
        }
        server.url.truncate(server.url.trim_end().len());
        match server.url.starts_with("http://") {
            true => Ok(server),
            false => Err(Failure::Problem(format!("the server did not start: see {}", log.display()))),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
