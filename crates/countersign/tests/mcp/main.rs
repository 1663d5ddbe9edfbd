//! The MCP server, as clients see it: raw JSON-RPC over pipes and over HTTP, and the official tools.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod bad_input;
mod change;
mod client;
mod decide;
mod ends;
mod golden;
mod http;
mod jobs;
mod loops;
mod many;
mod real_suite;
mod versions;
mod waiting;

use countersign_testkit::{Judge, Project};
use serde_json::{Value, json};

/// A new project for the program under test.
fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_countersign")).judged_from_outside()
}

/// A project with one file and one question about it. What contains the word `BAD` fails.
fn judged() -> (Project, Judge) {
    let project = project();
    let judge = Judge::by_word(&project, "Complete");
    configure(&project, "");
    project.write("a.md", "a BAD text\n");
    (project, judge)
}

/// The same, where the reviewer answers once [`go`] was called.
fn slow() -> (Project, Judge) {
    let project = project();
    let body = r#"while [ ! -e .go ]; do sleep 0.01; done
printf '{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true, "feedback": "fine"}]}'"#;
    // It runs in a folder of its own.
    let body = body.replace(".go", &format!("'{}'", project.path(".go").display()));
    let judge = Judge::scripted(&project, "judge.sh", &body);
    configure(&project, "");
    project.write("a.md", "a text\n");
    (project, judge)
}

/// The judge, as a reviewer that is named on the command line.
fn runner(project: &Project) -> String {
    format!("command:{}", project.judges().join("judge.sh").display())
}

fn go(project: &Project) {
    project.write(".go", "");
}

fn configure(project: &Project, more: &str) {
    let text = format!(
        "version: 1\nreviewers:\n  - {{name: judge, use: command, command: [{}/judge.sh]}}\n\
         rules:\n  - name: docs\n    for: [\"*.md\"]\n    each: file\n    criteria:\n      - {{name: Complete, ask: \"Is it complete?\"}}\n{more}",
        project.judges().display()
    );
    project.write("countersign.yml", text);
}

/// Everything the ledger holds, to be compared.
fn recorded(project: &Project) -> Value {
    match project.ledger_path("ledger.db").exists() {
        true => project.run(&["log", "--json"]).exits(0).json()["reviews"].clone(),
        false => json!(null),
    }
}
