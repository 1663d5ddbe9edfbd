//! Every condition of [`step`] and [`due`] has a story that needs it.

use super::*;
use crate::policy::MAX_EMPTY_ROUNDS;

fn person() -> Actor {
    actor("ann", true)
}

fn lift() -> Input {
    Input::Lifted { by: person(), reason: "go on".into() }
}

fn not_now(story: &mut Story, input: Input) {
    assert!(matches!(story.input(input).err(), Some(Refused::NotNow(_))));
}

#[test]
fn an_answer_counts_once_and_only_if_it_fits() {
    let by = || By::Call { call: call(), reviewer: "main".into() };
    let given = |answer| Input::Answered { key: key("a@1"), answer, by: by() };
    let mut story = Story::new();
    story.submit(&["a@1"]);
    let short = Answer::from_rulings(answer(true, true).rulings[..1].to_vec());
    assert_eq!(story.input(given(short)).err(), Some(Refused::DoesNotFit));
    let bare = Answer { bare: Some(true), ..Answer::default() };
    assert_eq!(story.input(given(bare)).err(), Some(Refused::DoesNotFit));
    story.take(given(answer(false, true)));
    // Two processes asked: the second answer is no event at all.
    assert_eq!(step(&story.review, given(answer(true, true))), Ok(vec![]));
    story.confirmed().stands(Outcome::NeedsWork);
}

#[test]
fn what_stands_from_before_is_held_against_what_is_asked() {
    let known = |answer: Answer| vec![known("a@1", answer)];
    let with = |known, twice: bool, reuse| {
        let names: &[&str] = if twice { &["a@1", "a@1"] } else { &["a@1"] };
        let mut submit = submit(names, ReviewerKind::Asked, Policy::default(), 0);
        submit.assignments.iter_mut().for_each(|assignment| assignment.candidates[0].reuse = reuse);
        submit.known = known;
        let mut story = Story::new();
        story.take(Input::Submit(Box::new(submit)));
        story
    };
    let short = Answer::from_rulings(answer(true, true).rulings[..1].to_vec());
    with(known(short), false, Reuse::Anywhere).asks(&["a@1"]);
    with(known(answer(true, true)), false, Reuse::Never).asks(&["a@1"]);
    // Two assignments under one key: one answer for both, recorded once.
    let story = with(known(answer(true, true)), true, Reuse::Anywhere);
    story.asks(&[]);
    let reused = story.events.iter().filter_map(|event| match event {
        Event::Reused { answers, .. } => Some(answers.len()),
        _ => None,
    });
    assert_eq!(reused.collect::<Vec<_>>(), [1]);
}

#[test]
fn what_is_never_reused_is_asked_again_each_round() {
    let mut story = Story::new();
    let own = || {
        let mut submit = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
        submit.assignments[0].candidates[0].reuse = Reuse::Never;
        Input::Submit(Box::new(submit))
    };
    story.take(own()).answered("a@1", answer(false, true)).confirmed().delivered();
    story.take(own()).asks(&["a@1"]);
}

#[test]
fn one_question_for_two_assignments_under_one_key() {
    let mut story = Story::new();
    story.submit(&["a@1", "a@1"]).asks(&["a@1"]);
}

#[test]
fn only_what_is_due_is_asked() {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).take(asking("a@1")).answered("a@1", answer(true, true));
    assert_eq!(story.input(asking("a@1")).err(), Some(Refused::NotAsked));
    assert_eq!(story.input(asking("b@2")).err(), Some(Refused::NotAsked));
}

#[test]
fn a_failed_question_is_on_record_with_its_round() {
    let mut story = Story::new();
    story.submit(&["a@1"]).submit(&["a@2"]).failed("a@2", NoVerdict::Timeout);
    assert!(matches!(story.events.last(), Some(Event::AskFailed { round: 2, .. })));
}

#[test]
fn work_that_is_all_ruled_on_waits_for_nobody() {
    let mut story = Story::new();
    for _ in 0..3 {
        story.submit(&["a@1"]).failed("a@1", NoVerdict::Unavailable).confirmed();
    }
    let mut work = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
    work.known = vec![known("a@1", answer(true, true))];
    story.take(Input::Submit(Box::new(work))).confirmed().stands(Outcome::Passed);
}

#[test]
fn a_claim_without_rulings_is_held_against_the_policy_the_review_was_opened_under() {
    let mut story = Story::new();
    story.submit(&["a@1"]).failed("a@1", NoVerdict::Timeout).confirmed();
    let policy = Policy { accept_bare_verdicts: true, ..Policy::default() };
    let mut loose = submit(&["a@1"], ReviewerKind::Asked, policy, 0);
    let bare = Answer { bare: Some(true), ..Answer::default() };
    loose.known = vec![known("a@1", bare)];
    story.take(Input::Submit(Box::new(loose))).asks(&["a@1"]);
}

#[test]
fn a_self_review_cannot_pass_by_a_claim() {
    let token = Token::from_text("sr-one");
    let own = submit(&["a@1"], ReviewerKind::SelfReview, Policy::default(), 0);
    let mut story = Story::new();
    story.take(Input::Submit(Box::new(own))).take(Input::SelfReviewAsked { token: token.clone() });
    let bare = Answer { bare: Some(true), ..Answer::default() };
    let claim = Input::SelfReviewed { token, answers: vec![(key("a@1"), bare)] };
    assert_eq!(story.input(claim).err(), Some(Refused::DoesNotFit));
}

#[test]
fn only_the_very_same_findings_do_not_converge_and_a_lift_counts_anew() {
    let policy = Policy { attempts: Attempts::AtMost(10), ..Policy::default() };
    let failing = |story: &mut Story, version: &str, ruled| {
        let submit = submit(&[version], ReviewerKind::Asked, policy.clone(), 0);
        story.take(Input::Submit(Box::new(submit))).answered(version, ruled).confirmed().delivered();
    };
    let mut moving = Story::new();
    for version in ["a@1", "a@2", "a@3", "a@4"] {
        let odd = version.ends_with(['1', '3']);
        failing(&mut moving, version, answer(odd, !odd));
    }
    moving.stands(Outcome::NeedsWork);
    let mut stuck = Story::new();
    for version in ["a@1", "a@2", "a@3"] {
        failing(&mut stuck, version, answer(false, true));
    }
    stuck.stands(Outcome::Stopped(Stop::NotConverging));
    failing(stuck.take(lift()), "a@4", answer(false, true));
    stuck.stands(Outcome::NeedsWork);
}

#[test]
fn only_what_is_stopped_is_lifted() {
    let mut withdrawn = Story::new();
    withdrawn.submit(&["a@1"]).take(Input::Withdrawn(actor("x", true)));
    not_now(&mut withdrawn, lift());
    let mut silent = Story::new();
    silent.submit(&["a@1"]).failed("a@1", NoVerdict::Timeout).confirmed();
    not_now(&mut silent, lift());
}

#[test]
fn where_nobody_may_override_an_agent_may_not_reject_either() {
    let mut story = Story::new();
    let policy = Policy { overrides: Overrides::Forbid, ..Policy::default() };
    story.take(Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, policy, 0))));
    let digest = story.review.digest().unwrap().clone();
    let reject = |person| {
        let by = actor("x", person);
        Input::Decided(Decision {
            by,
            verb: Verb::Reject,
            reason: "r".into(),
            digest: digest.clone(),
            at_ms: 0,
        })
    };
    assert_eq!(story.input(reject(false)).err(), Some(Refused::Forbidden("an agent")));
    story.take(reject(true)).stands(Outcome::Stopped(Stop::Rejected));
}

#[test]
fn an_answer_that_is_not_there_yet_is_not_delivered() {
    let mut story = Story::new();
    story.submit(&["a@1"]).delivered();
    assert!(!story.review.round().unwrap().delivered);
}

#[test]
fn one_look_at_work_that_changed_is_over() {
    let policy = Policy { attempts: Attempts::Once, ..Policy::default() };
    let mut story = Story::new();
    story.take(Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, policy, 0))));
    story.answered("a@1", answer(true, true));
    story.take(Input::Confirmed { round: 1, found: Confirmation::Changed, now_ms: 0 });
    assert_eq!(story.review.state, State::Settled(Settlement::NoVerdict(NoVerdict::Stale)));
}

#[test]
fn counts_begin_anew_where_they_should() {
    let mut ruled = Story::new();
    ruled.submit(&["a@1"]).failed("a@1", NoVerdict::Timeout).confirmed();
    ruled.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().delivered();
    assert_eq!(ruled.review.empty_rounds, 0, "a reviewer ruled");
    let mut silent = Story::new();
    for _ in 0..3 {
        silent.submit(&["a@1"]).failed("a@1", NoVerdict::Timeout).confirmed();
    }
    silent.take(lift()).submit(&["a@1"]).asks(&["a@1"]);
    let token = || Token::from_text("sr-one");
    let own = || Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::SelfReview, Policy::default(), 0)));
    let mut lifted = Story::new();
    lifted.take(own()).take(Input::SelfReviewAsked { token: token() });
    for _ in 0..4 {
        lifted.take(own());
    }
    lifted.take(lift()).take(own()).take(Input::SelfReviewAsked { token: Token::from_text("sr-two") });
    lifted.stands(Outcome::AwaitingPerson);
    let mut answered = Story::new();
    answered.take(own()).take(Input::SelfReviewAsked { token: token() });
    let answers = vec![(key("a@1"), answer(false, true))];
    answered.take(Input::SelfReviewed { token: token(), answers });
    assert_eq!(answered.review.self_review_calls, 0);
}

#[test]
fn issue_19_replaced_rounds_lock_a_subject_only_where_a_reviewer_had_answered() {
    let submitted =
        |n: u32| submit(&[&format!("a@{n}"), &format!("b@{n}")], ReviewerKind::Asked, Policy::default(), 0);
    let next = |n: u32| Input::Submit(Box::new(submitted(n)));
    let mut unanswered = Story::new();
    for n in 1..=2 * MAX_EMPTY_ROUNDS {
        unanswered.take(next(n));
    }
    assert_eq!(unanswered.review.empty_rounds, 0);
    // Otherwise an author who reads answers as they come could try for ever, and no attempt would be counted.
    let mut answered = Story::new();
    for n in 1..=MAX_EMPTY_ROUNDS {
        answered.take(next(n)).answered(&format!("a@{n}"), answer(true, true));
    }
    let refused = answered.input(next(4)).err();
    assert!(matches!(refused, Some(Refused::CoolingOff { .. })), "{refused:?}");
    // The round under way stays, and a person can let other work in before it ends.
    answered.take(lift()).take(next(4)).asks(&["a@4", "b@4"]);
}

#[test]
fn a_budget_ends_the_round_as_itself_and_loses_nothing() {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).answered("a@1", answer(true, true)).failed("b@1", NoVerdict::Budget);
    assert_eq!(due(&story.review), [Effect::Confirm], "no other reviewer is asked instead");
    story.confirmed().stands(Outcome::BudgetReached);
    assert_eq!(story.review.round().unwrap().asked_and_reused(), (1, 0), "the other was not asked");
    // However often it is submitted, there is no cool-off, and the answers stand.
    for _ in 0..MAX_EMPTY_ROUNDS + 1 {
        story.delivered().submit(&["a@1", "b@1"]).asks(&["b@1"]);
        story.failed("b@1", NoVerdict::Budget).confirmed().stands(Outcome::BudgetReached);
    }
    assert_eq!((story.review.attempts, story.review.budget_from_round), (0, 0));
    // A person gives it anew, from the next round on.
    let next = story.review.rounds.len() as u32 + 1;
    story.take(lift());
    assert_eq!(story.review.budget_from_round, next);
    story.submit(&["a@1", "b@1"]).answered("b@1", answer(true, true)).confirmed().stands(Outcome::Passed);
}

#[test]
fn a_budget_is_the_reason_only_where_there_is_no_other() {
    for (failures, outcome) in [
        ([NoVerdict::Budget, NoVerdict::Timeout], Outcome::NoVerdict(NoVerdict::Timeout)),
        ([NoVerdict::Budget, NoVerdict::Budget], Outcome::BudgetReached),
    ] {
        let mut story = Story::new();
        story.submit(&["a@1", "b@1"]).failed("a@1", failures[0]).failed("b@1", failures[1]);
        story.confirmed().stands(outcome);
    }
    let mut once = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
    once.opening.policy.attempts = Attempts::Once;
    let mut story = Story::new();
    story.take(Input::Submit(Box::new(once))).failed("a@1", NoVerdict::Budget).confirmed();
    assert_eq!(story.review.state, State::Settled(Settlement::BudgetReached));
}

#[test]
fn work_that_comes_back_unchanged_stops_where_the_policy_says_so() {
    let again = |stops: bool, versions: &[&str]| {
        let policy = Policy { unchanged_stops: stops, attempts: Attempts::AtMost(9), ..Policy::default() };
        let mut story = Story::new();
        for version in versions {
            let submit = submit(&[version], ReviewerKind::Asked, policy.clone(), 0);
            story.take(Input::Submit(Box::new(submit)));
            if !story.questions().is_empty() {
                story.answered(version, answer(false, true));
            }
            story.confirmed().delivered();
        }
        story
    };
    again(false, &["a@1", "a@1"]).stands(Outcome::NeedsWork);
    again(true, &["a@1", "a@2"]).stands(Outcome::NeedsWork);
    let mut stopped = again(true, &["a@1", "a@1"]);
    stopped.stands(Outcome::Stopped(Stop::NotConverging));
    // After an unblock the same work is judged again.
    stopped.take(lift());
    let policy = Policy { unchanged_stops: true, ..Policy::default() };
    stopped.take(Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, policy, 0))));
    stopped.confirmed().stands(Outcome::NeedsWork);
}
