//! What handing something in means, by the state of its subject.

use super::*;

/// The table of what handing in means, by the state of the subject.
#[test]
fn routes_by_state() {
    let asked = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
    let same =
        |story: &Story| route(Some(&story.review), &asked.submission.digest, &asked.assignments, false);
    let other = |story: &Story| route(Some(&story.review), &Digest::of(b"other"), &asked.assignments, false);
    let check = |story: &Story, expected: (Route, Route)| assert_eq!((same(story), other(story)), expected);
    assert_eq!(route(None, &Digest::of(b""), &[], false), Route::Open);
    let mut story = Story::new();
    check(&story, (Route::Open, Route::Open));
    check(story.submit(&["a@1"]), (Route::Attach, Route::Supersede));
    check(story.answered("a@1", answer(false, true)).confirmed(), (Route::Recorded, Route::NextRound));
    check(story.delivered(), (Route::NextRound, Route::NextRound));
    story.submit(&["a@1"]).confirmed().delivered().submit(&["a@1"]).confirmed();
    check(&story, (Route::Recorded, Route::Recorded));
    let mut passed = Story::new();
    passed.submit(&["a@1"]).answered("a@1", answer(true, true)).confirmed();
    check(&passed, (Route::Recorded, Route::Open));
    // The same bytes for another reviewer: the pass does not count there.
    let elsewhere = [assignment("a@1 by another", ReviewerKind::Asked)];
    assert_eq!(route(Some(&passed.review), &asked.submission.digest, &elsewhere, false), Route::Open);
    let mut silent = Story::new();
    silent.submit(&["a@1"]).failed("a@1", NoVerdict::Timeout).confirmed();
    check(&silent, (Route::NextRound, Route::NextRound));
    let mut withdrawn = Story::new();
    withdrawn.submit(&["a@1"]).take(Input::Withdrawn(actor("x", false)));
    check(&withdrawn, (Route::Open, Route::Open));
}

#[test]
fn asking_everybody_again_is_more_than_the_recorded_answer() {
    let fresh = |story: &Story| {
        let round = story.review.round().unwrap();
        route(Some(&story.review), &round.submission.digest, &round.assignments, true)
    };
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(true, true)).confirmed();
    assert_eq!(fresh(&story), Route::Open);
    let mut failing = Story::new();
    failing.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed();
    assert_eq!(fresh(&failing), Route::NextRound);
    for _ in 0..2 {
        failing.delivered().submit(&["a@1"]).confirmed();
    }
    assert_eq!(fresh(&failing), Route::Recorded, "stopped is stopped");
}
