//! `status` and `validate` on projects with a list of tasks: nothing is asked, nothing is written.

use crate::project;
use countersign_doors::run::layout::Layout;
use countersign_doors::run::state::{Attempt, ReviewStatus, State, TaskState};
use countersign_testkit::Project;
use serde_json::json;

const TASKS: &str = "\
# Tasks

## Milestone 1: MVP

### TASK-001: Set up
🔴 P0 | ✅ DONE   Est: 1d

### TASK-002: Parse
🟠 P1 | ✅ DONE
**Depends on:** [TASK-001]

### TASK-003: Add API endpoints
🟡 P2 | ⬜ TODO
**Depends on:** [TASK-002]

### TASK-004: Polish
🟢 P3 | ⬜ TODO
**Depends on:** [TASK-003]
";

/// What a run leaves: a task that passed, one that was fixed, one that was rejected.
fn with_state(prefix: &str) -> Project {
    let project = project();
    project.write(&format!("spec/{prefix}tasks.md"), TASKS);
    let layout = Layout::new(project.root(), prefix).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let state = State::open(&layout).await.unwrap();
        let at = "2026-02-23T10:15:00";
        for (task, success, review, findings) in [
            ("TASK-001", true, "passed", None),
            (
                "TASK-002",
                true,
                "fixed",
                Some("2 issues found:\n  MAJOR: a (api.py:45)\n  MINOR: b (utils.py:1)\n"),
            ),
            ("TASK-003", false, "rejected", None),
            ("TASK-900", true, "passed", None),
        ] {
            let attempt = Attempt {
                review_status: Some(ReviewStatus::from(review)),
                review_findings: findings.map(str::to_owned),
                cost_usd: Some(0.5),
                ..Attempt::new(at, success, 1.5)
            };
            let became = if success { TaskState::Success } else { TaskState::Failed };
            state.begin_attempt(task, at).await.unwrap();
            state.finish_attempt(task, &attempt, &became).await.unwrap();
        }
        state.close().await.unwrap();
    });
    project
}

const LINES: &str = "\
TASK-001: success (review: passed)
TASK-002: success (review: fixed, 2 issues)
TASK-003: failed  (review: rejected)
TASK-004: pending
4 tasks: 1 failed, 1 pending, 2 success; 1 more task ran before and is no longer in spec/tasks.md
";

fn names(project: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(project.path("spec")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// RUN-6.
#[test]
fn run_6_status_begins_with_the_tasks_and_their_verdicts() {
    let project = with_state("");
    let before = (names(&project), std::fs::read(project.path("spec/.executor-state.db")).unwrap());
    let ran = project.run(&["status"]).exits(0);
    assert_eq!(ran.stdout, format!("{LINES}nothing has been judged in this project yet\n"));
    assert_eq!(ran.stderr, "");
    let json = project.run(&["status", "--json"]).exits(0).json();
    let second = json!({
        "id": "TASK-002", "name": "Parse", "priority": "P1", "status": "DONE", "milestone": "Milestone 1: MVP",
        "state": "success", "attempts": 1, "cost_usd": 0.5, "error_code": null, "review_status": "fixed",
        "issues": 2, "review": null,
    });
    assert_eq!(json["tasks"][1], second);
    assert_eq!(json["tasks"][3]["state"], "pending");
    assert_eq!(json["open"], json!([]));
    let after = (names(&project), std::fs::read(project.path("spec/.executor-state.db")).unwrap());
    assert!(before == after && !project.ledger_dir().exists(), "{after:?}");

    // The ledger's part follows.
    project.write(
        "countersign.yml",
        "version: 1\nrules: [{name: docs, for: ['*.md'], criteria: [{name: A, check: not_empty}]}]\n",
    );
    project.write("a.md", "x").run(&["review", "a.md"]).exits(0);
    let stdout = project.run(&["status"]).exits(0).stdout;
    let rest = stdout.strip_prefix(LINES).unwrap();
    assert!(rest.contains("ended") && rest.contains("1  passed"), "{stdout}");
}

#[test]
fn a_project_without_tasks_has_none() {
    let project = project();
    let json = project.run(&["status", "--json"]).exits(0).json();
    assert!(json["tasks"].is_null() && json.as_object().unwrap().contains_key("tasks"));
    assert_eq!(project.run(&["status"]).exits(0).stdout, "nothing has been judged in this project yet\n");
}

#[test]
fn a_prefix_of_the_settings_leads_to_other_files() {
    let project = with_state("phase5-");
    assert!(project.run(&["status"]).exits(0).stdout.starts_with("nothing"));
    project.write("spec-runner.config.yaml", "spec_prefix: phase5-\n");
    let expect = LINES.replace("spec/", "spec/phase5-");
    assert!(project.run(&["status"]).exits(0).stdout.starts_with(&expect));
    assert!(project.run(&["validate"]).exits(0).stdout.contains("spec/phase5-tasks.md: 4 tasks: valid\n"));
    // What countersign.yml says wins.
    project.write("a.md", "x").write(
        "countersign.yml",
        "version: 1\nrules: [{name: docs, for: ['*.md'], criteria: [{name: A, check: not_empty}]}]\nrun: {spec_prefix: p6-}\n",
    );
    assert!(project.run(&["status"]).exits(0).stdout.starts_with("nothing"));
}

#[test]
fn the_oldest_form_is_shown_and_left_alone() {
    let project = project();
    project.write("spec/tasks.md", TASKS).write(
        "spec/.executor-state.json",
        r#"{"tasks": {"TASK-003": {"status": "failed", "attempts": [
            {"timestamp": "t", "success": false, "duration_seconds": 1, "error_code": "NEW"}]}}}"#,
    );
    let json = project.run(&["status", "--json"]).exits(0).json();
    assert_eq!(
        (&json["tasks"][2]["state"], &json["tasks"][2]["error_code"]),
        (&json!("failed"), &json!("NEW"))
    );
    assert_eq!(names(&project), [".executor-state.json", "tasks.md"]);
    project.write("spec/.executor-state.json", "{\"tasks\": 3}");
    let stderr = project.run(&["status"]).exits(8).stderr;
    assert!(stderr.contains(".executor-state.json:1:") && stderr.contains("nothing was changed"), "{stderr}");
    project.write("spec/.executor-state.db", "not a database".repeat(100));
    let stderr = project.run(&["status"]).exits(8).stderr;
    assert!(stderr.contains("cannot be read: file is not a database"), "{stderr}");
}

#[test]
fn status_shows_what_it_can_of_a_list_with_mistakes() {
    let project = with_state("");
    project.write("spec/tasks.md", TASKS.replace("🟢 P3", "🟢 P7").replace("[TASK-001]", "[TASK-009]"));
    let ran = project.run(&["status"]).exits(0);
    assert!(
        ran.stdout.starts_with("TASK-001: success (review: passed)\n") && !ran.stdout.contains("TASK-004")
    );
    assert!(
        ran.stderr.contains("spec/tasks.md has 2 mistakes") && ran.stderr.contains("countersign validate")
    );
}

#[test]
fn issue_19_what_no_task_needs_is_a_warning_and_no_list_is_valid_without_tasks() {
    let project = project();
    let list = "### TASK-001: One\nP0 | TODO Est: 30m\n**Blocks:** [TASK-009]\n";
    project.write("spec/tasks.md", list);
    let ran = project.run(&["validate"]).exits(0);
    assert!(ran.stdout.contains("1 task: valid"), "{ran:?}");
    for words in ["`30m` is no estimate", "TASK-001 blocks `TASK-009`, which does not exist"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    project.write("spec/tasks.md", format!("# Tasks\n\n```markdown\n{list}```\n"));
    let ran = project.run(&["validate"]).exits(0);
    assert!(ran.stdout.contains("1 task: valid") && ran.stderr.contains("in a code fence"), "{ran:?}");
    assert_eq!(project.run(&["status"]).exits(0).stdout.lines().next(), Some("TASK-001: pending"));
    project.write("spec/tasks.md", "# Tasks\n");
    let ran = project.run(&["validate"]).exits(0);
    assert!(ran.stdout.contains("no task was found") && !ran.stdout.contains("0 tasks"), "{ran:?}");
    assert!(ran.stderr.contains("this list has no tasks"), "{}", ran.stderr);
}

#[test]
fn validate_shows_every_mistake_of_tasks_and_settings_with_its_line() {
    let project = project();
    project
        .write(
            "spec/tasks.md",
            "\
---
title: Tasks
---
### TASK-001: One
🔴 P0 | ⬜ TODO   Est: 2d
**Depends on:** [TASK-002]

### TASK-002: Two
- P5 | ✅ DONE

### TASK-002: Again
P0 | DOING

### TASK-003: Three
P0 | TODO
**Depends on:** [TASK-004], [TASK-01]

### TASK-004: Four
P0 | TODO
**Depends on:** [TASK-003]

### TASK-005: Five
Only words.
",
        )
        .write("spec-runner.config.yaml", "max_retries: -1\non_task_failure: panic\npersonas: {}\n");
    let stderr = project.run(&["validate"]).exits(2).stderr;
    let root = project.root().display().to_string();
    insta::assert_snapshot!("mistakes_of_tasks", stderr.replace(&root, "ROOT"));
    let json = project.run(&["validate", "--json"]).exits(2).json();
    assert_eq!(json["error"]["kind"], "configuration");
    assert_eq!(names(&project), ["tasks.md"]);
}

#[test]
fn validate_says_what_is_there_and_what_is_doubtful() {
    let project = project();
    project.write("spec/tasks.md", TASKS.replace("[TASK-003]", "[REQ-001]"));
    project.write("spec/executor.config.yaml", "executor: {max_retries: 1, personas: {}}\n");
    let ran = project.run(&["validate"]).exits(0);
    assert!(ran.stdout.contains("/spec/tasks.md: 4 tasks: valid\n"), "{ran:?}");
    assert!(ran.stdout.ends_with("/spec/executor.config.yaml: valid\n"), "{ran:?}");
    assert!(ran.stderr.contains("tasks.md:18:18: `REQ-001` is not a task of this file"), "{ran:?}");
    assert!(ran.stderr.contains("executor.config.yaml:1:28: unknown key `personas`"), "{ran:?}");
    let json = project.run(&["validate", "--json"]).exits(0).json();
    assert_eq!((&json["tasks"], &json["jobs"], &json["rules"]), (&json!(4), &json!(0), &json!(0)));
    assert_eq!(json["warnings"].as_array().unwrap().len(), 2);
    assert!(json["run_settings"].as_str().unwrap().ends_with("executor.config.yaml"));
    // Settings of two shapes, and a section with a slip: all files are looked at together.
    project.write("spec/executor.config.yaml", "executor: {max_retries: 1}\nbudget_usd: 1\n").write("a.md", "x").write(
        "countersign.yml",
        "version: 1\nrules: [{name: docs, for: ['*.md'], criteria: [{name: A, check: not_empty}]}]\nrun: {max_retrys: 1}\n",
    );
    let stderr = project.run(&["validate"]).exits(2).stderr;
    for said in [
        "`budget_usd` at the top level",
        "executor.config.yaml:2:1",
        "unknown key `max_retrys`",
        "countersign.yml:3:7",
    ] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}
