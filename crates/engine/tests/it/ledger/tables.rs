//! What verify says about tables and verdicts that were edited, and what a rebuilding makes of them.

use super::damage::{edit, file, link};
use super::fixture::{append, judged, person, record_open, record_passed, review_id, scratch, work};
use countersign_core::review::Event;
use countersign_engine::ledger::{Ledger, LedgerError, Stored};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row};
use std::path::Path;
use tempfile::TempDir;

/// A ledger with a passed, a failed and an open review.
async fn three() -> (TempDir, Ledger) {
    let (dir, ledger) = scratch().await;
    record_passed(&ledger, "a").await;
    let failed = review_id();
    let events = judged(&failed, work("b", "b", 2), false);
    append(&ledger, Stored::unopened(failed), &events, 1).await.unwrap();
    record_open(&ledger, "c").await;
    ledger.verify().await.unwrap();
    (dir, ledger)
}

#[tokio::test]
async fn attack_18_every_row_that_disagrees_with_the_events_is_named() {
    for (sql, table, what) in [
        ("DELETE FROM rulings WHERE key LIKE 'failed/%'", "rulings", "is missing"),
        ("DELETE FROM rulings WHERE key NOT LIKE 'failed/%' AND key NOT LIKE 'index/%'", "rulings", "is missing"),
        ("UPDATE rulings SET n = n + 1 WHERE key LIKE 'failed/%'", "rulings", "differs"),
        ("UPDATE rulings SET stream = 'rv-elsewhere' WHERE key NOT LIKE '%/%'", "rulings", "differs"),
        ("INSERT INTO rulings SELECT 'retried' || substr(key, 7), stream, n FROM rulings WHERE key LIKE 'failed/%'", "rulings", "no event"),
        ("INSERT INTO rulings SELECT key || '@elsewhere', stream, n FROM rulings WHERE key NOT LIKE '%/%'", "rulings", "no event"),
        ("DELETE FROM calls", "calls", "is missing"),
        ("UPDATE calls SET state = 'failed'", "calls", "differs"),
        ("UPDATE calls SET asked_ms = 0", "calls", "differs"),
        ("UPDATE calls SET reviewer = 'other', assignment = 7", "calls", "differs"),
        ("INSERT INTO calls (id, review, round, reviewer, state) SELECT 'ca-made', id, 1, 'main', 'answered' FROM reviews LIMIT 1", "calls", "no event"),
        ("INSERT INTO calls (id, review, round, reviewer, state) VALUES ('ca-made', 'session/none', 0, 'main', 'answered')", "calls", "nothing is recorded of session/none"),
        ("DELETE FROM reviews WHERE subject = 'cli/b'", "reviews", "is missing"),
        ("UPDATE reviews SET outcome = 'passed' WHERE subject = 'cli/b'", "reviews", "differs"),
        ("UPDATE reviews SET opened_seq = 77 WHERE subject = 'cli/b'", "reviews", "differs"),
        ("UPDATE reviews SET pruned = 3 WHERE subject = 'cli/b'", "reviews", "pruned"),
        ("INSERT INTO reviews SELECT 77, 'rv-zzzz', n, 'cli/z', door, state, outcome, round, attempts, digest,
           holder, opened_ms, changed_ms, pruned FROM reviews WHERE subject = 'cli/a'", "reviews", "no event"),
    ] {
        let (dir, ledger) = three().await;
        edit(dir.path(), sql).await;
        let error = ledger.verify().await.expect_err(sql);
        assert_eq!(error.outcome().exit_code(), 7, "{sql}");
        let said = error.to_string();
        assert!(said.contains(&format!("{table}: ")) && said.contains(what), "{sql}: {said}");
        assert!(error.hint().contains("from the events"), "{sql}");
    }
}

#[tokio::test]
async fn issue_18_a_rebuilding_computes_the_tables_again_and_keeps_what_is_in_no_event() {
    let (dir, ledger) = three().await;
    let open = ledger.list(super::rows(true)).await.unwrap().swap_remove(0);
    let mut transaction = ledger.transaction().await.unwrap();
    transaction.set_holder(&open.id, Some("somebody")).await.unwrap();
    transaction.commit().await.unwrap();
    let before = ledger.list(super::rows(false)).await.unwrap();
    edit(
        dir.path(),
        "UPDATE calls SET cost_microusd = 7, state = 'asked'; DELETE FROM rulings WHERE key LIKE '%/%';
         UPDATE reviews SET attempts = 9; DELETE FROM reviews WHERE subject = 'cli/b'",
    )
    .await;
    assert!(ledger.verify().await.is_err());
    let differed = ledger.rebuild(&person(), 5).await.unwrap();
    assert!(differed.len() >= 6, "{differed:?}");
    ledger.verify().await.unwrap();
    assert_eq!(ledger.list(super::rows(false)).await.unwrap(), before);
    assert!(ledger.costs(0).await.unwrap().iter().any(|cost| cost.microusd > 0), "costs stay");
    assert_eq!(ledger.rebuild(&person(), 6).await.unwrap(), Vec::<String>::new());
    assert_eq!(ledger.notes("ledger/rebuilt").await.unwrap().len(), 1, "it is on record, once");
}

/// Writes the chain anew, as a forger with the same account can.
async fn chain_anew(dir: &Path) {
    let options = SqliteConnectOptions::new().filename(file(dir));
    let mut connection = options.connect().await.unwrap();
    let sql = "SELECT seq, stream, n, at_ms, kind, body FROM events ORDER BY seq";
    let mut previous = vec![0; 32];
    for row in sqlx::query(sql).fetch_all(&mut connection).await.unwrap() {
        let (stream, n, at_ms): (String, i64, i64) = (row.get(1), row.get(2), row.get(3));
        let (kind, body): (String, Vec<u8>) = (row.get(4), row.get_unchecked(5));
        let body = match body.first() {
            Some(b'{') => body,
            _ => miniz_oxide::inflate::decompress_to_vec_zlib(&body).unwrap(),
        };
        previous = link(&previous, &stream, n, at_ms, &kind, std::str::from_utf8(&body).unwrap()).to_vec();
        let update = sqlx::query("UPDATE events SET chain = $2 WHERE seq = $1");
        update.bind(row.get::<i64, _>(0)).bind(&previous).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
}

#[tokio::test]
async fn attack_18_a_verdict_that_its_rulings_do_not_give_is_seen_in_a_chain_that_was_computed_anew() {
    for (kind, from, to) in [
        ("round_judged", r#""end":"needs_work""#, r#""end":"pass""#),
        ("round_judged", r#""blocking":[{"#, r#""waived":[{"#),
        ("settled", r#"{"stopped":"attempts_used_up"}"#, r#""passed""#),
        ("settled", r#"{"stopped":"attempts_used_up"}"#, r#""overridden""#),
        ("settled", r#"{"stopped":"attempts_used_up"}"#, r#""skipped""#),
    ] {
        let (dir, ledger) = scratch().await;
        let id = review_id();
        let mut submit = work("b", "b", 2);
        submit.opening.policy.attempts = countersign_core::policy::Attempts::AtMost(1);
        let events = judged(&id, submit, false);
        assert!(matches!(events.last(), Some(Event::Settled { .. })), "{events:?}");
        append(&ledger, Stored::unopened(id), &events, 1).await.unwrap();
        let sql = format!("UPDATE events SET body = replace(body, '{from}', '{to}') WHERE kind = '{kind}'");
        let sql = match to.starts_with(r#""waived""#) {
            // The name is there already, and no name is there twice.
            true => sql.replace("replace(body,", r#"replace(replace(body, '"waived":[]', '"blocking":[]'),"#),
            false => sql,
        };
        edit(dir.path(), &sql).await;
        chain_anew(dir.path()).await;
        edit(dir.path(), "UPDATE reviews SET state = state").await;
        let verified = ledger.verify().await;
        assert!(matches!(verified, Err(LedgerError::NotItsRulings { .. })), "{from}: {verified:?}");
    }
}

#[tokio::test]
async fn issue_18_progress_is_told_to_the_end() {
    let (_dir, ledger) = three().await;
    let mut told = vec![];
    let events = ledger.verify_telling(&mut |done, all| told.push((done, all))).await.unwrap();
    assert!(told.is_sorted() && told.len() >= 2, "{told:?}");
    assert_eq!(told.last(), Some(&(events, events)));
}
