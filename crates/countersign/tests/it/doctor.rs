//! The diagnosis: each line ok, warn or fail; nothing of the user's is started unasked, nothing is left behind.

use crate::project;
use countersign_testkit::{Judge, Project, Ran, Running, eventually};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const RULES: &str =
    "rules:\n  - name: docs\n    for: ['*.md']\n    criteria: [{name: Complete, ask: 'Complete?'}]\n";
const GOOD: &str = r#"{"passed": true, "feedback": "it is there", "criteria_results": [{"criterion": "Answers", "passed": true}]}"#;

/// A project with reviewers, one a line.
fn configured(reviewers: &[&str]) -> Project {
    let project = project();
    let list: String = reviewers.iter().map(|reviewer| format!("  - {reviewer}\n")).collect();
    project.write("a.md", "x").write("countersign.yml", format!("version: 1\nreviewers:\n{list}{RULES}"));
    project
}

const MAIN: &str = "{name: main, use: command, command: [./judge.sh]}";

/// Runs with a temporary folder of its own, which must be empty afterwards.
fn run(project: &Project, args: &[&str]) -> Ran {
    let temporary = tempfile::tempdir().unwrap();
    let ran = Running::start(project.command(args).env("TMPDIR", temporary.path())).wait();
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "{ran:?}");
    ran
}

/// The line about something: its state, its words and its hint.
fn line(json: &Value, what: &str) -> (String, String, Option<String>) {
    let line = json["lines"].as_array().unwrap().iter().find(|line| line["what"] == what);
    let line = line.unwrap_or_else(|| panic!("{what}: {json}"));
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    (text("state").unwrap(), text("detail").unwrap(), text("hint"))
}

#[track_caller]
fn says(ran: &Ran, what: &str, state: &str, words: &str) {
    let found = line(&ran.json(), what);
    assert!(found.0 == state && found.1.contains(words), "{found:?}");
    assert_eq!(
        found.2.is_some(),
        state != "ok",
        "what to do is said where something is to be done: {found:?}"
    );
}

#[test]
fn a_project_without_anything_is_fine_and_stays_so() {
    let project = project();
    let ran = run(&project, &["doctor", "--json"]).exits(0);
    for what in ["guard", "git", "ledger"] {
        says(&ran, what, "ok", "");
    }
    says(&ran, "configuration", "warn", "none in");
    assert!(!project.ledger_dir().exists(), "looking makes nothing");
    let text = run(&project, &["doctor"]).exits(0).stdout;
    assert!(
        text.contains("warn  configuration") && text.contains("help: `countersign init` writes one"),
        "{text}"
    );
}

#[test]
fn a_program_that_is_missing_is_named_and_others_are_still_looked_at() {
    let project = configured(&[
        MAIN,
        "{name: far, use: command, command: [no-such-program-anywhere]}",
        "{name: me, use: self}",
        "{name: machine, use: checks}",
    ]);
    let ran = run(&project, &["doctor", "--ask", "--json"]).exits(4);
    assert_eq!(ran.json()["reason"], "unavailable");
    says(&ran, "reviewer main", "fail", "judge.sh` does not exist");
    says(&ran, "reviewer far", "fail", "is not on the PATH");
    says(&ran, "reviewer me", "ok", "the author");
    says(&ran, "reviewer machine", "ok", "checks");
    project.write("judge.sh", "#!/bin/sh\n");
    let ran = run(&project, &["doctor", "--json"]).exits(4);
    says(&ran, "reviewer main", "fail", "is not executable");
    let ran = run(&project, &["doctor", "--reviewer", "command:sh gone.sh", "--json"]).exits(0);
    says(&ran, "reviewer command:sh gone.sh", "warn", "there is no `gone.sh` in the project");
}

#[test]
fn a_program_of_the_users_is_started_only_when_asked_to() {
    let project = configured(&[MAIN]);
    let judge = Judge::replying(&project, GOOD);
    let ran = run(&project, &["doctor", "--json"]).exits(0);
    says(&ran, "reviewer main", "ok", &project.path("judge.sh").display().to_string());
    assert!(judge.asked().is_empty());
    let ran = run(&project, &["doctor", "--ask", "--json"]).exits(0);
    says(&ran, "answers main", "ok", "it answered yes, which is right: it is there");
    assert!(ran.json()["lines"].as_array().unwrap().last().unwrap()["elapsed_ms"].is_u64());
    assert_eq!(judge.asked(), ["question.txt"]);
    assert!(!project.ledger_dir().exists(), "the project's ledger does not know of it");
    let ran = run(&project, &["doctor", "--ask", "--reviewer", "command:./judge.sh"]).exits(0);
    assert!(
        ran.stdout.contains("ok    answers command:./judge.sh") && ran.stderr.contains("for at most 60 s")
    );
}

#[test]
fn answers_are_held_to_what_a_review_holds_them_to() {
    let project = configured(&[MAIN]);
    let ask = ["doctor", "--ask", "--json"];
    let judge = Judge::replying(&project, &GOOD.replace("true", "false"));
    let ran = run(&project, &ask).exits(0);
    says(&ran, "answers main", "warn", "it answered no; the right answer is yes");
    assert_eq!(judge.asked().len(), 1);
    let judge = Judge::replying(&project, "I think so");
    let ran = run(&project, &ask).exits(4);
    assert_eq!((ran.json()["reason"].as_str(), judge.asked().len()), (Some("garbled"), 3), "asked once more");
    says(&ran, "answers main", "fail", "");
    Judge::scripted(&project, "judge.sh", "echo no account >&2; exit 3");
    let ran = run(&project, &ask).exits(4);
    says(&ran, "answers main", "fail", "ended with exit code 3: no account");
}

#[test]
fn a_program_that_hangs_is_ended_and_nothing_of_it_is_left() {
    let project = configured(&["{name: main, use: command, command: [./judge.sh], timeout_seconds: 1}"]);
    let pid = project.path(".pid");
    Judge::scripted(&project, "judge.sh", &format!("echo $$ >'{}'; sleep 1000", pid.display()));
    let ran = run(&project, &["doctor", "--ask", "--json"]).exits(4);
    assert_eq!(ran.json()["reason"], "timeout");
    says(&ran, "answers main", "fail", "did not answer within 1 seconds");
    let pid = project.read(".pid");
    eventually("the program is gone", || !std::path::Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn a_wrong_configuration_is_told_from_a_reviewer_that_is_not_there() {
    let project = configured(&[MAIN]);
    project.write("countersign.yml", "version: 1\nrulez: []\nfoo: 1\n");
    let ran = run(&project, &["doctor", "--json"]).exits(2);
    says(&ran, "configuration", "fail", "countersign.yml:");
    says(&ran, "guard", "ok", "");
    assert!(run(&project, &["doctor"]).exits(2).stdout.contains("help: `countersign validate` shows all"));
    // What matches nothing is wrong too, and weighs more than a reviewer that is missing.
    project.write(
        "countersign.yml",
        format!("version: 1\nreviewers: [{MAIN}]\n{}", RULES.replace("*.md", "*.rst")),
    );
    let ran = run(&project, &["doctor", "--json"]).exits(2);
    says(&ran, "configuration", "fail", "matches no file");
    says(&ran, "reviewer main", "fail", "does not exist");
    project.write("countersign.yml", format!("version: 1\n{RULES}"));
    let ran = run(&project, &["doctor", "--json"]).exits(0);
    says(&ran, "reviewers", "warn", "rule 'docs' asks questions");
}

#[test]
fn recorded_rulings_must_be_readable() {
    let project = configured(&["{name: recorded, use: replay, file: rulings.jsonl}"]);
    let ran = run(&project, &["doctor", "--json"]).exits(4);
    says(&ran, "reviewer recorded", "fail", "rulings.jsonl");
    project.write("rulings.jsonl", "{\"criterion\": \"Complete\", \"passed\": true}\n");
    let ran = run(&project, &["doctor", "--ask", "--json"]).exits(0);
    says(&ran, "reviewer recorded", "ok", "recorded rulings: 1");
}

#[test]
fn a_known_agent_says_its_version() {
    let project = configured(&["{name: main, use: command, command: [bin/claude, -p]}"]);
    let install = |script: &str| {
        project.write("bin/claude", format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(project.path("bin/claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    install("[ \"$*\" = --version ] && echo '2.1.0 (Claude Code)'");
    let ran = run(&project, &["doctor", "--json"]).exits(0);
    says(&ran, "reviewer main", "ok", "bin/claude: 2.1.0 (Claude Code)");
    install("exit 1");
    let ran = run(&project, &["doctor", "--json"]).exits(4);
    says(&ran, "reviewer main", "fail", "does not report its version");
}

#[test]
fn the_ledger_is_opened_and_read() {
    let project = project();
    project.write("a.md", "x");
    let judge = Judge::by_word(&project, "Complete");
    project.run(&["review", "a.md", "--criterion", crate::COMPLETE, "--reviewer", judge.name()]).exits(0);
    let ran = run(&project, &["doctor", "--json"]).exits(0);
    says(&ran, "ledger", "ok", "latest events checked: 7, no error");
    project.write(".countersign/ledger.db", vec![b'x'; 8192]);
    let ran = run(&project, &["doctor", "--json"]).exits(8);
    says(&ran, "ledger", "fail", "");
}
