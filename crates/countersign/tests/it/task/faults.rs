//! kill -9 at every write of a task's review: saying it again ends it as if nothing had happened.

use super::*;
use countersign_testkit::Running;
use rexpect::process::WaitStatus;

/// What a review is and what it must come to: what the parser says, the exit code, the plan and the last event.
const ENDS: [(&str, i32, &str, &str); 2] = [
    (APPROVED, 0, "- [x] **Build walls** `[complete]`", "review_completed 1.1 approved complete"),
    (
        r#"{"result": "NEEDS_REVISION", "issues": ["thin"], "summary": "no"}"#,
        1,
        "- [ ] **Build walls** `[in_progress]`",
        "review_failed 1.1 needs_revision in_progress",
    ),
];

/// SVC-14: whatever was written when the process died, the task can be reviewed again, is judged once, and stands where
/// its review says.
#[test]
fn slow_svc_14_dying_at_every_write_leaves_a_task_that_can_be_reviewed_again() {
    for (parsed, code, stands, last) in ENDS {
        let mut deaths = 0;
        'writes: for write in 1.. {
            for moment in [format!("{write}"), format!("{write}!")] {
                let (project, _repository, _judge) = started("context: {tests: false}\n");
                says(&project, "Words.", parsed);
                let mut command = project.command(&["task", "done", "1.1"]);
                let ran = Running::start(command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", &moment)).wait();
                if ran.code != -1 {
                    assert_eq!(ran.code, code, "{ran:?}");
                    break 'writes;
                }
                deaths += 1;
                project.run(&["task", "done", "1.1"]).exits(code);
                let plan = project.read("PLAN.md");
                assert!(plan.contains(stands), "{moment}: {plan}");
                let kinds = kinds(&project);
                assert_eq!(kinds.last().map(String::as_str), Some(last), "{moment}: {kinds:?}");
                // A verdict that is on record is not asked for again.
                assert!(briefs(&project).len() <= 4, "{moment}");
                project.run(&["log", "--verify"]).exits(0);
            }
        }
        assert!(deaths >= 8, "{code}: {deaths}");
    }
}

/// Issue 19: whatever was written when the process of a decision died, the next command does what was left of it.
#[test]
fn slow_issue_19_a_decision_killed_at_any_write_is_carried_out_by_the_next_command() {
    for (verb, review, stands, last) in [
        ("approve", REVISE, "- [x] **Build walls** `[complete]`", "review_completed 1.1 approved complete"),
        ("reject", REVISE, "- [ ] **Build walls** `[blocked]`", "review_failed 1.1 rejected blocked"),
        ("unblock", REJECT, "- [ ] **Build walls** `[in_progress]`", "review_failed 1.1 rejected blocked"),
    ] {
        let mut deaths = 0;
        'writes: for write in 1.. {
            for moment in [format!("{write}"), format!("{write}!")] {
                let (project, _repository, _judge) = started("context: {tests: false}\n");
                says(&project, "Words.", review);
                project.run(&["task", "done", "1.1"]);
                let before = project.read("PLAN.md");
                let decide = [verb, "1.1", "--reason", "seen"];
                if !dies(&project, &decide, &moment) {
                    break 'writes;
                }
                deaths += 1;
                let is_decided = decided(&project, verb);
                let listed = project.run(&["task", "list"]).exits(0);
                let plan = project.read("PLAN.md");
                let words = format!("{verb} {moment}: {plan}{}", listed.stdout);
                if is_decided {
                    assert!(plan.contains(stands) && !listed.stdout.contains("the plan says"), "{words}");
                    assert_eq!(kinds(&project).last().map(String::as_str), Some(last), "{words}");
                    let ends = kinds(&project).iter().filter(|kind| *kind == last).count();
                    assert_eq!(ends, 1, "{words}");
                } else {
                    assert_eq!(plan, before, "{words}");
                }
                for folder in [project.path(""), project.ledger_dir()] {
                    let names = std::fs::read_dir(folder).unwrap();
                    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
                    let is_part =
                        |name: &std::ffi::OsString| name.to_string_lossy().contains("countersign-part");
                    assert!(!names.iter().any(is_part), "{words}: {names:?}");
                }
                project.run(&["log", "--verify"]).exits(0);
            }
        }
        assert!(deaths >= 6, "{verb}: {deaths}");
    }
}

const REVISE: &str = r#"{"result": "NEEDS_REVISION", "issues": ["thin"], "summary": "no"}"#;
const REJECT: &str = r#"{"result": "REJECTED", "issues": ["keys"], "summary": "no", "blocking": true}"#;

/// Decides at a terminal, in a process that dies at a write. Whether it died.
fn dies(project: &Project, words: &[&str], moment: &str) -> bool {
    let mut command = project.command(words);
    command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", moment).env("NO_COLOR", "1");
    let mut session = rexpect::session::spawn_command(command, Some(60_000)).unwrap();
    session.exp_eof().unwrap();
    session.process().wait().is_ok_and(|ended| matches!(ended, WaitStatus::Signaled(..)))
}

/// Whether the decision is on record.
fn decided(project: &Project, verb: &str) -> bool {
    let kind = if verb == "unblock" { "lifted" } else { "decided" };
    let read = async {
        let ledger = Ledger::open_existing(&project.ledger_dir()).await.unwrap().unwrap();
        ledger.feed(0, 1000).await.unwrap()
    };
    let all = tokio::runtime::Runtime::new().unwrap().block_on(read);
    all.iter().any(|event| event.kind == kind)
}
