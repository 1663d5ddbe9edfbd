//! Watching: a change is told, by whichever process, and silence is not.

use super::fixture::{record_passed, scratch};
use countersign_engine::ledger::{Ledger, Watcher};
use std::time::Duration;

async fn told(watcher: &mut Watcher, within_ms: u64) -> bool {
    tokio::time::timeout(Duration::from_millis(within_ms), watcher.changed()).await.is_ok()
}

#[tokio::test]
async fn a_change_by_this_process_is_told_at_once() {
    let (_dir, ledger) = scratch().await;
    let mut watcher = ledger.watch().await.unwrap();
    let mut other = ledger.watch().await.unwrap();
    record_passed(&ledger, "a").await;
    assert!(told(&mut watcher, 5).await);
    assert!(told(&mut other, 5).await);
}

#[tokio::test]
async fn a_change_by_another_process_is_told_soon() {
    let (dir, ledger) = scratch().await;
    // A second opening of the same folder shares nothing with the first, as another process would.
    let other = Ledger::open(&dir.path().join(".countersign")).await.unwrap();
    let mut watcher = ledger.watch().await.unwrap();
    assert!(!told(&mut watcher, 250).await, "nothing happened");
    record_passed(&other, "a").await;
    assert!(told(&mut watcher, 2_000).await);
    assert!(!told(&mut watcher, 250).await, "it is told once");
}

#[tokio::test]
async fn what_happens_between_two_waits_is_not_missed() {
    let (_dir, ledger) = scratch().await;
    let mut watcher = ledger.watch().await.unwrap();
    record_passed(&ledger, "a").await;
    record_passed(&ledger, "b").await;
    assert!(told(&mut watcher, 5).await);
    assert_eq!(ledger.since(0, 100).await.unwrap().len(), 16);
}
