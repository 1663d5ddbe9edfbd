//! Leases: who is there is told from who is gone, and what was under way goes to another.

use super::super::fixture::{append, asking, call_id, decide, question, record_open};
use super::StoreKind;

async fn a_holder_is_alive_until_it_is_dropped(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let holder = ledger.holder().unwrap();
    let id = holder.id().to_owned();
    assert!(ledger.is_alive(&id), "also for the process that holds it");
    assert!(ledger.is_alive(&id), "and asking does not end it");
    let other = ledger.holder().unwrap();
    assert_ne!(other.id(), id);
    assert!(ledger.is_alive(&id), "a second start clears no living holder away");
    drop(holder);
    assert!(!ledger.is_alive(&id));
    assert!(ledger.is_alive(other.id()));
    for unknown in ["", ".", "..", "abcdefgh0123", "ABC", "a/b"] {
        assert!(!ledger.is_alive(unknown), "{unknown}");
    }
}

async fn a_call_is_under_way_only_while_its_holder_is_there(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let open = record_open(&ledger, "a").await;
    let (key, reviewer) = question(&open.review).unwrap();
    let call = call_id();
    let asked = decide(&open.review, asking(&call, &key, reviewer));
    let open = append(&ledger, open, &asked, 2).await.unwrap();
    assert!(!ledger.is_under_way(&call).await.unwrap(), "no process performs it");
    let holder = ledger.holder().unwrap();
    let mut transaction = ledger.transaction().await.unwrap();
    transaction.set_holder(&open.review.id, Some(holder.id())).await.unwrap();
    transaction.begin_call("session/one", &call_id(), "main", 3).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(ledger.is_under_way(&call).await.unwrap());
    assert!(!ledger.is_under_way(&call_id()).await.unwrap(), "there is no such call");
    drop(holder);
    assert!(!ledger.is_under_way(&call).await.unwrap(), "its process is gone");
    // Another takes it over, and the one that was gone is not on record any more.
    let next = ledger.holder().unwrap();
    let mut transaction = ledger.transaction().await.unwrap();
    let seen = transaction.review(&open.review.id).await.unwrap().unwrap();
    assert!(seen.holder.is_some_and(|gone| !ledger.is_alive(&gone)));
    transaction.set_holder(&open.review.id, Some(next.id())).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(ledger.is_under_way(&call).await.unwrap());
}

on_every_store!(a_holder_is_alive_until_it_is_dropped, a_call_is_under_way_only_while_its_holder_is_there);
