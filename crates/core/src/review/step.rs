//! The decisions: from the state and an input to the events that follow; and what submitted work means, by the state of
//! its subject. One table for every door.

use super::basis::{Bases, Standing, Stands};
use super::due::is_due;
use super::left_out::{NotSubmitted, left_out};
use super::standing::{Known, KnownRulings, by_basis};
use super::verdict::verdict;
use super::{
    Actor, By, Decision, Dispute, Effect, Event, ReusedAnswer, Review, State, apply, dispute, due, people,
};
use crate::answer::{Answer, Reviewed};
use crate::cost::BudgetOf;
use crate::digest::{Digest, Key};
use crate::endpoint::Endpoint;
use crate::ids::{CallId, Subject, Token};
use crate::judge::{Judgement, RoundEnd};
use crate::outcome::{NoVerdict, Outcome, Settlement, Stop};
use crate::plan::{Assignment, FIRST_LOOK, ReviewerKind};
use crate::policy::{Attempts, COOL_OFF_MS, MAX_EMPTY_ROUNDS, MAX_SELF_REVIEW_CALLS, Policy};
use crate::rule::Rule;
use crate::submission::Submission;
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Submit(Box<Submit>),
    Asking {
        call: CallId,
        key: Key,
        reviewer: String,
        place: Endpoint,
    },
    Answered {
        key: Key,
        answer: Answer,
        by: By,
    },
    AskFailed {
        call: CallId,
        key: Key,
        why: NoVerdict,
        detail: String,
        /// What a reviewer found that changed the files itself.
        fixed: Option<String>,
        budget: Option<BudgetOf>,
        /// Whether the question was not put to the reviewer, because it counts as down.
        not_put: bool,
    },
    SelfReviewAsked {
        token: Token,
    },
    SelfReviewed {
        token: Token,
        answers: Vec<(Key, Answer)>,
    },
    /// Everything is answered, and the files were looked at again.
    Confirmed {
        round: u32,
        found: Confirmation,
        now_ms: i64,
    },
    Delivered {
        round: u32,
    },
    Decided(Decision),
    Disputed(Box<Dispute>),
    Lifted {
        by: Actor,
        reason: String,
    },
    Withdrawn(Actor),
    /// The session of an agent was written to, and the agent comes with this work.
    WrittenTo {
        by: Actor,
        work: Box<Submission>,
        rules: Vec<Rule>,
    },
}

/// Whether the judged files are still what they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    Same,
    /// Other bytes: the verdict would be about an old state.
    Changed,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Submit {
    pub rules: Vec<Rule>,
    /// For a new review: its subject and policy.
    pub opening: Opening,
    pub submission: Submission,
    pub assignments: Vec<Assignment>,
    /// Rulings that stand from other reviews.
    pub known: Vec<Known>,
    /// What stands on what is submitted: failures, and what disputes left of them.
    pub standing: Vec<Standing>,
    /// The files of open findings that are no part of it.
    pub not_submitted: Vec<NotSubmitted>,
    /// Ask again what passed, although it stands. A failure stands all the same.
    pub fresh: bool,
    /// A token, should a self-review have to be asked for again.
    pub token: Token,
    /// Whether a decision about it follows at once, so that no reviewer is asked.
    pub is_decided: bool,
    pub now_ms: i64,
}

/// What a new review is opened under.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// What stays the same over retries.
    pub subject: Subject,
    pub policy: Policy,
}

/// Why an input is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the review is over: {0}")]
    Settled(Outcome),
    /// The review cannot take this now.
    #[error("{0}")]
    NotNow(&'static str),
    #[error(
        "{MAX_EMPTY_ROUNDS} rounds in a row had no verdict, because a reviewer did not answer or because newer work replaced them; Countersign waits before it asks a reviewer again"
    )]
    CoolingOff { until_ms: i64 },
    /// The key belongs to no question of this review.
    #[error("this question was not asked")]
    NotAsked,
    /// The answer does not answer what was asked.
    #[error("the answer does not fit the criteria")]
    DoesNotFit,
    /// The decision is about other bytes.
    #[error("the work has changed since this decision was made")]
    Stale,
    /// There is a decision about the same work already. The first one counts.
    #[error("this was already decided: {0}")]
    Decided(String),
    #[error("only a person may do this, not {0}")]
    Forbidden(&'static str),
    /// The policy wants a signature, and there is none.
    #[error("this project accepts only signed decisions (`policy.decisions: signed`)")]
    Unsigned,
    #[error("the policy of this project forbids overriding a verdict, also for people")]
    NoOverrides,
    #[error("the token does not belong to this self-review")]
    WrongToken,
}

pub fn step(review: &Review, input: Input) -> Result<Vec<Event>, Refused> {
    match input {
        Input::Submit(submit) => submitted(review, *submit),
        Input::Asking { call, key, reviewer, place } => asking(review, call, key, reviewer, place),
        Input::Answered { key, answer, by } => answered(review, key, answer, by),
        Input::AskFailed { call, key, why, detail, fixed, budget, not_put } => {
            let (round, _) = asked(review, &key).ok_or(Refused::NotAsked)?;
            Ok(vec![Event::AskFailed { round: round.n, call, key, why, detail, fixed, budget, not_put }])
        }
        Input::SelfReviewAsked { token } => self_review_asked(review, token),
        Input::SelfReviewed { token, answers } => self_reviewed(review, &token, answers),
        Input::Confirmed { round, found, now_ms } => confirmed(review, round, found, now_ms),
        Input::Delivered { round } => Ok(delivered(review, round)),
        Input::Decided(decision) => people::decided(review, decision),
        Input::Disputed(dispute) => dispute::disputed(review, *dispute),
        Input::Lifted { by, reason } => people::lifted(review, by, reason),
        Input::Withdrawn(by) => people::withdrawn(review, &by),
        Input::WrittenTo { by, work, rules } => Ok(people::written_to(review, by, &work, &rules)),
    }
}

fn submitted(review: &Review, submit: Submit) -> Result<Vec<Event>, Refused> {
    let fresh = submit.fresh || contradicts(review, &submit);
    match route(Some(review), &submit.submission.digest, &submit.assignments, fresh) {
        Route::Attach | Route::Recorded => Ok(vec![]),
        Route::AskAgain => self_review_asked(review, submit.token),
        Route::Open if review.state != State::Unopened => match review.state {
            State::Settled(settlement) => Err(Refused::Settled(settlement.into())),
            _ => Err(Refused::NotNow("a new review begins with a new id")),
        },
        Route::Open => {
            let Opening { subject, policy } = submit.opening.clone();
            let mut events = vec![Event::ReviewOpened { subject, rules: submit.rules.clone(), policy }];
            events.extend(new_round(review, submit, None));
            Ok(events)
        }
        Route::Supersede => {
            let n = review.round().map_or(0, |round| round.n);
            let ended = Event::RoundJudged {
                round: n,
                end: RoundEnd::Superseded,
                judgement: Judgement::default(),
                at_ms: submit.now_ms,
            };
            let after = apply(review.clone(), &ended);
            let mut events = vec![ended];
            events.extend(next_round(&after, submit)?);
            Ok(events)
        }
        Route::NextRound => next_round(review, submit),
    }
}

fn next_round(review: &Review, submit: Submit) -> Result<Vec<Event>, Refused> {
    let (now_ms, is_decided) = (submit.now_ms, submit.is_decided);
    let changed = (review.rules != submit.rules).then(|| submit.rules.clone());
    let events = new_round(review, submit, changed);
    let cooling = review.empty_rounds >= MAX_EMPTY_ROUNDS && now_ms < review.empty_at_ms + COOL_OFF_MS;
    let after = events.iter().fold(review.clone(), apply);
    if cooling && !is_decided && due(&after) != [Effect::Confirm] {
        return Err(Refused::CoolingOff { until_ms: review.empty_at_ms + COOL_OFF_MS });
    }
    Ok(events)
}

/// The events of a new round: what was handed in, and every ruling that stands for it already.
fn new_round(review: &Review, submit: Submit, rules: Option<Vec<Rule>>) -> Vec<Event> {
    let round = review.round().map_or(1, |round| round.n + 1);
    let in_force = rules.as_ref().unwrap_or(&submit.rules);
    let accept_bare = review
        .round()
        .map_or(submit.opening.policy.accept_bare_verdicts, |_| review.policy.accept_bare_verdicts);
    let left_out = left_out(review, &submit);
    let rulings = KnownRulings::of(review, submit.known, submit.fresh);
    let (bases, failures) = (Bases::new(in_force, &submit.submission), by_basis(&submit.standing));
    let mut answers = vec![];
    let mut taken: HashSet<Key> = HashSet::new();
    for assignment in &submit.assignments {
        let criteria: Vec<_> = assignment.asks(in_force).collect();
        let stands = Stands::of(&bases, assignment, &failures);
        let known = rulings.stands_for(assignment, &stands, |answer| answer.fits(&criteria, accept_bare));
        if let Some(known) = known.filter(|known| taken.insert(known.key.clone())) {
            let Known { key, answer, by, place, .. } = known;
            answers.push(ReusedAnswer { key, answer, by, place });
        }
    }
    let (submission, assignments) = (submit.submission, submit.assignments);
    let mut events = vec![Event::Submitted { round, submission, assignments, rules, left_out }];
    if !answers.is_empty() {
        events.push(Event::Reused { round, answers });
    }
    events
}

/// Whether failures stand on work that passed: then the recorded pass is not its answer any more.
pub fn contradicts(passed: &Review, submit: &Submit) -> bool {
    let failures = by_basis(&submit.standing);
    if passed.state != State::Settled(Settlement::Passed) || failures.is_empty() {
        return false;
    }
    let bases = Bases::new(&submit.rules, &submit.submission);
    let contradicted = |assignment| Stands::of(&bases, assignment, &failures).holding().next().is_some();
    submit.assignments.iter().any(contradicted)
}

fn asking(
    review: &Review,
    call: CallId,
    key: Key,
    reviewer: String,
    place: Endpoint,
) -> Result<Vec<Event>, Refused> {
    let round = review.round().filter(|_| is_due(review, &key)).ok_or(Refused::NotAsked)?;
    let candidate = round.asking(&key).find_map(|(_, assignment)| assignment.candidate(&key));
    let look = candidate.map_or(FIRST_LOOK, |candidate| candidate.look);
    Ok(vec![Event::Asked { round: round.n, call, key, reviewer, look, place }])
}

fn asked<'a>(review: &'a Review, key: &Key) -> Option<(&'a super::Round, &'a Assignment)> {
    review.rounds.iter().rev().find_map(|round| {
        let (_, assignment) = round.asking(key).next()?;
        Some((round, assignment))
    })
}

fn answered(review: &Review, key: Key, answer: Answer, by: By) -> Result<Vec<Event>, Refused> {
    let (round, assignment) = asked(review, &key).ok_or(Refused::NotAsked)?;
    if let Some(known) = round.answers.get(&key) {
        // Two processes asked, or a failure stands elsewhere: the worse answer holds, until the round is judged.
        if round.end.is_some() || !answer.is_worse_than(&known.answer) {
            return Ok(vec![]);
        }
    }
    let place = place_of(round, &key, &by);
    let current = review.round().is_some_and(|last| last.n == round.n);
    let criteria: Vec<_> = assignment.asks(&review.rules).collect();
    // Rules of an earlier round may be gone; its answers were asked for then and are kept as they came.
    if current && !answer.fits(&criteria, review.policy.accept_bare_verdicts) {
        return Err(Refused::DoesNotFit);
    }
    Ok(vec![Event::Answered { round: round.n, key, answer, by, place }])
}

/// The mark of the place where an answer was asked.
fn place_of(round: &super::Round, key: &Key, by: &By) -> Option<Digest> {
    match by {
        By::Call { call, .. } => round.asked_at.get(call).cloned(),
        // A ruling is looked up for the place where its reviewer would be asked now.
        By::Reused { .. } => round.asking(key).find_map(|(_, asked)| asked.candidate(key)?.place.clone()),
        By::Disputed { .. } | By::SelfReview { .. } => None,
    }
}

fn self_review_asked(review: &Review, token: Token) -> Result<Vec<Event>, Refused> {
    let is_due = due(review) == [Effect::AskSelf] || review.waits_for_self_review();
    let round = review.round().filter(|_| is_due).ok_or(Refused::NotNow("no self-review is due"))?;
    // A token of an earlier round comes back with results, so the call does not count.
    let given_out = |round: &super::Round| round.token.as_ref() == Some(&token);
    let returned = round.token.is_none() && review.rounds.iter().any(given_out);
    let mut events = vec![Event::SelfReviewAsked { round: round.n, token }];
    if !returned && review.self_review_calls + 1 >= MAX_SELF_REVIEW_CALLS {
        events.push(Event::Settled { outcome: Settlement::Stopped(Stop::AttemptsUsedUp) });
    }
    Ok(events)
}

fn self_reviewed(review: &Review, token: &Token, answers: Vec<(Key, Answer)>) -> Result<Vec<Event>, Refused> {
    if let State::Settled(settlement) = review.state {
        return Err(Refused::Settled(settlement.into()));
    }
    let round = review.round().filter(|_| review.waits_for_self_review());
    let round = round.ok_or(Refused::NotNow("no self-review is expected"))?;
    if round.token.as_ref() != Some(token) {
        return Err(Refused::WrongToken);
    }
    let mut events = vec![];
    for (key, answer) in answers {
        let own = |assignment: &&Assignment| {
            assignment.candidate(&key).is_some_and(|candidate| candidate.kind == ReviewerKind::SelfReview)
        };
        // The author does not answer questions to a reviewer.
        let assignment = round.assignments.iter().find(own).ok_or(Refused::NotAsked)?;
        let criteria: Vec<_> = assignment.asks(&review.rules).collect();
        if !answer.fits(&criteria, false) {
            return Err(Refused::DoesNotFit);
        }
        let by = By::SelfReview { token: token.clone() };
        events.push(Event::Answered { round: round.n, key, answer, by, place: None });
    }
    let after = events.iter().fold(review.clone(), apply);
    let complete = after.round().is_some_and(|round| {
        let is_done =
            |assignment| round.answer_to(assignment).is_some() || round.failure_of(assignment).is_some();
        round.assignments.iter().all(is_done)
    });
    if complete { Ok(events) } else { Err(Refused::DoesNotFit) }
}

fn confirmed(review: &Review, n: u32, found: Confirmation, now_ms: i64) -> Result<Vec<Event>, Refused> {
    // Other work may have been submitted while the files of the round before were read.
    let ready = |round: &&super::Round| round.n == n && due(review) == [Effect::Confirm];
    let round = review.round().filter(ready);
    let round = round.ok_or(Refused::NotNow("the round is not ready to be judged"))?;
    let (end, judgement) = verdict(review, round);
    let end = if found == Confirmation::Changed { RoundEnd::Stale } else { end };
    let excepted = judgement.needs_person(&round.submission);
    let ended = Event::RoundJudged { round: n, end, judgement, at_ms: now_ms };
    let after = apply(review.clone(), &ended);
    let mut events = vec![ended];
    // A stale round needs no decision.
    let Submission { asks_person, steers_gate, .. } = round.submission;
    let last_word = steers_gate || excepted;
    if (asks_person && end != RoundEnd::Stale) || (last_word && end == RoundEnd::Pass) {
        events.push(Event::PersonAsked { round: n });
    } else {
        events.extend(settlement(&after, end).map(|outcome| Event::Settled { outcome }));
    }
    Ok(events)
}

/// Whether the review is over after a round that ended like this.
fn settlement(after: &Review, end: RoundEnd) -> Option<Settlement> {
    match (end, after.policy.attempts) {
        (RoundEnd::Pass, _) => Some(Settlement::Passed),
        (RoundEnd::NeedsWork, Attempts::Once) => Some(Settlement::NeedsWork),
        (RoundEnd::NeedsWork, _) if needs_person(after) => {
            Some(Settlement::Stopped(Stop::RejectedByReviewer))
        }
        (RoundEnd::NeedsWork, Attempts::AtMost(max)) if after.attempts >= max => {
            Some(Settlement::Stopped(Stop::AttemptsUsedUp))
        }
        (RoundEnd::NeedsWork, _) => {
            (is_stalled(after) || is_unchanged(after)).then_some(Settlement::Stopped(Stop::NotConverging))
        }
        (RoundEnd::NoVerdict(why), Attempts::Once) => Some(why.settlement()),
        (RoundEnd::Stale, Attempts::Once) => Some(Settlement::NoVerdict(NoVerdict::Stale)),
        (RoundEnd::NoVerdict(_) | RoundEnd::Stale | RoundEnd::Superseded, _) => None,
    }
}

/// Whether a reviewer says that a person must look at it before work goes on.
fn needs_person(review: &Review) -> bool {
    let Some(round) = review.round() else { return false };
    let answers = round.assignments.iter().filter_map(|assignment| round.answer_to(assignment));
    let mut reviewed = answers.filter_map(|(_, given)| given.answer.reviewed.as_ref());
    reviewed.any(Reviewed::needs_person)
}

/// Whether the last rounds had the very same blocking findings.
fn is_stalled(review: &Review) -> bool {
    let most = review.policy.max_stalled_rounds as usize;
    let judged = review.rounds.iter().rev().filter(|round| round.end == Some(RoundEnd::NeedsWork));
    let last: Vec<_> =
        judged.take(most.min(review.attempts as usize)).map(|round| round.complaints()).collect();
    last.len() == most && last.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether the same work failed twice in a row, where that is enough.
fn is_unchanged(review: &Review) -> bool {
    let judged = review.rounds.iter().rev().filter(|round| round.end == Some(RoundEnd::NeedsWork));
    // Only rounds since the review was lifted count.
    let last: Vec<_> = judged.take(2.min(review.attempts as usize)).map(|round| &round.submission).collect();
    review.policy.unchanged_stops && matches!(last[..], [now, before] if now.is_same_work(before))
}

fn delivered(review: &Review, n: u32) -> Vec<Event> {
    match review.rounds.iter().find(|round| round.n == n) {
        Some(round) if round.end.is_some() && !round.delivered => vec![Event::Notified { round: n }],
        _ => vec![],
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Open,
    /// The same work is being judged already: wait for its end.
    Attach,
    /// Other work is being judged: it is superseded by this.
    Supersede,
    Recorded,
    NextRound,
    /// Ask the author again for a self-review.
    AskAgain,
}

/// Finds the route. `latest` is the subject's latest review; `assignments` would be asked now; `fresh` ignores what passed.
pub fn route(latest: Option<&Review>, digest: &Digest, assignments: &[Assignment], fresh: bool) -> Route {
    let Some(review) = latest else { return Route::Open };
    let same = review.digest() == Some(digest);
    // A review that was stopped in the middle of a round and lifted has no answer to that round.
    let undelivered = !fresh
        && !review.has_withdrawn()
        && review.round().is_some_and(|round| round.end == Some(RoundEnd::NeedsWork) && !round.delivered);
    match review.state {
        State::Unopened => Route::Open,
        State::Judging if review.waits_for_self_review() && same => Route::AskAgain,
        State::Judging if same => Route::Attach,
        State::Judging => Route::Supersede,
        State::NeedsWork if same && undelivered => Route::Recorded,
        State::AwaitingPerson if same => Route::Recorded,
        State::NeedsWork | State::NoVerdict(_) | State::AwaitingPerson => Route::NextRound,
        State::Settled(Settlement::Stopped(Stop::Withdrawn)) => Route::Open,
        State::Settled(Settlement::Stopped(_)) => Route::Recorded,
        // A person who asked once and got no pass starts a new review; only a pass is answered from the record.
        State::Settled(Settlement::Passed | Settlement::Overridden | Settlement::Skipped) if fresh => {
            Route::Open
        }
        State::Settled(Settlement::Passed)
            if same && review.round().is_some_and(|r| r.answers_all(assignments)) =>
        {
            Route::Recorded
        }
        State::Settled(Settlement::Overridden | Settlement::Skipped) if same => Route::Recorded,
        State::Settled(_) => Route::Open,
    }
}
