//! kill -9 at every write of a task's review: saying it again ends it as if nothing had happened.

use super::*;
use countersign_testkit::Running;

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
