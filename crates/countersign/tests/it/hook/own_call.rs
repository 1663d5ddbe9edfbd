//! Below a call of ours the hook yields: where the call is under way and its guard is above, and not because a variable
//! says so.

use super::{Bench, held, told};
use crate::project;
use countersign_testkit::{Project, Ran, Repository, Running};
use std::os::unix::fs::PermissionsExt;

#[test]
fn attack_17_a_variable_alone_is_no_call_of_ours() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    for mark in ["1", "ca-1", "hook", "TASK-001", ""] {
        let root = bench.project.root().canonicalize().unwrap();
        let input = serde_json::json!({
            "session_id": "s-1", "cwd": root, "hook_event_name": "Stop", "stop_hook_active": false,
        });
        let mut command = bench.project.command(&["hook", "claude"]);
        let ran =
            Running::fed(command.env("COUNTERSIGN_CALL", mark), input.to_string().as_bytes()).wait().exits(0);
        assert!(held(&ran).contains("there is a BAD word"), "{mark}: {ran:?}");
        assert!(ran.stderr.contains("COUNTERSIGN_CALL is ignored"), "{mark}: {ran:?}");
    }
    countersign_testkit::attack_row("COUNTERSIGN_CALL set by hand", "hook", "ignored", "a warning");
}

/// A project whose reviewer calls the hook of its session, as an agent program would, and keeps what it says.
fn nested(mark: &str) -> Project {
    let project = project();
    Repository::at(project.root());
    let root = project.root().canonicalize().unwrap().display().to_string();
    let own = env!("CARGO_BIN_EXE_countersign");
    let set = if mark.is_empty() { String::new() } else { format!("COUNTERSIGN_CALL={mark} ") };
    let script = format!(
        r#"#!/bin/sh
cat >/dev/null
mkdir {root}/.once 2>/dev/null && printf '{{"session_id":"in","cwd":"{root}","hook_event_name":"Stop","stop_hook_active":false}}' |
  {set}{own} hook claude >{root}/said 2>{root}/noted
printf '%s' $? >>{root}/code
printf '{{"passed": true, "feedback": "f", "criteria_results": [{{"criterion": "Complete", "passed": true}}]}}'
"#
    );
    let rules = "rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]\n";
    let config =
        format!("version: 1\nreviewers: [{{name: judge, use: command, command: [./judge.sh]}}]\n{rules}");
    project
        .write("countersign.yml", config)
        .write("judge.sh", script)
        .write(".gitignore", "said\nnoted\ncode\n.once\n");
    std::fs::set_permissions(project.path("judge.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    project.write("a.md", "one\n");
    Repository::at(project.root()).commit("first");
    project.write("a.md", "two\n");
    project
}

/// A reviewer of ours that has the hook installed must not be reviewed for reviewing.
#[test]
fn below_a_call_that_is_under_way_the_hook_yields_at_once() {
    let project = nested("");
    project.run(&["review", "--change"]).exits(0);
    let said = ["said", "noted", "code"].map(|file| project.read(file));
    assert_eq!(said, ["", "", "0"].map(str::to_owned));
}

/// Another call than the one whose guard is above, or one that is not on record, is not believed.
#[test]
fn below_another_call_the_hook_does_not_yield() {
    let project = nested("ca-0123456789ab");
    project.run(&["review", "--change", "--reviewer", "judge"]);
    let noted = project.read("noted");
    assert!(noted.contains("COUNTERSIGN_CALL is ignored"), "{noted}");
}

/// Issue 17: an agent calls its hook itself, from the shell of its tool, to renew its attempts.
#[test]
fn attack_17_an_agent_that_calls_its_hook_itself_renews_nothing() {
    let bench = Bench::new("policy: {max_attempts: 2}\n");
    bench.project.write("a.md", "BAD\n");
    assert!(held(&bench.stops(false)).contains("attempt 1 of 2"));
    for (program, mark) in
        [("claude", "CLAUDECODE"), ("codex", "CODEX_TOOL_CALL_ID"), ("gemini", "GEMINI_CLI")]
    {
        for says in ["attempt 1 of 2", "attempts used up", "waits for a person"] {
            bench.project.write("a.md", format!("BAD {program} {says}\n"));
            let ran = by_shell(&bench, program, mark, "s-2");
            assert!(ran.stdout.contains(says), "{says}: {ran:?}");
            assert!(ran.stderr.contains(mark) && ran.stderr.contains("no new attempts"), "{ran:?}");
        }
    }
    // The session of the program itself has its own attempts, and a pass of another session changes nothing.
    assert!(told(&bench.stops(true)).contains("attempts used up, attempt 2 of 2"));
    bench.project.write("a.md", "good\n");
    by_shell(&bench, "claude", "CLAUDECODE", "s-3");
    assert!(told(&bench.stops(true)).contains("waits for a person"));
    countersign_testkit::attack_row(
        "an agent calls countersign hook itself",
        "hook",
        "judged, without new attempts",
        "a warning",
    );
}

fn by_shell(bench: &Bench, program: &str, mark: &str, session: &str) -> Ran {
    let root = bench.project.root().canonicalize().unwrap();
    let event = if program == "gemini" { "AfterAgent" } else { "Stop" };
    let input = serde_json::json!({
        "session_id": session, "cwd": root, "hook_event_name": event, "stop_hook_active": false, "prompt": "p",
    });
    let mut command = bench.project.command(&["hook", program]);
    Running::fed(command.env(mark, "1"), input.to_string().as_bytes()).wait().exits(0)
}

/// Where nothing shows who called it, it is limited how often a session that is said to be written to gets attempts.
#[test]
fn attack_17_a_session_that_is_said_to_be_written_to_gets_attempts_three_times() {
    let bench = Bench::new("policy: {max_attempts: 2}\n");
    for n in 0..4 {
        bench.project.write("a.md", format!("BAD {n}\n"));
        assert!(held(&bench.stops(false)).contains("attempt 1 of 2"), "{n}");
    }
    bench.project.write("a.md", "BAD 5\n");
    let words = told(&bench.stops(false));
    assert!(words.contains("attempts used up") && words.contains("waits for a person"), "{words}");
    let asked = bench.judge.asked().len();
    bench.project.write("a.md", "BAD 6\n");
    told(&bench.stops(false));
    assert_eq!(bench.judge.asked().len(), asked);
    countersign_testkit::attack_row(
        "stop_hook_active: false again and again",
        "hook",
        "three times, then a person",
        "the message",
    );
}
