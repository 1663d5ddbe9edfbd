//! What was recorded is read back, by every way of reading.

use super::super::fixture::{
    append, call_id, decide, judged, person, record_open, record_passed, review_id, work,
};
use super::StoreKind;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::{Outcome, Settlement, Stop};
use countersign_core::review::{Input, State, fold};
use countersign_engine::ledger::{CallState, Count, Filter, MAX_REPLY_BYTES, Report, Stored};

async fn a_review_is_the_fold_of_its_events(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let id = review_id();
    let events = judged(&id, work("a", "one", 3), false);
    let written = append(&ledger, Stored::unopened(id.clone()), &events, 77).await.unwrap();
    assert_eq!(written.review, fold(id.clone(), &events));
    assert_eq!((written.n, written.opened_ms, written.changed_ms), (events.len() as u64, 77, 77));
    assert_eq!(ledger.review(&id).await.unwrap(), Some(written.clone()));
    assert_eq!(ledger.latest_for(&Subject::new("cli", ["a"])).await.unwrap(), Some(written));
    assert_eq!(ledger.review(&review_id()).await.unwrap(), None);
    assert_eq!(ledger.latest_for(&Subject::new("cli", ["b"])).await.unwrap(), None);

    let read = ledger.events(&id, 0, 100).await.unwrap();
    let expected: Vec<_> =
        events.iter().enumerate().map(|(i, event)| (i as u64 + 1, event.clone())).collect();
    assert_eq!(read.into_iter().map(|entry| (entry.n, entry.event)).collect::<Vec<_>>(), expected);
}

async fn a_prefix_finds_reviews_and_has_no_signs_of_its_own(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    for name in ["rv-abcdefgh0001", "rv-abcdefgh0002", "rv-abzzzzzz0003", "rv-x_zzzzzz0004"] {
        let id = ReviewId::from_text(name);
        let events = judged(&id, work(name, name, 1), true);
        append(&ledger, Stored::unopened(id), &events, 1).await.unwrap();
    }
    for (typed, found) in [
        ("rv-abcdefgh0001", 1),
        ("abc", 2),
        ("rv-abc", 2),
        ("RV-ABC", 2),
        ("ab", 3),
        ("rv-abz", 1),
        ("x_", 1),
        ("x%", 0),
        ("%", 0),
        ("_", 0),
        ("a_", 0),
        ("'", 0),
        ("rv-", 0),
        ("", 0),
    ] {
        assert_eq!(ledger.find(typed).await.unwrap().len(), found, "{typed}");
    }
}

async fn lists_come_newest_first_and_in_pages(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let mut ids = vec![];
    for i in 0..5 {
        let subject = format!("s{i}");
        let stored = match i % 2 {
            0 => record_passed(&ledger, &subject).await,
            _ => record_open(&ledger, &subject).await,
        };
        ids.insert(0, stored.review.id);
    }
    let page = |before, limit| Filter { open_only: false, before, limit };
    let first = ledger.list(page(None, 3)).await.unwrap();
    let second = ledger.list(page(Some(first[2].opened_seq), 3)).await.unwrap();
    let listed: Vec<_> = first.iter().chain(&second).map(|row| row.id.clone()).collect();
    assert_eq!(listed, ids);
    let open = ledger.list(Filter { open_only: true, before: None, limit: 10 }).await.unwrap();
    assert_eq!(open.iter().map(|row| &row.id).collect::<Vec<_>>(), [&ids[1], &ids[3]]);
    assert!(open.iter().all(|row| row.state == State::Judging && row.standing.is_none()));
}

async fn counts_say_how_reviews_stand(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    record_passed(&ledger, "a").await;
    record_passed(&ledger, "b").await;
    let open = record_open(&ledger, "c").await;
    let withdrawn = record_open(&ledger, "d").await;
    let events = decide(&withdrawn.review, Input::Withdrawn(person()));
    append(&ledger, withdrawn, &events, 5).await.unwrap();
    let stopped = Settlement::Stopped(Stop::Withdrawn);
    let mut counts = ledger.counts().await.unwrap();
    counts.sort_by_key(|count| format!("{count:?}"));
    assert_eq!(
        counts,
        [
            Count { state: open.review.state, standing: None, reviews: 1 },
            Count { state: State::Settled(Settlement::Passed), standing: Some(Outcome::Passed), reviews: 2 },
            Count { state: State::Settled(stopped), standing: Some(stopped.into()), reviews: 1 },
        ]
    );
}

async fn the_log_is_read_from_either_end(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    record_passed(&ledger, "a").await;
    record_passed(&ledger, "b").await;
    let seqs = |entries: Vec<countersign_engine::ledger::Entry>| -> Vec<u64> {
        entries.iter().map(|entry| entry.seq).collect()
    };
    assert_eq!(seqs(ledger.recent(None, 3).await.unwrap()), [16, 15, 14]);
    assert_eq!(seqs(ledger.recent(Some(14), 2).await.unwrap()), [13, 12]);
    assert_eq!(seqs(ledger.since(14, 9).await.unwrap()), [15, 16]);
    assert_eq!(seqs(ledger.since(16, 9).await.unwrap()), Vec::<u64>::new());
}

async fn a_call_keeps_its_state_its_cost_and_a_cut_reply(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let stored = record_open(&ledger, "a").await;
    let (answered, failed, asked) = (call_id(), call_id(), call_id());
    let review = stored.review.clone();
    let (key, reviewer) = super::super::fixture::question(&review).unwrap();
    let ask = |call| super::super::fixture::asking(&call, &key, reviewer.clone());
    let mut events = vec![];
    for call in [&failed, &answered, &asked] {
        events.extend(decide(&review, ask(call.clone())));
    }
    let (why, detail) = (countersign_core::outcome::NoVerdict::Timeout, "late".to_owned());
    events.extend(decide(
        &review,
        Input::AskFailed {
            call: failed.clone(),
            key: key.clone(),
            why,
            detail,
            fixed: None,
            budget: None,
            not_put: false,
        },
    ));
    let by = super::super::fixture::by_call(answered.clone());
    events.extend(decide(&review, Input::Answered { key, answer: super::super::fixture::answer(true), by }));
    append(&ledger, stored, &events, 3).await.unwrap();

    let long = "é".repeat(MAX_REPLY_BYTES);
    let report = Report {
        model: Some("m-1".to_owned()),
        tokens_in: Some(1_200),
        tokens_out: Some(34),
        cost_microusd: None,
        reply: Some(format!("x{long}")),
    };
    let mut transaction = ledger.transaction().await.unwrap();
    transaction.record_call(&answered, &report).await.unwrap();
    transaction.commit().await.unwrap();

    let calls = ledger.calls(&review.id).await.unwrap();
    let states: Vec<_> = calls.iter().map(|call| (call.id.clone(), call.state)).collect();
    let expected = [(failed, CallState::Failed), (answered, CallState::Answered), (asked, CallState::Asked)];
    assert_eq!(states, expected);
    assert_eq!((calls[1].round, calls[1].assignment, calls[1].reviewer.as_str()), (1, Some(0), "main"));
    let reply = calls[1].report.reply.clone().unwrap();
    assert_eq!(reply.len(), MAX_REPLY_BYTES - 1, "never half a character");
    assert_eq!(calls[1].report, Report { reply: Some(reply), ..report });
}

on_every_store!(
    a_review_is_the_fold_of_its_events,
    a_prefix_finds_reviews_and_has_no_signs_of_its_own,
    lists_come_newest_first_and_in_pages,
    counts_say_how_reviews_stand,
    the_log_is_read_from_either_end,
    a_call_keeps_its_state_its_cost_and_a_cut_reply
);
