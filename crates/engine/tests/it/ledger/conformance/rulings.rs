//! Rulings that stand beyond their review.

use super::super::fixture::{answer, append, judged, review_id, work};
use super::StoreKind;
use countersign_core::endpoint::Endpoint;
use countersign_core::plan::{Candidate, Reuse};
use countersign_core::review::{By, Event, Known};
use countersign_engine::ledger::{Ledger, Stored};

async fn record(ledger: &Ledger, events: &[Event], id: countersign_core::ids::ReviewId, at_ms: i64) {
    append(ledger, Stored::unopened(id), events, at_ms).await.unwrap();
}

/// Those who were asked.
pub fn asked(events: &[Event]) -> Vec<Candidate> {
    let candidates = |event: &Event| match event {
        Event::Submitted { assignments, .. } => {
            assignments.iter().flat_map(|asked| asked.candidates.clone()).collect()
        }
        _ => vec![],
    };
    events.iter().flat_map(candidates).collect()
}

async fn an_answer_stands_for_the_same_question_in_another_review(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let id = review_id();
    let events = judged(&id, work("a", "same", 2), false);
    record(&ledger, &events, id.clone(), 500).await;
    let mut transaction = ledger.transaction().await.unwrap();
    let found = transaction.rulings(&asked(&events), 500).await.unwrap();
    assert_eq!(found.len(), 2, "failures stand as passes do");
    for Known { key, answer: given, by, .. } in found {
        assert_eq!(given, answer(false));
        let By::Reused { review, n, reviewer } = by else { panic!("{by:?}") };
        assert_eq!((review, reviewer.as_str()), (id.clone(), "main"));
        let at = &events[usize::try_from(n).unwrap() - 1];
        assert!(matches!(at, Event::Answered { key: of, .. } if *of == key), "n is the event's own number");
    }
    assert_eq!(transaction.rulings(&[], 0).await.unwrap(), []);
}

async fn reroll_the_latest_answer_stands_unless_it_would_replace_a_failure(store: StoreKind) {
    // what was ruled first, what was ruled later, whether the later one stands
    for (first, later, stands) in
        [(false, false, true), (true, true, true), (true, false, true), (false, true, false)]
    {
        let (_dir, ledger) = store.scratch().await;
        let (old, new) = (review_id(), review_id());
        let events = judged(&old, work("a", "same", 1), first);
        record(&ledger, &events, old.clone(), 1).await;
        record(&ledger, &judged(&new, work("b", "same", 1), later), new.clone(), 2).await;
        let mut transaction = ledger.transaction().await.unwrap();
        let found = transaction.rulings(&asked(&events), 0).await.unwrap();
        let expected = if stands { &new } else { &old };
        let by = |found: &Known| matches!(&found.by, By::Reused { review, .. } if review == expected);
        assert!(found.len() == 1 && by(&found[0]), "{first} {later}: {found:?}");
    }
}

async fn reroll_a_pass_grows_old_and_a_failure_does_not(store: StoreKind) {
    for (passed, found_later) in [(true, 0), (false, 1)] {
        let (_dir, ledger) = store.scratch().await;
        let id = review_id();
        let events = judged(&id, work("a", "same", 1), passed);
        record(&ledger, &events, id, 500).await;
        let mut transaction = ledger.transaction().await.unwrap();
        assert_eq!(transaction.rulings(&asked(&events), 500).await.unwrap().len(), 1);
        assert_eq!(transaction.rulings(&asked(&events), 501).await.unwrap().len(), found_later);
    }
}

async fn place_a_ruling_is_found_only_for_the_place_it_was_asked_at(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let at = |program: &str| Endpoint { programs: vec![program.to_owned()], ..Endpoint::default() };
    let mut events = judged(&review_id(), work("a", "same", 1), true);
    for event in &mut events {
        match event {
            Event::Asked { place, .. } => *place = at("/tmp/fake/claude"),
            Event::Answered { place, .. } => *place = at("/tmp/fake/claude").mark(),
            _ => {}
        }
    }
    record(&ledger, &events, review_id(), 1).await;
    let mut transaction = ledger.transaction().await.unwrap();
    for (place, found) in [(at("/tmp/fake/claude"), 1), (at("/usr/bin/claude"), 0), (Endpoint::default(), 0)]
    {
        let mut candidates = asked(&events);
        candidates.iter_mut().for_each(|candidate| candidate.place = place.mark());
        assert_eq!(transaction.rulings(&candidates, 0).await.unwrap().len(), found, "{place:?}");
    }
}

async fn only_what_may_stand_anywhere_is_found(store: StoreKind) {
    for reuse in [Reuse::Review, Reuse::Never] {
        let (_dir, ledger) = store.scratch().await;
        let mut submit = work("a", "x", 2);
        for assignment in &mut submit.assignments {
            assignment.candidates[0].reuse = reuse;
        }
        let id = review_id();
        let events = judged(&id, submit, true);
        record(&ledger, &events, id, 1).await;
        let mut transaction = ledger.transaction().await.unwrap();
        assert_eq!(transaction.rulings(&asked(&events), 0).await.unwrap(), [], "{reuse:?}");
    }
}

on_every_store!(
    an_answer_stands_for_the_same_question_in_another_review,
    reroll_the_latest_answer_stands_unless_it_would_replace_a_failure,
    reroll_a_pass_grows_old_and_a_failure_does_not,
    place_a_ruling_is_found_only_for_the_place_it_was_asked_at,
    only_what_may_stand_anywhere_is_found
);
