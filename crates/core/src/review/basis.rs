//! What a failure stands on: the name of its rule, its criterion, and the exact bytes that were judged. Not the reviewer,
//! the author's notes, guidance, a title, the session or the subject: a new word in one of these is no new work.

use super::{By, Round};
use crate::answer::{Answer, Ruling};
use crate::criterion::{Criterion, fold_name};
use crate::digest::{Digest, Key, Parts};
use crate::plan::{Assignment, ReviewerKind};
use crate::rule::Rule;
use crate::submission::{Material, Submission};
use std::collections::HashMap;

/// What a failure of one criterion of an assignment stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The place of the criterion among those the assignment asks, and so of its ruling.
    pub ruling: usize,
    /// Where the reviewer saw the files of the assignment.
    pub files: Key,
    /// Where it could look at the whole project: every submitted file.
    pub everything: Key,
}

/// Finds what failures stand on in one submission.
pub struct Bases<'a> {
    rules: &'a [Rule],
    submission: &'a Submission,
    everything: Digest,
}

impl<'a> Bases<'a> {
    pub fn new(rules: &'a [Rule], submission: &'a Submission) -> Self {
        Self { rules, submission, everything: everything(submission) }
    }

    pub fn of_round(round: &'a Round) -> Self {
        Self { rules: &round.rules, submission: &round.submission, everything: round.everything.clone() }
    }

    /// One for each criterion that reviewers are asked. A check gives the same result each time, and needs none.
    pub fn of(&self, assignment: &Assignment) -> Vec<Basis> {
        let is_check = assignment.candidates.iter().all(|candidate| candidate.kind == ReviewerKind::Checks);
        let Some(rule) = self.rules.get(assignment.rule).filter(|_| !is_check) else { return vec![] };
        if assignment.files.is_empty() {
            return vec![];
        }
        let shown = assignment.files.iter().filter_map(|index| self.submission.files.get(*index));
        let shown = named(Parts::new("shown/1"), shown).digest();
        let basis = |(ruling, criterion): (usize, &Criterion)| {
            let mut parts = Parts::new("failure/1");
            parts.text(&rule.name).text(&fold_name(&criterion.name)).text(criterion.question.trim());
            parts.text(shown.as_str()).maybe(self.submission.evidence.as_ref().map(Digest::as_str));
            let files = parts.key();
            Basis { ruling, files, everything: parts.text(self.everything.as_str()).key() }
        };
        assignment.asks(self.rules).enumerate().map(basis).collect()
    }
}

/// Names every submitted file.
pub(super) fn everything(submission: &Submission) -> Digest {
    named(Parts::new("everything/1"), submission.files.iter()).digest()
}

/// Adds files by path and digest, in whichever order they were named.
fn named<'a>(mut parts: Parts, files: impl Iterator<Item = &'a Material>) -> Parts {
    let mut files: Vec<_> = files.map(|file| (&file.path, file.digest.as_str())).collect();
    files.sort();
    parts.count(files.len());
    for (path, digest) in files {
        parts.text(path).text(digest);
    }
    parts
}

/// What stands on a basis: a failure, or what a dispute left of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub basis: Key,
    /// The answer it was given in.
    pub answer: Answer,
    /// The index of its ruling; none where the answer failed without rulings.
    pub ruling: Option<usize>,
    pub by: By,
    /// The author's notes it was judged with.
    pub notes: Option<Digest>,
    pub new_notes: NewNotes,
}

/// Which other notes may change a failure on unchanged bytes: one time for each failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewNotes {
    /// None were judged yet.
    Any,
    /// These were judged since.
    Only(Digest),
    Used,
}

impl Standing {
    pub fn fails(&self) -> bool {
        match self.ruling {
            None => self.answer.fails(),
            Some(ruling) => self.answer.rulings.get(ruling).is_none_or(|ruling| !ruling.passed),
        }
    }

    /// Whether it fails, and these notes may be judged all the same.
    fn is_open_to(&self, notes: Option<&Digest>) -> bool {
        let Some(notes) = notes.filter(|notes| Some(*notes) != self.notes.as_ref()) else { return false };
        self.fails()
            && match &self.new_notes {
                NewNotes::Any => true,
                NewNotes::Only(judged) => judged == notes,
                NewNotes::Used => false,
            }
    }

    /// Whether it answers for work with these notes, whatever is asked again.
    pub fn holds(&self, notes: Option<&Digest>) -> bool {
        self.fails() && !self.is_open_to(notes)
    }

    fn as_ruling(&self, criterion: &Criterion) -> Ruling {
        let given = self.ruling.and_then(|ruling| self.answer.rulings.get(ruling)).cloned();
        let whole = || Ruling::new("", false, Some(self.answer.feedback.clone()));
        Ruling { criterion: criterion.name.clone(), ..given.unwrap_or_else(whole) }
    }
}

/// What stands on the criteria of one assignment.
pub(super) struct Stands<'a> {
    criteria: Vec<&'a Criterion>,
    on: Vec<(usize, &'a Standing)>,
    /// The notes of the submission; none for a self-review, which no notes let replace a reviewer's failure.
    notes: Option<&'a Digest>,
}

impl<'a> Stands<'a> {
    pub(super) fn of(
        bases: &Bases<'a>,
        assignment: &'a Assignment,
        all: &HashMap<&Key, &'a Standing>,
    ) -> Self {
        let criteria = assignment.asks(bases.rules).collect();
        let notes = bases.submission.notes.as_ref().filter(|_| !assignment.is_self_review());
        let mut on = vec![];
        // Without failures nothing is computed: most submissions have none.
        for basis in if all.is_empty() { vec![] } else { bases.of(assignment) } {
            let found = [&basis.files, &basis.everything].into_iter().filter_map(|key| all.get(key));
            on.extend(found.map(|standing| (basis.ruling, *standing)));
        }
        Self { criteria, on, notes }
    }

    /// The failures that hold, whatever is asked again.
    pub(super) fn holding(&self) -> impl Iterator<Item = &'a Standing> {
        self.on.iter().map(|(_, standing)| *standing).filter(|standing| standing.holds(self.notes))
    }

    /// An answer as it stands: with every failure that holds, and marked where only new notes let it pass. Where it was
    /// given `before` now, also without what disputes withdrew. Returns who gave what was replaced, if anything was.
    pub(super) fn over(&self, mut answer: Answer, before: bool) -> (Answer, Option<By>) {
        answer.after_notes.clear();
        if answer.bare == Some(false) {
            return (answer, None);
        }
        if !self.on.is_empty() && answer.bare.take().is_some() {
            let pass = |criterion: &&Criterion| Ruling::new(&criterion.name, true, None);
            answer.rulings = self.criteria.iter().map(pass).collect();
        }
        let mut by = None;
        // Failures come last: what a dispute left of one failure does not remove another.
        let (failures, left): (Vec<_>, Vec<_>) = self.on.iter().partition(|(_, standing)| standing.fails());
        for (ruling, standing) in left.into_iter().chain(failures) {
            let (Some(criterion), Some(given)) = (self.criteria.get(ruling), answer.rulings.get_mut(ruling))
            else {
                continue;
            };
            let withdrawn = before && !standing.fails() && !given.passed;
            if withdrawn || (given.passed && standing.holds(self.notes)) {
                *given = standing.as_ruling(criterion);
                by = Some(standing.by.clone());
            } else if given.passed && standing.is_open_to(self.notes) {
                answer.after_notes.push(criterion.name.clone());
            }
        }
        if by.is_some() {
            answer.feedback = Answer::from_rulings(answer.rulings.clone()).feedback;
        }
        (answer, by)
    }
}
