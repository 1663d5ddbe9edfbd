//! Long reviews, clients that vanish, and the same call once more.

use super::*;
use countersign_testkit::eventually;

/// A reviewer that answers once `.go` is there.
pub(super) fn slow(project: &Project) -> Judge {
    let body = format!(
        r#"while [ ! -e '{}' ]; do sleep 0.01; done
printf '{{"passed": true, "feedback": "f", "criteria_results": [{{"criterion": "Complete", "passed": true}}]}}'"#,
        project.path(".go").display()
    );
    Judge::scripted(project, "judge.sh", &body)
}

#[test]
fn a_review_that_takes_long_is_answered_and_attached_to() {
    let (project, _) = guide();
    let judge = slow(&project);
    let mut client = external(&project, &["--wait-seconds", "1"]);
    let session = start(&mut client);
    let id = client.send(
        "tools/call",
        json!({ "name": "finished_step", "arguments": plan(&session), "_meta": { "progressToken": "p" } }),
    );
    let running = client.answer(id)["result"]["structuredContent"].clone();
    assert_eq!((&running["status"], &running["failed_reviews"]), (&json!("needs_work"), &json!([])));
    assert!(
        running["feedback"].as_str().unwrap().starts_with("REVIEW RUNNING: change nothing, call again"),
        "{running}"
    );
    assert!(
        client.notifications.iter().any(|one| one["method"] == "notifications/progress"),
        "{:?}",
        client.notifications
    );
    assert!(
        client.good("finished_step", plan(&session))["feedback"]
            .as_str()
            .unwrap()
            .starts_with("REVIEW RUNNING")
    );
    project.write(".go", "");
    eventually("it passes", || client.good("finished_step", plan(&session))["status"] == "next_step");
    assert_eq!(judge.asked().len(), 1, "nobody is asked twice");
}

/// The client goes away while the reviewer works. Another server on the same folder gives the recorded answer.
#[test]
fn a_client_that_comes_back_gets_the_recorded_answer() {
    let (project, _) = guide();
    let judge = slow(&project);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    let id = client.send("tools/call", json!({ "name": "finished_step", "arguments": plan(&session) }));
    eventually("the reviewer is asked", || !judge.asked().is_empty());
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    project.write(".go", "");
    // Also to somebody else.
    let mut other = external(&project, &[]);
    eventually("it passes", || status(&other.call("finished_step", plan(&session))) == "next_step");
    assert_eq!((judge.asked().len(), count(&project, "step_finished")), (1, 1));
    // The same call once more is the same answer, and advances nothing.
    let again = other.good("finished_step", plan(&session));
    assert_eq!((&again["status"], &again["begin_step"]["step_id"]), (&json!("next_step"), &json!("pages")));
    assert_eq!(count(&project, "step_finished"), 1);
}

#[test]
fn killed_while_a_reviewer_works_it_goes_on_elsewhere() {
    let (project, _) = guide();
    let judge = slow(&project);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    client.send("tools/call", json!({ "name": "finished_step", "arguments": plan(&session) }));
    eventually("the reviewer is asked", || !judge.asked().is_empty());
    client.kill();
    project.write(".go", "");
    let mut other = external(&project, &[]);
    assert_eq!(other.good("finished_step", plan(&session))["status"], "next_step");
    // Without a session the only one that is under way is meant.
    assert_eq!(
        other.good("finished_step", json!({ "outputs": { "pages": ["a.md"] } }))["status"],
        "workflow_complete"
    );
}
