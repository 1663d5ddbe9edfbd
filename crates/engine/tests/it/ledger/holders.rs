//! Holders: a living process is told from a dead one without clocks.

use super::processes::start;
use countersign_engine::ledger::{Holder, is_alive};
use std::fs;

#[test]
fn a_holder_is_alive_until_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let holder = Holder::new(dir.path()).unwrap();
    let id = holder.id().to_owned();
    assert!(is_alive(dir.path(), &id), "also for the process that holds it");
    assert!(is_alive(dir.path(), &id), "and asking does not end it");
    let other = Holder::new(dir.path()).unwrap();
    assert_ne!(other.id(), id);
    assert!(is_alive(dir.path(), &id), "a second start clears no living holder away");
    drop(holder);
    assert!(!is_alive(dir.path(), &id));
    assert!(is_alive(dir.path(), other.id()));
}

#[test]
fn a_name_never_leads_out_of_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("holders")).unwrap();
    let outside = dir.path().join("ledger.db");
    fs::write(&outside, "precious").unwrap();
    for id in ["../ledger.db", "", ".", "..", "/etc/passwd", "ABC", "a/b"] {
        assert!(!is_alive(dir.path(), id), "{id}");
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
}

#[test]
fn what_a_dead_process_left_is_cleared_away_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("holders")).unwrap();
    fs::write(dir.path().join("holders/abcdefgh0123"), "").unwrap();
    let holder = Holder::new(dir.path()).unwrap();
    let names: Vec<_> = fs::read_dir(dir.path().join("holders")).unwrap().flatten().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].file_name().to_str(), Some(holder.id()));
}

#[test]
fn a_killed_process_is_dead_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = start("hold", dir.path(), 0);
    let id = process.line();
    assert!(is_alive(dir.path(), &id));
    process.kill();
    assert!(!is_alive(dir.path(), &id));
    assert!(!dir.path().join("holders").join(&id).exists(), "its file is removed");
}
