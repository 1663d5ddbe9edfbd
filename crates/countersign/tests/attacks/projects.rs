//! Several projects of one repository share a ledger. What one of them has recorded is nothing of another one.

use crate::kit::{Case, row};
use countersign_testkit::{Ran, Running, honest_row};

const PLAN: &str = "# Plan\n\n### Phase 1: Build\n\n- [ ] **Build walls** `[in_progress]`\n  - Scope: a\n  - Acceptance: good\n";

/// Two trusted projects with the same plan: the work in `packages/a` is good, and that in `packages/b` is bad.
fn case() -> Case {
    let case = Case::untrusted();
    let config = crate::kit::config("[python3, judge.py]") + "review: {pipeline: structured}\n";
    for package in ["packages/a", "packages/b"] {
        for file in ["judge.py", "words.py"] {
            case.project.write(&format!("{package}/{file}"), case.project.read(file));
        }
        case.project
            .write(&format!("{package}/countersign.yml"), &config)
            .write(&format!("{package}/PLAN.md"), PLAN)
            .write(&format!("{package}/x.md"), "one\n");
    }
    case.repository.commit("packages");
    for package in ["packages/a", "packages/b"] {
        case.project.trust_in(&case.project.path(package));
    }
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("packages/a/x.md", "good\n").write("packages/b/x.md", "BAD\n");
    case
}

fn agent_in(case: &Case, package: &str, args: &[&str]) -> Ran {
    Running::start(case.agent(args).current_dir(case.project.path(package))).wait()
}

#[test]
fn attack_17_a_task_of_another_project_of_the_repository_releases_nothing() {
    let case = case();
    agent_in(&case, "packages/a", &["task", "done", "1.1"]).exits(0);
    let shown = agent_in(&case, "packages/b", &["task", "show", "1.1", "--json"]).exits(0).json();
    assert_eq!(shown["task"]["status"], "in_progress", "{shown}");
    agent_in(&case, "packages/b", &["reconcile"]);
    assert!(case.project.read("packages/b/PLAN.md").contains("[in_progress]"));
    agent_in(&case, "packages/b", &["task", "done", "1.1"]).exits(1);
    row(
        "a task with the same title that another project of the repository completed",
        "task",
        "judged, not believed",
        "task show",
    );
}

#[test]
fn honest_17_two_projects_use_the_same_subject() {
    let case = case();
    let args = ["review", "--change", "--gate", "--subject", "x"];
    agent_in(&case, "packages/a", &args).exits(0);
    let bad = agent_in(&case, "packages/b", &args).exits(1);
    assert!(bad.stdout.contains("round 1") && bad.stdout.contains("2 tries left"), "{bad:?}");
    let again = agent_in(&case, "packages/a", &args).exits(0);
    assert!(!again.stdout.contains("round 2"), "{again:?}");
    let shown = agent_in(&case, "packages/b", &["show", "x"]);
    assert!(shown.stdout.contains("BAD word"), "{shown:?}");
    honest_row("two projects of a monorepo with one subject name, each", 1, 0);
}
