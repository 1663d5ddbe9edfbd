//! Stories of findings that may be wrong.

use super::*;

/// What came of a dispute about the first criterion.
pub(super) fn dispute(name: &str, upheld: bool, person: bool) -> Dispute {
    Dispute {
        key: key(name),
        criterion: "**complete**:".into(),
        finding: "fi-test".into(),
        review: ReviewId::from_text("rv-dispute"),
        reviewer: "other".into(),
        by: actor("x", person),
        upheld,
        feedback: "line 3 says so".into(),
    }
}

fn disputed(name: &str, upheld: bool) -> Input {
    Input::Disputed(Box::new(dispute(name, upheld, false)))
}

fn failed() -> Story {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).answered("a@1", answer(false, true)).answered("b@1", answer(true, true));
    story.confirmed().stands(Outcome::NeedsWork);
    story
}

#[test]
fn a_withdrawn_finding_does_not_come_back_on_unchanged_bytes() {
    let mut story = failed();
    story.take(disputed("a@1", false));
    // The verdict of the round stays what it was; its finding is gone.
    story.stands(Outcome::NeedsWork);
    assert!(story.review.findings().is_empty());
    assert_eq!((story.review.disputes.len(), story.review.attempts), (1, 1));
    // Submitted again, also where the first answer was not delivered: no reviewer is asked.
    story.submit(&["a@1", "b@1"]).asks(&[]);
    story.confirmed().stands(Outcome::Passed);
    let reused = story.review.round().unwrap().answers[&key("a@1")].by.clone();
    let By::Reused { n, reviewer, .. } = reused else { panic!("{reused:?}") };
    let at = usize::try_from(n).unwrap() - 1;
    assert!(matches!(story.events[at], Event::Answered { by: By::Disputed { .. }, .. }), "{n}");
    assert_eq!(reviewer, "other");
    assert_eq!(fold(story.review.id.clone(), &story.events), story.review);
}

#[test]
fn an_upheld_finding_stands_and_other_failures_are_untouched() {
    let mut story = failed();
    story.take(disputed("a@1", true)).delivered().submit(&["a@1", "b@1"]).asks(&[]);
    story.confirmed().stands(Outcome::NeedsWork);
    assert_eq!(story.review.findings().len(), 1);
    // One of two failures withdrawn leaves the other.
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, false)).confirmed();
    story.take(disputed("a@1", false)).delivered();
    let left: Vec<_> = story.review.findings().into_iter().filter_map(|finding| finding.criterion).collect();
    assert_eq!(left, ["Clear"]);
    story.submit(&["a@1"]).confirmed().stands(Outcome::NeedsWork);
}

#[test]
fn the_same_dispute_counts_once_and_a_person_may_have_it_judged_anew() {
    let mut story = failed();
    let before = story.take(disputed("a@1", true)).events.len();
    assert_eq!(story.take(disputed("a@1", true)).events.len(), before);
    story.take(disputed("a@1", false)).take(disputed("a@1", false)).take(disputed("a@1", true));
    assert_eq!((story.events.len(), story.review.findings().len()), (before + 2, 0));
}

#[test]
fn what_cannot_be_disputed_is_refused() {
    let mut story = failed();
    assert_eq!(story.input(disputed("c@1", false)).err().map(|r| r.to_string().len() > 9), Some(true));
    assert_eq!(story.take(disputed("b@1", false)).review.disputes, [], "nothing was found there");
    let mut other = dispute("a@1", false, true);
    other.criterion = "Else".into();
    assert_eq!(story.input(Input::Disputed(Box::new(other))).err(), Some(Refused::NotAsked));
    story.delivered().submit(&["a@2", "b@1"]);
    assert!(matches!(story.input(disputed("a@2", false)).err(), Some(Refused::NotNow(_))), "under way");
    for kind in [ReviewerKind::Checks, ReviewerKind::SelfReview] {
        let mut story = Story::new();
        story.take(Input::Submit(Box::new(submit(&["a@1"], kind, Policy::default(), 0))));
        if kind == ReviewerKind::SelfReview {
            let token = Token::from_text("sr-one");
            story.take(Input::SelfReviewAsked { token: token.clone() });
            let answers = vec![(key("a@1"), answer(false, true))];
            story.take(Input::SelfReviewed { token, answers }).confirmed();
        } else {
            story.answered("a@1", answer(false, true)).confirmed();
        }
        assert!(matches!(story.input(disputed("a@1", false)).err(), Some(Refused::NotNow(_))), "{kind:?}");
    }
}

#[test]
fn what_was_stopped_is_disputed_by_people_only() {
    let mut story = Story::new();
    for _ in 0..3 {
        story.submit(&["a@1"]);
        if story.questions().is_empty() {
            story.confirmed().delivered();
        } else {
            story.answered("a@1", answer(false, true)).confirmed().delivered();
        }
    }
    story.stands(Outcome::Stopped(Stop::AttemptsUsedUp));
    assert_eq!(story.input(disputed("a@1", false)).err(), Some(Refused::Forbidden("an agent")));
    story.take(Input::Disputed(Box::new(dispute("a@1", false, true))));
    story.stands(Outcome::Stopped(Stop::AttemptsUsedUp));
    let person = actor("ann", true);
    story.take(Input::Lifted { by: person, reason: "go on".into() }).submit(&["a@1"]).asks(&[]);
    story.confirmed().stands(Outcome::Passed);
}
