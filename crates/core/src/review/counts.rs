//! Whether gates count what was ruled. It is computed when a ruling is used, and never stored: by what is trusted now, and
//! by where the reviewer was asked then.

use super::{By, RecordedAnswer, Review, Round};
use crate::accepting::Accepting;
use crate::digest::{Digest, Key};
use crate::judge::{RoundEnd, judge};
use crate::outcome::NoVerdict;
use crate::plan::{Assignment, Candidate};
use crate::policy::Policy;
use crate::rule::Rule;
use crate::submission::Submission;
use std::collections::HashMap;

/// Why a gate does not count an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advisory {
    /// A gate would not ask this: its rule or its reviewer is not in the trusted configuration.
    OtherQuestion,
    /// The reviewer was asked at another place: program, scripts, service, variables or limits of its questions.
    OtherPlace,
    /// The author ruled.
    OwnWord,
}

impl Advisory {
    pub fn words(self) -> &'static str {
        match self {
            Self::OtherQuestion => "its rule or its reviewer is not in the trusted configuration",
            Self::OtherPlace => {
                "its reviewer was asked with a program, scripts, variables or limits that are not the trusted ones"
            }
            Self::OwnWord => "its author ruled",
        }
    }
}

impl Candidate {
    /// Whether an answer that was given at this place counts for it.
    pub(crate) fn counts(&self, place: Option<&Digest>) -> bool {
        self.place.as_ref() == place
    }
}

/// How a gate sees a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtGate {
    /// The answers that it does not count, by the indices of their assignments.
    pub advisory: Vec<(usize, Advisory)>,
    /// How many questions it would ask that have no answer which it counts.
    pub unasked: usize,
    /// How many findings of a pass it would not let pass: it has other severities, or another policy.
    pub blocked: usize,
}

impl AtGate {
    /// What a gate that asks `asks` about the same work, by these rules and this policy, makes of the answers of a round.
    pub fn of(
        review: &Review,
        round: &Round,
        (asks, rules): (&[Assignment], &[Rule]),
        policy: &Policy,
        accepting: Accepting,
    ) -> Self {
        let mut wanted: HashMap<_, &Candidate> = HashMap::new();
        for candidate in asks.iter().flat_map(|assignment| &assignment.candidates) {
            wanted.insert(&candidate.key, candidate);
        }
        let why = |key: &Key, given: &RecordedAnswer| match (&given.by, wanted.get(key)) {
            (By::SelfReview { .. }, _) => Some(Advisory::OwnWord),
            (_, None) => Some(Advisory::OtherQuestion),
            (_, Some(candidate)) if !candidate.counts(given.place.as_ref()) => Some(Advisory::OtherPlace),
            _ => None,
        };
        let counted = |assignment: &Assignment| {
            assignment.candidates.iter().find_map(|candidate| {
                let given = round.answers.get(&candidate.key)?;
                let counts = why(&candidate.key, given).is_none();
                counts.then(|| &review.standing_answer(&candidate.key, given).answer)
            })
        };
        let advisory = round.assignments.iter().enumerate().filter_map(|(index, assignment)| {
            let (key, given) = round.answer_to(assignment)?;
            Some((index, why(key, given)?))
        });
        // Where a gate would ask nothing, there is nothing that it counts.
        let unasked =
            asks.iter().filter(|one| counted(one).is_none()).count().max(usize::from(asks.is_empty()));
        let threshold = policy.threshold(review.attempts + 1);
        let work = Submission { accepting, ..round.submission.clone() };
        let judgement = judge(rules, asks, &work, threshold, policy.accept_bare_verdicts, |assignment| {
            counted(assignment).ok_or(NoVerdict::Unavailable)
        });
        let blocked = if round.end == Some(RoundEnd::Pass) { judgement.blocking.len() } else { 0 };
        Self { advisory: advisory.collect(), unasked, blocked }
    }

    pub fn counts(&self) -> bool {
        self.advisory.is_empty() && self.unasked == 0 && self.blocked == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_gate_asks_nothing_it_counts_nothing() {
        let submission = Submission::new(&[], vec![], vec![], None);
        let round = Round::new(1, submission, [].into(), vec![]);
        let seen =
            AtGate::of(&Review::default(), &round, (&[], &[]), &Policy::default(), Accepting::default());
        assert!(!seen.counts());
    }
}
