//! Files of the ledger that may not be read or written: said as what it is, by `doctor` as by a review.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, Ran, Running, bound_by_permissions, eventually};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn reviewed() -> (Project, Judge) {
    let project = project();
    let judge = Judge::by_word(&project, "Complete");
    project.write("a.md", "one");
    review(&project, &judge).exits(0);
    (project, judge)
}

fn review(project: &Project, judge: &Judge) -> Ran {
    bound(project, &["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()])
}

fn bound(project: &Project, args: &[&str]) -> Ran {
    Running::start(&mut bound_by_permissions(&project.command(args))).wait()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// What `doctor` says of the ledger: its state, and its words.
fn diagnosed(project: &Project, code: i32) -> (String, String) {
    let json = bound(project, &["doctor", "--json"]).exits(code).json();
    let line =
        json["lines"].as_array().unwrap().iter().find(|line| line["what"] == "ledger").unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&line["state"]), text(&line["detail"]))
}

#[test]
fn issue_19_a_file_left_read_only_beside_the_ledger_stops_no_writer() {
    for left in ["ledger.db-shm", "ledger.db-wal"] {
        let project = project();
        let go = project.path(".go");
        let body = format!(
            "touch '{}'; while [ ! -e '{}' ]; do sleep 0.01; done\n\
             printf '{{\"passed\": true, \"feedback\": \"\", \"criteria_results\": [{{\"criterion\": \"Complete\", \"passed\": true}}]}}'",
            project.path(".asked").display(),
            go.display()
        );
        let judge = Judge::scripted(&project, "judge.sh", &body);
        project.write("a.md", "one");
        let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()];
        let mut killed = project.start(&args);
        eventually("the reviewer is asked", || project.path(".asked").exists());
        killed.kill();
        killed.wait();
        set_mode(&project.ledger_path(left), 0o444);
        project.write(".go", "");
        review(&project, &judge).exits(0);
        assert_eq!(diagnosed(&project, 0).0, "ok", "{left}");
    }
}

#[test]
fn issue_19_what_cannot_be_read_is_not_called_unwritable() {
    let (project, judge) = reviewed();
    for (path, locked, open) in [("ledger.db", 0o200, 0o644), ("", 0o000, 0o755)] {
        let path = project.ledger_path(path);
        set_mode(&path, locked);
        for ran in [review(&project, &judge), bound(&project, &["status"])] {
            assert!(ran.stderr.contains("the ledger cannot be read: permission denied"), "{ran:?}");
            assert_eq!(ran.code, 8);
        }
        let (state, words) = diagnosed(&project, 8);
        assert!(state == "fail" && words.contains("cannot be read"), "{words}");
        set_mode(&path, open);
    }
}

#[test]
fn issue_19_doctor_is_not_content_where_a_review_cannot_begin() {
    let (project, judge) = reviewed();
    let holders = project.ledger_path("holders");
    set_mode(&holders, 0o555);
    let ran = review(&project, &judge).exits(8);
    assert!(ran.stderr.contains("the ledger cannot be written"), "{}", ran.stderr);
    let (state, words) = diagnosed(&project, 8);
    assert!(state == "fail" && words.contains("cannot be written"), "{words}");
    set_mode(&holders, 0o755);
    assert_eq!(diagnosed(&project, 0).0, "ok");
    // Where there is none yet, and none can be made.
    project.forget_ledger();
    set_mode(project.root(), 0o555);
    let (state, words) = diagnosed(&project, 0);
    set_mode(project.root(), 0o755);
    assert!(state == "warn" && words.contains("cannot be made"), "{words}");
    // A reviewer needs a folder of its own.
    let doctor = |folder: &str| {
        let mut command = bound_by_permissions(&project.command(&["doctor", "--json"]));
        Running::start(command.env("TMPDIR", folder)).wait()
    };
    let ran = doctor("/nowhere");
    let lines = ran.json()["lines"].to_string();
    assert!(ran.code != 0 && lines.contains("temporary folder"), "{ran:?}");
}
