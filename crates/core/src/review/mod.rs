//! The state machine of a review, in three pure functions.
//!
//! - [`apply`] folds an event into a [`Review`]. It never decides, so an old ledger folds the same for ever.
//! - [`step`] decides: from the state and an input to events. Verdicts and outcomes are events, never computed again.
//! - [`due`] says what must be done now, from the state alone; also after a crash.

mod accepted;
mod actor;
mod apply;
mod basis;
mod counts;
mod coverage;
mod dispute;
mod down;
mod due;
mod event;
mod left_out;
mod people;
mod standing;
mod statement;
mod step;
mod verdict;

pub use accepted::Accepted;
pub use actor::{Actor, ActorKind, Channel, Evidence, Signature};
pub use apply::{apply, fold};
pub use basis::{Bases, Basis, NewNotes, Standing};
pub use counts::{Advisory, AtGate};
pub use coverage::{Coverage, NotSeen};
pub use dispute::{DISPUTES, Dispute, dispute_notes, dispute_rule};
pub use down::Streak;
pub use due::{Effect, due};
pub use event::{By, Decision, Event, ReusedAnswer, Verb};
pub use left_out::{LeftOut, LeftOutBy, NotSubmitted, OpenFinding};
pub use standing::{Known, stands_over};
pub use statement::statement;
pub use step::{Confirmation, Input, Opening, Refused, Route, Submit, contradicts, route, step};
pub use verdict::follows;

use crate::answer::{Answer, NO_FEEDBACK};
use crate::cost::BudgetOf;
use crate::digest::{Digest, Key};
use crate::ids::{CallId, ReviewId, Subject, Token};
use crate::judge::{self, Finding, FindingRef, Judgement, RoundEnd};
use crate::outcome::{NoVerdict, Outcome, Settlement};
use crate::plan::{Assignment, Candidate, ReviewerKind, Target};
use crate::policy::Policy;
use crate::rule::Rule;
use crate::submission::{Material, Submission};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One loop on one subject, from its first submission to its outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    pub id: ReviewId,
    pub subject: Subject,
    pub rules: Vec<Rule>,
    pub policy: Policy,
    /// All rounds; the last is the current one.
    pub rounds: Vec<Round>,
    pub state: State,
    /// Rounds that ended in needs work since it was opened or lifted.
    pub attempts: u32,
    /// Rounds in a row without a ruling, which cost no attempt.
    pub empty_rounds: u32,
    /// When the last of those ended.
    pub empty_at_ms: i64,
    /// Self-reviews asked for in a row and not answered.
    pub self_review_calls: u32,
    pub decisions: Vec<Decision>,
    /// Who let it go on after it was stopped, and why.
    pub lifts: Vec<(Actor, String)>,
    /// What a person decided about the current round, until the review goes on.
    pub decided: Option<Decision>,
    /// How often a session let it go on since a person did or decided.
    pub session_lifts: u32,
    /// The first round whose questions count for the budget: a person who lets a review go on gives it anew.
    pub budget_from_round: u32,
    pub disputes: Vec<Dispute>,
    /// Answers without the findings that were withdrawn, by key.
    pub amended: BTreeMap<Key, RecordedAnswer>,
    /// Blocking findings that no later round has answered.
    pub open: Vec<OpenFinding>,
    /// How often the rules changed between rounds.
    pub rule_changes: u32,
    /// How many events this is the fold of.
    pub events: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Unopened,
    Judging,
    NeedsWork,
    NoVerdict(NoVerdict),
    /// The last round has ended, and a person has not said yet what becomes of it.
    AwaitingPerson,
    Settled(Settlement),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Its number, from 1.
    pub n: u32,
    pub submission: Submission,
    /// The rules it is judged by.
    pub rules: Arc<[Rule]>,
    pub assignments: Vec<Assignment>,
    /// Names every submitted file: computed once, since every answer needs it.
    everything: Digest,
    /// Earlier findings that it leaves out: it does not pass for that.
    pub left_out: Vec<LeftOut>,
    /// Indices of the assignments that ask under a key: with thousands of them, none is searched for.
    asks: BTreeMap<Key, Vec<usize>>,
    pub answers: BTreeMap<Key, RecordedAnswer>,
    /// Where questions were asked, by call; those without a place are left out.
    asked_at: BTreeMap<CallId, Digest>,
    pub failures: BTreeMap<Key, Vec<Failure>>,
    /// The token of a self-review that is waited for.
    pub token: Option<Token>,
    pub end: Option<RoundEnd>,
    pub judgement: Judgement,
    /// Whether the door wrote the answer and saw no hang-up.
    pub delivered: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecordedAnswer {
    pub answer: Answer,
    pub by: By,
    pub n: u64,
    pub place: Option<Digest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub why: NoVerdict,
    pub detail: String,
    /// What a reviewer found that changed the files itself, in its own words.
    pub fixed: Option<String>,
    pub budget: Option<BudgetOf>,
    /// Whether the question was not put to the reviewer, because it counts as down.
    pub not_put: bool,
}

impl Review {
    pub fn unopened(id: ReviewId) -> Self {
        Self { id, ..Self::default() }
    }

    pub fn round(&self) -> Option<&Round> {
        self.rounds.last()
    }

    pub fn digest(&self) -> Option<&Digest> {
        self.round().map(|round| &round.submission.digest)
    }

    /// The outcome a caller is told now; none while the round is under way.
    pub fn standing(&self) -> Option<Outcome> {
        match self.state {
            State::Unopened => None,
            State::Judging if self.waits_for_self_review() => Some(Outcome::AwaitingPerson),
            State::Judging => None,
            State::NeedsWork => Some(Outcome::NeedsWork),
            State::NoVerdict(why) => Some(why.outcome()),
            State::AwaitingPerson => Some(Outcome::AwaitingPerson),
            State::Settled(settlement) => Some(settlement.into()),
        }
    }

    fn is_about(&self, work: &Submission) -> bool {
        self.round().is_some_and(|round| round.submission.is_same_work(work))
    }

    /// Whether this work failed in the last round under these rules and nothing was withdrawn: it is not judged again.
    pub fn has_failed(&self, work: &Submission, rules: &[Rule]) -> bool {
        self.state == State::NeedsWork
            && self.round().is_some_and(|round| round.end == Some(RoundEnd::NeedsWork))
            && self.is_about(work)
            && self.rules == rules
            && !self.has_withdrawn()
    }

    /// Whether everything else is done and only the author's own review is missing.
    pub fn waits_for_self_review(&self) -> bool {
        self.state == State::Judging
            && self.round().is_some_and(|round| round.token.is_some())
            && due(self).is_empty()
    }

    /// What blocks, with what was left out.
    pub fn findings(&self) -> Vec<Finding> {
        let carried = self.round().into_iter().flat_map(|round| &round.left_out);
        let carried = carried.map(|left_out| left_out.finding.clone());
        self.spelled_out(|judgement| &judgement.blocking).into_iter().chain(carried).collect()
    }

    pub fn waived(&self) -> Vec<Finding> {
        self.spelled_out(|judgement| &judgement.waived)
    }

    /// A file that a finding names, as it was judged when the finding was made.
    pub fn judged_file(&self, finding: &str, criterion: Option<&str>, path: &str) -> Option<&Material> {
        let carried = |round: &Round| round.left_out.iter().any(|left_out| left_out.finding.id == finding);
        let name = criterion.unwrap_or_default();
        let made = |round: &&Round| round.answers.keys().any(|key| judge::finding_id(key, name) == finding);
        let round = match self.round()? {
            round if carried(round) => self.rounds.iter().rev().skip(1).find(made)?,
            round => round,
        };
        round.submission.files.iter().find(|file| file.path == path && file.form.is_file())
    }

    /// The words of reviewers that changed the files themselves, with their rounds; such files were judged again.
    pub fn fixes(&self) -> impl Iterator<Item = (&Round, &str)> {
        self.rounds.iter().flat_map(|round| {
            let failures = round.failures.values().flatten();
            failures.filter_map(move |failure| Some((round, failure.fixed.as_deref()?)))
        })
    }

    /// An answer as it stands now: without what was withdrawn since it was given.
    fn standing_answer<'a>(&'a self, key: &Key, given: &'a RecordedAnswer) -> &'a RecordedAnswer {
        self.amended.get(key).filter(|amended| amended.n > given.n).unwrap_or(given)
    }

    /// Whether a finding of the current round was withdrawn since it was judged.
    fn has_withdrawn(&self) -> bool {
        let newer = |(key, given): (&Key, &RecordedAnswer)| {
            self.amended.get(key).is_some_and(|other| other.n > given.n)
        };
        self.round().is_some_and(|round| round.answers.iter().any(newer))
    }

    fn spelled_out(&self, list: impl Fn(&Judgement) -> &Vec<FindingRef>) -> Vec<Finding> {
        let Some(round) = self.round() else { return vec![] };
        let spell = |place: &FindingRef| {
            let assignment = round.assignments.get(place.assignment)?;
            let (key, given) = round.answer_to(assignment)?;
            let stands = &self.standing_answer(key, given).answer;
            let ruling = place.ruling.and_then(|ruling| stands.rulings.get(ruling));
            if ruling.is_some_and(|ruling| ruling.passed) {
                // It was withdrawn since the round was judged.
                return None;
            }
            let files = &round.submission.files;
            let mut finding =
                judge::finding(&self.rules, files, assignment, key, &given.answer, place.ruling);
            // What is accepted of it is listed apart.
            let is_accepted = |flaw: usize| {
                let mut accepted = round.judgement.accepted.iter();
                accepted.any(|one| one.finding == *place && one.flaw == flaw)
            };
            let mut flaw = 0..;
            finding.flaws.retain(|_| flaw.next().is_some_and(|flaw| !is_accepted(flaw)));
            Some(finding)
        };
        list(&round.judgement).iter().filter_map(spell).collect()
    }

    /// How many failures of the current round were given to another question about the same bytes: with other notes, by
    /// another reviewer, or for another subject.
    pub fn kept_failures(&self) -> usize {
        let own = |key: &Key, n: u64| {
            let mut earlier = self.rounds.iter().filter_map(|round| round.answers.get(key));
            earlier.any(|given| given.n == n)
        };
        let kept = |(key, given): &(&Key, &RecordedAnswer)| match &given.by {
            By::Reused { review, n, .. } => given.answer.fails() && (*review != self.id || !own(key, *n)),
            _ => false,
        };
        self.round().map_or(0, |round| round.answers.iter().filter(kept).count())
    }

    /// What passed only after new notes on unchanged files: rule, criterion and what was judged.
    pub fn passed_after_notes(&self) -> impl Iterator<Item = (&str, &str, &Assignment)> {
        let round = self.round();
        let places = round.into_iter().flat_map(|round| &round.judgement.after_notes);
        places.filter_map(move |place| {
            let assignment = round?.assignments.get(place.assignment)?;
            let criterion = assignment.asks(&self.rules).nth(place.ruling?)?;
            Some((self.rules.get(assignment.rule)?.name.as_str(), criterion.name.as_str(), assignment))
        })
    }
}

impl Round {
    fn new(n: u32, submission: Submission, rules: Arc<[Rule]>, assignments: Vec<Assignment>) -> Self {
        let mut asks: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (index, assignment) in assignments.iter().enumerate() {
            for candidate in &assignment.candidates {
                let under = asks.entry(candidate.key.clone()).or_default();
                // Two names for one reviewer are one key, also within an assignment.
                if under.last() != Some(&index) {
                    under.push(index);
                }
            }
        }
        Self {
            n,
            everything: basis::everything(&submission),
            submission,
            rules,
            assignments,
            left_out: vec![],
            asks,
            answers: BTreeMap::new(),
            asked_at: BTreeMap::new(),
            failures: BTreeMap::new(),
            token: None,
            end: None,
            judgement: Judgement::default(),
            delivered: false,
        }
    }

    /// The assignments that ask under a key, with their indices, in order.
    pub fn asking<'a>(&'a self, key: &Key) -> impl Iterator<Item = (usize, &'a Assignment)> + 'a {
        let under = self.asks.get(key).map(Vec::as_slice).unwrap_or_default();
        under.iter().filter_map(|index| Some((*index, self.assignments.get(*index)?)))
    }

    /// The answer to an assignment, by whichever candidate gave one.
    pub fn answer_to<'a>(&'a self, assignment: &'a Assignment) -> Option<(&'a Key, &'a RecordedAnswer)> {
        let given = |candidate: &'a Candidate| Some((&candidate.key, self.answers.get(&candidate.key)?));
        assignment.candidates.iter().find_map(given)
    }

    /// Whether every question of these assignments was answered here, by the same reviewers at the same places.
    pub(crate) fn answers_all(&self, assignments: &[Assignment]) -> bool {
        let answered = |candidate: &Candidate| {
            self.answers.get(&candidate.key).is_some_and(|given| candidate.counts(given.place.as_ref()))
        };
        assignments.iter().all(|assignment| assignment.candidates.iter().any(answered))
    }

    pub fn failure_of<'a>(&'a self, assignment: &'a Assignment) -> Option<&'a Failure> {
        self.failures_of(assignment).last().map(|(_, failure)| failure)
    }

    /// The candidates of an assignment that were asked and did not answer, with the last reason of each.
    pub fn failures_of<'a>(
        &'a self,
        assignment: &'a Assignment,
    ) -> impl Iterator<Item = (&'a Candidate, &'a Failure)> + 'a {
        assignment.candidates.iter().filter_map(|candidate| {
            let failures = self.failures.get(&candidate.key)?;
            Some((candidate, failures.last()?))
        })
    }

    /// Whether a question of this round came back, answered or not.
    fn has_replies(&self) -> bool {
        let is_reply = |given: &RecordedAnswer| !matches!(given.by, By::Reused { .. });
        !self.failures.is_empty() || self.answers.values().any(is_reply)
    }

    /// What the reviewer of a question wrote about it as a whole, with its name.
    pub fn text_on<'a>(&'a self, assignment: &'a Assignment) -> Option<(&'a str, &'a str)> {
        let (key, given) = self.answer_to(assignment)?;
        let asked = assignment.candidate(key).filter(|candidate| candidate.kind == ReviewerKind::Asked)?;
        let text = given.answer.feedback.trim();
        (!text.is_empty() && text != NO_FEEDBACK).then_some((asked.reviewer.as_str(), text))
    }

    /// How many questions were put in this round, answered or not, and how many answers stood from before.
    pub fn asked_and_reused(&self) -> (usize, usize) {
        let reused = self.answers.values().filter(|given| matches!(given.by, By::Reused { .. })).count();
        let asked = |failure: &&Failure| failure.why != NoVerdict::Budget && !failure.not_put;
        let failed = self.failures.values().flatten().filter(asked).count();
        (self.answers.len() - reused + failed, reused)
    }

    /// How many secrets were replaced, over all questions and answers.
    pub fn redacted(&self) -> usize {
        self.answers.values().map(|given| given.answer.redacted).sum()
    }

    /// What the blocking findings are about: compared between rounds to see whether a loop converges.
    fn complaints(&self) -> Vec<(usize, &Target, Option<&str>, Option<&str>)> {
        let complaint = |place: &FindingRef| {
            let assignment = &self.assignments[place.assignment];
            let ruling =
                self.answer_to(assignment).and_then(|(_, given)| given.answer.rulings.get(place.ruling?));
            let criterion = ruling.map(|ruling| ruling.criterion.as_str());
            (assignment.rule, &assignment.target, self.part(assignment), criterion)
        };
        let in_bounds = |place: &&FindingRef| place.assignment < self.assignments.len();
        self.judgement.blocking.iter().filter(in_bounds).map(complaint).collect()
    }

    /// The first file of a question, where a rule asks several about the same target.
    fn part(&self, asked: &Assignment) -> Option<&str> {
        let alike = |other: &&Assignment| {
            (other.rule, &other.target, &other.criteria) == (asked.rule, &asked.target, &asked.criteria)
        };
        let first = || self.submission.files.get(*asked.files.first()?).map(|file| file.path.as_str());
        self.assignments.iter().filter(alike).nth(1).and_then(|_| first())
    }
}

#[cfg(test)]
mod tests;
