//! Schemathesis makes requests out of the description, right ones and wrong ones, and holds every answer against it.

use super::{Server, handed_in, judged};
use countersign_testkit::Repository;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

/// 422 is for what is well-formed and cannot be done in this project, which no schema can say: files that are not
/// there, commits nobody made.
const SETTINGS: &str = "[checks.positive_data_acceptance]\n\
    expected-statuses = [\"2xx\", \"401\", \"403\", \"404\", \"409\", \"422\", \"5xx\"]\n";

/// Its command line. The scripts of its folder remember another place, so the function behind them is called.
const PROGRAM: &str = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())";

#[test]
fn every_answer_is_as_it_is_described() {
    let folder = std::env::var_os("COUNTERSIGN_SCHEMATHESIS");
    let folder = PathBuf::from(folder.expect(
        "COUNTERSIGN_SCHEMATHESIS is not set: run `cargo xtask test`, or `cargo xtask schemathesis`",
    ));
    let (project, _) = judged();
    Repository::at(project.root()).commit("first");
    project.write("a.md", "another BAD text\n").write("schemathesis.toml", SETTINGS);
    let server = Server::start(&project);
    handed_in(&server, "s");
    assert_eq!(server.post("/v1/tasks", &json!({ "title": "t", "id": "t" })).status, 201);
    let mut command = Command::new(folder.join("bin/python"));
    command.args(["-c", PROGRAM, "--config-file", "schemathesis.toml", "run"]);
    command.arg(format!("http://127.0.0.1:{}/openapi.json", server.port));
    command.args(["--header", &format!("Authorization: {}", server.bearer())]);
    command.args(["--checks", "all", "--max-examples", "10", "--seed", "1"]);
    // A stream has no end that could be waited for; `events.rs` reads it.
    command.args(["--exclude-path", "/v1/events"]);
    command.args(["--generation-database", "none", "--request-timeout", "100", "--no-color"]);
    let ran = command.current_dir(project.root()).env("HOME", project.home()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("Tested: 13"), "{said}");
    project.run(&["log", "--verify"]).exits(0);
}
