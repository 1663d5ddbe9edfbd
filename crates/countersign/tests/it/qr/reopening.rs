//! What passed is looked at again after a fix touched it, or may have.

use super::{decomposed, qr, statuses};
use countersign_testkit::Project;
use serde_json::json;

fn four() -> Project {
    let project = decomposed(&json!([
        { "scope": "*", "check": "whole" },
        { "scope": "file:a.md", "check": "a" },
        { "scope": "file:b.md:1-2", "check": "b" },
        { "scope": "milestone:M1", "check": "m" },
    ]));
    project.write("a.md", "a").write("b.md", "b");
    for id in ["plan-001", "plan-002", "plan-004"] {
        qr(&project, &["record", id, "PASS"]).exits(0);
    }
    qr(&project, &["record", "plan-003", "FAIL", "--finding", "x"]).exits(0);
    project
}

#[test]
fn only_a_file_that_is_as_it_was_stays_passed() {
    let project = four();
    project.write("b.md", "better");
    qr(&project, &["fixed"]).exits(0);
    assert_eq!(statuses(&project), ["TODO", "PASS", "TODO", "TODO"]);
}

#[test]
fn a_file_that_is_named_or_changed_is_opened_again() {
    let named = four();
    qr(&named, &["fixed", "--files", "b.md", "./a.md"]).exits(0);
    assert_eq!(statuses(&named), ["TODO"; 4]);
    let changed = four();
    changed.write("a.md", "changed without a word");
    let json = qr(&changed, &["fixed", "--files", "b.md", "--json"]).exits(0).json();
    assert_eq!(json["reopened"], json!(["plan-001", "plan-002", "plan-003", "plan-004"]));
    assert_eq!(json["next_round"], true);
}

#[test]
fn a_pass_on_what_is_gone_is_opened_again() {
    let project = four();
    std::fs::remove_file(project.path("a.md")).unwrap();
    qr(&project, &["fixed"]).exits(0);
    assert_eq!(statuses(&project), ["TODO"; 4]);
}

#[test]
fn without_the_ledger_nobody_knows_and_everything_is_opened_again() {
    let project = four();
    project.forget_ledger();
    qr(&project, &["fixed"]).exits(0);
    assert_eq!(statuses(&project), ["TODO"; 4]);
}

#[test]
fn a_file_outside_the_project_is_refused() {
    let project = four();
    qr(&project, &["fixed", "--files", "/etc/passwd"]).exits(2);
    assert_eq!(statuses(&project), ["PASS", "PASS", "FAIL", "PASS"]);
}
