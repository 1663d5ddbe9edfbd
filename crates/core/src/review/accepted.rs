//! What a round accepts although it fails, spelled out; and what of the baseline it does not find any more.

use super::{Review, Round};
use crate::accepting::{AcceptedBy, Debt, Exception};
use crate::answer::Flaw;
use crate::criterion::fold_name;
use crate::judge::{self, AcceptedFlaw, Finding, FindingRef};
use crate::plan::Assignment;
use std::collections::BTreeSet;

/// A flaw that does not block, with the finding it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted<'a> {
    pub finding: Finding,
    pub flaw: Flaw,
    pub by: AcceptedBy,
    /// The exception that lets it be, where one does.
    pub exception: Option<&'a Exception>,
}

impl Review {
    /// The flaws of the current round that are accepted.
    pub fn accepted(&self) -> Vec<Accepted<'_>> {
        let Some(round) = self.round() else { return vec![] };
        let spell = |accepted: &AcceptedFlaw| {
            let finding = self.spell(round, &accepted.finding)?;
            let flaw = finding.flaws.get(accepted.flaw)?.clone();
            let exception = match accepted.by {
                AcceptedBy::Exception(index) => round.submission.accepting.exceptions.get(index),
                AcceptedBy::AlreadyThere | AcceptedBy::Baseline => None,
            };
            Some(Accepted { finding, flaw, by: accepted.by, exception })
        };
        round.judgement.accepted.iter().filter_map(spell).collect()
    }

    /// Every finding of the current round, blocking or not, without what an exception lets be.
    pub fn all_findings(&self) -> Vec<Finding> {
        let Some(round) = self.round() else { return vec![] };
        let judgement = &round.judgement;
        let listed = judgement.blocking.iter().chain(&judgement.waived).copied();
        let accepted = judgement.accepted.iter().map(|accepted| accepted.finding);
        let mut places: Vec<FindingRef> = listed.chain(accepted).collect();
        places.sort_unstable();
        places.dedup();
        let excepted: BTreeSet<(FindingRef, usize)> = judgement
            .accepted
            .iter()
            .filter(|accepted| matches!(accepted.by, AcceptedBy::Exception(_)))
            .map(|accepted| (accepted.finding, accepted.flaw))
            .collect();
        let spell = |place: &FindingRef| {
            let mut finding = self.spell(round, place)?;
            let mut flaw = 0..;
            finding.flaws.retain(|_| flaw.next().is_some_and(|flaw| !excepted.contains(&(*place, flaw))));
            (!finding.flaws.is_empty()).then_some(finding)
        };
        places.iter().filter_map(spell).collect()
    }

    /// What the baseline has about files that were judged as a whole, and no reviewer or check finds any more. A change shows
    /// only a part of its files, so it says nothing of the rest.
    pub fn fixed_debts(&self) -> Vec<&Debt> {
        let Some(round) = self.round().filter(|round| round.submission.change.is_none()) else {
            return vec![];
        };
        let found = self.all_findings();
        let is_found = |debt: &Debt| {
            found.iter().any(|finding| {
                let same = finding.criterion.as_deref().is_some_and(|name| same(name, &debt.criterion));
                same && finding.rule == debt.rule
                    && finding.flaws.iter().any(|flaw| flaw.fingerprint == debt.fingerprint)
            })
        };
        let is_fixed = |debt: &&Debt| {
            round.asks_about(debt).next().is_some() && !self.is_open_question(debt) && !is_found(debt)
        };
        round.submission.accepting.baseline.iter().filter(is_fixed).collect()
    }

    /// Whether a question about this debt has no answer.
    pub fn is_open_question(&self, debt: &Debt) -> bool {
        let Some(round) = self.round() else { return true };
        round.asks_about(debt).any(|assignment| round.answer_to(assignment).is_none())
    }

    fn spell(&self, round: &Round, place: &FindingRef) -> Option<Finding> {
        let assignment = round.assignments.get(place.assignment)?;
        let (key, given) = round.answer_to(assignment)?;
        let files = &round.submission.files;
        Some(judge::finding(&self.rules, files, assignment, key, &given.answer, place.ruling))
    }
}

impl Round {
    /// The assignments that ask the criterion of a debt about its file.
    fn asks_about<'a>(&'a self, debt: &'a Debt) -> impl Iterator<Item = &'a Assignment> {
        self.assignments.iter().filter(move |assignment| {
            let of_rule = self.rules.get(assignment.rule).is_some_and(|rule| rule.name == debt.rule);
            let shows = |file: &str| {
                let mut shown = assignment.files.iter().filter_map(|index| self.submission.files.get(*index));
                shown.any(|shown| shown.path == file)
            };
            of_rule
                && assignment.asks(&self.rules).any(|criterion| same(&criterion.name, &debt.criterion))
                && debt.file.as_deref().is_none_or(shows)
        })
    }
}

fn same(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}
