//! Stories of people: self-reviews, decisions, lifting, withdrawing.

use super::*;

#[test]
fn a_self_review_needs_its_token_and_a_ruling_per_criterion() {
    let own = |names: &[&str]| {
        Input::Submit(Box::new(submit(names, ReviewerKind::SelfReview, Policy::default(), 0)))
    };
    let token = Token::from_text("sr-one");
    let mut story = Story::new();
    story.take(own(&["a@1", "b@1"]));
    assert_eq!(due(&story.review), [Effect::AskSelf]);
    story.take(Input::SelfReviewAsked { token: token.clone() }).stands(Outcome::AwaitingPerson);
    let both = |complete| vec![(key("a@1"), answer(true, true)), (key("b@1"), answer(complete, true))];
    let wrong = Input::SelfReviewed { token: Token::from_text("sr-two"), answers: both(true) };
    assert_eq!(story.input(wrong).err(), Some(Refused::WrongToken));
    let half = Input::SelfReviewed { token: token.clone(), answers: both(true)[..1].to_vec() };
    assert_eq!(story.input(half).err(), Some(Refused::DoesNotFit));
    let bare =
        Answer { rulings: vec![], feedback: String::new(), bare: Some(false), redacted: 0, reviewed: None };
    let bare = Input::SelfReviewed { token: token.clone(), answers: vec![(key("a@1"), bare)] };
    assert!(story.input(bare).is_err());
    story.take(Input::SelfReviewed { token, answers: both(false) }).confirmed().stands(Outcome::NeedsWork);
}

#[test]
fn the_fifth_unanswered_self_review_stops() {
    let own = || Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::SelfReview, Policy::default(), 0)));
    let mut story = Story::new();
    story.take(own()).take(Input::SelfReviewAsked { token: Token::from_text("sr-one") });
    for _ in 0..3 {
        story.take(own()).stands(Outcome::AwaitingPerson);
    }
    story.take(own()).stands(Outcome::Stopped(Stop::AttemptsUsedUp));
}

#[test]
fn decisions_are_about_the_bytes_that_were_shown_and_not_for_agents() {
    let decide = |story: &Story, verb, person| {
        let by = Actor::new("x", person);
        let digest = story.review.digest().unwrap().clone();
        Decision { by, verb, reason: "r".into(), digest, at_ms: 0 }
    };
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().delivered();
    let old = decide(&story, Verb::Approve, true);
    let agent = decide(&story, Verb::Approve, false);
    assert_eq!(story.input(Input::Decided(agent)).err(), Some(Refused::Forbidden("an agent")));
    story.submit(&["a@2"]);
    assert_eq!(story.input(Input::Decided(old)).err(), Some(Refused::Stale));
    let approve = decide(&story, Verb::Approve, true);
    story.take(Input::Decided(approve)).stands(Outcome::Overridden);
    assert_eq!(story.review.decisions.len(), 1);
    let late = decide(&story, Verb::Reject, true);
    assert_eq!(story.input(Input::Decided(late)).err(), Some(Refused::Settled(Outcome::Overridden)));
    for (overrides, person, allowed) in [
        (Overrides::Allow, false, true),
        (Overrides::PeopleOnly, true, true),
        (Overrides::PeopleOnly, false, false),
        (Overrides::Forbid, true, false),
    ] {
        let mut story = Story::new();
        let policy = Policy { overrides, ..Policy::default() };
        story.take(Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, policy, 0))));
        let skip = decide(&story, Verb::Skip, person);
        assert_eq!(story.input(Input::Decided(skip)).is_ok(), allowed, "{overrides:?} {person}");
    }
}

#[test]
fn a_deputy_decides_like_a_person_and_is_none() {
    let deputy = Actor::deputy("agent via mcp: x");
    assert_eq!(deputy.words(), "agent via mcp: x (an agent, allowed by the user's own file)");
    let of = |story: &Story, verb| {
        let digest = story.review.digest().unwrap().clone();
        Input::Decided(Decision { by: deputy.clone(), verb, reason: "r".into(), digest, at_ms: 0 })
    };
    for (overrides, allowed) in
        [(Overrides::Allow, true), (Overrides::PeopleOnly, true), (Overrides::Forbid, false)]
    {
        let mut story = Story::new();
        let policy = Policy { overrides, ..Policy::default() };
        story.take(Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, policy, 0))));
        let approve = of(&story, Verb::Approve);
        assert_eq!(story.input(approve).is_ok(), allowed, "{overrides:?}");
    }
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed();
    story.take(Input::Withdrawn(deputy.clone())).stands(Outcome::Stopped(Stop::Withdrawn));
    // What is on record of others is as it was before there were any.
    assert_eq!(serde_json::to_string(&Actor::new("x", true)).unwrap(), r#"{"name":"x","person":true}"#);
    assert_eq!(
        serde_json::from_str::<Actor>(r#"{"name":"x","person":true}"#).unwrap(),
        Actor::new("x", true)
    );
    assert!(serde_json::to_string(&deputy).unwrap().contains(r#""deputy":true"#));
}

#[test]
fn an_agent_cannot_get_its_attempts_back_by_withdrawing() {
    let by = |person| Actor::new("x", person);
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed();
    assert_eq!(story.input(Input::Withdrawn(by(false))).err(), Some(Refused::Forbidden("an agent")));
    story.take(Input::Withdrawn(by(true))).stands(Outcome::Stopped(Stop::Withdrawn));
}

#[test]
fn a_person_may_approve_what_was_stopped() {
    let mut story = Story::new();
    for _ in 0..3 {
        story.submit(&["a@1"]);
        if story.questions().len() == 1 {
            story.answered("a@1", answer(false, true));
        }
        story.confirmed().delivered();
    }
    story.stands(Outcome::Stopped(Stop::AttemptsUsedUp));
    let digest = story.review.digest().unwrap().clone();
    let decision = |person| Decision {
        by: Actor::new("x", person),
        verb: Verb::Approve,
        reason: "r".into(),
        digest: digest.clone(),
        at_ms: 0,
    };
    assert!(story.input(Input::Decided(decision(false))).is_err());
    story.take(Input::Decided(decision(true))).stands(Outcome::Overridden);
    assert_eq!(story.review.lifts.len(), 1);
}

/// What a person who has the last word makes of each end of a round.
/// RUN-9.
#[test]
fn run_9_a_person_has_the_last_word_whatever_the_verdict() {
    let policy = || Policy { attempts: Attempts::AtMost(1), ..Policy::default() };
    let asked = |judged: Option<bool>| {
        let mut story = Story::new();
        let mut work = submit(&["a@1"], ReviewerKind::Asked, policy(), 0);
        work.submission.asks_person = true;
        story.take(Input::Submit(Box::new(work)));
        match judged {
            Some(passed) => story.answered("a@1", answer(passed, true)),
            None => story.failed("a@1", NoVerdict::Timeout),
        };
        story.confirmed().stands(Outcome::AwaitingPerson);
        story
    };
    let say = |story: &mut Story, verb, person| {
        let digest = story.review.digest().unwrap().clone();
        let by = Actor::new("x", person);
        story.input(Input::Decided(Decision { by, verb, reason: "r".into(), digest, at_ms: 0 })).map(drop)
    };
    let rejected = Outcome::Stopped(Stop::Rejected);
    let table = [
        (Some(true), Verb::Approve, Outcome::Passed),
        (Some(true), Verb::Reject, rejected),
        (Some(true), Verb::Skip, Outcome::Skipped),
        (Some(true), Verb::Fix, Outcome::NeedsWork),
        (Some(false), Verb::Approve, Outcome::Overridden),
        (Some(false), Verb::Reject, rejected),
        (Some(false), Verb::Skip, Outcome::Skipped),
        (Some(false), Verb::Fix, Outcome::NeedsWork),
        (None, Verb::Approve, Outcome::Overridden),
        (None, Verb::Fix, Outcome::NeedsWork),
    ];
    for (judged, verb, outcome) in table {
        let mut story = asked(judged);
        assert_eq!(say(&mut story, verb, false).err(), Some(Refused::Forbidden("an agent")), "{verb:?}");
        say(&mut story, verb, true).unwrap();
        story.stands(outcome);
        assert_eq!(story.review.decisions.len(), 1);
    }
    let mut story = asked(Some(true));
    story.submit(&["a@1"]).stands(Outcome::AwaitingPerson);
    assert_eq!(story.review.rounds.len(), 1, "the same work gets the same question");
    story.submit(&["a@2"]);
    assert_eq!(story.review.standing(), None, "other work withdraws it");
    assert_eq!(say(&mut story, Verb::Fix, true).err(), Some(Refused::NotNow("the round is still under way")));
}

/// A person may send back what was stopped, which lets it go on.
/// RUN-10.
#[test]
fn run_10_what_was_rejected_is_sent_back_by_a_person_only() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(true, false)).confirmed();
    let decide = |story: &Story, verb, person| {
        let digest = story.review.digest().unwrap().clone();
        Input::Decided(Decision { by: Actor::new("x", person), verb, reason: "r".into(), digest, at_ms: 0 })
    };
    let reject = decide(&story, Verb::Reject, true);
    story.take(reject).stands(Outcome::Stopped(Stop::Rejected));
    story.submit(&["a@2"]).stands(Outcome::Stopped(Stop::Rejected));
    let (agent, person) = (decide(&story, Verb::Fix, false), decide(&story, Verb::Fix, true));
    assert_eq!(story.input(agent).err(), Some(Refused::Forbidden("an agent")));
    story.take(person).stands(Outcome::NeedsWork);
    story.submit(&["a@2"]);
    assert_eq!(story.review.standing(), None, "it is judged again");
}

/// SVC-9.
#[test]
fn svc_9_a_review_that_asks_for_a_person_stops_at_once_and_a_person_lets_it_go_on() {
    use crate::answer::{ReviewResult, Reviewed};
    let says = |result, blocking| {
        let reviewed = Reviewed { result, issues: vec![], summary: String::new(), blocking };
        Answer { reviewed: Some(reviewed), ..answer(false, true) }
    };
    let rejected = Outcome::Stopped(Stop::Rejected);
    for (said, stands) in [
        (says(ReviewResult::NeedsRevision, false), Outcome::NeedsWork),
        (says(ReviewResult::NeedsRevision, true), rejected),
        (says(ReviewResult::Rejected, false), rejected),
    ] {
        let mut story = Story::new();
        story.submit(&["a@1"]).answered("a@1", said).confirmed().stands(stands);
        if stands == rejected {
            story.take(Input::Lifted { by: Actor::new("ann", true), reason: "looked".into() });
            story.stands(Outcome::NeedsWork);
        }
    }
}

#[test]
fn what_steers_the_gate_is_sent_back_like_all_work_and_does_not_pass_without_a_person() {
    for (judged, stands) in [(true, Outcome::AwaitingPerson), (false, Outcome::NeedsWork)] {
        let mut story = Story::new();
        let mut work = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
        work.submission.steers_gate = true;
        story.take(Input::Submit(Box::new(work))).answered("a@1", answer(judged, true)).confirmed();
        story.stands(stands);
    }
}
