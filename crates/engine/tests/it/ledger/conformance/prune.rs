//! Pruning: old events go, and whatever still stands, stays. The chain of what is left can be checked.

use super::super::fixture::{append, decide, judged, person, record_open, record_passed, review_id, work};
use super::StoreKind;
use countersign_core::ids::Subject;
use countersign_core::policy::Attempts;
use countersign_core::review::{Event, Input};
use countersign_engine::ledger::{Filter, Ledger, LedgerError, Order, Pruned, Stored};

async fn prune(ledger: &Ledger, before_ms: i64, trial: bool) -> Pruned {
    let by = person();
    ledger.prune(&Order { by: &by, at_ms: 1_900_000_000_000, before_ms }, trial).await.unwrap()
}

async fn record(
    ledger: &Ledger,
    submit: countersign_core::review::Submit,
    passed: bool,
    at_ms: i64,
) -> Stored {
    let id = review_id();
    let events = judged(&id, submit, passed);
    append(ledger, Stored::unopened(id), &events, at_ms).await.unwrap()
}

async fn issue_18_only_what_is_over_and_old_goes(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let old = record(&ledger, work("a", "a", 2), true, 10).await;
    let open = record_open(&ledger, "b").await;
    let young = record(&ledger, work("c", "c", 1), true, 5_000).await;
    let trial = prune(&ledger, 2_000, true).await;
    assert_eq!((trial.reviews.as_slice(), trial.events), ([old.review.id.clone()].as_slice(), 8));
    assert_eq!(ledger.review(&old.review.id).await.unwrap().as_ref(), Some(&old), "a trial removes nothing");
    assert_eq!(prune(&ledger, 2_000, false).await, trial);

    let read = ledger.review(&old.review.id).await.expect_err("its events are gone");
    assert!(read.to_string().contains("was pruned on 2030-03-17 by ann"), "{read}");
    assert!(matches!(ledger.events(&old.review.id, 0, 9).await, Err(LedgerError::Pruned { .. })));
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 9 }).await.unwrap();
    let pruned: Vec<_> = rows.iter().map(|row| (&row.id, row.pruned.is_some())).collect();
    assert_eq!(pruned, [(&young.review.id, false), (&open.review.id, false), (&old.review.id, true)]);
    for kept in [&open, &young] {
        assert_eq!(ledger.review(&kept.review.id).await.unwrap().as_ref(), Some(kept));
    }
    assert_eq!(ledger.latest_for(&Subject::new("cli", ["a"])).await.unwrap(), None, "it begins anew");
    let candidates: Vec<_> =
        old.review.rounds[0].assignments.iter().flat_map(|one| one.candidates.clone()).collect();
    assert_eq!(ledger.rulings(&candidates, 0).await.unwrap(), [], "what passed is asked again");
    assert_eq!(ledger.calls(&old.review.id).await.unwrap().len(), 2, "what it cost stays");
    assert_eq!(ledger.prunings().await.unwrap().len(), 1);
    let events = ledger.verify().await.unwrap();
    assert_eq!(events, ledger.last_seq().await.unwrap());
    assert_eq!(prune(&ledger, 2_000, false).await, Pruned::default(), "there is nothing left to remove");
    record_passed(&ledger, "next").await;
    assert_eq!(ledger.recent(None, 999).await.unwrap().len() as u64, 8 + 2 + 5 + 1, "the log goes on");
    assert_eq!(ledger.feed(0, 999).await.unwrap().len() as u64, 8 + 2 + 5 + 1 + 1);
    ledger.verify().await.unwrap();
}

async fn issue_18_failures_and_stops_outlive_a_pruning(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let failed = work("a", "bad", 1);
    let once = |subject: &str, content: &str| {
        let mut submit = work(subject, content, 1);
        submit.opening.policy.attempts = Attempts::Once;
        submit
    };
    let first = record(&ledger, once("a", "bad"), false, 10).await;
    let mut stopping = work("stopped", "other", 1);
    stopping.opening.policy.attempts = Attempts::AtMost(1);
    let stopped = record(&ledger, stopping, true, 11).await;
    let rejected = {
        let open = record_open(&ledger, "rejected").await;
        let decision = countersign_core::review::Decision {
            by: person(),
            verb: countersign_core::review::Verb::Reject,
            reason: "no".to_owned(),
            digest: open.review.digest().unwrap().clone(),
            at_ms: 12,
        };
        let events = decide(&open.review, Input::Decided(decision));
        append(&ledger, open, &events, 12).await.unwrap()
    };
    let pruned = prune(&ledger, 2_000, false).await;
    assert_eq!(pruned.reviews, std::slice::from_ref(&stopped.review.id), "what passed goes");
    assert_eq!((pruned.kept_for_failures, pruned.kept_for_stops), (1, 1));
    let standing = ledger.standing(&failed.rules, &failed.submission, &failed.assignments).await.unwrap();
    assert!(standing.len() == 1 && standing[0].fails(), "the failure stands on its bytes");
    let latest = ledger.latest_for(&rejected.review.subject).await.unwrap();
    assert_eq!(latest.map(|stored| stored.review.id), Some(rejected.review.id));
    assert!(ledger.review(&first.review.id).await.unwrap().is_some());
    ledger.verify().await.unwrap();
}

async fn issue_18_answers_that_younger_reviews_refer_to_stay(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let old = record(&ledger, work("a", "same", 3), true, 10).await;
    let mut again = work("b", "same", 3);
    let candidates: Vec<_> = again.assignments.iter().flat_map(|one| one.candidates.clone()).collect();
    again.known = ledger.rulings(&candidates[..2], 0).await.unwrap();
    let young = record(&ledger, again, true, 5_000).await;
    let events = ledger.events(&young.review.id, 0, 99).await.unwrap();
    assert!(events.iter().any(|entry| matches!(entry.event, Event::Reused { .. })));
    let pruned = prune(&ledger, 2_000, false).await;
    assert_eq!((pruned.reviews.as_slice(), pruned.events), ([old.review.id.clone()].as_slice(), 10 - 2));
    assert_eq!(ledger.events(&young.review.id, 0, 99).await.unwrap(), events);
    assert_eq!(ledger.review(&young.review.id).await.unwrap(), Some(young));
    ledger.verify().await.unwrap();

    // What is left can be exported, and imported elsewhere.
    let mut text = vec![];
    ledger.export(&mut text).await.unwrap();
    let (_other_dir, other) = store.scratch().await;
    let imported = other.import(&mut text.as_slice(), "x", &person(), 1).await.unwrap();
    assert_eq!(other.imported(&imported, 9).await.unwrap().len(), 1);
    other.verify().await.unwrap();
}

async fn issue_18_a_ledger_that_was_edited_is_not_pruned(_: StoreKind) {
    let (dir, ledger) = super::super::fixture::scratch().await;
    record(&ledger, work("a", "a", 2), true, 10).await;
    super::super::damage::edit(dir.path(), "UPDATE events SET at_ms = 11 WHERE seq = 3").await;
    let by = person();
    let refused = ledger.prune(&Order { by: &by, at_ms: 9, before_ms: 99 }, false).await;
    assert!(matches!(refused, Err(LedgerError::Tampered { seq: 3 })), "{refused:?}");
}

/// Bodies that are taken away by hand are not what a pruning took away.
async fn attack_18_a_mark_alone_prunes_nothing(_: StoreKind) {
    for sql in [
        "UPDATE events SET body = '{\"pruned\":99}' WHERE seq = 3",
        "UPDATE events SET body = (SELECT body FROM events WHERE body LIKE '{\"pruned\":%' LIMIT 1) WHERE stream =
           (SELECT id FROM reviews WHERE subject = 'cli/b')",
        "UPDATE events SET at_ms = at_ms + 1 WHERE seq = 3",
        "UPDATE events SET chain = zeroblob(32) WHERE seq = 3",
        "UPDATE reviews SET outcome = 'overridden' WHERE pruned IS NOT NULL",
        "UPDATE reviews SET pruned = NULL",
        "DELETE FROM reviews WHERE pruned IS NOT NULL",
        "UPDATE calls SET cost_microusd = 0 WHERE review IN (SELECT id FROM reviews WHERE pruned IS NOT NULL)",
        "DELETE FROM calls WHERE review IN (SELECT id FROM reviews WHERE pruned IS NOT NULL)",
    ] {
        let (dir, ledger) = super::super::fixture::scratch().await;
        record(&ledger, work("a", "a", 2), true, 10).await;
        let other = record(&ledger, work("b", "b", 1), true, 3_000).await;
        prune(&ledger, 2_000, false).await;
        ledger.verify().await.unwrap();
        super::super::damage::edit(dir.path(), sql).await;
        let error = ledger.verify().await.expect_err(sql);
        assert_eq!(error.outcome().exit_code(), 7, "{sql}: {error}");
        let read = ledger.latest_for(&other.review.subject).await;
        assert!(!matches!(read, Ok(None)), "{sql}: a mark by hand makes no new subject: {read:?}");
    }
}

on_every_store!(
    issue_18_only_what_is_over_and_old_goes,
    issue_18_failures_and_stops_outlive_a_pruning,
    issue_18_answers_that_younger_reviews_refer_to_stay,
    issue_18_a_ledger_that_was_edited_is_not_pruned,
    attack_18_a_mark_alone_prunes_nothing
);
