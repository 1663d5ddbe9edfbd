//! Holders in a folder: a living process is told from a dead one without clocks.

use super::processes::start;
use countersign_engine::ledger::Ledger;
use std::fs;

#[tokio::test]
async fn a_name_never_leads_out_of_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).await.unwrap();
    let outside = dir.path().join("precious");
    fs::write(&outside, "precious").unwrap();
    for id in ["../precious", "", ".", "..", "/etc/passwd", "ABC", "a/b"] {
        assert!(!ledger.is_alive(id), "{id}");
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
}

#[tokio::test]
async fn what_a_dead_process_left_is_cleared_away_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).await.unwrap();
    fs::write(dir.path().join("holders/abcdefgh0123"), "").unwrap();
    let holder = ledger.holder().unwrap();
    let names: Vec<_> = fs::read_dir(dir.path().join("holders")).unwrap().flatten().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].file_name().to_str(), Some(holder.id()));
}

#[tokio::test]
async fn a_killed_process_is_dead_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).await.unwrap();
    let mut process = start("hold", dir.path(), 0);
    let id = process.line();
    assert!(ledger.is_alive(&id));
    process.kill();
    assert!(!ledger.is_alive(&id));
    assert!(!dir.path().join("holders").join(&id).exists(), "its file is removed");
}
