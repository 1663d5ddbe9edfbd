//! Streams of doors: kept and chained like reviews, and out of their way.

use super::super::fixture::record_passed;
use super::StoreKind;
use countersign_engine::ledger::LedgerError;

async fn a_door_remembers_beside_reviews(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let stored = record_passed(&ledger, "a").await;
    let notes = [("begun", "{\"a\":1}".to_owned()), ("ended", "{}".to_owned())];
    for (stream, known) in [("session/one", 0), ("session/two", 0), ("session/one", 2)] {
        let mut transaction = ledger.transaction().await.unwrap();
        transaction.note(stream, known, &notes, 5).await.unwrap();
        assert_eq!(transaction.notes(stream).await.unwrap().len() as u64, known + 2);
        transaction.commit().await.unwrap();
    }
    let read = ledger.notes("session/one").await.unwrap();
    let kinds: Vec<_> = read.iter().map(|note| (note.n, note.kind.as_str(), note.at_ms)).collect();
    assert_eq!(kinds, [(1, "begun", 5), (2, "ended", 5), (3, "begun", 5), (4, "ended", 5)]);
    assert_eq!(ledger.streams("session/", 9).await.unwrap(), ["session/one", "session/two"]);
    let mut late = ledger.transaction().await.unwrap();
    assert!(matches!(late.note("session/one", 3, &notes, 5).await, Err(LedgerError::Conflict)));
    drop(late);
    // Reviews neither see nor count them.
    assert_eq!(ledger.review(&stored.review.id).await.unwrap(), Some(stored.clone()));
    assert!(ledger.recent(None, 99).await.unwrap().iter().all(|entry| entry.review == stored.review.id));
    ledger.verify().await.unwrap();
}

on_every_store!(a_door_remembers_beside_reviews);
