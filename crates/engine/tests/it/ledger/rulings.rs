//! Rulings that stand beyond their review.

use super::fixture::{answer, append, judged, record_passed, review_id, scratch, work};
use countersign_core::digest::Key;
use countersign_core::plan::Reuse;
use countersign_core::review::{By, Event};
use countersign_engine::ledger::{Ledger, LedgerError, Stored};

async fn record(ledger: &Ledger, events: &[Event], id: countersign_core::ids::ReviewId, at_ms: i64) {
    append(ledger, Stored::unopened(id), events, at_ms).await.unwrap();
}

fn keys(events: &[Event]) -> Vec<Key> {
    let key = |event: &Event| match event {
        Event::Answered { key, .. } => Some(key.clone()),
        _ => None,
    };
    events.iter().filter_map(key).collect()
}

#[tokio::test]
async fn an_answer_stands_for_the_same_question_in_another_review() {
    let (_dir, ledger) = scratch().await;
    let id = review_id();
    let events = judged(&id, work("a", "same", 2), false);
    record(&ledger, &events, id.clone(), 500).await;
    let mut transaction = ledger.transaction().await.unwrap();
    let found = transaction.rulings(&keys(&events), 500).await.unwrap();
    assert_eq!(found.len(), 2, "failures stand as passes do");
    for (key, given, by) in found {
        assert_eq!(given, answer(false));
        let By::Reused { review, n, reviewer } = by else { panic!("{by:?}") };
        assert_eq!((review, reviewer.as_str()), (id.clone(), "main"));
        let at = &events[usize::try_from(n).unwrap() - 1];
        assert!(matches!(at, Event::Answered { key: of, .. } if *of == key), "n is the event's own number");
    }
    assert_eq!(transaction.rulings(&keys(&events), 501).await.unwrap(), [], "too old");
    assert_eq!(transaction.rulings(&[], 0).await.unwrap(), []);
}

#[tokio::test]
async fn the_latest_answer_stands() {
    let (_dir, ledger) = scratch().await;
    let (old, new) = (review_id(), review_id());
    let failed = judged(&old, work("a", "same", 1), false);
    record(&ledger, &failed, old.clone(), 1).await;
    let passed = judged(&new, work("b", "same", 1), true);
    record(&ledger, &passed, new.clone(), 2).await;
    let mut transaction = ledger.transaction().await.unwrap();
    let found = transaction.rulings(&keys(&failed), 0).await.unwrap();
    assert!(matches!(&found[..], [(_, _, By::Reused { review, .. })] if *review == new), "{found:?}");
}

#[tokio::test]
async fn only_what_may_stand_anywhere_is_found() {
    for reuse in [Reuse::Review, Reuse::Never] {
        let (_dir, ledger) = scratch().await;
        let mut submit = work("a", "x", 2);
        for assignment in &mut submit.assignments {
            assignment.candidates[0].reuse = reuse;
        }
        let id = review_id();
        let events = judged(&id, submit, true);
        record(&ledger, &events, id, 1).await;
        let mut transaction = ledger.transaction().await.unwrap();
        assert_eq!(transaction.rulings(&keys(&events), 0).await.unwrap(), [], "{reuse:?}");
    }
}

#[tokio::test]
async fn an_index_that_was_bent_to_another_answer_is_seen() {
    let (dir, ledger) = scratch().await;
    let id = review_id();
    let events = judged(&id, work("a", "x", 2), true);
    record(&ledger, &events, id, 1).await;
    record_passed(&ledger, "b").await;
    super::damage::edit(dir.path(), "UPDATE rulings SET n = (SELECT MAX(n) FROM rulings)").await;
    let mut transaction = ledger.transaction().await.unwrap();
    let found = transaction.rulings(&keys(&events), 0).await;
    assert!(matches!(found, Err(LedgerError::Tampered { .. })), "{found:?}");
}

#[tokio::test]
async fn ten_thousand_keys_are_looked_up_at_once() {
    const REVIEWS: usize = 50;
    const FILES: usize = 200;
    let (_dir, ledger) = scratch().await;
    let mut wanted = vec![];
    let mut transaction = ledger.transaction().await.unwrap();
    for i in 0..REVIEWS {
        let id = review_id();
        let events = judged(&id, work(&format!("s{i}"), &format!("c{i}"), FILES), i % 2 == 0);
        wanted.extend(keys(&events));
        transaction.append(Stored::unopened(id), &events, 1).await.unwrap();
    }
    transaction.commit().await.unwrap();
    assert_eq!(wanted.len(), REVIEWS * FILES);
    let mut transaction = ledger.transaction().await.unwrap();
    let mut found: Vec<_> =
        transaction.rulings(&wanted, 0).await.unwrap().into_iter().map(|(key, ..)| key).collect();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}
