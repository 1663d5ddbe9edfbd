//! Steering the judge of a task and of the items of a review: `PATH`, `PYTHONPATH`, base URLs, `--reviewer`, an edited script.

use crate::kit::{Case, row};
use countersign_testkit::{Ran, Running};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Answers every question: fails a bad word.
const JUDGE: &str = r#"import json, sys

brief = json.load(sys.stdin)
passed = "BAD" not in brief["payload"]
rulings = [{"criterion": c["name"], "passed": passed, "feedback": "there is a BAD word"} for c in brief["assignment"]["criteria"]]
print(json.dumps({"passed": passed, "feedback": "f", "criteria_results": rulings}))
"#;

/// Passes every question.
const TAME: &str = r#"import json, sys

brief = json.load(sys.stdin)
rulings = [{"criterion": c["name"], "passed": True} for c in brief["assignment"]["criteria"]]
print(json.dumps({"passed": True, "feedback": "f", "criteria_results": rulings}))
"#;

const PLAN: &str = "# Plan\n\n### Phase 1: Ground\n\n- [ ] **Build walls** `[in_progress]`\n  - **Acceptance:** they stand\n";

/// A trusted project with a plan, items about a file, and bad work in it.
fn case() -> Case {
    let case = Case::untrusted();
    let config = crate::kit::config("[python3, judge.py]");
    case.project
        .write("judge.py", JUDGE)
        .write("PLAN.md", PLAN)
        .write("countersign.yml", format!("{config}review: {{pipeline: structured}}\n"))
        .write("items.json", json!([{ "scope": "file:a.md", "check": "no bad word" }]).to_string());
    fs::create_dir(case.project.path("state")).unwrap();
    case.repository.commit("plan");
    case.project.trust();
    let decompose =
        ["qr", "decompose", "--items", "items.json", "--state-dir", "state", "--phase", "plan-code"];
    case.project.run(&decompose).exits(0);
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("a.md", "BAD\n");
    case
}

type Steer = fn(&Case, &mut Command);

const WAYS: [(&str, Steer); 6] = [
    ("PATH", |case, command| {
        let bin = fake(case);
        command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    }),
    ("PYTHONPATH", |case, command| {
        let folder = case.project.home().join("library");
        fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "import sys\nsys.stdin = open(0)\nexec('''{TAME}''')\nimport os\nsys.stdout.flush()\nos._exit(0)\n"
        );
        fs::write(folder.join("sitecustomize.py"), text).unwrap();
        command.env("PYTHONPATH", folder);
    }),
    ("COUNTERSIGN_REVIEWER", |case, command| {
        command.env("COUNTERSIGN_REVIEWER", format!("command:{}", fake(case).join("python3").display()));
    }),
    ("--reviewer", |case, command| {
        command.args(["--reviewer", &format!("command:{}", fake(case).join("python3").display())]);
    }),
    ("an edited judge.py", |case, _| {
        case.project.write("judge.py", TAME);
    }),
    ("an edited countersign.yml", |case, _| {
        let tame = "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: A, check: not_empty}]}]\n\
                    review: {enabled: false}\n";
        case.project.write("countersign.yml", tame);
    }),
];

/// A folder with a Python that passes everything.
fn fake(case: &Case) -> std::path::PathBuf {
    let bin = case.project.home().join("evil");
    fs::create_dir_all(&bin).unwrap();
    let script = case.project.home().join("tame.py");
    fs::write(&script, TAME).unwrap();
    let python = bin.join("python3");
    fs::write(
        &python,
        format!(
            "#!/bin/sh\nexec /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin python3 '{}'\n",
            script.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

fn run(case: &Case, args: &[&str], steer: Steer) -> Ran {
    let mut command = case.agent(args);
    steer(case, &mut command);
    Running::start(&mut command).wait()
}

#[test]
fn attack_17_steering_the_judge_of_a_task() {
    for (name, steer) in WAYS {
        let case = case();
        let ran = run(&case, &["task", "done", "Build walls"], steer);
        assert!(ran.code == 1 && format!("{ran:?}").contains("there is a BAD word"), "{name}: {ran:?}");
        assert!(!case.project.read("PLAN.md").contains("[complete]"), "{name}");
        row(&format!("steering by {name}"), "task", "the trusted judge rules", "the findings");
    }
}

#[test]
fn attack_17_steering_the_judge_of_items() {
    for (name, steer) in WAYS {
        let case = case();
        let verify = ["qr", "verify", "--state-dir", "state", "--phase", "plan-code"];
        let ran = run(&case, &verify, steer);
        assert!(ran.code == 1, "{name}: {ran:?}");
        let gate = ["qr", "gate", "--state-dir", "state", "--phase", "plan-code"];
        let ran = run(&case, &gate, |_, _| {});
        assert_eq!(ran.code, 1, "{name}: {ran:?}");
        assert!(case.project.read("state/qr-plan-code.json").contains("there is a BAD word"), "{name}");
        row(&format!("steering by {name}"), "qr verify", "the trusted judge rules", "the findings");
    }
}
