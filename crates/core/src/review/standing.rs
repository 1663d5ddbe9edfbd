//! Which rulings stand for submitted work. A pass stands for the same key at the same place. A failure stands at every
//! place and whatever else is asked; only other bytes, a dispute or a person replace it.

use super::basis::{Bases, Standing, Stands};
use super::{By, Review};
use crate::answer::Answer;
use crate::digest::{Digest, Key};
use crate::plan::{Assignment, Candidate, Reuse};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// A ruling that was given before.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub key: Key,
    pub answer: Answer,
    pub by: By,
    pub place: Option<Digest>,
    /// Whether it is what a dispute left of another answer.
    pub disputed: bool,
}

impl Known {
    fn key_and_place(&self) -> KeyAndPlace {
        (self.key.clone(), self.place.clone())
    }

    /// Whether it holds in place of an answer that was given later, or elsewhere.
    fn replaces(&self, other: &Self) -> bool {
        !other.disputed && self.answer.is_worse_than(&other.answer)
    }

    /// Whether asking again cannot replace it: the same bytes are not asked about until they pass.
    pub fn is_final(&self) -> bool {
        self.disputed || self.answer.fails()
    }
}

/// What a ruling stands under: its key, and the mark of the place where it was asked.
type KeyAndPlace = (Key, Option<Digest>);

pub(super) struct KnownRulings {
    all: BTreeMap<KeyAndPlace, Known>,
    /// Failures, by key: each stands at every place.
    failures: BTreeMap<Key, Known>,
}

impl KnownRulings {
    /// Rulings of other reviews and of this one: the latest, unless an earlier one is worse. `fresh` drops passes.
    pub(super) fn of(review: &Review, known: Vec<Known>, fresh: bool) -> Self {
        let mut all: BTreeMap<KeyAndPlace, Known> =
            known.into_iter().map(|known| (known.key_and_place(), known)).collect();
        for own in own_rulings(review) {
            match all.entry(own.key_and_place()) {
                Entry::Vacant(entry) => drop(entry.insert(own)),
                Entry::Occupied(mut other) if own.replaces(other.get()) => drop(other.insert(own)),
                Entry::Occupied(_) => {}
            }
        }
        all.retain(|_, known| !fresh || known.is_final());
        let failures = all.values().filter(|known| known.answer.fails());
        let failures = failures.map(|known| (known.key.clone(), known.clone())).collect();
        Self { all, failures }
    }

    /// The ruling that stands for an assignment, with every failure on its bytes that holds. Where no ruling is known, a
    /// failure answers if it fits the question; otherwise the question is asked.
    pub(super) fn stands_for(
        &self,
        assignment: &Assignment,
        stands: &Stands<'_>,
        fits: impl Fn(&Answer) -> bool,
    ) -> Option<Known> {
        if let Some(known) = self.answer_to(assignment, &fits) {
            let (answer, by) = stands.over(known.answer.clone(), true);
            return Some(Known { answer, by: by.unwrap_or_else(|| known.by.clone()), ..known.clone() });
        }
        let failure = stands.holding().find(|failure| fits(&failure.answer))?;
        let asked = assignment.candidates.first()?;
        let (answer, _) = stands.over(failure.answer.clone(), true);
        let (key, by, place) = (asked.key.clone(), failure.by.clone(), asked.place.clone());
        Some(Known { key, answer, by, place, disputed: false })
    }

    /// The ruling under a key of an assignment; a failure stands over the pass of another reviewer.
    fn answer_to(&self, assignment: &Assignment, fits: impl Fn(&Answer) -> bool) -> Option<&Known> {
        let stands = |candidate: &Candidate| {
            let here = || self.all.get(&(candidate.key.clone(), candidate.place.clone()));
            let known = self.failures.get(&candidate.key).or_else(here)?;
            (candidate.reuse != Reuse::Never && fits(&known.answer)).then_some(known)
        };
        let known: Vec<&Known> = assignment.candidates.iter().filter_map(stands).collect();
        known.iter().find(|known| known.answer.fails()).or(known.first()).copied()
    }
}

pub(super) fn by_basis(standing: &[Standing]) -> HashMap<&Key, &Standing> {
    standing.iter().map(|standing| (&standing.basis, standing)).collect()
}

/// A new answer to a question, marked where only new notes let it pass; and the answer that holds instead where failures
/// stand on the same bytes, with who gave them.
pub fn stands_over(
    review: &Review,
    key: &Key,
    answer: Answer,
    standing: &[Standing],
) -> (Answer, Option<(Answer, By)>) {
    let asking = review.rounds.iter().rev().find_map(|round| {
        let (_, assignment) = round.asking(key).next()?;
        Some((round, assignment))
    });
    let Some((round, assignment)) = asking else { return (answer, None) };
    let bases = Bases::of_round(round);
    let (worse, by) = Stands::of(&bases, assignment, &by_basis(standing)).over(answer.clone(), false);
    match by {
        Some(by) => (answer, Some((worse, by))),
        None => (worse, None),
    }
}

/// What was ruled in the rounds of a review, the latest first. Self-reviews never stand.
fn own_rulings(review: &Review) -> impl Iterator<Item = Known> {
    review.rounds.iter().rev().flat_map(|round| &round.answers).filter_map(|(key, given)| {
        let given = review.standing_answer(key, given);
        let by = match &given.by {
            By::Call { reviewer, .. } | By::Disputed { reviewer, .. } => {
                By::Reused { review: review.id.clone(), n: given.n, reviewer: reviewer.clone() }
            }
            By::Reused { .. } => given.by.clone(),
            By::SelfReview { .. } => return None,
        };
        Some(Known {
            key: key.clone(),
            answer: given.answer.clone(),
            by,
            place: given.place.clone(),
            disputed: matches!(given.by, By::Disputed { .. }),
        })
    })
}
