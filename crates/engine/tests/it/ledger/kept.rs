//! Backups: a copy that can take the ledger's place, and is never written over another file.

use super::damage::edit;
use super::fixture::{record_passed, scratch};
use countersign_engine::ledger::{Ledger, LedgerError};
use std::fs;

#[tokio::test]
async fn issue_18_a_backup_is_a_ledger_of_the_same_events() {
    let (dir, ledger) = scratch().await;
    let stored = record_passed(&ledger, "a").await;
    let copy = dir.path().join("copy.db");
    assert_eq!(ledger.backup(&copy).await.unwrap(), 8);
    record_passed(&ledger, "later").await;
    let beside: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside.len(), 2, "nothing else stays: {beside:?}");
    let folder = dir.path().join("restored");
    fs::create_dir(&folder).unwrap();
    fs::copy(&copy, folder.join("ledger.db")).unwrap();
    let restored = Ledger::open(&folder).await.unwrap();
    assert_eq!(restored.verify().await.unwrap(), 8);
    assert_eq!(restored.review(&stored.review.id).await.unwrap(), Some(stored));
    record_passed(&restored, "b").await;
}

#[tokio::test]
async fn issue_18_a_backup_overwrites_nothing_and_keeps_no_damage() {
    let (dir, ledger) = scratch().await;
    record_passed(&ledger, "a").await;
    let copy = dir.path().join("copy.db");
    fs::write(&copy, "something else").unwrap();
    let refused = ledger.backup(&copy).await;
    assert!(matches!(refused, Err(LedgerError::Exists(_))), "{refused:?}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), "something else");
    fs::remove_file(&copy).unwrap();
    edit(dir.path(), "UPDATE events SET at_ms = 0 WHERE seq = 4").await;
    let refused = ledger.backup(&copy).await;
    assert!(matches!(refused, Err(LedgerError::Tampered { seq: 4 })), "{refused:?}");
    assert!(!copy.exists());
}
