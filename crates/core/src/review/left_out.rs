//! Findings that a subject comes back without: their files were left out, or the rules became weaker. They are carried,
//! so that leaving something out is no way to pass.

use super::{Review, Round, State, Submit};
use crate::criterion::fold_name;
use crate::digest::Digest;
use crate::judge::{self, Finding, FindingRef, Judgement, RoundEnd};
use crate::plan::Assignment;
use crate::rule::{Rule, Scope};
use crate::submission::{ChangeOf, Form, Material, Submission};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// A blocking finding that no later round of its review has answered.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenFinding {
    pub finding: Finding,
    scope: Scope,
    /// The files it is about, as they were.
    pub files: Vec<Material>,
    /// What those are a change of, where they are one.
    pub change: Option<ChangeOf>,
}

/// A file of an open finding that is no part of what is submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSubmitted {
    pub path: String,
    pub form: Form,
    /// What is there now; none where it was deleted or put back to what the change is against.
    pub digest: Option<Digest>,
}

/// An earlier finding that this submission leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub finding: Finding,
    pub why: LeftOutBy,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutBy {
    /// These files are not submitted any more.
    Files(Vec<String>),
    /// The rule is gone.
    Rule,
    /// The criterion is gone from its rule.
    Criterion,
    /// The criterion became too light to block.
    Severity,
}

impl LeftOut {
    pub fn words(&self) -> String {
        let Finding { id, rule, criterion, .. } = &self.finding;
        let criterion = criterion.as_deref().unwrap_or("the whole");
        match &self.why {
            LeftOutBy::Files(files) => {
                format!("{id} ({criterion}) is about files that were left out: {}", files.join(", "))
            }
            LeftOutBy::Rule => format!("{id} ({criterion}) is from rule '{rule}', which is gone"),
            LeftOutBy::Criterion => format!("{id} is about '{criterion}', which is gone from rule '{rule}'"),
            LeftOutBy::Severity => {
                format!("{id} is about '{criterion}', whose severity in rule '{rule}' was lowered")
            }
        }
    }
}

impl Review {
    /// The files of open findings that are no part of this submission.
    pub fn not_submitted<'a>(
        &'a self,
        submission: &'a Submission,
    ) -> impl Iterator<Item = (&'a OpenFinding, &'a Material)> {
        let there: HashSet<(&str, Form)> =
            submission.files.iter().map(|file| (file.path.as_str(), file.form)).collect();
        let open = self.open.iter().filter(|_| !matches!(self.state, State::Settled(_)));
        let files = open.flat_map(|open| open.files.iter().map(move |file| (open, file)));
        files.filter(move |(_, file)| !there.contains(&(file.path.as_str(), file.form)))
    }
}

/// The open findings that a submission leaves out.
pub(super) fn left_out(review: &Review, submit: &Submit) -> Vec<LeftOut> {
    let left_out = |open: &OpenFinding| {
        Some(LeftOut { finding: open.finding.clone(), why: open.left_out_by(review, submit)? })
    };
    review.open.iter().filter_map(left_out).collect()
}

impl OpenFinding {
    fn of(round: &Round, place: &FindingRef) -> Option<Self> {
        let assignment = round.assignments.get(place.assignment)?;
        let (key, given) = round.answer_to(assignment)?;
        let files = &round.submission.files;
        let shown = assignment.files.iter().filter_map(|index| files.get(*index));
        Some(Self {
            finding: judge::finding(&round.rules, files, assignment, key, &given.answer, place.ruling),
            scope: round.rules.get(assignment.rule)?.scope.clone(),
            // The summary of a change is there whatever changed.
            files: shown.filter(|file| file.form != Form::Summary).cloned().collect(),
            change: round.submission.change.clone(),
        })
    }

    fn is_asked_by(&self, rules: &[Rule], assignment: &Assignment) -> bool {
        let of_rule = rules.get(assignment.rule).is_some_and(|rule| rule.name == self.finding.rule);
        of_rule
            && self.finding.criterion.as_deref().is_none_or(|wanted| {
                assignment.asks(rules).any(|criterion| fold_name(&criterion.name) == fold_name(wanted))
            })
    }

    fn left_out_by(&self, review: &Review, submit: &Submit) -> Option<LeftOutBy> {
        let now = |file: &Material| {
            let same = |other: &&Material| other.path == file.path && other.form == file.form;
            let submitted = submit.submission.files.iter().find(same).map(|file| Some(file.digest.clone()));
            let looked_at = |other: &&NotSubmitted| other.path == file.path && other.form == file.form;
            let elsewhere = || submit.not_submitted.iter().find(looked_at).map(|file| file.digest.clone());
            // Without a look at it, it is still there as it was.
            submitted.or_else(elsewhere).unwrap_or_else(|| Some(file.digest.clone()))
        };
        let there: Vec<&Material> = self.files.iter().filter(|file| now(file).is_some()).collect();
        if there.is_empty() && !self.files.is_empty() {
            return None;
        }
        let is_same = |file: &&Material| now(file).as_ref() == Some(&file.digest);
        let unchanged = there.iter().all(is_same);
        let threshold = review.policy.threshold(review.attempts + 1);
        let rule = submit.rules.iter().find(|rule| rule.name == self.finding.rule);
        // Weaker rules hold for other bytes: there the earlier failure does not stand.
        let weaker = |why| unchanged.then_some(why);
        let Some(rule) = rule else { return weaker(LeftOutBy::Rule) };
        if let Some(wanted) = &self.finding.criterion {
            let same = |name: &str| fold_name(name) == fold_name(wanted);
            let Some(criterion) = rule.criteria.iter().find(|criterion| same(&criterion.name)) else {
                return weaker(LeftOutBy::Criterion);
            };
            if criterion.severity < self.finding.severity && criterion.severity < threshold {
                return weaker(LeftOutBy::Severity);
            }
        }
        let asked = submit.assignments.iter().filter(|asked| self.is_asked_by(&submit.rules, asked));
        let files =
            asked.flat_map(|asked| &asked.files).filter_map(|file| submit.submission.files.get(*file));
        let seen: HashSet<&str> = files.map(|file| file.path.as_str()).collect();
        let unseen = there.into_iter().filter(|file| !seen.contains(file.path.as_str()));
        // What a change no longer shows is what it is against by now, unless it is the very same work.
        let narrower = submit.submission.change.is_some() || rule.scope != self.scope;
        let unseen: Vec<String> =
            unseen.filter(|file| !narrower || is_same(file)).map(|file| file.path.clone()).collect();
        (!unseen.is_empty()).then_some(LeftOutBy::Files(unseen))
    }

    /// Whether a round has answered its question, whatever the answer is.
    fn is_answered_in(&self, round: &Round) -> bool {
        let left_out = round.left_out.iter().any(|left_out| left_out.finding.id == self.finding.id);
        let about = |asked: &&Assignment| {
            let paths = asked.files.iter().filter_map(|file| round.submission.files.get(*file));
            paths.into_iter().any(|file| self.files.iter().any(|own| own.path == file.path))
        };
        let mut asked = round.assignments.iter().filter(|asked| self.is_asked_by(&round.rules, asked));
        let mut asked = asked.by_ref().filter(about).peekable();
        !left_out && asked.peek().is_some() && asked.all(|asked| round.answer_to(asked).is_some())
    }
}

/// The findings that are open after a round.
pub(super) fn open_after(before: Vec<OpenFinding>, round: &Round, judgement: &Judgement) -> Vec<OpenFinding> {
    match round.end {
        Some(RoundEnd::Pass) => vec![],
        Some(RoundEnd::NeedsWork | RoundEnd::NoVerdict(_)) => {
            let open = before.into_iter().filter(|open| !open.is_answered_in(round));
            open.chain(judgement.blocking.iter().filter_map(|place| OpenFinding::of(round, place))).collect()
        }
        Some(RoundEnd::Superseded | RoundEnd::Stale) | None => before,
    }
}
