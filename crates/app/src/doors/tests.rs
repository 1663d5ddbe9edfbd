//! A door that does not exist: a row, and every function over the table knows it.

use super::*;
use countersign_core::review::Review;
use countersign_engine::config::Environment;
use serde_json::json;

/// The row; its name in `find` is a nickname, and what follows from its decisions fails, so that it is seen.
const MADE_UP: Door = Door {
    may_be_left_out: true,
    again: "knock again",
    find: Some(|_, _, typed| {
        Box::pin(async move { Ok((typed == "the made-up one").then(|| ReviewId::new([7; 12]))) })
    }),
    decided: Some(|_, _, stored| {
        Box::pin(async move { Err(Failure::usage(format!("{} was decided", stored.review.subject))) })
    }),
    check: Some(|look| Checked {
        is_there: true,
        words: format!("{}: 1 made-up file: valid\n", look.root.display()),
        keys: vec![("made_up", json!(1))],
        ..Checked::default()
    }),
    ..Door::plain("made-up")
};

fn stored(subject: Subject) -> Stored {
    let review = Review { subject, ..Review::default() };
    Stored { review, n: 0, holder: None, opened_ms: 0, changed_ms: 0 }
}

#[tokio::test]
async fn issue_15_8_a_made_up_door_is_known_by_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let text = crate::init::default_questions();
    std::fs::write(root.join("countersign.yml"), text).unwrap();
    let project = Project::find_at(root.clone(), None, None, &Environment::default()).unwrap();
    let ledger = Ledger::open(&root.join(".countersign")).await.unwrap();
    let doors = Doors(&[DOORS.0, &[MADE_UP]].concat().leak()[..]);
    let subject = Subject::new("made-up", ["thing"]);

    // What `show`, `log`, `rule` and decisions look for.
    let found = doors.find(&project, &ledger, "the made-up one").await.unwrap();
    assert_eq!(found, Some(ReviewId::new([7; 12])));
    assert_eq!(DOORS.find(&project, &ledger, "the made-up one").await.unwrap(), None);
    // What `show` says is next.
    assert_eq!(doors.of(&subject).again, "knock again");
    assert_eq!(DOORS.of(&subject).again, "submit it again");
    // What follows from a decision.
    let decided = doors.decided(&project, &ledger, &stored(subject.clone())).await;
    assert_eq!(decided.unwrap_err().message, "made-up/thing was decided");
    assert!(DOORS.decided(&project, &ledger, &stored(subject)).await.is_ok());
    // What `watch` filters by.
    assert!(doors.is_meant("made-up/thing", "thing") && !DOORS.is_meant("made-up/thing", "thing"));
    // What `validate` looks at.
    let look = Look { root: &root, here: &root, config: Some(&project.config) };
    let last = doors.check(&look).pop().unwrap();
    assert!(last.is_there && last.words.ends_with("1 made-up file: valid\n"), "{last:?}");
    assert_eq!(last.keys, [("made_up", json!(1))]);
    ledger.close().await;
}

#[test]
fn a_subject_is_typed_whole_or_short_or_by_its_beginning() {
    for (subject, typed, is) in [
        ("cli/guides", "cli/guides", true),
        ("cli/guides", "guides", true),
        ("cli/guides", "cli/", true),
        ("cli/guides", "cli", false),
        ("clip/guides", "p/guides", false),
        ("run/guides", "guides", false),
        ("run/tasks/T-1", "run/tasks/", true),
    ] {
        assert_eq!(DOORS.is_meant(subject, typed), is, "{subject} {typed}");
    }
}

#[test]
fn every_door_has_a_name_of_its_own() {
    for door in DOORS.0 {
        let subject = Subject::new(door.name, ["x"]);
        assert_eq!(DOORS.of(&subject).name, door.name);
        assert_eq!(DOORS.0.iter().filter(|one| one.name == door.name).count(), 1, "{}", door.name);
    }
}
