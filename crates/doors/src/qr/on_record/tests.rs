//! What the ledger knows of passes, and what it does not.

use super::*;
use crate::qr::phase::Phase;
use countersign_core::review::{ActorKind, Channel};
use std::path::Path;

fn note(n: u64, note: &Note, file: Option<&Digest>) -> ledger::Note {
    let (kind, body) = note.row(file);
    ledger::Note { n, at_ms: 0, kind, body }
}

fn state(items: &str) -> State {
    let text = format!(r#"{{"phase": "plan-code", "items": [{items}]}}"#);
    State::parse(Path::new(&Phase::PlanCode.file_name()), &text).unwrap()
}

fn item(id: &str, rest: &str) -> String {
    format!(r#"{{"id": "{id}", "scope": "*", "check": "c", {rest}}}"#)
}

fn ann(person: bool) -> Actor {
    let kind = if person { ActorKind::Person } else { ActorKind::Agent };
    Actor::new("ann", kind, Channel::Terminal)
}

fn recorded(item: &str, status: &str, review: bool) -> Note {
    let by = ann(false);
    Note::Recorded {
        item: item.into(),
        status: status.into(),
        round: 1,
        scope_digest: None,
        failed_digest: None,
        review,
        by,
    }
}

fn reset(person: bool) -> Note {
    Note::Reset { by: ann(person) }
}

#[test]
fn items_without_a_record_are_reported() {
    let digest = Digest::of(b"file");
    let accepted =
        Note::Accepted { item: "a".into(), reason: "r".into(), round: 1, scope_digest: None, by: ann(true) };
    let fixed = Note::Fixed { round: 2, reopened: vec!["a".into()], files: vec![], by: ann(false) };
    let changed = || Note::ChangedElsewhere { found: None };
    let pass = item("a", r#""status": "PASS""#);
    let taken = item("a", r#""status": "FAIL", "finding": "f", "accepted": true"#);
    let odd = item("a", r#""status": "PASS", "finding": "f""#);
    let who = "no record says who passed these items: a";
    let once = "the state file was changed or removed without a record, once";
    let rows: Vec<(Vec<Note>, &str, Vec<&str>)> = vec![
        (vec![recorded("a", "PASS", true)], &pass, vec![]),
        (vec![recorded("a", "PASS", false)], &pass, vec![]),
        (vec![recorded("a", "FAIL", true)], &pass, vec![who]),
        (vec![recorded("a", "PASS", true), fixed], &pass, vec![who]),
        (vec![recorded("a", "PASS", true), reset(true)], &pass, vec![who]),
        (vec![accepted.clone()], &taken, vec![]),
        (vec![accepted], &pass, vec![who]),
        (vec![recorded("a", "FAIL", true)], &taken, vec!["no record says who accepted these items: a"]),
        (vec![recorded("a", "PASS", true)], &odd, vec!["these items are PASS but have a finding: a"]),
        (vec![changed(), recorded("a", "PASS", true)], &pass, vec![once]),
        (vec![changed(), reset(false), recorded("a", "PASS", true)], &pass, vec![once]),
        (vec![changed(), reset(true), recorded("a", "PASS", true)], &pass, vec![]),
    ];
    for (notes, items, expected) in rows {
        let stored: Vec<_> = (1..).zip(&notes).map(|(n, what)| note(n, what, Some(&digest))).collect();
        let on = OnRecord::of(&stored);
        assert_eq!(on.doubts(&state(items), &digest, &[]), expected, "{notes:?}");
        let other = on.doubts(&state(items), &Digest::of(b"another file"), &[]);
        assert!(other[0].starts_with("the state file was changed or removed without a record"), "{other:?}");
    }
}

#[test]
fn a_word_is_told_from_a_review() {
    let notes = [recorded("a", "PASS", true), recorded("b", "PASS", false), recorded("c", "FAIL", false)];
    let notes: Vec<_> = (1..).zip(&notes).map(|(n, what)| note(n, what, None)).collect();
    let items = ["a", "b", "c", "d"].map(|id| item(id, r#""status": "PASS""#)).join(",");
    let state = state(&items);
    let by_word = OnRecord::of(&notes).by_word(&state);
    let none = "not recorded".to_owned();
    assert_eq!(by_word, [("b", "ann (an agent)".to_owned()), ("c", none.clone()), ("d", none)]);
}

fn decomposed(items: &str, person: bool) -> Note {
    let list = KnownItem::all(&state(items).items);
    Note::Decomposed { items: list.len(), round: 1, by: ann(person), list }
}

fn ruling(status: &str, review: bool, content: Option<&str>) -> Note {
    let digest = content.map(|content| Digest::of(content.as_bytes()));
    let (passed, by) = (status == "PASS", ann(false));
    Note::Recorded {
        item: "a".into(),
        status: status.into(),
        round: 1,
        scope_digest: digest.clone().filter(|_| passed),
        failed_digest: digest.filter(|_| !passed),
        review,
        by,
    }
}

#[test]
fn attack_17_what_the_record_contradicts_does_not_pass() {
    let must = item("a", r#""severity": "MUST""#);
    let (may, pass) =
        (item("a", r#""severity": "MAY""#), item("a", r#""severity": "MUST", "status": "PASS""#));
    let easier = must.replace("\"c\"", "\"anything\"");
    let begun = || decomposed(&must, false);
    let fixed = || Note::Fixed { round: 2, reopened: vec!["a".into()], files: vec![], by: ann(false) };
    let gone = || Note::ChangedElsewhere { found: None };
    let failed = "these items are PASS, but they failed on record: a";
    let removed = "the state file or its items were removed after an item failed, and not by a person";
    let round = "the file says round 1, but the record says round 2";
    let rows: Vec<(Vec<Note>, &str, Vec<&str>)> = vec![
        (vec![begun()], &must, vec![]),
        (vec![begun()], "", vec!["these items are gone: a"]),
        (vec![begun()], &may, vec!["these items have a lower severity than they had: a"]),
        (vec![begun()], &easier, vec!["these items check something else than they did: a"]),
        (vec![begun(), decomposed(&easier, false)], &easier, vec![]),
        // A review failed it: a word on the same content does not pass it, other content or another review does.
        (vec![begun(), ruling("FAIL", true, Some("1"))], &pass, vec![failed]),
        (
            vec![begun(), ruling("FAIL", true, Some("1")), ruling("PASS", false, Some("1"))],
            &pass,
            vec![failed],
        ),
        (vec![begun(), ruling("FAIL", true, None), ruling("PASS", false, None)], &pass, vec![failed]),
        (vec![begun(), ruling("FAIL", true, Some("1")), ruling("PASS", false, Some("2"))], &pass, vec![]),
        (vec![begun(), ruling("FAIL", true, Some("1")), ruling("PASS", true, Some("1"))], &pass, vec![]),
        (
            vec![begun(), ruling("FAIL", true, Some("1")), fixed(), ruling("PASS", false, Some("1"))],
            &pass,
            vec![failed, round],
        ),
        (vec![begun(), ruling("FAIL", true, None), fixed(), ruling("PASS", false, None)], &pass, vec![round]),
        // The word of the author against their own is the document's way.
        (vec![begun(), ruling("FAIL", false, None), ruling("PASS", false, None)], &pass, vec![]),
        // Removing the file and beginning again is for people, once an item failed.
        (vec![begun(), gone(), begun()], &pass, vec![]),
        (
            vec![begun(), ruling("FAIL", true, None), gone(), decomposed(&easier, false)],
            &easier,
            vec![removed, "these items check something else than they did: a"],
        ),
        (vec![begun(), ruling("FAIL", true, None), gone(), decomposed(&easier, true)], &easier, vec![]),
        (vec![begun(), ruling("FAIL", true, None), gone(), reset(true), begun()], &pass, vec![]),
    ];
    for (notes, items, expected) in rows {
        let stored: Vec<_> = (1..).zip(&notes).map(|(n, what)| note(n, what, None)).collect();
        let on = OnRecord::of(&stored);
        assert_eq!(on.contradictions(&state(items)), expected, "{notes:?}");
        let passes = on.corrected(&state(items)).items.iter().all(|item| item.status == Status::Pass);
        assert!(!passes || !expected.contains(&failed) || items.is_empty(), "{notes:?}");
    }
}
