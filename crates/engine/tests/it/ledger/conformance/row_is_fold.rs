//! Whatever happens to a review, its row says what its events say.

use super::super::fixture::{answer, append, by_call, call_id, question, review_id, work};
use super::StoreKind;
use countersign_core::ids::ReviewId;
use countersign_core::outcome::NoVerdict;
use countersign_core::review::{
    Actor, ActorKind, Channel, Confirmation, Decision, Event, Input, Review, Route, Verb, fold, route, step,
};
use countersign_engine::ledger::{Filter, Ledger, Stored};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Something that comes from outside, by number: what it means depends on where the review stands.
fn input(review: &Review, kind: u8, variant: u8, now_ms: i64) -> Option<Input> {
    let key = || question(review).map(|(key, _)| key);
    let kind_of_actor = if variant.is_multiple_of(4) { ActorKind::Agent } else { ActorKind::Person };
    let actor = Actor::new("ada", kind_of_actor, Channel::Terminal);
    Some(match kind {
        0..=2 => {
            let mut submit = work("a", &format!("content {}", variant % 3), 1 + usize::from(variant % 2));
            submit.now_ms = now_ms;
            Input::Submit(Box::new(submit))
        }
        3 => super::super::fixture::asking(&call_id(), &key()?, "main".to_owned()),
        4..=6 => {
            Input::Answered { key: key()?, answer: answer(variant.is_multiple_of(3)), by: by_call(call_id()) }
        }
        7 => {
            let why = if variant.is_multiple_of(2) { NoVerdict::Timeout } else { NoVerdict::Garbled };
            Input::AskFailed {
                call: call_id(),
                key: key()?,
                why,
                detail: "no".to_owned(),
                fixed: None,
                budget: None,
                not_put: false,
            }
        }
        8..=10 => {
            let changed = variant.is_multiple_of(8);
            let found = if changed { Confirmation::Changed } else { Confirmation::Same };
            Input::Confirmed { round: review.round()?.n, found, now_ms }
        }
        11 => Input::Delivered { round: review.round()?.n },
        12 => Input::Decided(Decision {
            by: actor,
            verb: [Verb::Approve, Verb::Reject, Verb::Skip, Verb::Fix][usize::from(variant % 4)],
            reason: "because".to_owned(),
            digest: review.digest()?.clone(),
            at_ms: now_ms,
        }),
        13 => Input::Lifted { by: actor, reason: "go on".to_owned() },
        _ => Input::Withdrawn(actor),
    })
}

async fn play(ledger: &Ledger, actions: &[(u8, u8)]) {
    let mut recorded: BTreeMap<ReviewId, Vec<(i64, Event)>> = BTreeMap::new();
    let mut stored = Stored::unopened(review_id());
    for (i, (kind, variant)) in actions.iter().enumerate() {
        let at_ms = 1_000 + i64::try_from(i).unwrap() * 60_000;
        let Some(input) = input(&stored.review, *kind, *variant, at_ms) else { continue };
        if let Input::Submit(submit) = &input
            && route(Some(&stored.review), &submit.submission.digest, &submit.assignments, false)
                == Route::Open
        {
            stored = Stored::unopened(review_id());
        }
        let Ok(events) = step(&stored.review, input) else { continue };
        let all = recorded.entry(stored.review.id.clone()).or_default();
        all.extend(events.iter().map(|event| (at_ms, event.clone())));
        stored = append(ledger, stored, &events, at_ms).await.unwrap();
    }
    recorded.retain(|_, events| !events.is_empty());
    check(ledger, &recorded).await;
}

async fn check(ledger: &Ledger, recorded: &BTreeMap<ReviewId, Vec<(i64, Event)>>) {
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 1_000 }).await.unwrap();
    assert_eq!(rows.len(), recorded.len());
    for row in rows {
        let events = &recorded[&row.id];
        let review = fold(row.id.clone(), events.iter().map(|(_, event)| event));
        let stored = ledger.review(&row.id).await.unwrap().unwrap();
        assert_eq!(stored.review, review);
        let times = (events[0].0, events[events.len() - 1].0);
        assert_eq!((stored.opened_ms, stored.changed_ms), times);
        assert_eq!((row.opened_ms, row.changed_ms), times);
        assert_eq!((row.n, stored.n), (events.len() as u64, events.len() as u64));
        assert_eq!((row.state, row.standing), (review.state, review.standing()));
        assert_eq!((&row.subject, row.attempts), (&review.subject, review.attempts));
        assert_eq!(row.round, review.round().unwrap().n);
        assert_eq!(row.digest.as_ref(), review.digest());
    }
    let events: usize = recorded.values().map(Vec::len).sum();
    assert_eq!(ledger.verify().await.unwrap(), events as u64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_row_of_a_review_is_its_fold(actions in prop::collection::vec((0..15u8, any::<u8>()), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for store in [StoreKind::Sqlite, StoreKind::Memory] {
                let (_dir, ledger) = store.scratch().await;
                play(&ledger, &actions).await;
            }
        });
    }
}
