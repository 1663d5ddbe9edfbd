//! Random inputs in random order: whatever comes, the promises hold.

use super::*;
use crate::policy::MAX_SESSION_LIFTS;
use proptest::prelude::*;

/// An input by small numbers, so that shrinking finds a short story.
#[derive(Clone, Debug)]
enum Move {
    Submit { versions: [u8; 2], fresh: bool, own: bool, now_ms: i64 },
    Answer { file: u8, version: u8, complete: bool, clear: bool },
    Bare { file: u8, version: u8, passed: bool },
    Short { file: u8, version: u8 },
    Fail { file: u8, version: u8, why: NoVerdict },
    AskSelf,
    SelfReview { complete: bool, right_token: bool },
    Confirm { same: bool },
    Deliver,
    Decide { verb: Verb, person: bool, right_digest: bool },
    Dispute { file: u8, version: u8, upheld: bool, person: bool },
    Lift { person: bool },
    Withdraw { person: bool },
    WrittenTo { file: u8, version: u8 },
}

fn moves() -> impl Strategy<Value = Move> {
    let why = prop_oneof![Just(NoVerdict::Garbled), Just(NoVerdict::Timeout), Just(NoVerdict::Contradictory)];
    let verb = prop_oneof![Just(Verb::Approve), Just(Verb::Reject), Just(Verb::Skip)];
    prop_oneof![
        4 => ([0..2u8, 0..2u8], any::<bool>(), prop::bool::weighted(0.2), 0..2 * COOL_OFF_MS)
            .prop_map(|(versions, fresh, own, now_ms)| Move::Submit { versions, fresh, own, now_ms }),
        8 => (0..2u8, 0..2u8, any::<bool>(), any::<bool>())
            .prop_map(|(file, version, complete, clear)| Move::Answer { file, version, complete, clear }),
        1 => (0..2u8, 0..2u8, any::<bool>()).prop_map(|(file, version, passed)| Move::Bare { file, version, passed }),
        1 => (0..2u8, 0..2u8).prop_map(|(file, version)| Move::Short { file, version }),
        2 => (0..2u8, 0..2u8, why).prop_map(|(file, version, why)| Move::Fail { file, version, why }),
        1 => Just(Move::AskSelf),
        1 => (any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(complete, right_token)| Move::SelfReview { complete, right_token }),
        6 => prop::bool::weighted(0.9).prop_map(|same| Move::Confirm { same }),
        2 => Just(Move::Deliver),
        1 => (verb, any::<bool>(), any::<bool>())
            .prop_map(|(verb, person, right_digest)| Move::Decide { verb, person, right_digest }),
        2 => (0..2u8, 0..2u8, any::<bool>(), any::<bool>())
            .prop_map(|(file, version, upheld, person)| Move::Dispute { file, version, upheld, person }),
        1 => any::<bool>().prop_map(|person| Move::Lift { person }),
        1 => any::<bool>().prop_map(|person| Move::Withdraw { person }),
        2 => (0..2u8, 0..2u8).prop_map(|(file, version)| Move::WrittenTo { file, version }),
    ]
}

fn name(file: u8, version: u8) -> String {
    format!("f{file}@{version}")
}

fn input(story: &Story, made: &Move, policy: &Policy) -> Input {
    let by = By::Call { call: call(), reviewer: "main".into() };
    let token = story.review.round().and_then(|round| round.token.clone());
    match made.clone() {
        Move::Submit { versions, fresh, own, now_ms } => {
            let names = [name(0, versions[0]), name(1, versions[1])];
            let kind = if own { ReviewerKind::SelfReview } else { ReviewerKind::Asked };
            let mut submit = submit(&[&names[0], &names[1]], kind, policy.clone(), now_ms);
            submit.fresh = fresh;
            // A key names its reviewer, so the author's own are keys of their own.
            for candidate in submit.assignments.iter_mut().flat_map(|assignment| &mut assignment.candidates) {
                if own {
                    candidate.key = key(&format!("own {}", candidate.key));
                }
            }
            Input::Submit(Box::new(submit))
        }
        Move::Answer { file, version, complete, clear } => {
            Input::Answered { key: key(&name(file, version)), answer: answer(complete, clear), by }
        }
        Move::Bare { file, version, passed } => {
            let answer = Answer { feedback: "bare".into(), bare: Some(passed), ..Answer::default() };
            Input::Answered { key: key(&name(file, version)), answer, by }
        }
        Move::Short { file, version } => {
            let rulings = answer(true, true).rulings[..1].to_vec();
            Input::Answered { key: key(&name(file, version)), answer: Answer::from_rulings(rulings), by }
        }
        Move::Fail { file, version, why } => Input::AskFailed {
            call: call(),
            key: key(&name(file, version)),
            why,
            detail: "x".into(),
            fixed: None,
            budget: None,
            not_put: false,
        },
        Move::AskSelf => Input::SelfReviewAsked { token: Token::from_text("sr-own") },
        Move::SelfReview { complete, right_token } => {
            let keys = story.review.round().map(|round| round.assignments.clone()).unwrap_or_default();
            let answers =
                keys.iter().map(|a| (a.candidates[0].key.clone(), answer(complete, true))).collect();
            let token = token.filter(|_| right_token).unwrap_or_else(|| Token::from_text("sr-wrong"));
            Input::SelfReviewed { token, answers }
        }
        Move::Confirm { same } => {
            let found = if same { Confirmation::Same } else { Confirmation::Changed };
            Input::Confirmed { round: story.round(), found, now_ms: 0 }
        }
        Move::Deliver => Input::Delivered { round: story.round() },
        Move::Decide { verb, person, right_digest } => {
            let digest = story.review.digest().filter(|_| right_digest).cloned();
            let by = actor("x", person);
            let digest = digest.unwrap_or_else(|| Digest::of(b"wrong"));
            Input::Decided(Decision { by, verb, reason: "r".into(), digest, at_ms: 0 })
        }
        Move::Dispute { file, version, upheld, person } => {
            Input::Disputed(Box::new(super::disputes::dispute(&name(file, version), upheld, person)))
        }
        Move::Lift { person } => Input::Lifted { by: actor("x", person), reason: "r".into() },
        Move::Withdraw { person } => Input::Withdrawn(actor("x", person)),
        Move::WrittenTo { file, version } => {
            let work = submit(&[&name(file, version)], ReviewerKind::Asked, policy.clone(), 0).submission;
            Input::WrittenTo {
                by: Actor::new("s", ActorKind::Session, Channel::Unknown),
                work: Box::new(work),
                rules: rules(),
            }
        }
    }
}

/// A pass was earned: every criterion of every assignment that blocks has a valid passing ruling.
fn assert_earned(review: &Review) {
    let round = review.round().unwrap();
    assert!(!round.assignments.is_empty());
    // The verdict was made in the attempt after those that failed.
    let threshold = review.policy.threshold(review.attempts + 1);
    for assignment in &round.assignments {
        let (key, given) = round.answer_to(assignment).expect("an answer for every assignment");
        // No failure on the same question was replaced by asking again.
        let own = |given: &RecordedAnswer| matches!(given.by, By::SelfReview { .. });
        let failed =
            |given: &RecordedAnswer| !own(given) && given.answer.fails() && !review.amended.contains_key(key);
        let before = review.rounds.iter().filter_map(|round| round.answers.get(key));
        assert!(own(given) || given.answer.fails() || !before.clone().any(failed), "{key}");
        let criteria: Vec<_> = assignment.asks(&review.rules).collect();
        assert!(given.answer.fits(&criteria, false) && given.answer.bare.is_none());
        for (ruling, criterion) in given.answer.rulings.iter().zip(criteria) {
            assert!(ruling.passed || criterion.severity < threshold, "{ruling:?}");
        }
    }
}

/// Whether a question may be put on record.
fn is_taken(review: &Review, key: &Key) -> bool {
    step(review, asking(key.as_str())).is_ok()
}

/// Whether a question is among what is due.
fn is_listed(review: &Review, key: &Key) -> bool {
    due(review).iter().any(|effect| matches!(effect, Effect::Ask { key: listed, .. } if listed == key))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]
    #[test]
    fn whatever_comes_the_promises_hold(
        script in proptest::collection::vec(moves(), 1..60),
        max in 1..4u32,
        once in prop::bool::weighted(0.2),
    ) {
        let attempts = if once { Attempts::Once } else { Attempts::AtMost(max) };
        let policy = Policy { attempts, ..Policy::default() };
        let mut story = Story::new();
        for made in &script {
            let before = story.review.clone();
            let recorded = story.events.len();
            let made = input(&story, made, &policy);
            let answered = match &made { Input::Answered { key, .. } => Some(key.clone()), _ => None };
            match story.input(made) {
                Err(_) => prop_assert_eq!(&story.review, &before, "a refusal changes nothing"),
                Ok(_) => {
                    // An answer that was taken can be found: nothing answered is lost.
                    if let Some(key) = answered {
                        prop_assert!(story.review.rounds.iter().any(|round| round.answers.contains_key(&key)));
                    }
                }
            }
            for key in [name(0, 0), name(0, 1), name(1, 0), name(1, 1)].map(Key::from) {
                prop_assert_eq!(is_taken(&story.review, &key), is_listed(&story.review, &key), "{}", key);
            }
            for (old, new) in before.rounds.iter().zip(&story.review.rounds) {
                // An answer stays as it was given; only a worse one replaces it, before the round is judged.
                let stays = |(key, given): (&Key, &RecordedAnswer)| new.answers.get(key).is_some_and(|now| {
                    now == given || old.end.is_none() && now.answer.is_worse_than(&given.answer)
                });
                prop_assert!(old.answers.iter().all(stays));
            }
            for event in &story.events[recorded..] {
                match event {
                    Event::Settled { outcome: Settlement::Passed } => assert_earned(&story.review),
                    Event::Settled { outcome: Settlement::Overridden | Settlement::Skipped } => {
                        prop_assert!(story.review.decisions.last().is_some_and(|decision| decision.by.is_person()));
                    }
                    _ => {}
                }
            }
            // Never more failing rounds than allowed.
            let limit = match attempts { Attempts::Once => 1, Attempts::AtMost(max) => max };
            prop_assert!(story.review.attempts <= limit);
            // While something is under way, something is due or a person has to act: no loop hangs.
            if story.review.state == State::Judging {
                prop_assert!(!due(&story.review).is_empty() || story.review.waits_for_self_review());
            }
        }
        // Handing in what stands always leads somewhere: to a round under way, or to an answer there is.
        if let Some(round) = story.review.round()
            && route(Some(&story.review), &round.submission.digest, &round.assignments, false) == Route::Recorded
        {
            prop_assert!(round.end.is_some() || matches!(story.review.state, State::Settled(_)));
        }
        // Never two outcomes without a person lifting the first.
        let (mut settled, mut sessions) = (false, 0);
        for event in &story.events {
            match event {
                Event::Settled { .. } => { prop_assert!(!settled); settled = true; }
                Event::Lifted { by, .. } => {
                    // A session does so too, a few times.
                    sessions = if by.is_person() { 0 } else { sessions + 1 };
                    prop_assert!(by.is_person() || by.kind == ActorKind::Session);
                    prop_assert!(sessions <= MAX_SESSION_LIFTS);
                    settled = false;
                }
                Event::Decided { .. } => sessions = 0,
                Event::Submitted { .. } => prop_assert!(!settled),
                _ => {}
            }
        }
        // The stored events give the same review.
        let stored: Vec<Event> = story.events.iter()
            .map(|event| serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap()).collect();
        prop_assert_eq!(fold(story.review.id.clone(), &stored), story.review);
    }
}
