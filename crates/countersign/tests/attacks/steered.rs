//! Steering the judge of a task and of the items of a review: `PATH`, `PYTHONPATH`, base URLs, `--reviewer`, an edited script.

use crate::kit::{Case, row};
use countersign_testkit::hiding::{self, Deed, FORGERIES, WAYS};
use countersign_testkit::{Ran, Running};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Answers every question: fails a bad word.
const JUDGE: &str = r#"import json, sys

brief = json.load(sys.stdin)
passed = "BAD" not in brief["payload"] and "[File not found]" not in brief["payload"]
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
    let case = started("a.md");
    case.project.write("a.md", "BAD\n");
    case
}

/// A trusted project with a plan and items about a file, on a branch for an agent.
fn started(path: &str) -> Case {
    let case = Case::untrusted();
    let config = crate::kit::config("[python3, judge.py]").replace("'*.md'", "'**/*.md'");
    for (path, text) in hiding::before() {
        case.project.write(path, text);
    }
    case.project
        .write("judge.py", JUDGE)
        .write("PLAN.md", PLAN)
        .write("countersign.yml", format!("{config}review: {{pipeline: structured}}\n"))
        .write(
            "items.json",
            json!([{ "scope": format!("file:{path}"), "check": "no bad word" }]).to_string(),
        );
    fs::create_dir(case.project.path("state")).unwrap();
    case.repository.commit("plan");
    case.project.trust();
    let decompose =
        ["qr", "decompose", "--items", "items.json", "--state-dir", "state", "--phase", "plan-code"];
    case.project.run(&decompose).exits(0);
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case
}

type Steer = fn(&Case, &mut Command);

const STEERS: [(&str, Steer); 6] = [
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
    for (name, steer) in STEERS {
        let case = case();
        let ran = run(&case, &["task", "done", "Build walls"], steer);
        assert!(ran.code == 1 && format!("{ran:?}").contains("there is a BAD word"), "{name}: {ran:?}");
        assert!(!case.project.read("PLAN.md").contains("[complete]"), "{name}");
        row(&format!("steering by {name}"), "task", "the trusted judge rules", "the findings");
    }
}

#[test]
fn attack_17_steering_the_judge_of_items() {
    for (name, steer) in STEERS {
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

const VERIFY: [&str; 6] = ["qr", "verify", "--state-dir", "state", "--phase", "plan-code"];

#[test]
fn attack_18_every_way_to_hide_from_a_task_and_from_items() {
    for way in WAYS {
        for deed in Deed::ALL.into_iter().filter(|deed| way.hides(*deed)) {
            let (name, case) = (way.name, started(deed.path()));
            way.apply(deed, &case.repository, case.project.home());
            let ran = run(&case, &["task", "done", "Build walls"], |_, _| {});
            assert!(
                ran.code == 1 && format!("{ran:?}").contains("there is a BAD word"),
                "{name} {deed:?}: {ran:?}"
            );
            assert!(!case.project.read("PLAN.md").contains("[complete]"), "{name} {deed:?}");
            // An item about a file that is gone is a mistake, and the file is named.
            let expected = if deed == Deed::Deleted { 2 } else { 1 };
            let ran = run(&case, &VERIFY, |_, _| {});
            assert_eq!(ran.code, expected, "{name} {deed:?}: {ran:?}");
            assert!(ran.code == 1 || ran.stderr.contains(deed.path()), "{name} {deed:?}: {ran:?}");
            let ran = run(&case, &["qr", "gate", "--state-dir", "state", "--phase", "plan-code"], |_, _| {});
            assert_ne!(ran.code, 0, "{name} {deed:?}: {ran:?}");
        }
        row(&format!("hiding by {}", way.name), "task, qr verify", "seen", "the findings");
    }
    for way in FORGERIES {
        let case = started(Deed::Modified.path());
        way.apply(Deed::Modified, &case.repository, case.project.home());
        let ran = run(&case, &["task", "done", "Build walls"], |_, _| {});
        assert!(
            ran.code != 0 && !case.project.read("PLAN.md").contains("[complete]"),
            "{}: {ran:?}",
            way.name
        );
        let ran = run(&case, &VERIFY, |_, _| {});
        assert_ne!(ran.code, 0, "{}: {ran:?}", way.name);
        row(&format!("forged: {}", way.name), "task, qr verify", "never passes", "the message");
    }
}
