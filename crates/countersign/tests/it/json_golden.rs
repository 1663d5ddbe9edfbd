//! The keys of `countersign/1` and the types of their values: what the golden file has is still there. New keys are
//! allowed; `UPDATE_GOLDEN=1` writes the files again.

use crate::people::typed;
use crate::qr::asked::{PLAN, Says, reviewer};
use crate::qr::{args, decomposed, plain_items};
use crate::run::kit::{BY_WORD, Kit, THREE};
use crate::{COMPLETE, project, task};
use countersign_testkit::{Golden, Judge, Project};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

fn golden(name: &str) -> Golden {
    Golden::at(format!("{}/tests/it/golden/{name}.txt", env!("CARGO_MANIFEST_DIR")))
}

/// Runs a command with `--json` and keeps its answer, whatever its exit code.
fn take(golden: &mut Golden, name: &str, project: &Project, args: &[&str]) -> Value {
    let json = project.run(&[args, &["--json"]].concat()).json();
    golden.take(name, &json);
    json
}

/// The same, typed by a person at a terminal.
fn take_typed(golden: &mut Golden, name: &str, project: &Project, args: &[&str]) {
    let said = typed(project, &[args, &["--json"]].concat(), None);
    let line = said.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{name}: {said}"));
    golden.take(name, &serde_json::from_str(line).unwrap());
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

const CONFIG: &str = "version: 1
notify: {desktop: false, bell: false, sound_enabled: false}
reviewers:
  - {name: strict, use: command, command: [./strict.sh]}
  - {name: other, use: command, command: [./other.sh]}
rules:
  - name: docs
    for: ['docs/**']
    each: file
    criteria: [{name: Complete, ask: Is it complete?}, {name: Tidy, ask: Is it tidy?, severity: may}]
";

/// One reviewer fails what has a bad word, the other passes everything.
fn configured() -> Project {
    let project = project();
    let reply = |passed: &str| {
        format!(
            r#"case "$brief" in *BAD*) p={passed};; *) p=true;; esac
printf '{{"passed": %s, "feedback": "f", "criteria_results": [{{"criterion": "Complete", "passed": %s, "feedback": "there is a BAD word"}}, {{"criterion": "Tidy", "passed": %s, "feedback": "untidy"}}]}}' $p $p $p"#
        )
    };
    Judge::scripted(&project, "strict.sh", &reply("false"));
    Judge::scripted(&project, "other.sh", &reply("true"));
    project.write("docs/a.md", "BAD\n").write("docs/b.md", "fine\n").write("countersign.yml", CONFIG);
    project
}

#[test]
fn issue_15_3_answers_about_reviews_keep_their_keys() {
    let (mut golden, project) = (golden("reviews"), configured());
    take(&mut golden, "review --dry-run", &project, &["review", "docs", "--dry-run"]);
    let failed = take(&mut golden, "review", &project, &["review", "docs", "--subject", "x"]);
    let (id, finding) = (text(&failed["review"]["id"]), text(&failed["findings"][0]["id"]));
    take(&mut golden, "show", &project, &["show", &id]);
    take(&mut golden, "log", &project, &["log", "--verify"]);
    take(&mut golden, "log ID", &project, &["log", &id]);
    take(&mut golden, "status", &project, &["status"]);
    take(&mut golden, "costs", &project, &["costs"]);
    take(&mut golden, "dispute", &project, &["dispute", &finding, "--evidence", "it is not"]);
    take(&mut golden, "show", &project, &["show", &id]);
    for (verb, subject) in [("approve", "a"), ("reject", "b"), ("skip", "c"), ("fix", "d"), ("withdraw", "e")]
    {
        project.write("docs/a.md", format!("BAD {subject}\n"));
        let id = project.run(&["review", "docs", "--subject", subject, "--json"]).json();
        let id = text(&id["review"]["id"]);
        let reason: &[&str] = if verb == "withdraw" { &[] } else { &["--reason", "because"] };
        take_typed(&mut golden, verb, &project, &[&[verb, &id], reason].concat());
        if verb == "reject" {
            take_typed(&mut golden, "unblock", &project, &["unblock", &id, "--reason", "because"]);
        }
    }
    take(&mut golden, "status", &project, &["status"]);
    take(&mut golden, "an error", &project, &["show", "rv-nothing"]);
    take(&mut golden, "a mistyped command", &project, &["frobnicate"]);
    project.write("countersign.yml", "version: 1\nrulez: []\n");
    take(&mut golden, "a mistake in a file", &project, &["validate"]);
    golden.holds();
}

#[test]
fn issue_15_3_an_answer_by_the_author_keeps_its_keys() {
    let (mut golden, project) = (golden("rule"), project());
    project.write("a.md", "a text\n");
    let review = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", "self", "--subject", "x"];
    let id = text(&take(&mut golden, "review", &project, &review)["review"]["id"]);
    let instructions = project.read_own(&format!("self_review_{id}.md"));
    let token = instructions.split("\"token\": \"").nth(1).unwrap().split('"').next().unwrap();
    let results = json!({ "token": token, "results": [{ "criterion": "Complete", "passed": true }] });
    project.write("results.json", results.to_string());
    take(&mut golden, "rule", &project, &["rule", &id, "--from", "results.json"]);
    golden.holds();
}

#[test]
fn issue_15_3_answers_about_the_project_keep_their_keys() {
    let (mut golden, project) = (golden("project"), configured());
    for (name, args) in [
        ("config", &["config"][..]),
        ("config --schema", &["config", "--schema"]),
        ("validate", &["validate"]),
        ("doctor", &["doctor", "--ask"]),
        ("notify", &["notify", "--test"]),
        ("completions", &["completions", "bash"]),
        ("demo", &["demo"]),
        ("init, there", &["init", "--dry-run"]),
        ("init --agent", &["init", "--agent", "claude", "--dry-run"]),
        ("status, empty", &["status"]),
        ("costs, empty", &["costs"]),
    ] {
        take(&mut golden, name, &project, args);
    }
    let empty = crate::project();
    empty.write("Cargo.toml", "[package]\nname = \"a\"\n").write("a.md", "a text\n");
    take(&mut golden, "init", &empty, &["init", "--dry-run"]);
    golden.holds();
}

#[test]
fn issue_15_3_lines_of_watch_keep_their_keys() {
    let (mut golden, project) = (golden("watch"), configured());
    project.run(&["review", "docs"]);
    project.run(&["task", "add", "Paint", "--id", "paint"]).exits(0);
    let mut watch = project.command(&["watch", "--json", "--after", "0"]);
    let mut watch = watch.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    for line in BufReader::new(watch.stdout.take().unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        golden.take("watch", &line);
        if line["review"].is_null() {
            break;
        }
    }
    kill_process(Pid::from_raw(watch.id().try_into().unwrap()).unwrap(), Signal::TERM).unwrap();
    watch.wait().unwrap();
    golden.holds();
}

#[test]
fn issue_15_3_answers_about_tasks_keep_their_keys() {
    let mut golden = golden("tasks");
    let (project, _repository, _judge) = task::started("");
    for (name, args) in [
        ("task add", &["task", "add", "Paint", "--id", "paint"][..]),
        ("task list", &["task", "list"]),
        ("task show", &["task", "show", "1.1"]),
        ("task start", &["task", "start", "paint"]),
        ("task done", &["task", "done", "1.1"]),
        ("task show, reviewed", &["task", "show", "1.1"]),
        ("task list", &["task", "list"]),
        ("status", &["status"]),
    ] {
        take(&mut golden, name, &project, args);
    }
    let revise = r#"{"result": "REJECTED", "issues": ["too thin"], "summary": "thin"}"#;
    let (project, _repository, _judge) = task::started("");
    task::says(&project, "Too thin.", revise);
    take(&mut golden, "task review", &project, &["task", "review", "1.1"]);
    golden.holds();
}

#[test]
fn issue_15_3_answers_about_items_keep_their_keys() {
    let (mut golden, project) = (golden("qr"), decomposed(&plain_items(2)));
    project.write("items.json", plain_items(2).to_string());
    for (name, words) in [
        ("qr init", &["init"][..]),
        ("qr execute", &["execute"]),
        ("qr decompose", &["decompose", "--items", "items.json", "--again"]),
        ("qr decompose --print-prompt", &["decompose", "--print-prompt", "--artifact", "items.json"]),
        ("qr record", &["record", "plan-001", "FAIL", "--finding", "bad"]),
        ("qr record", &["record", "plan-002", "PASS"]),
        ("qr gate", &["gate"]),
        ("qr fix", &["fix"]),
        ("qr execute --qr-fail", &["execute", "--qr-fail"]),
        ("qr status", &["status"]),
        ("qr fixed", &["fixed"]),
    ] {
        take(&mut golden, name, &project, &args(words));
    }
    take_typed(&mut golden, "qr accept", &project, &args(&["accept", "plan-001", "--reason", "because"]));
    take_typed(&mut golden, "qr reset", &project, &args(&["reset"]));
    let project = crate::qr::project();
    let row =
        |name: &str| json!({ "criterion": name, "status": "MET", "evidence": "built.md:1", "note": null });
    let milestone = json!({ "status": "SATISFIED", "criteria": [row("BAD"), row("fine")] });
    project.write("plan.md", PLAN).write("built.md", "x\n").write("fixer.sh", "#!/bin/sh\nexit 1\n");
    let judge = reviewer(&project, &Says { milestone, ..Says::default() }, "");
    for (name, words) in [
        ("qr decompose", &["decompose", "--artifact", "plan.md", "--reviewer", judge.name()][..]),
        ("qr verify", &["verify", "--artifact", "plan.md", "--reviewer", judge.name()]),
        (
            "qr reconcile",
            &["reconcile", "--plan", "plan.md", "--files", "built.md", "--reviewer", judge.name()],
        ),
        ("qr reconcile --print-prompt", &["reconcile", "--plan", "plan.md", "--print-prompt"]),
    ] {
        take(&mut golden, name, &project, &args(words));
    }
    golden.holds();
}

#[test]
fn issue_15_3_answers_about_runs_keep_their_keys() {
    let mut golden = golden("runs");
    let kit = Kit::new(THREE, "");
    kit.agent("echo BAD >\"$task.txt\"\necho TASK_COMPLETE").judge(BY_WORD);
    take(&mut golden, "run --dry-run", &kit.project, &["run", "--all", "--dry-run"]);
    take(&mut golden, "run", &kit.project, &["run", "--all"]);
    take(&mut golden, "status", &kit.project, &["status"]);
    take(&mut golden, "output", &kit.project, &["output", "TASK-001"]);
    take(&mut golden, "stop", &kit.project, &["stop"]);
    take(&mut golden, "validate", &kit.project, &["validate"]);
    kit.agent(crate::run::kit::WORKS);
    take_typed(&mut golden, "retry", &kit.project, &["retry", "TASK-001"]);
    golden.holds();
}
