//! Accepting, and beginning again after a failure, are for people.

use super::{FILE, args, decomposed, notes, plain_items, qr, state};
use countersign_testkit::Project;
use rexpect::session::spawn_command;
use serde_json::json;

fn typed(project: &Project, words: &[&str], variable: Option<&str>) -> String {
    let mut command = project.command(&args(words));
    command.env("USER", "ann").env("NO_COLOR", "1");
    if let Some(variable) = variable {
        command.env(variable, "1");
    }
    spawn_command(command, Some(60_000)).unwrap().exp_eof().unwrap()
}

#[test]
fn an_acceptance_is_a_persons_recorded_and_listed_in_every_report() {
    let project = decomposed(&plain_items(2));
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "odd"]).exits(0);
    qr(&project, &["record", "plan-002", "PASS"]).exits(0);
    let before = project.read(FILE);
    let accept = ["accept", "plan-001", "--reason", "agreed with ops"];
    let ran = qr(&project, &accept).exits(2);
    assert!(ran.stderr.contains("only a person may accept an item"), "{}", ran.stderr);
    assert!(typed(&project, &accept, Some("CLAUDECODE")).contains("only a person may accept an item"));
    assert!(typed(&project, &["accept", "plan-001", "--reason", " "], None).contains("needs a reason"));
    assert_eq!(project.read(FILE), before);
    assert!(typed(&project, &accept, None).contains("Accepted: plan-001"));
    let item = state(&project)["items"][0].clone();
    assert_eq!((&item["accepted"], &item["acceptance_reason"]), (&json!(true), &json!("agreed with ops")));
    assert_eq!(item["status"], "FAIL");
    for words in [&["gate"][..], &["status"]] {
        let said = qr(&project, words).exits(0).stdout;
        assert!(said.contains("Accepted by a person:\n- plan-001: agreed with ops"), "{said}");
    }
    let (kind, body) = notes(&project).pop().unwrap();
    assert_eq!(
        (kind.as_str(), &body["by"]["name"], &body["by"]["person"]),
        ("qr_accepted", &json!(crate::people::account()), &json!(true))
    );
    assert_eq!(body["reason"], "agreed with ops");
}

#[test]
fn beginning_again_after_a_failure_is_for_people() {
    let project = decomposed(&plain_items(1));
    qr(&project, &["reset"]).exits(0);
    assert!(!project.path(FILE).exists());
    qr(&project, &["reset"]).exits(0);
    qr(&project, &["decompose", "--items", "items.json"]).exits(0);
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "x"]).exits(0);
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    qr(&project, &["reset"]).exits(2);
    qr(&project, &["decompose", "--items", "items.json", "--again"]).exits(2);
    assert!(project.path(FILE).exists());
    assert!(
        typed(&project, &["decompose", "--items", "items.json", "--again"], None)
            .contains("DECOMPOSE COMPLETE")
    );
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "x"]).exits(0);
    assert!(typed(&project, &["reset"], None).contains("its state is removed"));
    assert!(!project.path(FILE).exists());
}
