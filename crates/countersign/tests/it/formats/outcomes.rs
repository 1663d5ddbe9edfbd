//! No way not to pass is an empty success in any format, and a file of an earlier call is never taken for this one's.

use super::runner::commands;
use super::{OTHERS, many};
use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project};
use serde_json::Value;
use std::fs;

/// Whether a report in a format says that something is not right.
fn says_no(name: &str, text: &str) -> bool {
    let json = || serde_json::from_str::<Value>(text).unwrap();
    let any = |list: &Value, key: &str, values: &[&str]| {
        list.as_array().unwrap().iter().any(|one| values.iter().any(|value| one[key] == *value))
    };
    match name {
        "github" => commands(text).iter().any(|command| command.name == "error"),
        "sarif" => any(&json()["runs"][0]["results"], "level", &["error"]),
        "junit" => text.contains("<error ") || text.contains("<failure "),
        "gitlab" => any(&json(), "severity", &["blocker", "critical", "major"]),
        "rdjson" => any(&json()["diagnostics"], "severity", &["ERROR"]),
        _ => text.contains("### ❌"),
    }
}

/// Runs a command with every format in a file, and gives them back.
fn all(project: &Project, args: &[&str], code: i32) -> Vec<(&'static str, String)> {
    let path = |name: &str| project.home().join(format!("report.{name}"));
    let files: Vec<String> = OTHERS.iter().map(|name| format!("{name}={}", path(name).display())).collect();
    let mut args = args.to_vec();
    files.iter().for_each(|file| args.extend(["--format", file]));
    project.run(&args).exits(code);
    OTHERS.iter().map(|name| (*name, fs::read_to_string(path(name)).unwrap())).collect()
}

const RULES: &str =
    "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: Full, check: not_empty}]}]\n";

#[test]
fn issue_20_no_format_shows_an_empty_success() {
    let project = project();
    let judge = Judge::replying(&project, "no JSON");
    project.write("a.md", "x\n").write("b.txt", "x\n").write("empty.md", "");
    let ask = ["review", "a.md", "--criterion", COMPLETE, "--reviewer"];
    let broken = [&ask[..], &[judge.name()]].concat();
    let own = [&ask[..], &["self"]].concat();
    let rows: [(&[&str], i32, &str); 5] = [
        (&broken, 4, "no verdict"),
        (&own, 3, "awaiting person"),
        (&["review", "no-such-file"], 2, "no-such-file"),
        (&["review", "--no-such-flag"], 2, "no-such-flag"),
        (&["review", "empty.md", "--criterion", COMPLETE, "--reviewer", "nobody-knows"], 2, "nobody-knows"),
    ];
    for (args, code, words) in rows {
        for (name, text) in all(&project, args, code) {
            assert!(says_no(name, &text), "{args:?} {name}: {text}");
            let text = text.replace("\\-", "-").replace('_', " ").replace('\\', "");
            assert!(text.contains(words), "{args:?} {name}: {text}");
        }
    }
    // A mistake of the configuration has its place.
    project.write("countersign.yml", format!("{RULES}polcy: {{}}\n"));
    for (name, text) in all(&project, &["review"], 2) {
        assert!(says_no(name, &text), "{name}: {text}");
        assert!(text.contains("countersign.yml"), "{name}: {text}");
    }
    // A pass is none of these, and says what no rule is about.
    project.write("countersign.yml", RULES);
    fs::remove_file(project.path("empty.md")).unwrap();
    for (name, text) in all(&project, &["review", "."], 0) {
        assert!(!says_no(name, &text), "{name}: {text}");
        assert!(text.replace('\\', "").contains("b.txt"), "{name}: {text}");
    }
}

#[test]
fn issue_20_a_report_never_stays_from_an_earlier_call() {
    let project = project();
    project.write("a.md", "x\n").write("countersign.yml", RULES);
    let file = project.home().join("out.sarif");
    let format = format!("sarif={}", file.display());
    project.run(&["review", "--format", &format]).exits(0);
    let passed = fs::read_to_string(&file).unwrap();
    assert!(!says_no("sarif", &passed), "{passed}");
    // While the command runs the file says so.
    let seen = project.home().join("seen.sarif");
    let body = format!("cp '{}' '{}'; exit 1", file.display(), seen.display());
    let judge = Judge::scripted(&project, "judge.sh", &body);
    project
        .run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--format", &format])
        .exits(4);
    let seen = fs::read_to_string(seen).unwrap();
    assert!(says_no("sarif", &seen) && seen.contains("has not ended"), "{seen}");
    // A file that cannot be written is told before anything is asked.
    let asked = judge.asked().len();
    let ran = project.run(&[
        "review",
        "a.md",
        "--criterion",
        COMPLETE,
        "--reviewer",
        judge.name(),
        "--format",
        "sarif=/no/such/folder/x",
    ]);
    assert!(ran.exits(2).stderr.contains("`/no/such/folder/x` cannot be written"));
    assert_eq!(judge.asked().len(), asked);
}

#[test]
fn issue_20_show_run_and_task_have_the_same_formats() {
    let (project, _judge) = many();
    project.run(&["review", "--subject", "x"]).exits(1);
    let shown = project.run(&["show", "--format", "sarif"]).exits(0);
    let sarif: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 300);
    let ran = project.run(&["show", "rv-none", "--format", "junit"]).exits(2);
    assert!(says_no("junit", &ran.stdout), "{ran:?}");
    let (project, _repository, _judge) = crate::task::started("");
    project.run(&["task", "add", "Build walls", "--id", "walls"]).exits(0);
    let needs =
        r#"{"result": "NEEDS_REVISION", "issues": ["a.md is short"], "summary": "bad", "blocking": false}"#;
    crate::task::says(&project, "Bad.", needs);
    let ran = project.run(&["task", "review", "walls", "--format", "gitlab"]).exits(1);
    assert!(says_no("gitlab", &ran.stdout) && ran.stdout.contains("a.md is short"), "{ran:?}");
    let ran = project.run(&["status", "--format", "sarif"]).exits(2);
    assert!(ran.stderr.contains("`countersign status` has no findings for --format sarif"), "{ran:?}");
    // Also where the rest of the command line is wrong, and the format comes first.
    let file = project.home().join("first.sarif");
    std::fs::write(&file, "{}").unwrap();
    project.run(&["--format", &format!("sarif={}", file.display()), "review", "--no-such-flag"]).exits(2);
    assert!(says_no("sarif", &std::fs::read_to_string(&file).unwrap()));
    let ran = project.run(&["review", "--dry-run", "--format", "sarif"]).exits(2);
    assert!(ran.stderr.contains("--dry-run judges nothing"), "{ran:?}");
    let ran = project.run(&["review", "--format", "sarif", "--format", "junit"]).exits(2);
    assert!(ran.stderr.contains("sarif and junit cannot both be on standard output"), "{ran:?}");
}

#[test]
fn issue_20_a_run_says_in_every_format_what_is_not_done() {
    use crate::run::kit::{Kit, ONE};
    let kit = Kit::new(ONE, "");
    let ran = kit.project.run(&["run", "--all", "--hitl-review", "--format", "rdjson"]);
    assert!(ran.code != 0 && says_no("rdjson", &ran.stdout), "{ran:?}");
    assert!(ran.stdout.contains("waits for a person"), "{ran:?}");
    kit.said(&["approve", "TASK-001", "--reason", "seen"]);
    let ran = kit.project.run(&["run", "--all", "--format", "junit"]).exits(0);
    assert!(ran.stdout.contains("TASK-001") && !says_no("junit", &ran.stdout), "{ran:?}");
}
