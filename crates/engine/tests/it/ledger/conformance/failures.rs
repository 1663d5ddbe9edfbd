//! Failures that stand on their bytes: found whatever the question was, withdrawn only by a dispute about them.

use super::super::fixture::{append, decide, judged, person, review_id, work};
use super::StoreKind;
use countersign_core::digest::{Digest, Key};
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::plan::Reuse;
use countersign_core::review::{By, DISPUTES, Dispute, Input, NewNotes, Standing, Submit};
use countersign_engine::ledger::{Ledger, Stored};

/// Work on the same bytes, under another question.
fn asked(subject: &str, question: &str, notes: Option<&str>) -> Submit {
    let mut submit = work(subject, "same", 1);
    submit.submission.notes = notes.map(|notes| Digest::of(notes.as_bytes()));
    for candidate in submit.assignments.iter_mut().flat_map(|assignment| &mut assignment.candidates) {
        candidate.key = Key::from(question.to_owned());
    }
    submit
}

async fn record(ledger: &Ledger, submit: Submit, passed: bool) -> Stored {
    let id = review_id();
    let events = judged(&id, submit, passed);
    append(ledger, Stored::unopened(id), &events, 1).await.unwrap()
}

async fn standing(ledger: &Ledger, submit: &Submit) -> Vec<Standing> {
    ledger.standing(&submit.rules, &submit.submission, &submit.assignments).await.unwrap()
}

/// The reviews that the failures come from.
fn reviews(found: &[Standing]) -> Vec<&ReviewId> {
    let review = |standing: &'_ Standing| matches!(standing.by, By::Reused { .. });
    assert!(found.iter().all(review), "{found:?}");
    let of = found.iter().map(|standing| &standing.by);
    of.filter_map(|by| if let By::Reused { review, .. } = by { Some(review) } else { None }).collect()
}

/// A dispute that withdraws what a review found.
async fn withdraw(ledger: &Ledger, stored: Stored, question: &str) -> Stored {
    let dispute = Dispute {
        key: Key::from(question.to_owned()),
        criterion: "Correct".into(),
        finding: "fi-test".into(),
        review: review_id(),
        reviewer: "other".into(),
        by: person(),
        upheld: false,
        feedback: "no".into(),
    };
    let events = decide(&stored.review, Input::Disputed(Box::new(dispute)));
    append(ledger, stored, &events, 2).await.unwrap()
}

async fn attack_17_a_failure_is_found_under_every_question_about_its_bytes(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let first = record(&ledger, asked("a", "first", None), false).await;
    let found = standing(&ledger, &asked("b", "second", Some("notes"))).await;
    assert_eq!(reviews(&found), [&first.review.id]);
    assert_eq!((found[0].ruling, found[0].notes.clone(), found[0].fails()), (Some(1), None, true));
    assert_eq!(standing(&ledger, &work("a", "other", 1)).await, [], "other bytes are other work");
    // Another failure does not take its place, so who withdraws that has not withdrawn the first.
    let other = record(&ledger, asked("c", "evil", None), false).await;
    withdraw(&ledger, other, "evil").await;
    let found = standing(&ledger, &asked("b", "second", None)).await;
    assert_eq!((reviews(&found), found[0].fails()), (vec![&first.review.id], true));
    withdraw(&ledger, first, "first").await;
    let found = standing(&ledger, &asked("b", "second", None)).await;
    assert!(!found[0].fails(), "{found:?}");
    // A failure that is given after that stands again.
    record(&ledger, asked("d", "third", None), false).await;
    assert!(standing(&ledger, &asked("b", "second", None)).await[0].fails());
    ledger.verify().await.unwrap();
}

async fn attack_17_the_first_answer_with_new_notes_is_noted(store: StoreKind) {
    for (passed, left) in [(true, NewNotes::Only(Digest::of(b"one"))), (false, NewNotes::Used)] {
        let (_dir, ledger) = store.scratch().await;
        record(&ledger, asked("a", "first", None), false).await;
        let of = async || standing(&ledger, &asked("x", "x", None)).await[0].new_notes.clone();
        assert_eq!(of().await, NewNotes::Any);
        record(&ledger, asked("b", "second", Some("one")), passed).await;
        assert_eq!(of().await, left);
        record(&ledger, asked("c", "third", Some("two")), true).await;
        assert_eq!(of().await, left, "the second is not");
        record(&ledger, asked("d", "fourth", Some("one")), false).await;
        assert_eq!(of().await, NewNotes::Used, "of two answers with the same notes the worse one holds");
        ledger.verify().await.unwrap();
    }
}

async fn attack_17_what_stands_depends_on_who_answered(store: StoreKind) {
    // how far the answer reaches, its door, and whether it stands for the same files, and with another file beside them
    for (reuse, door, same, beside) in [
        (Reuse::Anywhere, "cli", true, true),
        (Reuse::Review, "cli", true, false),
        (Reuse::Never, "cli", false, false),
        (Reuse::Anywhere, DISPUTES, false, false),
    ] {
        let (_dir, ledger) = store.scratch().await;
        let mut submit = asked("a", "first", None);
        submit.assignments[0].candidates[0].reuse = reuse;
        submit.opening.subject = Subject::new(door, ["a"]);
        record(&ledger, submit, false).await;
        assert_eq!(!standing(&ledger, &work("b", "same", 1)).await.is_empty(), same, "{reuse:?} {door}");
        assert_eq!(!standing(&ledger, &work("b", "same", 2)).await.is_empty(), beside, "{reuse:?} {door}");
        ledger.verify().await.unwrap();
    }
}

on_every_store!(
    attack_17_a_failure_is_found_under_every_question_about_its_bytes,
    attack_17_the_first_answer_with_new_notes_is_noted,
    attack_17_what_stands_depends_on_who_answered
);
