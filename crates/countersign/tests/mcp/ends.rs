//! How a server ends, and how another goes on.

use crate::client::Client;
use crate::{go, slow};
use countersign_testkit::eventually;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// Whether a program with this file in its arguments runs.
fn runs(script: &std::path::Path) -> bool {
    let wanted = script.to_string_lossy().into_owned();
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&wanted)
    })
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    HangUp,
    Terminate,
    Kill,
}

#[test]
fn however_it_ends_nothing_runs_on_and_another_goes_on() {
    for end in [End::HangUp, End::Terminate, End::Kill] {
        let (project, judge) = slow();
        let script = project.judges().join("judge.sh").canonicalize().unwrap();
        let mut first = Client::new(&project);
        let work = json!({ "files": ["a.md"], "subject": "s" });
        let review = first.good("review_submit", work.clone())["review"].clone();
        // Somebody waits, which must not keep it.
        first.send(
            "tools/call",
            json!({ "name": "review_wait", "arguments": { "review": review, "timeout_seconds": 600 } }),
        );
        eventually("the reviewer is asked", || judge.asked().len() == 1);
        let pid = Pid::from_raw(i32::try_from(first.pid()).unwrap()).unwrap();
        match end {
            End::HangUp => assert_eq!(first.hang_up(), (0, String::new())),
            End::Terminate => {
                kill_process(pid, Signal::TERM).unwrap();
                assert_eq!(first.ended(), (0, String::new()));
            }
            End::Kill => first.kill(),
        }
        eventually("its reviewers are gone", || !runs(&script));
        let mut second = Client::new(&project);
        let found = second.good("review_wait", json!({ "review": review }));
        assert_eq!((&found["state"], &found["outcome"]), (&json!("interrupted"), &json!(null)));
        assert!(found["next"][0].as_str().unwrap().contains("review_submit"));
        assert_eq!(second.good("review_status", json!({}))["reviews"][0]["state"], "interrupted");
        go(&project);
        let verdict = second.review(work);
        assert_eq!((&verdict["passed"], &verdict["review"]["id"]), (&json!(true), &review));
        assert_eq!(judge.asked().len(), 2);
    }
}

#[test]
fn before_anything_was_said_it_ends_as_cleanly() {
    let (project, _) = slow();
    assert_eq!(Client::silent(&project, &[]).hang_up(), (0, String::new()));
    let mut silent = Client::silent(&project, &[]);
    silent.line("{}");
    silent.receive();
    let pid = Pid::from_raw(i32::try_from(silent.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(silent.ended(), (0, String::new()));
    assert!(!project.ledger_dir().exists());
}

#[test]
fn two_servers_on_one_project_ask_once() {
    let (project, judge) = slow();
    let (mut first, mut second) = (Client::new(&project), Client::new(&project));
    let work = json!({ "files": ["a.md"], "subject": "s" });
    let review = first.good("review_submit", work.clone())["review"].clone();
    let joined = second.good("review_submit", work);
    assert_eq!((&joined["review"], &joined["attached"]), (&review, &json!(true)));
    let third = {
        let mut third = Client::new(&project);
        let id =
            third.send("tools/call", json!({ "name": "review_wait", "arguments": { "review": review } }));
        (third, id)
    };
    go(&project);
    for client in [&mut first, &mut second] {
        assert_eq!(client.good("review_wait", json!({ "review": review }))["passed"], true);
    }
    let (mut third, id) = third;
    assert_eq!(third.answer(id)["result"]["structuredContent"]["passed"], true);
    assert_eq!(judge.asked().len(), 1);
}

#[test]
fn a_server_that_is_killed_is_followed_by_one_that_joined() {
    let (project, judge) = slow();
    let (mut first, mut second) = (Client::new(&project), Client::new(&project));
    let work = json!({ "files": ["a.md"], "subject": "s" });
    let review = first.good("review_submit", work.clone())["review"].clone();
    eventually("the reviewer is asked", || judge.asked().len() == 1);
    let joined = second.good("review_submit", work);
    assert_eq!((&joined["review"], &joined["attached"]), (&review, &json!(true)), "{joined}");
    let id = second.send("tools/call", json!({ "name": "review_wait", "arguments": { "review": review } }));
    first.kill();
    eventually("it is asked again", || judge.asked().len() == 2);
    go(&project);
    assert_eq!(second.answer(id)["result"]["structuredContent"]["passed"], true);
}

#[test]
fn wrong_flags_are_told_on_the_command_line() {
    let (project, _) = slow();
    for (args, says) in [
        (&["--path", "nowhere"][..], "is not a folder"),
        (&["--transport", "http"], "--port"),
        (&["--port", "1"], "--transport http"),
        (&["--no-token"], "--port"),
        (&["--transport", "pigeon"], "pigeon"),
        (&["--max-quality-attempts", "0"], "0"),
    ] {
        let ran = project.run(&[&["mcp"], args].concat()).exits(2);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn another_folder_can_be_served() {
    let (project, _) = slow();
    go(&project);
    project.write("docs/b.md", "a text\n");
    let folder = project.path("docs");
    let flags = ["--no-quality-gate", "--external-runner", "claude", "--max-quality-attempts", "5"];
    let mut client = Client::silent(&project, &[&["--path", folder.to_str().unwrap()], &flags[..]].concat());
    client.initialize("2025-06-18");
    // Paths are from there, and the project is the one around it.
    let criteria = json!([{ "name": "Complete", "ask": "Is it?" }]);
    let verdict = client.review(json!({ "files": ["b.md"], "criteria": criteria }));
    assert_eq!(verdict["assignments"][0]["files"][0]["path"], "docs/b.md");
}
