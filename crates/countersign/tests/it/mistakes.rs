//! Forty mistakes at the command line, each with the answer a person gets, as one snapshot (issue 16). Every answer says
//! what is wrong and what to do; none of them passes.

use crate::project;
use countersign_testkit::{Project, Ran, Repository, Running};
use std::fmt::Write;
use std::process::Command;

const CONFIG: &str = "version: 1
rules:
  - name: guides
    for: ['*.md']
    criteria:
      - {name: Done, check: no_placeholders}
";

/// A project with a configuration, a file that needs work, and one review.
fn judged(project: &Project) {
    project.write("countersign.yml", CONFIG).write("a.md", "TODO\n");
    project.run(&["review", "--subject", "guide"]).exits(1);
}

fn with(line: &str) -> String {
    format!("{CONFIG}{line}\n")
}

/// Damages the middle of the ledger.
fn damage(project: &Project) {
    judged(project);
    let path = project.ledger_path("ledger.db");
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in bytes.iter_mut().skip(4096).take(8192) {
        *byte = 0x5a;
    }
    std::fs::write(&path, bytes).unwrap();
}

/// A setup is a write.
fn written(_: &Project) {}

type Setup = fn(&Project);

/// What is there, and what is typed.
const MISTAKES: &[(&str, Setup, &[&str])] = &[
    ("a command with a typo", |_| (), &["reveiw"]),
    ("an option with a typo", |_| (), &["review", "--crietrion", "A=B"]),
    ("an option without its value", |_| (), &["review", "--criterion"]),
    ("a number that is none", |_| (), &["log", "--limit", "many"]),
    ("a number out of range", |_| (), &["log", "--limit", "0"]),
    ("a value that is not listed", |_| (), &["mcp", "--transport", "carrier"]),
    ("a time that is none", |_| (), &["log", "--since", "yesterday"]),
    ("two options that exclude each other", |_| (), &["review", "a.md", "--change"]),
    ("an option that needs another", |_| (), &["review", "--each-file"]),
    ("a missing argument", |_| (), &["approve"]),
    ("a decision without a reason", |_| (), &["approve", "rv-1"]),
    ("a shell that is not known", |_| (), &["completions", "tcl"]),
    ("a topic with a typo", |_| (), &["help", "reviewrs"]),
    ("no configuration and nothing named", |_| (), &["review"]),
    ("no criteria for a named file", |p| written(p.write("a.md", "x")), &["review", "a.md"]),
    (
        "a criterion without a question",
        |p| written(p.write("a.md", "x")),
        &["review", "a.md", "--criterion", "Complete"],
    ),
    ("a file that is not there", judged, &["review", "guide.md"]),
    ("a file outside the project", judged, &["review", "../secret.md"]),
    ("notes that are not there", judged, &["review", "--notes", "notes.txt"]),
    ("a configuration file that is not there", |_| (), &["review", "--config", "other.yml"]),
    (
        "a key with a typo",
        |p| written(p.write("countersign.yml", with("polciy: {max_attempts: 3}"))),
        &["review"],
    ),
    (
        "a value of the wrong type",
        |p| written(p.write("countersign.yml", with("policy: {max_attempts: three}"))),
        &["review"],
    ),
    ("a missing key", |p| written(p.write("countersign.yml", "rules: []\n")), &["review"]),
    (
        "a bracket that is not closed",
        |p| written(p.write("countersign.yml", "version: 1\nrules: [\n")),
        &["review"],
    ),
    (
        "a tab in YAML",
        |p| written(p.write("countersign.yml", "version: 1\nrules:\n\t- name: x\n")),
        &["validate"],
    ),
    (
        "a check that is not known",
        |p| written(p.write("countersign.yml", CONFIG.replace("no_placeholders", "no_placeholder"))),
        &["review"],
    ),
    ("a reviewer that is not known", judged, &["review", "--reviewer", "claud", "--criterion", "A=B?"]),
    (
        "a reviewer program that is not installed",
        judged,
        &["review", "a.md", "--reviewer", "command:./judge.sh", "--criterion", "A=B?"],
    ),
    ("nothing judged yet", |p| written(p.write("countersign.yml", CONFIG)), &["show"]),
    ("a review that is not there", judged, &["show", "rv-nothing"]),
    ("a subject that is not there", judged, &["log", "cli/plan"]),
    ("a decision about nothing", judged, &["unblock", "plan", "--reason", "r"]),
    ("a change outside git", judged, &["review", "--change"]),
    (
        "a base that git does not know",
        |p| {
            judged(p);
            Repository::at(p.root()).commit("first");
        },
        &["review", "--change", "--base", "v9"],
    ),
    ("a finding that is not there", judged, &["dispute", "fi-nothing", "--evidence", "it is fine"]),
    ("a task that is not there", |p| written(p.write("PLAN.md", "# Plan\n")), &["task", "show", "9.9"]),
    ("a run without a list of tasks", judged, &["run"]),
    ("a phase that is not known", |_| (), &["qr", "gate", "--phase", "plan-structre"]),
    (
        "a ledger folder that is a file",
        |p| written(p.write("countersign.yml", CONFIG).write("a.md", "x").write(".countersign", "x")),
        &["review"],
    ),
    ("a damaged ledger", damage, &["log", "--verify"]),
];

#[test]
fn issue_16_forty_mistakes_get_clear_answers() {
    let mut all = String::new();
    for (title, setup, args) in MISTAKES {
        let project = project();
        setup(&project);
        let ran = project.run(args);
        assert_ne!(ran.code, 0, "{title}: {}", ran.stdout);
        answer(&mut all, title, &args.join(" "), &project, &ran);
    }
    // What cannot be typed: a disk without space, for the ledger and for the answer.
    let project = project();
    project.write("countersign.yml", CONFIG).write("a.md", "x");
    let binary = env!("CARGO_BIN_EXE_countersign");
    let limited = format!("trap '' XFSZ; ulimit -f 8; exec '{binary}' review");
    let mut shell = project.command(&[]);
    let environment: Vec<_> =
        shell.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    shell = Command::new("bash");
    shell.current_dir(project.root()).args(["-c", &limited]);
    for (name, value) in environment {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let ran = Running::start(&mut shell).wait();
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    answer(&mut all, "a disk without space", "review", &project, &ran);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"rv-[a-z0-9]{12}", "rv-…");
    settings.add_filter(r"\b[0-9a-f]{12}\b", "[digest]");
    settings.add_filter(r"\b\d+\.\ds\b", "[time]");
    settings.add_filter(r"\bcli/[a-z0-9]{12}\b", "cli/[subject]");
    settings.bind(|| insta::assert_snapshot!(all));
}

fn answer(all: &mut String, title: &str, args: &str, project: &Project, ran: &Ran) {
    let root = project.root().canonicalize().unwrap();
    let plain = |text: &str| {
        text.replace(root.to_str().unwrap(), "[root]").replace(project.root().to_str().unwrap(), "[root]")
    };
    let (out, err) = (plain(&ran.stdout), plain(&ran.stderr));
    write!(all, "## {title}\n$ countersign {args}\n{out}{err}exit code {}\n\n", ran.code).unwrap();
}
