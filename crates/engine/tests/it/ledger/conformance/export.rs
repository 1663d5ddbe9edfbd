//! Export and import: the same events come out as went in, whole or not at all, and count for nothing.

use super::super::fixture::{append, judged, person, record_open, record_passed, review_id, work};
use super::StoreKind;
use super::rulings::asked;
use countersign_core::outcome::Outcome;
use countersign_engine::ledger::{Filter, Ledger, LedgerError, Stored};
use proptest::prelude::*;

async fn exported(ledger: &Ledger) -> Vec<u8> {
    let mut text = vec![];
    ledger.export(&mut text).await.unwrap();
    text
}

async fn import(ledger: &Ledger, text: &[u8]) -> Result<countersign_engine::ledger::Import, LedgerError> {
    let mut from = text;
    ledger.import(&mut from, "theirs.jsonl", &person(), 9).await
}

async fn issue_18_an_import_shows_the_same_events_and_counts_for_nothing(store: StoreKind) {
    let (_theirs_dir, theirs) = store.scratch().await;
    let id = review_id();
    let submit = work("a", "same", 3);
    let events = judged(&id, submit.clone(), true);
    append(&theirs, Stored::unopened(id.clone()), &events, 5).await.unwrap();
    let mut again = work("b", "same", 3);
    again.known = theirs.rulings(&asked(&events), 0).await.unwrap();
    assert_eq!(again.known.len(), 3);
    let second = review_id();
    append(&theirs, Stored::unopened(second.clone()), &judged(&second, again, true), 6).await.unwrap();

    let (_dir, ledger) = store.scratch().await;
    record_passed(&ledger, "own").await;
    let before = ledger.list(Filter { open_only: false, before: None, limit: 9 }).await.unwrap();
    let text = exported(&theirs).await;
    let imported = import(&ledger, &text).await.unwrap();
    assert_eq!((imported.reviews, ledger.imports().await.unwrap()), (2, vec![imported.clone()]));
    let rows = ledger.imported(&imported, 9).await.unwrap();
    let shown: Vec<_> = rows.iter().map(|row| (&row.id, row.standing)).collect();
    assert_eq!(shown, [(&second, Some(Outcome::Passed)), (&id, Some(Outcome::Passed))]);
    for review in [&id, &second] {
        let theirs = theirs.events(review, 0, 99).await.unwrap();
        let ours = ledger.imported_events(&imported, review, 0, 99).await.unwrap();
        let parts = |entries: &[countersign_engine::ledger::Entry]| -> Vec<_> {
            entries.iter().map(|entry| (entry.n, entry.at_ms, entry.event.clone())).collect()
        };
        assert_eq!(parts(&ours), parts(&theirs));
        assert_eq!(ledger.review(review).await.unwrap(), None, "no review of this ledger");
    }
    assert_eq!(ledger.rulings(&asked(&events), 0).await.unwrap(), [], "nothing is reused");
    assert_eq!(ledger.latest_for(&submit.opening.subject).await.unwrap(), None);
    assert_eq!(ledger.list(Filter { open_only: false, before: None, limit: 9 }).await.unwrap(), before);
    ledger.verify().await.unwrap();
    assert!(matches!(import(&ledger, &text).await, Err(LedgerError::Imported)), "once is enough");
}

async fn attack_18_an_export_that_was_edited_is_refused_with_its_line(store: StoreKind) {
    let (_theirs_dir, theirs) = store.scratch().await;
    record_passed(&theirs, "a").await;
    let text = String::from_utf8(exported(&theirs).await).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len();
    assert_eq!(last, 8 + 2 + 1);
    let without = |left_out: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != left_out);
        kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let edited = |at: usize, from: &str, to: &str| {
        assert!(lines[at].contains(from), "{}", lines[at]);
        let line = |(i, line): (usize, &&str)| match i == at {
            true => format!("{}\n", line.replace(from, to)),
            false => format!("{line}\n"),
        };
        lines.iter().enumerate().map(line).collect::<String>()
    };
    for (bad, at, is_changed) in [
        (edited(3, "true", "false"), 4, true),
        (edited(3, r#""at_ms":"#, r#""at_ms":1"#), 4, true),
        (without(0), 1, true),
        (without(4), 5, true),
        (without(7), last - 1, true),
        (without(8), last - 1, true),
        (without(last - 1), last - 1, false),
        (edited(last - 1, r#""events":8"#, r#""events":9"#), last, true),
        (edited(2, r#"{"event""#, r#"{"evnt""#), 3, false),
        (format!("{text}{{}}\n"), last + 1, false),
        ("nothing\n".to_owned(), 1, false),
    ] {
        let (_dir, ledger) = store.scratch().await;
        record_passed(&ledger, "own").await;
        let error = import(&ledger, bad.as_bytes()).await.expect_err("it is refused");
        let found = match &error {
            LedgerError::ExportChanged { line } => (*line, true),
            LedgerError::NotAnExport { line, .. } => (*line, false),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, (at as u64, is_changed), "{error}");
        assert_eq!((ledger.verify().await.unwrap(), ledger.imports().await.unwrap().len()), (8, 0));
    }
}

async fn issue_18_an_empty_ledger_and_one_with_imports_are_exported_too(store: StoreKind) {
    let (_dir, empty) = store.scratch().await;
    let (_other_dir, ledger) = store.scratch().await;
    assert_eq!(import(&ledger, &exported(&empty).await).await.unwrap().events, 0);
    let (_third_dir, third) = store.scratch().await;
    record_open(&ledger, "a").await;
    let imported = import(&third, &exported(&ledger).await).await.unwrap();
    assert_eq!((imported.reviews, imported.events), (1, 3));
    third.verify().await.unwrap();
}

on_every_store!(
    issue_18_an_import_shows_the_same_events_and_counts_for_nothing,
    attack_18_an_export_that_was_edited_is_refused_with_its_line,
    issue_18_an_empty_ledger_and_one_with_imports_are_exported_too
);

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is recorded, also by doors, is the same after export and import.
    #[test]
    fn issue_18_what_is_exported_is_what_is_imported(
        streams in prop::collection::vec(("(session|task|qr)/[a-z]{1,4}", "[a-z_]{1,8}", any::<String>(), any::<i64>()), 0..20)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let theirs = Ledger::in_memory();
            for (stream, kind, body, at_ms) in &streams {
                let mut transaction = theirs.transaction().await.unwrap();
                let known = transaction.notes(stream).await.unwrap().len() as u64;
                transaction.note(stream, known, &[(kind, body.clone())], *at_ms).await.unwrap();
                transaction.commit().await.unwrap();
            }
            let ledger = Ledger::in_memory();
            let imported = import(&ledger, &exported(&theirs).await).await.unwrap();
            for (stream, ..) in &streams {
                let ours = ledger.notes(&format!("imported/{}/{stream}", imported.id)).await.unwrap();
                assert_eq!(ours, theirs.notes(stream).await.unwrap());
            }
            ledger.verify().await.unwrap();
        });
    }
}
