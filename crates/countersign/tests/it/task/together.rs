//! Several at once, processes that are gone, and people who decide.

use super::{APPROVED, briefs, events, json, kinds, says, started};
use crate::people::typed;
use countersign_testkit::{Project, eventually};

/// A judge that waits for `.go` before it says anything.
pub fn waits(project: &Project) {
    let script = project.read("judge.sh");
    let root = project.root().display().to_string();
    let wait = format!("while [ ! -e {root}/.asked-go ]; do sleep 0.05; done\ncase \"$brief\" in");
    project.write("judge.sh", script.replacen("case \"$brief\" in", &wait, 1)).trust();
}

#[test]
fn a_second_start_waits_for_the_review_under_way() {
    let (project, _repository, _judge) = started("");
    waits(&project);
    let first = project.start(&["task", "done", "1.1"]);
    eventually("the reviewer is asked", || project.path(".brief0").exists());
    let listed = json(&project, &["task", "list"], 0);
    assert_eq!(listed["active_reviews"], serde_json::json!(["1.1"]));
    // SVC-13
    let status = json(&project, &["status"], 0);
    let [active] = &status["task_reviews"].as_array().unwrap()[..] else { panic!("{status}") };
    assert_eq!((&active["task_id"], &active["title"]), (&"1.1".into(), &"Build walls".into()));
    assert_eq!((&active["attempt"], active["started_at"].is_string()), (&1.into(), true));
    let text = project.run(&["status"]).exits(0).stdout;
    assert!(text.contains("under review\n  1.1 Build walls  attempt 1, "), "{text}");
    let second = project.start(&["task", "review", "1.1", "--json"]);
    project.write(".asked-go", "");
    first.wait().exits(0);
    let answer = second.wait().exits(0).json();
    assert_eq!(answer["review"]["result"], "approved");
    assert_eq!(json(&project, &["task", "list"], 0)["active_reviews"], serde_json::json!([]));
    assert_eq!(json(&project, &["status"], 0)["task_reviews"], serde_json::json!([]));
    // However the two met, at most one review was asked for.
    assert_eq!(briefs(&project).len(), 2);
}

#[test]
fn a_review_whose_process_is_gone_has_failed_and_the_task_is_reviewed_again() {
    let (project, _repository, _judge) = started("");
    waits(&project);
    let mut first = project.start(&["task", "done", "1.1"]);
    eventually("the reviewer is asked", || project.path(".brief0").exists());
    first.kill();
    drop(first.wait());
    assert_eq!(json(&project, &["status"], 0)["task_reviews"], serde_json::json!([]));
    assert!(project.read("PLAN.md").contains("`[awaiting_review]`"));
    assert_eq!(kinds(&project), ["review_started 1.1 pending awaiting_review"]);
    project.write(".asked-go", "");
    json(&project, &["task", "review", "1.1"], 0);
    assert_eq!(
        kinds(&project),
        [
            "review_started 1.1 pending awaiting_review",
            "review_failed 1.1 pending awaiting_review",
            "review_started 1.1 pending awaiting_review",
            "review_completed 1.1 approved complete",
        ]
    );
    assert_eq!(events(&project)[1].1["review"]["error"], "the review was interrupted");
}

#[test]
fn people_unblock_and_approve_by_the_name_of_the_task() {
    let (project, _repository, _judge) = started("");
    says(&project, "No.", r#"{"result": "REJECTED", "summary": "s"}"#);
    json(&project, &["task", "done", "1.1"], 6);
    project.run(&["unblock", "1.1", "--reason", "I looked"]).exits(2);
    assert!(project.read("PLAN.md").contains("`[blocked]`"));
    typed(&project, &["unblock", "1.1", "--reason", "I looked"], None);
    assert!(
        project.read("PLAN.md").contains("- [ ] **Build walls** `[in_progress]`"),
        "{}",
        project.read("PLAN.md")
    );
    project.write("a.md", "other\n");
    json(&project, &["task", "done", "1.1"], 6);
    let said = typed(&project, &["approve", "1.1", "--reason", "good enough"], None);
    assert!(said.contains("overridden"), "{said}");
    assert!(project.read("PLAN.md").contains("- [x] **Build walls** `[complete]`"));
    let last = events(&project).pop().unwrap();
    assert_eq!((last.0.as_str(), &last.1["review"]["summary"]), ("review_completed", &"good enough".into()));
    says(&project, "Fine.", APPROVED);
    assert_eq!(json(&project, &["task", "done", "1.1"], 0)["task"]["status"], "complete");
    project.run(&["show", "1.1"]).exits(0);
    project.run(&["show", "1.2"]).exits(2);
}
