//! What is special about a ledger in a file: other processes, other openings, and hands that edit it.

use super::conformance::rulings::asked;
use super::conformance::watching::told;
use super::damage::edit;
use super::fixture::{append, judged, record_passed, review_id, scratch, work};
use countersign_core::digest::Key;
use countersign_engine::ledger::{Ledger, LedgerError, Stored};

#[tokio::test]
async fn it_is_all_there_after_opening_again() {
    let (dir, ledger) = scratch().await;
    let stored = record_passed(&ledger, "a").await;
    ledger.close().await;
    let folder = dir.path().join(".countersign");
    assert_eq!(std::fs::read_to_string(folder.join(".gitignore")).unwrap(), "*\n");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "only .gitignore, holders and ledger.db stay: {left:?}");
    let ledger = Ledger::open(&folder).await.unwrap();
    assert_eq!(ledger.review(&stored.review.id).await.unwrap(), Some(stored));
    assert_eq!(ledger.verify().await.unwrap(), 2 + 2 * 2 + 2);
}

#[tokio::test]
async fn looking_for_a_ledger_makes_none() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(".countersign");
    assert!(Ledger::open_existing(&folder).await.unwrap().is_none());
    assert!(!folder.exists());
    let written = Ledger::open(&folder).await.unwrap();
    let stored = record_passed(&written, "a").await;
    let found = Ledger::open_existing(&folder).await.unwrap().expect("a ledger");
    assert_eq!(found.review(&stored.review.id).await.unwrap().unwrap(), stored);
    record_passed(&found, "b").await;
}

#[tokio::test]
async fn an_index_that_was_bent_to_another_answer_is_seen() {
    let (dir, ledger) = scratch().await;
    let id = review_id();
    let events = judged(&id, work("a", "x", 2), true);
    append(&ledger, Stored::unopened(id), &events, 1).await.unwrap();
    record_passed(&ledger, "b").await;
    edit(dir.path(), "UPDATE rulings SET n = (SELECT MAX(n) FROM rulings)").await;
    let mut transaction = ledger.transaction().await.unwrap();
    let found = transaction.rulings(&asked(&events), 0).await;
    assert!(matches!(found, Err(LedgerError::Tampered { .. })), "{found:?}");
}

#[tokio::test]
async fn attack_17_a_failure_that_was_removed_from_the_index_is_missed() {
    let bent = "UPDATE rulings SET stream = (SELECT stream FROM rulings WHERE key NOT LIKE 'failed/%' AND stream <> ''),
         n = (SELECT n FROM rulings WHERE key NOT LIKE 'failed/%' AND stream <> '') WHERE key LIKE 'failed/%'";
    for (edited, is_seen_at_once) in [
        ("DELETE FROM rulings WHERE key LIKE 'failed/%'", false),
        ("UPDATE rulings SET n = 99 WHERE key LIKE 'failed/%'", false),
        (bent, true),
    ] {
        let (dir, ledger) = scratch().await;
        let id = review_id();
        let submit = work("a", "x", 1);
        let events = judged(&id, submit.clone(), false);
        append(&ledger, Stored::unopened(id), &events, 1).await.unwrap();
        ledger.verify().await.unwrap();
        record_passed(&ledger, "b").await;
        edit(dir.path(), "DELETE FROM rulings WHERE key NOT LIKE 'fail%' AND stream = (SELECT stream FROM rulings WHERE key LIKE 'failed/%')").await;
        edit(dir.path(), edited).await;
        let found = ledger.standing(&submit.rules, &submit.submission, &submit.assignments).await;
        assert_eq!(found.is_err(), is_seen_at_once, "{edited}");
        assert!(ledger.verify().await.is_err(), "{edited}");
    }
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
        wanted.extend(asked(&events));
        transaction.append(Stored::unopened(id), &events, 1).await.unwrap();
    }
    transaction.commit().await.unwrap();
    assert_eq!(wanted.len(), REVIEWS * FILES);
    let mut transaction = ledger.transaction().await.unwrap();
    let mut found: Vec<_> =
        transaction.rulings(&wanted, 0).await.unwrap().into_iter().map(|known| known.key).collect();
    found.sort();
    let mut wanted: Vec<Key> = wanted.into_iter().map(|candidate| candidate.key).collect();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn a_change_by_another_process_is_told_soon() {
    let (dir, ledger) = scratch().await;
    // A second opening of the same folder shares nothing with the first, as another process would.
    let other = Ledger::open(&dir.path().join(".countersign")).await.unwrap();
    let mut watcher = ledger.watch().await.unwrap();
    assert!(!told(&mut watcher, 250).await, "nothing happened");
    record_passed(&other, "a").await;
    assert!(told(&mut watcher, 2_000).await);
    assert!(!told(&mut watcher, 250).await, "it is told once");
}

#[tokio::test]
async fn an_edited_note_is_seen() {
    let (dir, ledger) = scratch().await;
    let mut transaction = ledger.transaction().await.unwrap();
    transaction.note("session/two", 0, &[("begun", "{\"a\":1}".to_owned())], 5).await.unwrap();
    transaction.commit().await.unwrap();
    ledger.close().await;
    edit(dir.path(), "UPDATE events SET body = '{\"a\":2}' WHERE stream = 'session/two' AND n = 1").await;
    let ledger = Ledger::open(&dir.path().join(".countersign")).await.unwrap();
    assert!(matches!(ledger.notes("session/two").await, Err(LedgerError::Tampered { .. })));
}
