//! The official tools: the conformance suite over HTTP, the inspector's command line over pipes.

use crate::http::Server;
use crate::judged;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Where the programs are, as `cargo xtask test` says.
fn agents() -> PathBuf {
    let folder = std::env::var_os("COUNTERSIGN_AGENTS");
    PathBuf::from(
        folder.expect("COUNTERSIGN_AGENTS is not set: run `cargo xtask test`, or `cargo xtask agents`"),
    )
}

fn node(program: &str, args: &[&str]) -> Command {
    let bin = agents().join("bin");
    let mut command = Command::new(bin.join("node"));
    command.arg(bin.join(program)).args(args);
    command
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn every_scenario_that_applies_passes() {
    let (project, _) = judged();
    let server = Server::start(&project, &["--no-token"], &[("COUNTERSIGN_MCP_FIXTURES", "1")]);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/expected_failures");
    for (file, version) in [
        ("2026-07-28.yml", &["--requirements", "2026-07-28"][..]),
        ("2025-11-25.yml", &["--suite", "all", "--spec-version", "2025-11-25"]),
        ("2025-06-18.yml", &["--suite", "all", "--spec-version", "2025-06-18"]),
    ] {
        let baseline = folder.join(file);
        let args = ["server", "--url", &url, "--expected-failures", baseline.to_str().unwrap()];
        let ran =
            node("conformance", &[&args, version].concat()).current_dir(project.home()).output().unwrap();
        let summary = text(&ran);
        assert!(ran.status.success(), "{file}:\n{}", summary.split("=== SUMMARY").last().unwrap_or_default());
        assert!(summary.contains("✓ tools-call-simple-text"), "{summary}");
    }
}

#[test]
fn every_expected_failure_has_its_reason() {
    for baseline in [
        include_str!("expected_failures/2026-07-28.yml"),
        include_str!("expected_failures/2025-11-25.yml"),
        include_str!("expected_failures/2025-06-18.yml"),
    ] {
        let entries: Vec<&str> =
            baseline.lines().filter(|line| line.trim_start().starts_with("- ")).collect();
        assert!(!entries.is_empty() && entries.iter().all(|line| line.contains(" # ")), "{entries:?}");
    }
}

#[test]
fn the_inspector_lists_and_calls_the_tools() {
    let (project, _) = judged();
    let program = env!("CARGO_BIN_EXE_countersign");
    let inspect = |args: &[&str]| -> Value {
        let mut command = node("inspector", &[&[program, "mcp"], args].concat());
        let ran = command.current_dir(project.root()).env("HOME", project.home()).output().unwrap();
        assert!(ran.status.success(), "{}", text(&ran));
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&ran)))
    };
    let listed = inspect(&["--method", "tools/list"]);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, crate::versions::TOOLS);
    let call = |name: &str, arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().flat_map(|argument| ["--tool-arg", argument]).collect();
        inspect(&[&["--method", "tools/call", "--tool-name", name], &arguments[..]].concat())
    };
    let submitted = call("review_submit", &["files=[\"a.md\"]", "subject=s"]);
    let review = submitted["structuredContent"]["review"].as_str().unwrap().to_owned();
    // Each call is a server of its own: the first one ended before its reviewer could answer, or after.
    let seen = call("review_status", &[&format!("review={review}")]);
    assert_eq!(seen["structuredContent"]["reviews"][0]["id"], json!(review));
    let refused = call("review_decide", &[&format!("review={review}"), "verb=approve", "reason=please"]);
    assert_eq!(refused["isError"], true, "{refused}");
}
