//! Writing: all of a transaction or nothing, and never on top of what one has not seen.

use super::super::fixture::{append, call_id, decide, person, record_open, record_passed, review_id, work};
use super::StoreKind;
use countersign_core::outcome::{Settlement, Stop};
use countersign_core::review::{Event, Input, Review, step};
use countersign_engine::ledger::{Filter, LedgerError, Report, Stored};

async fn appending_to_an_older_state_is_a_conflict_and_writes_nothing(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let seen = record_open(&ledger, "a").await;
    let events = decide(&seen.review, Input::Withdrawn(person()));
    let now = append(&ledger, seen.clone(), &events, 2).await.unwrap();
    let late = append(&ledger, seen.clone(), &events, 3).await;
    assert!(matches!(late, Err(LedgerError::Conflict)), "{late:?}");
    let ahead = append(&ledger, Stored { n: 99, ..now.clone() }, &events, 3).await;
    assert!(matches!(ahead, Err(LedgerError::Conflict)), "{ahead:?}");
    assert_eq!(ledger.review(&seen.review.id).await.unwrap(), Some(now));
    ledger.verify().await.unwrap();
}

async fn a_draft_is_decided_step_by_step_and_written_at_once(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let open = record_open(&ledger, "a").await;
    assert!(ledger.is_current(&open).await.unwrap());
    let mut transaction = ledger.transaction().await.unwrap();
    let mut draft = transaction.draft(open.clone(), 2).await.unwrap();
    let withdrawn = decide(draft.review(), Input::Withdrawn(person()));
    draft.add(withdrawn.clone());
    assert!(step(draft.review(), Input::Withdrawn(person())).is_err(), "it sees what was added");
    assert_eq!(ledger.review(&open.review.id).await.unwrap(), Some(open.clone()), "nothing is written yet");
    let drafted = transaction.write(draft).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(ledger.review(&open.review.id).await.unwrap().as_ref(), Some(&drafted));
    let mut transaction = ledger.transaction().await.unwrap();
    let late = transaction.draft(open.clone(), 3).await.map(|_| ());
    assert!(matches!(late, Err(LedgerError::Conflict)), "{late:?}");
    ledger.verify().await.unwrap();

    assert!(!ledger.is_current(&open).await.unwrap());
    assert!(ledger.is_current(&drafted).await.unwrap());
    let held = Stored { holder: Some("somebody".to_owned()), ..drafted };
    assert!(!ledger.is_current(&held).await.unwrap(), "who performs it counts too");
    assert!(!ledger.is_current(&Stored::unopened(review_id())).await.unwrap());
}

async fn a_subject_has_one_open_review_at_most(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let first = record_open(&ledger, "a").await;
    let id = review_id();
    let open = decide(&Review::unopened(id.clone()), Input::Submit(Box::new(work("a", "other", 1))));
    let mut transaction = ledger.transaction().await.unwrap();
    let second = transaction.append(Stored::unopened(id.clone()), &open, 2).await;
    assert!(matches!(second, Err(LedgerError::Conflict)), "{second:?}");
    assert!(transaction.commit().await.is_err(), "half of it was written: none of it may stay");
    assert_eq!(ledger.review(&id).await.unwrap(), None);

    let end = decide(&first.review, Input::Withdrawn(person()));
    append(&ledger, first, &end, 3).await.unwrap();
    append(&ledger, Stored::unopened(id.clone()), &open, 4).await.unwrap();
    let subject = countersign_core::ids::Subject::new("cli", ["a"]);
    assert_eq!(ledger.latest_for(&subject).await.unwrap().unwrap().review.id, id);
    ledger.verify().await.unwrap();
}

async fn a_transaction_that_is_dropped_leaves_nothing(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    for _ in 0..3 {
        let id = review_id();
        let events = decide(&Review::unopened(id.clone()), Input::Submit(Box::new(work("a", "x", 1))));
        let mut transaction = ledger.transaction().await.unwrap();
        transaction.append(Stored::unopened(id.clone()), &events, 1).await.unwrap();
        assert!(transaction.review(&id).await.unwrap().is_some(), "its own writing is seen");
        assert_eq!(ledger.review(&id).await.unwrap(), None, "others do not see it");
        drop(transaction);
        assert_eq!(ledger.review(&id).await.unwrap(), None);
    }
    // Numbers that were taken back are given out again: the chain has no gaps.
    record_passed(&ledger, "a").await;
    assert_eq!(ledger.verify().await.unwrap(), 8);
}

async fn one_transaction_may_append_to_several_reviews(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let (a, b) = (record_open(&ledger, "a").await, record_open(&ledger, "b").await);
    let settled = [Event::Settled { outcome: Settlement::Stopped(Stop::Withdrawn) }];
    let mut transaction = ledger.transaction().await.unwrap();
    let a = transaction.append(a, &settled, 2).await.unwrap();
    let a = transaction.append(a, &[Event::Notified { round: 1 }], 3).await.unwrap();
    let b = transaction.append(b, &settled, 3).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(ledger.review(&a.review.id).await.unwrap(), Some(a));
    assert_eq!(ledger.review(&b.review.id).await.unwrap(), Some(b));
    ledger.verify().await.unwrap();
}

async fn writers_of_one_process_wait_for_each_other(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let writers: Vec<_> = (0..8)
        .map(|i| {
            let ledger = ledger.clone();
            tokio::spawn(async move {
                for j in 0..4 {
                    record_passed(&ledger, &format!("{i}-{j}")).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(ledger.verify().await.unwrap(), 8 * 4 * 8);
}

async fn a_writer_that_is_cancelled_at_any_point_blocks_nobody(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    for micros in (0..3_000).step_by(100) {
        let ledger = ledger.clone();
        let writing = async move { record_passed(&ledger, &format!("cancelled-{micros}")).await };
        tokio::time::timeout(std::time::Duration::from_micros(micros), writing).await.ok();
    }
    record_passed(&ledger, "after").await;
    ledger.verify().await.unwrap();
}

async fn the_holder_is_kept_beside_the_events(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let open = record_open(&ledger, "a").await;
    let mut transaction = ledger.transaction().await.unwrap();
    transaction.set_holder(&open.review.id, Some("me")).await.unwrap();
    let held = transaction.review(&open.review.id).await.unwrap().unwrap();
    assert_eq!(held.holder.as_deref(), Some("me"));
    let events = decide(&held.review, Input::Withdrawn(person()));
    transaction.append(held, &events, 9).await.unwrap();
    transaction.commit().await.unwrap();
    let row = ledger.list(Filter { open_only: false, before: None, limit: 1 }).await.unwrap().remove(0);
    assert_eq!(row.holder.as_deref(), Some("me"));
    ledger.verify().await.unwrap();
}

async fn what_does_not_exist_is_not_written_to(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let mut transaction = ledger.transaction().await.unwrap();
    let holder = transaction.set_holder(&review_id(), None).await;
    assert!(matches!(holder, Err(LedgerError::Missing(_))), "{holder:?}");
    let call = transaction.record_call(&call_id(), &Report::default()).await;
    assert!(matches!(call, Err(LedgerError::Missing(_))), "{call:?}");
}

on_every_store!(
    appending_to_an_older_state_is_a_conflict_and_writes_nothing,
    a_draft_is_decided_step_by_step_and_written_at_once,
    a_subject_has_one_open_review_at_most,
    a_transaction_that_is_dropped_leaves_nothing,
    one_transaction_may_append_to_several_reviews,
    writers_of_one_process_wait_for_each_other,
    a_writer_that_is_cancelled_at_any_point_blocks_nobody,
    the_holder_is_kept_beside_the_events,
    what_does_not_exist_is_not_written_to
);
