//! What must be done now, from the state alone.

use super::{Failure, Review, Round, State};
use crate::digest::Key;
use crate::outcome::NoVerdict;
use crate::plan::{Assignment, Candidate, ReviewerKind};
use std::collections::HashSet;

/// Something the engine must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Ask {
        assignment: usize,
        key: Key,
        reviewer: String,
        /// What was wrong with the first reply, where this is the second try.
        repair: Option<String>,
    },
    /// Write the instructions of a self-review and give out a token.
    AskSelf,
    /// All is answered: look whether the files are still the ones that were judged.
    Confirm,
}

pub fn due(review: &Review) -> Vec<Effect> {
    let (State::Judging, Some(round)) = (review.state, review.round()) else { return vec![] };
    let mut effects = vec![];
    let mut asked: HashSet<&Key> = HashSet::new();
    let mut waits = false;
    for (index, assignment) in round.assignments.iter().enumerate() {
        let (candidate, repair) = match wanted(round, assignment) {
            Need::Nothing => continue,
            Need::SelfReview => {
                waits = true;
                continue;
            }
            Need::Asking(candidate, repair) => (candidate, repair),
        };
        // Two assignments under one key are one question.
        if asked.insert(&candidate.key) {
            effects.push(Effect::Ask {
                assignment: index,
                key: candidate.key.clone(),
                reviewer: candidate.reviewer.clone(),
                repair,
            });
        }
    }
    if effects.is_empty() {
        match (waits, &round.token) {
            (true, None) => effects.push(Effect::AskSelf),
            (true, Some(_)) => {}
            (false, _) => effects.push(Effect::Confirm),
        }
    }
    effects
}

/// Whether a question under this key is among what is due.
pub(super) fn is_due(review: &Review, key: &Key) -> bool {
    let (State::Judging, Some(round)) = (review.state, review.round()) else { return false };
    round.asking(key).any(|(_, assignment)| match wanted(round, assignment) {
        Need::Asking(candidate, _) => candidate.key == *key,
        Need::SelfReview | Need::Nothing => false,
    })
}

/// What an assignment still needs.
enum Need<'a> {
    /// It is answered, or no reviewer is left to ask.
    Nothing,
    SelfReview,
    /// To ask a reviewer, with the defect of the first reply.
    Asking(&'a Candidate, Option<String>),
}

/// Only an unavailable reviewer is followed by the next one, and a self-review never takes the place of a reviewer.
fn wanted<'a>(round: &Round, assignment: &'a Assignment) -> Need<'a> {
    if round.answer_to(assignment).is_some() {
        return Need::Nothing;
    }
    if assignment.is_self_review() {
        return Need::SelfReview;
    }
    for candidate in
        assignment.candidates.iter().filter(|candidate| candidate.kind != ReviewerKind::SelfReview)
    {
        let failures = round.failures.get(&candidate.key).map(Vec::as_slice).unwrap_or_default();
        if let Some(repair) = next_try(failures) {
            return Need::Asking(candidate, repair);
        }
        if failures.last().is_some_and(|failure| failure.why != NoVerdict::Unavailable) {
            break;
        }
    }
    Need::Nothing
}

/// Whether to ask (again): a reply that could not be used is asked for once more, with the defect named.
fn next_try(failures: &[Failure]) -> Option<Option<String>> {
    match failures {
        [] => Some(None),
        [only] if only.why.is_repairable() => Some(Some(only.detail.clone())),
        _ => None,
    }
}
