//! Damage: what is not a ledger, not whole, or not what was recorded is told, and never written over.

use super::fixture::{append, decide, person, record_open, record_passed, scratch};
use countersign_core::review::Input;
use countersign_engine::ledger::{Ledger, LedgerError, Stored};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use std::fs;
use std::path::{Path, PathBuf};

pub fn file(dir: &Path) -> PathBuf {
    dir.join(".countersign/ledger.db")
}

/// Edits the ledger by hand.
pub async fn edit(dir: &Path, sql: &str) {
    let options = SqliteConnectOptions::new().filename(file(dir)).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Both ways of opening tell, and the file stays as it is.
async fn refused(dir: &Path, expected: impl Fn(&LedgerError) -> bool) {
    let before = fs::read(file(dir)).unwrap();
    let folder = dir.join(".countersign");
    let (opened, looked) = (Ledger::open(&folder).await.err(), Ledger::open_existing(&folder).await.err());
    for error in [opened, looked] {
        let error = error.expect("it is refused");
        assert!(expected(&error), "{error:?}");
        assert!(!error.hint().is_empty());
        assert_eq!(error.outcome().exit_code(), 8);
    }
    assert_eq!(fs::read(file(dir)).unwrap(), before, "the file was touched");
}

#[tokio::test]
async fn a_newer_ledger_is_refused() {
    let (dir, ledger) = scratch().await;
    record_passed(&ledger, "a").await;
    ledger.close().await;
    edit(dir.path(), "PRAGMA user_version = 4").await;
    refused(dir.path(), |error| matches!(error, LedgerError::Newer { found: 4, ours: 3 })).await;
}

#[tokio::test]
async fn another_programs_database_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".countersign")).unwrap();
    edit(dir.path(), "CREATE TABLE bookmarks (url TEXT)").await;
    refused(dir.path(), |error| matches!(error, LedgerError::NotALedger)).await;
    edit(dir.path(), "PRAGMA user_version = 3").await;
    refused(dir.path(), |error| matches!(error, LedgerError::NotALedger)).await;
}

#[tokio::test]
async fn garbage_is_reported_and_stays() {
    for garbage in
        [b"xy".to_vec(), b"not a database, but a note\n".repeat(400), vec![0; 4096], vec![0xff; 99]]
    {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".countersign")).unwrap();
        fs::write(file(dir.path()), garbage).unwrap();
        refused(dir.path(), |error| matches!(error, LedgerError::Corrupt(_))).await;
    }
}

#[tokio::test]
async fn issue_18_an_empty_file_is_an_emptied_ledger_and_no_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(".countersign");
    fs::create_dir(&folder).unwrap();
    fs::write(file(dir.path()), "").unwrap();
    assert!(matches!(Ledger::open_existing(&folder).await, Err(LedgerError::Emptied)));
    assert!(matches!(Ledger::open(&folder).await, Err(LedgerError::Emptied)));
    assert_eq!(fs::read(file(dir.path())).unwrap(), b"");
}

#[tokio::test]
async fn a_truncated_file_is_reported_and_stays() {
    let (dir, ledger) = scratch().await;
    for i in 0..20 {
        record_passed(&ledger, &i.to_string()).await;
    }
    ledger.close().await;
    let whole = fs::read(file(dir.path())).unwrap();
    for keep in [50, 100, 1000, 4096, 4097, 8192, whole.len() / 2, whole.len() - 4096] {
        fs::write(file(dir.path()), &whole[..keep]).unwrap();
        let found = read_everything(dir.path()).await;
        assert!(matches!(found, Err(LedgerError::Corrupt(_))), "{keep} bytes: {found:?}");
        assert_eq!(fs::read(file(dir.path())).unwrap(), &whole[..keep], "{keep} bytes: the file was touched");
    }
}

async fn read_everything(dir: &Path) -> Result<u64, LedgerError> {
    let ledger = Ledger::open(&dir.join(".countersign")).await?;
    let verified = ledger.verify().await;
    ledger.close().await;
    verified
}

/// What an edit by hand does to a ledger of two reviews, the second still open.
pub async fn edited(sql: &str) -> (Result<u64, LedgerError>, Result<Option<Stored>, LedgerError>) {
    let (dir, ledger) = scratch().await;
    let first = record_passed(&ledger, "a").await;
    record_open(&ledger, "b").await;
    edit(dir.path(), sql).await;
    let verified = ledger.verify().await;
    (verified, ledger.review(&first.review.id).await)
}

#[tokio::test]
async fn an_edited_event_is_seen_by_whoever_reads_it() {
    for sql in [
        "UPDATE events SET body = replace(body, '\"passed\":true', '\"passed\":false') WHERE seq = 4",
        "UPDATE events SET body = body || ' ' WHERE seq = 4",
        "UPDATE events SET at_ms = at_ms + 1 WHERE seq = 4",
        "UPDATE events SET kind = 'asked' WHERE seq = 4",
        "UPDATE events SET chain = zeroblob(32) WHERE seq = 4",
        "UPDATE events SET chain = zeroblob(0) WHERE seq = 4",
        "UPDATE events SET stream = 'rv-elsewhere000' WHERE seq = 4",
        "UPDATE events SET n = 77 WHERE seq = 4",
        "DELETE FROM events WHERE seq = 4",
        "DELETE FROM events WHERE seq = 4; UPDATE events SET n = n - 1 WHERE seq > 4 AND seq < 9",
    ] {
        let (verified, read) = edited(sql).await;
        assert!(matches!(verified, Err(LedgerError::Tampered { seq: 4 | 5 })), "{sql}: {verified:?}");
        assert!(matches!(read, Err(LedgerError::Tampered { .. })), "{sql}: {read:?}");
    }
}

#[tokio::test]
async fn an_edit_elsewhere_is_seen_by_verify() {
    for sql in [
        "DELETE FROM events WHERE seq = 10",
        "DELETE FROM events WHERE seq > 8; DELETE FROM reviews WHERE subject = 'cli/b'",
        "DELETE FROM events WHERE seq > 8; DELETE FROM reviews WHERE subject = 'cli/b';
         UPDATE sqlite_sequence SET seq = 99",
        "UPDATE reviews SET state = 'settled', outcome = 'passed' WHERE subject = 'cli/b'",
        "UPDATE reviews SET attempts = 0, round = 2",
        "UPDATE reviews SET subject = 'cli/c' WHERE subject = 'cli/b'",
        "UPDATE reviews SET door = 'jobs' WHERE subject = 'cli/b'",
        "UPDATE reviews SET state = 'whatever' WHERE subject = 'cli/b'",
        "DELETE FROM reviews WHERE subject = 'cli/b'",
        "INSERT INTO reviews SELECT 77, 'rv-zzzz', n, 'cli/z', door, state, outcome, round, attempts, digest,
           holder, opened_ms, changed_ms, pruned FROM reviews WHERE subject = 'cli/a'",
    ] {
        let (verified, _) = edited(sql).await;
        let error = verified.expect_err(sql);
        assert_eq!(error.outcome().exit_code(), 7, "{sql}: {error:?}");
    }
}

#[tokio::test]
async fn an_end_that_was_cut_off_is_seen_by_whoever_reads_the_review() {
    let (dir, ledger) = scratch().await;
    let first = record_passed(&ledger, "a").await;
    edit(dir.path(), "DELETE FROM events WHERE seq = 8").await;
    let read = ledger.review(&first.review.id).await;
    assert!(matches!(read, Err(LedgerError::Mismatch { .. })), "{read:?}");
}

#[tokio::test]
async fn nothing_is_appended_after_an_end_that_was_cut_off() {
    let (dir, ledger) = scratch().await;
    record_passed(&ledger, "a").await;
    let open = record_open(&ledger, "b").await;
    edit(dir.path(), "DELETE FROM events WHERE seq > 6 AND seq < 9; DELETE FROM events WHERE seq = 10").await;
    let events = decide(&open.review, Input::Withdrawn(person()));
    let appended = append(&ledger, Stored { n: 1, ..open }, &events, 5).await;
    assert!(matches!(appended, Err(LedgerError::Tampered { .. })), "{appended:?}");
}

#[tokio::test]
async fn the_others_are_still_read_and_written() {
    let (dir, ledger) = scratch().await;
    let first = record_passed(&ledger, "a").await;
    let second = record_open(&ledger, "b").await;
    edit(dir.path(), "UPDATE events SET at_ms = 0 WHERE seq = 2").await;
    assert!(ledger.review(&first.review.id).await.is_err());
    assert_eq!(ledger.review(&second.review.id).await.unwrap().as_ref(), Some(&second));
    let events = decide(&second.review, Input::Withdrawn(person()));
    append(&ledger, second, &events, 5).await.unwrap();
}

#[tokio::test]
async fn an_event_of_an_unknown_kind_is_an_error() {
    // As a newer version might write it: properly chained.
    let (dir, ledger) = scratch().await;
    let open = record_open(&ledger, "a").await;
    let body = r#"{"kind":"transmogrified","into":"a toad"}"#;
    let row: (Vec<u8>,) = {
        let options = SqliteConnectOptions::new().filename(file(dir.path()));
        let mut connection = options.connect().await.unwrap();
        sqlx::query_as("SELECT chain FROM events WHERE seq = 2").fetch_one(&mut connection).await.unwrap()
    };
    let chain = link(&row.0, open.review.id.as_str(), 3, 9, "transmogrified", body);
    let hex: String = chain.iter().map(|byte| format!("{byte:02x}")).collect();
    let id = &open.review.id;
    edit(
        dir.path(),
        &format!(
            "INSERT INTO events (stream, n, at_ms, kind, body, chain)
             VALUES ('{id}', 3, 9, 'transmogrified', '{body}', x'{hex}'); UPDATE reviews SET n = 3"
        ),
    )
    .await;
    let read = ledger.review(id).await;
    assert!(
        matches!(&read, Err(LedgerError::UnknownEvent { seq: 3, kind }) if kind == "transmogrified"),
        "{read:?}"
    );
    assert!(ledger.recent(None, 1).await.is_err(), "the log does not skip it either");
    assert!(ledger.verify().await.is_err());
}

/// The chain as it is documented, computed a second time.
pub fn link(previous: &[u8], stream: &str, n: i64, at_ms: i64, kind: &str, body: &str) -> [u8; 32] {
    let mut bytes = vec![];
    let (n, at_ms) = (n.to_le_bytes(), at_ms.to_le_bytes());
    for part in [&b"event/1"[..], previous, stream.as_bytes(), &n, &at_ms, kind.as_bytes(), body.as_bytes()] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    blake3::hash(&bytes).into()
}

#[tokio::test]
async fn nothing_is_written_to_a_file_that_is_gone() {
    let (dir, ledger) = scratch().await;
    record_passed(&ledger, "a").await;
    let begun = ledger.transaction().await.unwrap();
    let (folder, away) = (dir.path().join(".countersign"), dir.path().join("away"));
    fs::rename(&folder, &away).unwrap();
    assert!(matches!(begun.commit().await.err(), Some(LedgerError::Replaced)));
    assert!(matches!(ledger.transaction().await.err(), Some(LedgerError::Replaced)));
    // Another ledger in its place is another ledger.
    let other = Ledger::open(&folder).await.unwrap();
    record_passed(&other, "b").await;
    assert!(matches!(ledger.transaction().await.err(), Some(LedgerError::Replaced)));
    fs::remove_dir_all(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    ledger.transaction().await.unwrap();
}
