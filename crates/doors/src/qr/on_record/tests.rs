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
    Note::Recorded { item: item.into(), status: status.into(), round: 1, scope_digest: None, review, by }
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
