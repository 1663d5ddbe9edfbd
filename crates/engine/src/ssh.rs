//! SSH signatures by `ssh-keygen`, from a place of the system and with an environment of its own.

use crate::installed::TrustedPlaces;
use crate::scratch::Scratch;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What our signatures are for. A key that signs commits signs no decisions.
pub const NAMESPACE: &str = "countersign";
const PROGRAM: &str = "ssh-keygen";

pub struct Ssh {
    program: PathBuf,
}

/// Who signed, as the file of allowed signers names them, and the fingerprint of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    pub principal: String,
    pub key: String,
}

impl Ssh {
    /// The program of the system. One in the project, or on a changed `PATH`, could say anything.
    pub fn find(project: &Path) -> Result<Self, String> {
        let (found, _) = TrustedPlaces::new(project, []).find(PROGRAM, Path::new("/"), None);
        let program =
            found.ok_or_else(|| format!("`{PROGRAM}` is not installed (package openssh-client)"))?;
        Ok(Self { program })
    }

    /// Signs a message. A passphrase is asked for at the terminal; `agent` is the socket of an agent for keys.
    pub fn sign(
        &self,
        key: &Path,
        message: &str,
        agent: Option<OsString>,
        home: &Path,
    ) -> Result<String, String> {
        let folder = folder(&[("message", message)])?;
        let input = File::open(folder.path().join("message")).map_err(words)?;
        let mut command = self.command("sign");
        command
            .args(["-n", NAMESPACE, "-f"])
            .arg(key)
            .stdin(input)
            .stderr(Stdio::inherit())
            .env("HOME", home);
        command.envs(agent.map(|agent| ("SSH_AUTH_SOCK", agent)));
        let output = command.output().map_err(words)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("`{PROGRAM}` could not sign with `{}`", key.display())),
        }
    }

    /// The key of a signature of this message, in whichever file it is or is not.
    pub fn key_of(&self, signature: &str, message: &str) -> Result<String, String> {
        let folder = folder(&[("message", message), ("signature", signature)])?;
        let output = self.checked("check-novalidate", folder.path(), &[])?;
        let said = String::from_utf8_lossy(&output.stdout);
        let key = said.split_whitespace().find(|word| word.starts_with("SHA256:"));
        key.map(str::to_owned).ok_or_else(|| format!("`{PROGRAM}` named no key"))
    }

    /// Who signed this message by these lines of allowed signers, or why it counts for none of them.
    pub fn verify(&self, allowed: &str, signature: &str, message: &str) -> Result<Signer, String> {
        let key = self.key_of(signature, message)?;
        let folder = folder(&[("message", message), ("signature", signature), ("allowed_signers", allowed)])?;
        let lines = [OsStr::new("-f"), OsStr::new("allowed_signers")];
        let found = self.checked("find-principals", folder.path(), &lines)?;
        let found = String::from_utf8_lossy(&found.stdout);
        let principal =
            found.lines().next().and_then(|line| line.split(',').next()).unwrap_or_default().trim();
        if principal.is_empty() {
            return Err("it names no principal".to_owned());
        }
        self.checked(
            "verify",
            folder.path(),
            &[&lines[..], &[OsStr::new("-I"), OsStr::new(principal)]].concat(),
        )?;
        Ok(Signer { principal: principal.to_owned(), key })
    }

    /// Runs one check in a folder with the files; its last words where it refuses.
    fn checked(&self, what: &str, folder: &Path, more: &[&OsStr]) -> Result<Output, String> {
        let input = File::open(folder.join("message")).map_err(words)?;
        let mut command = self.command(what);
        command.current_dir(folder).args(["-s", "signature"]).args(more).stdin(input).stderr(Stdio::piped());
        if what != "find-principals" {
            command.args(["-n", NAMESPACE]);
        }
        let output = command.output().map_err(words)?;
        if output.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason was given");
        Err(said.trim_start_matches("allowed_signers:").trim().to_owned())
    }

    fn command(&self, what: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-Y").arg(what).env_clear().stdout(Stdio::piped());
        command
    }
}

fn folder(files: &[(&str, &str)]) -> Result<Scratch, String> {
    let folder = Scratch::new("signature").map_err(words)?;
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).map_err(words)?;
    }
    Ok(folder)
}

fn words(error: io::Error) -> String {
    format!("`{PROGRAM}` cannot be used: {error}")
}
