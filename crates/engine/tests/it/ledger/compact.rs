//! How much a review takes in the file, and that it is the same when it is read again.

use super::damage::edit;
use super::fixture::{append, decide, judged, review_id, scratch, work};
use countersign_core::answer::{Answer, Ruling};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::review::{Confirmation, Event, Input, Review, Submit, apply};
use countersign_engine::ledger::{Ledger, LedgerError, Stored};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::path::Path;

const FILES: usize = 91;
const COMPACT_BYTES_MAX: i64 = 15 * 1024;

/// Work on as many files as the review of the issue has, with paths and a place as real ones have them.
fn real_work(changed: bool) -> Submit {
    let mut submit = work("a", "same", FILES);
    let place = Digest::of(b"/usr/bin/claude");
    for (i, file) in submit.submission.files.iter_mut().enumerate() {
        file.path = format!("crates/engine/src/room{}/concept_number_{i}.rs", i % 7);
    }
    if changed {
        submit.submission.files[5].digest = Digest::of(b"changed");
    }
    let reviewed = submit.submission.clone();
    submit.submission.digest = Digest::of(format!("{reviewed:?}").as_bytes());
    for (i, assignment) in submit.assignments.iter_mut().enumerate() {
        let file = &submit.submission.files[i];
        assignment.target = countersign_core::plan::Target::File(file.path.clone());
        assignment.candidates[0].key = Digest::of(format!("{file:?}").as_bytes()).as_str().to_owned().into();
        assignment.candidates[0].place = Some(place.clone());
    }
    submit
}

/// The same events, each answer in its own words and given at the place of its question.
fn in_its_own_words(events: &mut [Event]) {
    for (i, event) in events.iter_mut().enumerate() {
        if let Event::Answered { answer, place, .. } = event {
            let said = |criterion: &str| {
                let words =
                    format!("Checked {criterion} of part {i}; the cases {} to {} hold.", i * 7, i * 13);
                Ruling::new(criterion, true, Some(words))
            };
            *answer = Answer::from_rulings(vec![said("Complete"), said("Correct")]);
            *place = Some(Digest::of(b"/usr/bin/claude"));
        }
    }
}

/// A second review of the same files, of which one was changed.
async fn second(ledger: &Ledger) -> (ReviewId, Vec<Event>) {
    let first = review_id();
    let mut events = judged(&first, real_work(false), true);
    in_its_own_words(&mut events);
    append(ledger, Stored::unopened(first), &events, 1_000).await.unwrap();
    let id = review_id();
    let mut submit = real_work(true);
    let candidates: Vec<_> = submit.assignments.iter().flat_map(|asked| asked.candidates.clone()).collect();
    submit.known = ledger.rulings(&candidates, 0).await.unwrap();
    assert_eq!(submit.known.len(), FILES - 1);
    let mut events = judged(&id, submit, true);
    in_its_own_words(&mut events);
    append(ledger, Stored::unopened(id.clone()), &events, 2_000).await.unwrap();
    (id, events)
}

async fn bytes(dir: &Path, stream: &str) -> i64 {
    let options = SqliteConnectOptions::new().filename(super::damage::file(dir));
    let mut connection = options.connect().await.unwrap();
    let sql = "SELECT SUM(LENGTH(CAST(body AS BLOB)) + LENGTH(kind) + LENGTH(stream) + LENGTH(chain) + 24)
                 FROM events WHERE stream = $1";
    let sum: i64 = sqlx::query_scalar(sql).bind(stream).fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    sum
}

#[tokio::test]
async fn issue_18_a_review_of_mostly_reused_answers_is_small() {
    let (dir, ledger) = scratch().await;
    let (id, events) = second(&ledger).await;
    let reused = events.iter().find_map(|event| match event {
        Event::Reused { answers, .. } => Some(answers.len()),
        _ => None,
    });
    assert_eq!(reused, Some(FILES - 1));
    // As it was written before: every answer again, and all of it as text.
    let plain: usize = events.iter().map(|event| serde_json::to_string(event).unwrap().len()).sum();
    let bytes = bytes(dir.path(), id.as_str()).await;
    assert!(plain > 60_000, "{plain}");
    assert!(bytes <= COMPACT_BYTES_MAX, "{bytes} of {plain} bytes");
    let read: Vec<Event> =
        ledger.events(&id, 0, 999).await.unwrap().into_iter().map(|entry| entry.event).collect();
    assert_eq!(read, events, "what is read is what was recorded");
    let folded = events.iter().fold(Review::unopened(id.clone()), apply);
    assert_eq!(ledger.review(&id).await.unwrap().unwrap().review, folded);
    ledger.verify().await.unwrap();
}

#[tokio::test]
async fn issue_18_an_answer_that_is_not_word_for_word_the_same_is_written_whole() {
    let (_dir, ledger) = scratch().await;
    let first = review_id();
    let mut events = judged(&first, work("a", "x", 1), true);
    append(&ledger, Stored::unopened(first), &events, 1).await.unwrap();
    let mut submit = work("b", "x", 1);
    submit.known = ledger.rulings(&submit.assignments[0].candidates, 0).await.unwrap();
    submit.known[0].answer.after_notes = vec!["Complete".to_owned()];
    let id = review_id();
    events = decide(&Review::unopened(id.clone()), Input::Submit(Box::new(submit)));
    let review = events.iter().fold(Review::unopened(id.clone()), apply);
    events.extend(decide(&review, Input::Confirmed { round: 1, found: Confirmation::Same, now_ms: 2 }));
    let stored = append(&ledger, Stored::unopened(id.clone()), &events, 2).await.unwrap();
    assert_eq!(ledger.review(&id).await.unwrap(), Some(stored));
    ledger.verify().await.unwrap();
}

/// What is referred to is checked like every event that is read.
#[tokio::test]
async fn attack_18_an_answer_that_was_referred_to_and_edited_is_seen() {
    for sql in [
        "UPDATE events SET body = replace(body, '\"passed\":true', '\"passed\":false') WHERE kind = 'answered' AND seq < 100",
        "DELETE FROM events WHERE kind = 'answered' AND seq < 100",
        "UPDATE events SET kind = 'reused' WHERE kind = 'answered' AND seq < 100",
        "UPDATE events SET body = CAST('x' AS BLOB) WHERE kind = 'submitted' AND seq > 100",
        "UPDATE events SET body = x'ffffffff' WHERE kind = 'submitted' AND seq > 100",
        "UPDATE events SET body = x'ff' WHERE kind = 'reused'",
        "UPDATE events SET body = 7 WHERE kind = 'reused'",
    ] {
        let (dir, ledger) = scratch().await;
        let (id, _) = second(&ledger).await;
        edit(dir.path(), sql).await;
        let read = ledger.review(&id).await;
        assert!(matches!(read, Err(LedgerError::Tampered { .. })), "{sql}: {read:?}");
        assert!(ledger.verify().await.is_err(), "{sql}");
    }
}
