//! Faults at every write: all of a transaction stays, or nothing.

use super::super::fixture::{append, asking, call_id, decide, question, record_open, record_passed};
use super::super::processes::start_with;
use super::StoreKind;
use countersign_core::cost::Spending;
use countersign_core::ids::CallId;
use countersign_core::review::{Event, Input};
use countersign_engine::ledger::{Filter, Ledger, LedgerError, Report, Scope, Stored, Transaction};

/// Everything that can be read, in one text.
async fn all_of(ledger: &Ledger) -> String {
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 99 }).await.unwrap();
    let mut calls = vec![];
    for row in &rows {
        calls.push(ledger.calls(&row.id).await.unwrap());
    }
    let spent = ledger.transaction().await.unwrap().spent(Scope::Since(0)).await.unwrap();
    let (feed, counts) = (ledger.feed(0, 999).await.unwrap(), ledger.counts().await.unwrap());
    let (verified, costs) = (ledger.verify().await.unwrap(), ledger.costs(0).await.unwrap());
    format!("{rows:?} {calls:?} {spent:?} {feed:?} {counts:?} {verified} {costs:?}")
}

/// The writes a transaction can do, one after another; ends after this many.
async fn writes(
    transaction: &mut Transaction,
    open: &Stored,
    call: &CallId,
    count: usize,
) -> Result<(), LedgerError> {
    let (key, reviewer) = question(&open.review).unwrap();
    let asked = decide(&open.review, asking(call, &key, reviewer));
    let of_session = call_id();
    for write in 0..count {
        match write {
            0 => drop(transaction.append(open.clone(), &asked, 5).await?),
            1 => transaction.reserve(call, Spending { tokens: 5, microusd: 5 }).await?,
            2 => transaction.record_call(call, &Report { tokens_in: Some(1), ..Report::default() }).await?,
            3 => transaction.set_holder(&open.review.id, Some("somebody")).await?,
            4 => transaction.note("session/one", 0, &[("begun", "{}".to_owned())], 5).await?,
            5 => transaction.begin_call("session/one", &of_session, "main", 5).await?,
            _ => transaction.end_call(&of_session, true).await?,
        }
    }
    Ok(())
}

async fn nothing_stays_of_a_transaction_that_ends_before_its_commit(store: StoreKind) {
    const WRITES: usize = 7;
    let (_dir, ledger) = store.scratch().await;
    record_passed(&ledger, "before").await;
    let open = record_open(&ledger, "a").await;
    let before = all_of(&ledger).await;
    for count in 0..=WRITES {
        let mut transaction = ledger.transaction().await.unwrap();
        writes(&mut transaction, &open, &call_id(), count).await.unwrap();
        assert_eq!(ledger.review(&open.review.id).await.unwrap().as_ref(), Some(&open), "others see nothing");
        drop(transaction);
        assert_eq!(all_of(&ledger).await, before, "after {count} writes");
    }
    let mut transaction = ledger.transaction().await.unwrap();
    writes(&mut transaction, &open, &call_id(), WRITES).await.unwrap();
    transaction.commit().await.unwrap();
    assert_ne!(all_of(&ledger).await, before);
}

async fn a_write_that_fails_takes_all_of_its_transaction_with_it(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let open = record_open(&ledger, "a").await;
    let before = all_of(&ledger).await;
    let mut transaction = ledger.transaction().await.unwrap();
    writes(&mut transaction, &open, &call_id(), 4).await.unwrap();
    // A second open review of the subject.
    let second = super::super::fixture::review_id();
    let submit = super::super::fixture::work("a", "other", 1);
    let opened = decide(&Stored::unopened(second.clone()).review, Input::Submit(Box::new(submit)));
    let failed = transaction.append(Stored::unopened(second), &opened, 6).await;
    assert!(matches!(failed, Err(LedgerError::Conflict)), "{failed:?}");
    assert!(transaction.set_holder(&open.review.id, None).await.is_err(), "nothing more is written");
    assert!(transaction.commit().await.is_err());
    assert_eq!(all_of(&ledger).await, before);
}

async fn many_who_append_to_one_review_get_one_number_each(store: StoreKind) {
    const WRITERS: u64 = 8;
    const EACH: u64 = 6;
    let (_dir, ledger) = store.scratch().await;
    let open = record_open(&ledger, "a").await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (ledger, id) = (ledger.clone(), open.review.id.clone());
            tokio::spawn(async move {
                let (mut written, mut conflicts) = (0, 0);
                while written < EACH {
                    // Decided outside of any transaction: others may be faster.
                    let seen = ledger.review(&id).await.unwrap().unwrap();
                    tokio::task::yield_now().await;
                    match append(&ledger, seen, &[Event::Notified { round: 1 }], 1).await {
                        Ok(_) => written += 1,
                        Err(LedgerError::Conflict) => conflicts += 1,
                        Err(other) => panic!("{other}"),
                    }
                }
                conflicts
            })
        })
        .collect();
    let mut conflicts = 0;
    for writer in writers {
        conflicts += writer.await.unwrap();
    }
    let now = ledger.review(&open.review.id).await.unwrap().unwrap();
    assert_eq!(now.n, open.n + WRITERS * EACH, "none was lost, after {conflicts} conflicts");
    assert_eq!(ledger.verify().await.unwrap(), now.n);
}

on_every_store!(
    nothing_stays_of_a_transaction_that_ends_before_its_commit,
    a_write_that_fails_takes_all_of_its_transaction_with_it,
    many_who_append_to_one_review_get_one_number_each,
);

/// Its process ends at every commit, just before and just after. What is in memory ends with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_whole_at_whichever_commit_its_process_dies() {
    for commit in 1..=4 {
        for after in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let die_at_write = format!("{commit}{}", if after { "!" } else { "" });
            let said = start_with("append", dir.path(), 9, &die_at_write).died();
            let ledger = Ledger::open(dir.path()).await.unwrap();
            // In turn a review of its own, with eight events, and the shared one, opened by two commits.
            let commits = commit - u64::from(!after);
            let events = [0, 8, 10, 11, 19][usize::try_from(commits).unwrap()];
            assert_eq!(ledger.verify().await.unwrap(), events, "{die_at_write}: {said:?}");
            record_passed(&ledger, "after").await;
            assert_eq!(ledger.verify().await.unwrap(), events + 8);
        }
    }
}
