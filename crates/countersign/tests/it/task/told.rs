//! Who is told when the review of a task needs somebody (SVC-15), and that nothing of it concerns the review.

use super::{APPROVED, json, says, started};
use crate::notify::Hook;
use countersign_engine::ledger::Ledger;
use countersign_testkit::{Act, Loopback, Project, Running};
use serde_json::Value;

const REJECTED: &str = r#"{"result": "REJECTED", "summary": "a <b>key</b> & \u001b[31m \\n is in it"}"#;

/// Settings with a webhook and neither bell nor desktop.
fn hooked(service: &Loopback<Hook>, more: &str) -> String {
    format!(
        "notify:\n  desktop: false\n  bell: false\n  webhook: {{url: '{}/x', timeout_seconds: 1}}\n{more}",
        service.url()
    )
}

/// What is on record of notifications.
fn told(project: &Project) -> Vec<Value> {
    let read = async {
        let ledger = Ledger::open_existing(&project.ledger_dir()).await.unwrap().unwrap();
        ledger.notes("notifications").await.unwrap()
    };
    let notes = tokio::runtime::Runtime::new().unwrap().block_on(read);
    notes.iter().map(|note| serde_json::from_str(&note.body).unwrap()).collect()
}

fn takes() -> Loopback<Hook> {
    Loopback::always(Act::Raw(String::new()))
}

/// SVC-9, SVC-15.
#[test]
fn svc_9_15_a_rejection_is_told_and_what_reviewers_say_does_not_act() {
    let service = takes();
    let (project, _repository, _judge) = started(&hooked(&service, ""));
    says(&project, "No.", REJECTED);
    let answer = json(&project, &["task", "done", "1.1"], 6);
    let [asked] = &service.asked()[..] else { panic!("told once") };
    assert_eq!(asked.body["about"], "review_failed");
    assert_eq!(asked.body["title"], "Review Rejected: Build walls");
    assert_eq!(asked.body["message"], "Blocking issue found: a <b>key</b> & \\u{1b}[31m \\n is in it");
    assert_eq!((&asked.body["sound"], &asked.body["review"]), (&"Basso".into(), &answer["review"]["id"]));
    let [record] = &told(&project)[..] else { panic!("on record once") };
    assert_eq!(record["title"], asked.body["title"]);
    assert_eq!(record["ways"], serde_json::json!([{ "way": "webhook", "state": "done", "why": null }]));
}

/// SVC-15.
#[test]
fn svc_15_each_event_has_its_switch() {
    let service = takes();
    let (project, _repository, _judge) = started(&hooked(&service, ""));
    says(&project, "Fine.", APPROVED);
    json(&project, &["task", "done", "1.1"], 0);
    assert!(service.asked().is_empty() && told(&project).is_empty());

    let (project, _repository, _judge) = started(&hooked(&service, "  on_task_complete: true\n"));
    says(&project, "Fine.", APPROVED);
    json(&project, &["task", "done", "1.1"], 0);
    assert_eq!(service.asked()[0].body["title"], "Task Complete: Build walls");

    let (project, _repository, _judge) = started(&hooked(&service, ""));
    says(&project, "Hm.", "no JSON at all");
    json(&project, &["task", "done", "1.1"], 4);
    assert_eq!(service.asked()[1].body["about"], "no_verdict");

    let off = "  on_review_failed: false\n  on_no_verdict: false\n";
    let (project, _repository, _judge) = started(&hooked(&service, off));
    json(&project, &["task", "start", "1.1"], 0);
    says(&project, "Hm.", "no JSON at all");
    json(&project, &["task", "done", "1.1"], 4);
    says(&project, "No.", REJECTED);
    project.write("a.md", "three\n");
    json(&project, &["task", "done", "1.1"], 6);
    assert_eq!(service.asked().len(), 2);
    assert!(told(&project).is_empty());
}

/// Whoever changes what work is judged by waits for a person, who is told so.
/// SVC-15.
#[test]
fn svc_15_a_task_that_waits_for_a_person_is_told() {
    let service = takes();
    let (project, _repository, _judge) = started(&hooked(&service, ""));
    says(&project, "Fine.", APPROVED);
    project.write("countersign.yml", project.read("countersign.yml") + "# looser\n");
    json(&project, &["task", "done", "1.1"], 3);
    let [asked] = &service.asked()[..] else { panic!("told once") };
    assert_eq!(asked.body["about"], "person_needed");
    assert_eq!(asked.body["title"], "Person Needed: Build walls");
    assert!(asked.body["message"].as_str().unwrap().contains("countersign approve 1.1 "), "{}", asked.body);
}

/// The hours around now are quiet, by the clock of the user and not by UTC.
/// SVC-15.
#[test]
fn svc_15_quiet_hours_silence_people_and_not_machines() {
    let service = takes();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    // Five hours and a half ahead of UTC.
    let hour = |hours: u64| (now + 5 * 3600 + 1800 + hours * 3600) % 86_400 / 3600;
    for (from, to, quiet) in [(hour(23), hour(2), true), (hour(2), hour(4), false)] {
        let more = format!("  quiet_hours_start: '{from}:00'\n  quiet_hours_end: '{to}:00'\n");
        let settings = hooked(&service, &more).replace("  bell: false\n", "  command: [./tell.sh]\n");
        let (project, _repository, _judge) = started(&settings);
        says(&project, "No.", REJECTED);
        let mut command = project.command(&["task", "done", "1.1"]);
        Running::start(command.env("TZ", "XYZ-5:30")).wait().exits(6);
        let record = told(&project).remove(0);
        assert_eq!(record["quiet"], quiet, "{record}");
        let ways: Vec<&str> =
            record["ways"].as_array().unwrap().iter().map(|way| way["way"].as_str().unwrap()).collect();
        let expected: &[&str] = if quiet { &["webhook", "command"] } else { &["bell", "webhook", "command"] };
        assert_eq!(ways, expected, "{record}");
    }
}

#[test]
fn a_way_that_fails_is_said_and_recorded_and_changes_nothing_about_the_review() {
    let service = Loopback::<Hook>::always(Act::error(410, "gone", "gone"));
    let (project, _repository, _judge) = started(&hooked(&service, "  command: [./nowhere.sh]\n"));
    says(&project, "No.", REJECTED);
    let ran = project.run(&["task", "done", "1.1"]).exits(6);
    assert!(ran.stdout.contains("Review Rejected: Build walls"), "{}", ran.stdout);
    assert!(ran.stderr.contains("countersign: no notification by webhook: 127.0.0.1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("it answered with 410"), "{}", ran.stderr);
    assert!(ran.stderr.contains("countersign: no notification by command: `./nowhere.sh`"), "{}", ran.stderr);
    let record = told(&project).remove(0);
    assert_eq!(record["ways"][0]["state"], "failed", "{record}");
    assert_eq!(record["ways"][1]["state"], "failed", "{record}");
    assert!(project.read("PLAN.md").contains("`[blocked]`"));
}

/// Everything hangs: the answer is there, and the command ends all the same.
#[test]
fn slow_ways_that_hang_keep_neither_the_answer_nor_the_end() {
    let service = Loopback::<Hook>::always(Act::Hang);
    let (project, _repository, _judge) = started(&hooked(&service, "  command: [sh, -c, 'sleep 600']\n"));
    says(&project, "No.", REJECTED);
    let ran = project.run(&["task", "done", "1.1"]).exits(6);
    assert!(ran.stdout.contains("Review Rejected: Build walls"), "{}", ran.stdout);
    assert!(ran.stderr.contains("it did not answer within 1 s"), "{}", ran.stderr);
    assert!(ran.stderr.contains("countersign: no notification by command: "), "{}", ran.stderr);
}

#[test]
fn who_waited_for_the_review_of_another_process_tells_nobody_again() {
    let service = takes();
    let (project, _repository, _judge) = started(&hooked(&service, ""));
    says(&project, "No.", REJECTED);
    super::together::waits(&project);
    let first = project.start(&["task", "done", "1.1"]);
    countersign_testkit::eventually("the reviewer is asked", || project.path(".brief0").exists());
    let second = project.start(&["task", "review", "1.1"]);
    project.write(".asked-go", "");
    first.wait().exits(6);
    second.wait();
    assert_eq!((service.asked().len(), told(&project).len()), (1, 1));
}
