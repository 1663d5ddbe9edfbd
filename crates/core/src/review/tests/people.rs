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
    let bare = Answer { bare: Some(false), ..Answer::default() };
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
        let by = actor("x", person);
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
    let first = Refused::Decided("approve by x (a person): r".into());
    assert_eq!(story.input(Input::Decided(late)).err(), Some(first));
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
    let deputy = Actor::deputy("agent via mcp: x", Channel::Unknown);
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
    assert_eq!(serde_json::to_string(&actor("x", true)).unwrap(), r#"{"name":"x","person":true}"#);
    assert_eq!(serde_json::from_str::<Actor>(r#"{"name":"x","person":true}"#).unwrap(), actor("x", true));
    assert!(serde_json::to_string(&deputy).unwrap().contains(r#""deputy":true"#));
}

#[test]
fn an_agent_cannot_get_its_attempts_back_by_withdrawing() {
    let by = |person| actor("x", person);
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
        by: actor("x", person),
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
        let by = actor("x", person);
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

/// A person lets go on what was rejected.
/// RUN-10.
#[test]
fn run_10_what_was_rejected_is_sent_back_by_a_person_only() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(true, false)).confirmed();
    let decide = |story: &Story, verb, person| {
        let digest = story.review.digest().unwrap().clone();
        Input::Decided(Decision { by: actor("x", person), verb, reason: "r".into(), digest, at_ms: 0 })
    };
    let reject = decide(&story, Verb::Reject, true);
    story.take(reject).stands(Outcome::Stopped(Stop::Rejected));
    story.submit(&["a@2"]).stands(Outcome::Stopped(Stop::Rejected));
    let lift = |person| Input::Lifted { by: actor("x", person), reason: "go on".into() };
    assert_eq!(story.input(lift(false)).err(), Some(Refused::Forbidden("an agent")));
    story.take(lift(true)).stands(Outcome::NeedsWork);
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
    let rejected = Outcome::Stopped(Stop::RejectedByReviewer);
    for (said, stands) in [
        (says(ReviewResult::NeedsRevision, false), Outcome::NeedsWork),
        (says(ReviewResult::NeedsRevision, true), rejected),
        (says(ReviewResult::Rejected, false), rejected),
    ] {
        let mut story = Story::new();
        story.submit(&["a@1"]).answered("a@1", said).confirmed().stands(stands);
        if stands == rejected {
            story.take(Input::Lifted { by: actor("ann", true), reason: "looked".into() });
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

/// Reject and then approve on one digest: the first counts, and only letting the review go on makes room for another.
#[test]
fn the_first_decision_about_a_digest_wins_whatever_comes_second() {
    let verbs = [Verb::Approve, Verb::Reject, Verb::Skip, Verb::Fix];
    for (first, second) in verbs.into_iter().flat_map(|first| verbs.map(|second| (first, second))) {
        let mut story = Story::new();
        story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().delivered();
        let decide = |story: &Story, verb, by: &str| {
            let digest = story.review.digest().unwrap().clone();
            let reason = format!("{by} says so");
            Input::Decided(Decision { by: actor(by, true), verb, reason, digest, at_ms: 0 })
        };
        let said = decide(&story, first, "ann");
        story.take(said);
        let stands = story.review.standing();
        let words = format!("{} by ann (a person): ann says so", first.name());
        let late = decide(&story, second, "bob");
        assert_eq!(story.input(late).err(), Some(Refused::Decided(words)), "{first:?} {second:?}");
        assert_eq!(story.review.standing(), stands);
        match first {
            Verb::Reject => {
                story.take(Input::Lifted { by: actor("ann", true), reason: "on".into() });
            }
            // What was sent back is decided about anew once it was handed in again.
            Verb::Fix => {
                story.submit(&["a@1"]);
            }
            Verb::Approve | Verb::Skip => continue,
        }
        if second != Verb::Fix {
            let again = decide(&story, second, "bob");
            assert!(story.input(again).is_ok(), "{first:?} {second:?}");
        }
    }
}

fn session() -> Actor {
    Actor::new("the session s-1", ActorKind::Session, Channel::Unknown)
}

fn written_to(name: &str) -> Input {
    let work = submit(&[name], ReviewerKind::Asked, Policy::default(), 0).submission;
    Input::WrittenTo { by: session(), work: Box::new(work), rules: rules() }
}

/// A review that was stopped because its attempts are used up.
fn stopped_at(story: &mut Story, work: &str) {
    for n in 0..3 {
        let name = format!("{work}.{n}");
        let mut work = submit(&[&name], ReviewerKind::Asked, Policy::default(), 0);
        work.opening.policy.max_stalled_rounds = 9;
        story.take(Input::Submit(Box::new(work)));
        story.answered(&name, answer(false, true)).confirmed().delivered();
    }
    story.stands(Outcome::Stopped(Stop::AttemptsUsedUp));
}

#[test]
fn a_session_that_was_written_to_begins_anew_with_other_work_only() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().delivered();
    story.take(written_to("a@1")).stands(Outcome::NeedsWork);
    let same = |story: &Story| story.review.round().unwrap().submission.clone();
    assert!(story.review.has_failed(&same(&story), &rules()), "work that failed stays failed");
    assert!(!story.review.has_failed(&same(&story), &[]), "other rules may judge otherwise");
    let mut other = Story::new();
    other.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed();
    let ruled = Input::WrittenTo { by: session(), work: Box::new(same(&other)), rules: vec![] };
    for (story, input) in [(&mut other, ruled), (&mut story, written_to("a@2"))] {
        assert_eq!(story.review.attempts, 1);
        story.take(input).stands(Outcome::NeedsWork);
        assert_eq!((story.review.attempts, story.review.session_lifts), (0, 1));
    }
    // What is no failing round is left alone.
    for other in ["under way", "no verdict", "passed", "rejected", "rejected by the reviewer"] {
        use crate::answer::{ReviewResult, Reviewed};
        let mut story = Story::new();
        story.submit(&["a@1"]);
        match other {
            "no verdict" => drop(story.failed("a@1", NoVerdict::Timeout).confirmed()),
            "passed" => drop(story.answered("a@1", answer(true, true)).confirmed()),
            "rejected" => {
                let digest = story.review.digest().unwrap().clone();
                let by = actor("ann", true);
                let reject = Decision { by, verb: Verb::Reject, reason: "no".into(), digest, at_ms: 0 };
                story.take(Input::Decided(reject));
            }
            "rejected by the reviewer" => {
                let result = ReviewResult::Rejected;
                let reviewed = Reviewed { result, issues: vec![], summary: String::new(), blocking: false };
                let said = Answer { reviewed: Some(reviewed), ..answer(false, true) };
                story.answered("a@1", said).confirmed();
            }
            _ => {}
        }
        let before = story.review.clone();
        story.take(written_to("a@2"));
        assert_eq!(story.review, before, "{other}");
    }
}

/// An agent could say for ever that its session was written to.
#[test]
fn a_session_lets_a_stopped_review_go_on_three_times_and_then_only_a_person_does() {
    let mut story = Story::new();
    for n in 0..4 {
        stopped_at(&mut story, &format!("a@{n}"));
        story.take(written_to(&format!("a@{n}.2"))).stands(Outcome::Stopped(Stop::AttemptsUsedUp));
        story.take(written_to("b@1"));
        match n {
            0..3 => story.stands(Outcome::NeedsWork),
            _ => story.stands(Outcome::Stopped(Stop::AttemptsUsedUp)),
        };
    }
    assert!(story.review.lifts.iter().all(|(by, _)| by.kind == ActorKind::Session));
    // The same where it was never stopped.
    let mut held = Story::new();
    held.submit(&["a@0"]).answered("a@0", answer(false, true)).confirmed().delivered();
    for n in 1..9 {
        held.take(written_to(&format!("a@{n}")));
        assert_eq!(held.review.session_lifts, n.min(3), "attack 17: renewed {n} times");
    }
    for refused in [Input::Lifted { by: session(), reason: "x".into() }, Input::Withdrawn(session())] {
        assert!(story.input(refused).is_err());
    }
    story.take(Input::Lifted { by: actor("ann", true), reason: "looked".into() });
    stopped_at(&mut story, "c@1");
    story.take(written_to("d@1")).stands(Outcome::NeedsWork);
}

fn at(name: &str, channel: Channel, token: Option<&str>) -> Actor {
    let (terminal, token) = (Some("pts/3".to_owned()), token.map(str::to_owned));
    let evidence = Evidence { terminal, token, signature: None };
    Actor { evidence, ..Actor::new(name, ActorKind::Person, channel) }
}

fn signer() -> Actor {
    let [key, signers, statement, armored] = ["SHA256:k", "f", "s", "a"].map(str::to_owned);
    Actor::signer("ann@x", Signature { key, signers, statement, armored })
}

/// Under `decisions: signed` neither a terminal, nor HTTP, nor an agent that is allowed to decide is enough.
#[test]
fn attack_17_where_decisions_are_signed_no_other_person_decides() {
    let stopped = || {
        let mut story = Story::new();
        let policy =
            Policy { decisions: Decisions::Signed, attempts: Attempts::AtMost(1), ..Policy::default() };
        story.take(Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, policy, 0))));
        story.answered("a@1", answer(false, true)).confirmed();
        story
    };
    let deputy = Actor::deputy("x", Channel::Mcp);
    let others =
        [at("a", Channel::Terminal, None), at("a", Channel::Http, Some("t")), actor("a", true), deputy];
    for by in others {
        let mut story = stopped();
        let digest = story.review.digest().unwrap().clone();
        let approve = Decision { by: by.clone(), verb: Verb::Approve, reason: "r".into(), digest, at_ms: 0 };
        assert_eq!(story.input(Input::Decided(approve)).err(), Some(Refused::Unsigned), "{by:?}");
        let lift = Input::Lifted { by: by.clone(), reason: "r".into() };
        assert_eq!(story.input(lift).err(), Some(Refused::Unsigned), "{by:?}");
        assert_eq!(story.input(Input::Withdrawn(by.clone())).err(), Some(Refused::Unsigned), "{by:?}");
    }
    let mut story = stopped();
    assert!(matches!(
        story.input(Input::Lifted { by: session(), reason: "r".into() }),
        Err(Refused::Forbidden(_))
    ));
    story.take(Input::Lifted { by: signer(), reason: "r".into() }).stands(Outcome::NeedsWork);
}

#[test]
fn attack_17_a_statement_is_about_one_decision_on_one_state() {
    let mut story = Story::new();
    assert_eq!(statement(&story.review, "approve", "r"), None);
    let said = |story: &Story, action, reason| statement(&story.review, action, reason).unwrap();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed();
    let first = said(&story, "approve", "one\ntwo");
    let digest = story.review.digest().unwrap();
    let end = format!("\nround: 1\nattempt: 1\ndigest: {digest}\naction: approve\nreason: \"one\\ntwo\"\n");
    assert!(first.ends_with(&end), "{first}");
    let mut all = vec![first, said(&story, "skip", "one\ntwo"), said(&story, "approve", "one")];
    story.submit(&["a@2"]).answered("a@2", answer(false, true)).confirmed();
    all.push(said(&story, "approve", "one"));
    story.submit(&["a@3"]).answered("a@3", answer(false, true)).confirmed();
    all.push(said(&story, "approve", "one"));
    story.take(Input::Lifted { by: signer(), reason: "r".into() });
    all.push(said(&story, "approve", "one"));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn actors_say_what_they_are() {
    let table = [
        (actor("x", true), "x (a person)", r#"{"name":"x","person":true}"#),
        (actor("x", false), "x (an agent)", r#"{"name":"x","person":false}"#),
        (
            Actor::new("x", ActorKind::Session, Channel::Unknown),
            "x (the session of an agent)",
            r#"{"name":"x","person":false,"no_person":"session"}"#,
        ),
        (
            Actor::new("x", ActorKind::Unknown, Channel::Unknown),
            "x (a caller without a terminal)",
            r#"{"name":"x","person":false,"no_person":"unknown"}"#,
        ),
        (
            Actor::new("x", ActorKind::Program, Channel::Gate),
            "x (a program)",
            r#"{"name":"x","person":false,"no_person":"program","channel":"gate"}"#,
        ),
        (
            Actor::new("x", ActorKind::Person, Channel::Http),
            "x (over HTTP, not verified)",
            r#"{"name":"x","person":true,"channel":"http"}"#,
        ),
        (
            Actor::new("x", ActorKind::Person, Channel::Terminal),
            "x (at a terminal, not verified)",
            r#"{"name":"x","person":true,"channel":"terminal"}"#,
        ),
        (
            at("account ann", Channel::Terminal, None),
            "account ann (at a terminal, not verified)",
            r#"{"name":"account ann","person":true,"channel":"terminal","terminal":"pts/3"}"#,
        ),
        (
            at("account ann", Channel::Http, Some("ab12")),
            "account ann (over HTTP with token ab12 made at pts/3, not verified)",
            r#"{"name":"account ann","person":true,"channel":"http","terminal":"pts/3","token":"ab12"}"#,
        ),
        (
            signer(),
            "ann@x (signed with SHA256:k)",
            r#"{"name":"ann@x","person":true,"channel":"signed","signature":{"key":"SHA256:k","signers":"f","statement":"s","armored":"a"}}"#,
        ),
    ];
    for (actor, words, written) in table {
        assert_eq!(actor.words(), words);
        assert_eq!(serde_json::to_string(&actor).unwrap(), written);
        assert_eq!(serde_json::from_str::<Actor>(written).unwrap(), actor);
        assert!(!actor.may_decide() || actor.is_person());
    }
    let forged = r#"{"name":"x","person":false,"no_person":"person"}"#;
    assert!(!serde_json::from_str::<Actor>(forged).unwrap().may_decide());
}
