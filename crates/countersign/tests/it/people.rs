//! Decisions are for people: a terminal, no mark of an agent, a reason, and on record.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project};
use rexpect::session::spawn_command;

pub fn stopped() -> (Project, Judge, String) {
    let project = project();
    project.write("a.md", "BAD");
    let judge = Judge::by_word(&project, "Complete");
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    project.run(&args).exits(1);
    project.run(&args).exits(1);
    let id = project.run(&args).exits(6).json()["review"]["id"].as_str().unwrap().to_owned();
    (project, judge, id)
}

/// What is on record of a person who types: the account, whatever `USER` says.
pub fn account() -> String {
    let said = std::process::Command::new("id").arg("-un").output().unwrap().stdout;
    format!("account {}", String::from_utf8(said).unwrap().trim())
}

pub fn at_terminal() -> String {
    format!("{} (at a terminal, not verified)", account())
}

/// Runs a command as a person would: on a terminal.
pub fn typed(project: &Project, args: &[&str], variable: Option<&str>) -> String {
    let mut command = project.command(args);
    command.env("USER", "ann").env("NO_COLOR", "1");
    if let Some(variable) = variable {
        command.env(variable, "1");
    }
    let mut session = spawn_command(command, Some(60_000)).unwrap();
    session.exp_eof().unwrap()
}

#[test]
fn an_agent_cannot_lift_and_a_person_can() {
    let (project, judge, id) = stopped();
    let unblock = ["unblock", &id, "--reason", "the word is allowed here"];
    let ran = project.run(&unblock).exits(2);
    assert!(
        ran.stderr.contains("only a person may do this, not a caller without a terminal"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("standard input is not a terminal"), "{}", ran.stderr);
    assert!(
        typed(&project, &unblock, Some("CLAUDECODE")).contains("only a person may do this, not an agent")
    );
    assert!(typed(&project, &["unblock", &id, "--reason", " "], None).contains("a decision needs a reason"));
    assert!(typed(&project, &unblock, None).contains("needs work"));
    project.write("a.md", "fine");
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x"];
    project.run(&args).exits(0);
    let log = project.run(&["log", &id, "-n", "100"]).exits(0).stdout;
    let by = format!("by {}: the word is allowed here", at_terminal());
    assert!(log.contains("lifted") && log.contains(&by), "{log}");
}

#[test]
fn an_approval_is_recorded_and_shown() {
    let project = project();
    project.write("a.md", "BAD");
    let judge = Judge::by_word(&project, "Complete");
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    let id = project.run(&args).exits(1).json()["review"]["id"].as_str().unwrap().to_owned();
    project.run(&["approve", &id, "--reason", "mine"]).exits(2);
    let prefix = &id[..8];
    let said = typed(&project, &["approve", prefix, "--reason", "shipped with a note"], None);
    let by = format!("approve by {}: shipped with a note", at_terminal());
    assert!(said.contains("overridden") && said.contains(&by), "{said}");
    let json = project.run(&args).exits(0).json();
    assert_eq!(json["outcome"], "overridden");
    let decision = &json["review"]["decisions"][0];
    assert_eq!(
        (&decision["by"], &decision["person"], &decision["channel"]),
        (&account().into(), &true.into(), &"terminal".into())
    );
    assert!(decision["terminal"].as_str().unwrap().starts_with("/dev/"), "{decision}");
    // Other bytes were not approved.
    project.write("a.md", "BAD again");
    project.run(&args).exits(1);
}

#[test]
fn a_rejection_is_final_and_a_withdrawal_is_not() {
    let (project, judge, id) = stopped();
    assert!(typed(&project, &["approve", &id, "--reason", "x"], None).contains("overridden"));
    project.run(&["approve", &id, "--reason", "x"]).exits(2);
    project.write("b.md", "BAD");
    let args =
        ["review", "b.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "y", "--json"];
    let id = project.run(&args).exits(1).json()["review"]["id"].as_str().unwrap().to_owned();
    // It would give an agent all its attempts back.
    project.run(&["withdraw", &id]).exits(2);
    assert!(typed(&project, &["withdraw", &id], None).contains("stopped: withdrawn"));
    let again = project.run(&args).exits(1).json();
    assert_ne!(again["review"]["id"], id.as_str());
    let id = again["review"]["id"].as_str().unwrap();
    assert!(typed(&project, &["reject", id, "--reason", "no"], None).contains("rejected by a person"));
    project.write("b.md", "fine");
    let json = project.run(&args).exits(6).json();
    assert_eq!(json["reason"], "rejected");
}

#[test]
fn a_lifted_self_review_is_asked_for_again() {
    let project = project();
    project.write("a.md", "draft");
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", "self", "--subject", "x", "--json"];
    for _ in 0..4 {
        project.run(&args).exits(3);
    }
    let id = project.run(&args).exits(6).json()["review"]["id"].as_str().unwrap().to_owned();
    typed(&project, &["unblock", &id, "--reason", "now they will"], None);
    project.run(&args).exits(3);
}

#[test]
fn what_is_refused_never_looks_like_success() {
    let project = project();
    project.write("a.md", "fine");
    let judge = Judge::by_word(&project, "Complete");
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"];
    let id = project.run(&args).exits(0).json()["review"]["id"].as_str().unwrap().to_owned();
    for verb in ["reject", "approve", "skip"] {
        let json = project.run(&[verb, &id, "--reason", "no", "--json"]).exits(2).json();
        assert_eq!((&json["outcome"], &json["error"]["code"]), (&"usage".into(), &"refused".into()));
    }
    project.run(&["withdraw", &id]).exits(2);
    project.write("results.json", r#"{"token": "sr-forged", "results": []}"#);
    project.run(&["rule", &id, "--from", "results.json"]).exits(2);
}

/// Codex on Linux, qwen, copilot and opencode counted as people: each variable as measured in the shell of the program.
#[test]
fn the_marks_of_every_agent_program_are_no_persons() {
    let (project, _, id) = stopped();
    let unblock = ["unblock", &id, "--reason", "let me"];
    for mark in [
        "CLAUDECODE",
        "CODEX_THREAD_ID",
        "CODEX_CI",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "GEMINI_CLI",
        "QWEN_CODE",
        "OPENCODE_PID",
        "AGENT",
        "COPILOT_CLI",
        "COPILOT_AGENT_SESSION_ID",
        "AI_AGENT",
    ] {
        let said = typed(&project, &unblock, Some(mark));
        assert!(
            said.contains("only a person may do this, not an agent") && said.contains(mark),
            "{mark}: {said}"
        );
    }
    assert!(!project.run(&["log", &id, "-n", "100"]).exits(0).stdout.contains("lifted"));
    // Drivers of terminals set this, and so do people.
    assert!(typed(&project, &unblock, Some("GIT_CONFIG_COUNT")).contains("needs work"));
}

/// An agent that takes its mark out of the environment, and gives itself a terminal, is still above.
#[test]
fn an_agent_above_is_seen_also_where_it_took_its_mark_away() {
    let (project, _, id) = stopped();
    let own = env!("CARGO_BIN_EXE_countersign");
    let line = format!("env -u CLAUDECODE {own} unblock {id} --reason me; true");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).current_dir(project.root()).env("HOME", project.home()).env("CLAUDECODE", "1");
    let said = spawn_command(shell, Some(60_000)).unwrap().exp_eof().unwrap();
    assert!(said.contains("CLAUDECODE (a variable that claude sets) is set in process "), "{said}");
}

/// The first decision about the same bytes counts, whichever way the second comes.
#[test]
fn a_rejection_is_not_followed_by_an_approval_of_the_same_bytes() {
    let project = project();
    project.write("a.md", "BAD");
    let judge = Judge::by_word(&project, "Complete");
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    let id = project.run(&args).exits(1).json()["review"]["id"].as_str().unwrap().to_owned();
    assert!(typed(&project, &["reject", &id, "--reason", "not this"], None).contains("rejected by a person"));
    for verb in ["approve", "skip", "fix", "reject"] {
        let said = typed(&project, &[verb, &id, "--reason", "but I want it"], None);
        let first = format!("this was already decided: reject by {}: not this", at_terminal());
        assert!(said.contains(&first) && said.contains("countersign unblock"), "{verb}: {said}");
    }
    assert_eq!(project.run(&args).exits(6).json()["reason"], "rejected");
    assert!(typed(&project, &["unblock", &id, "--reason", "looked again"], None).contains("needs work"));
    assert!(typed(&project, &["approve", &id, "--reason", "it is fine"], None).contains("overridden"));
    project.run(&args).exits(0);
}

/// Whoever reads how a review stands reads no pass that there is none of.
#[test]
fn showing_a_review_that_did_not_pass_is_no_pass() {
    let (project, judge, id) = stopped();
    let json = project.run(&["show", &id, "--json"]).exits(0).json();
    let read = |key: &str| json[key].clone();
    // Showing is not judging: the command did its work.
    assert_eq!(
        (read("outcome"), read("reason"), read("exit_code")),
        ("stopped".into(), "attempts_used_up".into(), 0.into())
    );
    project.write("b.md", "fine");
    let args = ["review", "b.md", "--criterion", COMPLETE, "--reviewer", judge.name()];
    project.run(&args).exits(0);
    let json = project.run(&["show", "--json"]).exits(0).json();
    assert_eq!((&json["outcome"], &json["exit_code"]), (&"passed".into(), &0.into()));
}

#[test]
fn an_agent_is_told_that_a_person_is_waited_for_and_no_command_for_people() {
    let (project, _, id) = stopped();
    let mut command = project.command(&["show", &id]);
    let ran = countersign_testkit::Running::start(command.env("CODEX_THREAD_ID", "t")).wait().exits(0);
    assert!(ran.stdout.contains(&format!("review {id} waits for a person")), "{}", ran.stdout);
    assert!(!ran.stdout.contains("approve") && !ran.stdout.contains("unblock"), "{}", ran.stdout);
    assert!(project.run(&["show", &id]).exits(0).stdout.contains("countersign unblock"));
}
