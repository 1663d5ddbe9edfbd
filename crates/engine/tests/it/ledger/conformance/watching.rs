//! Watching: a change is told, by whichever process, and silence is not.

use super::super::fixture::record_passed;
use super::StoreKind;
use countersign_engine::ledger::Watcher;
use std::time::Duration;

pub async fn told(watcher: &mut Watcher, within_ms: u64) -> bool {
    tokio::time::timeout(Duration::from_millis(within_ms), watcher.changed()).await.is_ok()
}

async fn a_change_by_this_process_is_told_at_once(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let mut watcher = ledger.watch().await.unwrap();
    let mut other = ledger.watch().await.unwrap();
    record_passed(&ledger, "a").await;
    assert!(told(&mut watcher, 5).await);
    assert!(told(&mut other, 5).await);
}

async fn what_happens_between_two_waits_is_not_missed(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let mut watcher = ledger.watch().await.unwrap();
    record_passed(&ledger, "a").await;
    record_passed(&ledger, "b").await;
    assert!(told(&mut watcher, 5).await);
    assert_eq!(ledger.since(0, 100).await.unwrap().len(), 16);
}

on_every_store!(a_change_by_this_process_is_told_at_once, what_happens_between_two_waits_is_not_missed);
