//! The plan: rules × outputs → assignments. An assignment is one rule on one target.
//!
//! An assignment, a reviewer and a look have one key: a second look of the same reviewer is another question. A scope that
//! names no output is an error; files that no rule looks at are named, never silently passed.

use crate::criterion::Criterion;
use crate::digest::{Digest, Key, Parts};
use crate::prompt::PROMPT_VERSION;
use crate::rule::{Each, Rule, Scope};
use crate::submission::{Content, Form, Material, OutputKind, Submission};
use serde::{Deserialize, Serialize};
use split::{fits, room, split};
use std::collections::{HashMap, HashSet};

mod matching;
mod split;

pub use matching::{Exclusions, MayStayUnseen, glob_set};

/// The name of the reviewer that carries out deterministic checks.
pub const CHECKS: &str = "checks";
const CHECKS_IDENTITY: &str = "checks/1";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    All,
    /// All files a rule's patterns match, together.
    Matching,
    Output(String),
    File(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewerKind {
    /// Our own deterministic checks.
    Checks,
    /// A program or service that is asked and replies.
    Asked,
    /// The author's own review, handed in later.
    SelfReview,
}

/// How far a ruling reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// Stands wherever the same question comes up.
    Anywhere,
    /// Stands inside its own review: the reviewer could see more than the key covers.
    Review,
    /// Is asked again each round.
    Never,
}

/// A reviewer as the plan needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewer {
    pub name: String,
    pub kind: ReviewerKind,
    /// Program and model, or whatever else makes its answers its own. Part of the key.
    pub identity: String,
    /// Whether it may look at the whole project rather than at what it is given.
    pub sees_project: bool,
    /// How many bytes of files fit into a question, where that is known.
    pub room_bytes: Option<u64>,
    /// The mark of the place where it would be asked. No part of the key.
    pub place: Option<Digest>,
}

/// The look of a reviewer that looks once; as the default it is not written to the ledger.
pub const FIRST_LOOK: u32 = 0;

/// A reviewer that may be asked, with the key its ruling would stand under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub reviewer: String,
    pub kind: ReviewerKind,
    /// Which look at the work it is, from [`FIRST_LOOK`].
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub look: u32,
    /// Everything it could see and was asked, and which look it is.
    pub key: Key,
    pub reuse: Reuse,
    /// The mark of the place where it would be asked; a ruling from another place is not reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Digest>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub rule: usize,
    pub target: Target,
    /// Indices of the rule's criteria it asks: a rule's checks and its questions are separate assignments.
    pub criteria: Vec<usize>,
    /// Indices of the submission's files it shows.
    pub files: Vec<usize>,
    /// Who may be asked, in order.
    pub candidates: Vec<Candidate>,
    /// Whether nobody can be asked, because no reviewer sees the file: there is no verdict on it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub not_seen: bool,
}

impl Assignment {
    pub fn asks<'a>(&'a self, rules: &'a [Rule]) -> impl Iterator<Item = &'a Criterion> + 'a {
        let rule = rules.get(self.rule);
        self.criteria.iter().filter_map(move |i| rule.and_then(|rule| rule.criteria.get(*i)))
    }

    pub fn candidate(&self, key: &Key) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.key == *key)
    }

    pub fn is_self_review(&self) -> bool {
        self.candidates.first().is_some_and(|candidate| candidate.kind == ReviewerKind::SelfReview)
    }

    pub fn target_words(&self) -> String {
        match &self.target {
            Target::All => "all outputs together".to_owned(),
            // A single file that is not its own target is the summary of a split change.
            Target::Matching if self.files.len() == 1 => "the change as a whole".to_owned(),
            Target::Matching => format!("{} files together", self.files.len()),
            Target::Output(name) => format!("output '{name}'"),
            Target::File(path) => path.clone(),
        }
    }
}

/// All assignments of a submission, and what has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub assignments: Vec<Assignment>,
    /// Names of rules that apply to none of the files handed in.
    pub not_applicable: Vec<String>,
    /// Indices of files no rule looks at.
    pub unjudged: Vec<usize>,
    /// Indices of files that the rules exclude, and none looks at.
    pub excluded: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("rule '{rule}' is for output '{output}', which does not exist; outputs: {}", known.join(", "))]
    UnknownOutput { rule: String, output: String, known: Vec<String> },
    #[error("rule '{rule}' has a pattern that cannot be read: {reason}")]
    BadPattern { rule: String, reason: String },
    #[error("criterion '{criterion}' of rule '{rule}' needs a reviewer, and none is configured")]
    NoReviewer { rule: String, criterion: String },
    #[error("rule '{rule}' asks reviewer '{reviewer}', which is not configured")]
    UnknownReviewer { rule: String, reviewer: String },
    /// A rule without criteria can only pass by itself.
    #[error("rule '{rule}' has no criteria")]
    NoCriteria { rule: String },
    #[error("no rule applies to the submitted files")]
    NothingToJudge,
}

/// Makes the plan. `redaction` is the identity of the redaction: it changes what reviewers see, so it is in every key.
pub fn plan(
    rules: &[Rule],
    submission: &Submission,
    reviewers: &[Reviewer],
    redaction: &str,
) -> Result<Plan, PlanError> {
    let mut plan = Plan::default();
    for (index, rule) in rules.iter().enumerate() {
        if rule.criteria.is_empty() {
            return Err(PlanError::NoCriteria { rule: rule.name.clone() });
        }
        let batches = batches(rule, reviewers, redaction)?;
        let hidden = hidden(rule, submission)?;
        let before = plan.assignments.len();
        // In a change, checks and questions look at different things; otherwise at the same.
        let sides: Vec<Vec<&Batch>> = match submission.change {
            None => vec![batches.iter().collect()],
            Some(_) => batches.iter().map(|batch| vec![batch]).collect(),
        };
        for side in sides {
            for (target, files) in
                targets_of(rule, submission, room(&side, submission), side.iter().any(|b| b.is_asked()))?
            {
                for batch in &side {
                    let (seen, unseen) = match batch.is_shown() {
                        true => files.iter().partition(|file| !hidden.contains(*file)),
                        false => (files.clone(), vec![]),
                    };
                    if unseen.is_empty() || !seen.is_empty() {
                        let target = target.of(&seen, submission);
                        plan.assignments.push(assignment(index, rule, &target, &seen, batch, submission));
                    }
                    let alone = |file: usize| Assignment {
                        candidates: vec![],
                        not_seen: true,
                        ..assignment(index, rule, &Target::file(file, submission), &[file], batch, submission)
                    };
                    plan.assignments.extend(unseen.into_iter().map(alone));
                }
            }
        }
        if plan.assignments.len() == before {
            plan.not_applicable.push(rule.name.clone());
        }
    }
    if plan.assignments.is_empty() {
        return Err(PlanError::NothingToJudge);
    }
    let exclusions = Exclusions::of(rules)?;
    let unjudged = unjudged(&plan.assignments, submission).into_iter();
    (plan.excluded, plan.unjudged) = unjudged.partition(|file| exclusions.has(&submission.files[*file].path));
    Ok(plan)
}

/// The files that a reviewer does not see, and that the rule does not let pass unseen.
fn hidden(rule: &Rule, submission: &Submission) -> Result<HashSet<usize>, PlanError> {
    let unseen: Vec<_> = files_where(submission, |file| file.content.unseen().is_some());
    if unseen.is_empty() {
        return Ok(HashSet::new());
    }
    let may = MayStayUnseen::of(rule)?;
    // Of a change its files tell what they are; patches do not.
    let files = submission.files.iter().filter(|file| file.form.is_file());
    let files: HashMap<&str, &Content> = files.map(|file| (file.path.as_str(), &file.content)).collect();
    let is_hidden = |file: &usize| {
        let Material { path, content, .. } = &submission.files[*file];
        !may.has(path, files.get(path.as_str()).copied().unwrap_or(content))
    };
    Ok(unseen.into_iter().filter(is_hidden).collect())
}

/// Files that no rule looks at. A file and its patch are one work, whichever of them is looked at.
fn unjudged(assignments: &[Assignment], submission: &Submission) -> Vec<usize> {
    let looked_at: HashSet<usize> =
        assignments.iter().flat_map(|assignment| assignment.files.clone()).collect();
    let path = |file: usize| submission.files[file].path.as_str();
    let paths: HashSet<&str> = looked_at.iter().map(|file| path(*file)).collect();
    // Only one of the two is named.
    let own = |file: &Material| submission.change.is_none() || file.form == Form::Patch;
    let files = files_where(submission, own).into_iter();
    match submission.change {
        None => files.filter(|file| !looked_at.contains(file)).collect(),
        Some(_) => files.filter(|file| !paths.contains(path(*file))).collect(),
    }
}

/// The targets of a rule with their files; `room` is how many bytes of files fit into a question.
pub fn targets(
    rule: &Rule,
    submission: &Submission,
    room: Option<u64>,
) -> Result<Vec<(Target, Vec<usize>)>, PlanError> {
    targets_of(rule, submission, room, true)
}

/// The same for questions or for checks: in a change, questions are about patches, checks about the files.
fn targets_of(
    rule: &Rule,
    submission: &Submission,
    room: Option<u64>,
    is_asked: bool,
) -> Result<Vec<(Target, Vec<usize>)>, PlanError> {
    let form = if is_asked && submission.change.is_some() { Form::Patch } else { Form::File };
    let is_own = rule.matcher()?;
    let files_where = |wanted: &dyn Fn(&Material) -> bool| {
        files_where(submission, |file| file.form == form && file.paths().any(&is_own) && wanted(file))
    };
    match &rule.scope {
        Scope::Whole => {
            let files = files_where(&|_| true);
            match submission.change {
                // Without any file it is asked about the notes alone, but not where all are excluded.
                _ if files.is_empty() && !rule.exclude.is_empty() => Ok(vec![]),
                Some(_) if is_asked && !fits(&files, submission, room) => {
                    Ok(split(Target::All, files, submission, room))
                }
                _ => Ok(vec![(Target::All, files)]),
            }
        }
        Scope::Output(name) => {
            let unknown = || PlanError::UnknownOutput {
                rule: rule.name.clone(),
                output: name.clone(),
                known: submission.outputs.iter().map(|output| output.name.clone()).collect(),
            };
            let output = submission.outputs.iter().position(|o| o.name == *name).ok_or_else(unknown)?;
            let files = files_where(&|file| file.output == output);
            Ok(match submission.outputs[output].kind {
                _ if files.is_empty() => vec![],
                OutputKind::Files => one_by_one(files, submission),
                OutputKind::File => vec![(Target::Output(name.clone()), files)],
            })
        }
        Scope::Files { each: wanted, .. } => {
            let files = files_where(&|_| true);
            let fit = fits(&files, submission, room);
            Ok(match wanted {
                _ if files.is_empty() => vec![],
                // One file is one file, also for a rule that takes all of them together.
                _ if files.len() == 1 => one_by_one(files, submission),
                Each::File => one_by_one(files, submission),
                Each::Together | Each::Fit if form == Form::Patch && !fit => {
                    split(Target::Matching, files, submission, room)
                }
                Each::Fit if !fit => one_by_one(files, submission),
                Each::Together | Each::Fit => vec![(Target::Matching, files)],
            })
        }
    }
}

fn one_by_one(files: Vec<usize>, submission: &Submission) -> Vec<(Target, Vec<usize>)> {
    files.into_iter().map(|file| (Target::file(file, submission), vec![file])).collect()
}

impl Target {
    fn file(file: usize, submission: &Submission) -> Self {
        Self::File(submission.files[file].path.clone())
    }

    /// The target of these files, where others were taken away: one file that a rule matches is a file.
    fn of(&self, files: &[usize], submission: &Submission) -> Self {
        match (self, files) {
            (Self::Matching, [file]) if submission.files[*file].form != Form::Summary => {
                Self::file(*file, submission)
            }
            _ => self.clone(),
        }
    }
}

fn files_where(submission: &Submission, wanted: impl Fn(&Material) -> bool) -> Vec<usize> {
    (0..submission.files.len()).filter(|i| wanted(&submission.files[*i])).collect()
}

/// Criteria of one rule that are answered by the same kind of judge.
struct Batch {
    criteria: Vec<usize>,
    judges: Vec<Reviewer>,
    pure: bool,
    redaction: String,
}

impl Batch {
    fn is_asked(&self) -> bool {
        self.judges.iter().any(|judge| judge.kind != ReviewerKind::Checks)
    }

    /// Whether its files are shown to a reviewer. Checks read them, and so does the author of a self-review.
    fn is_shown(&self) -> bool {
        self.judges.first().is_some_and(|judge| judge.kind == ReviewerKind::Asked)
    }
}

/// Checks and questions are separate, so that a cheap answer never waits for a dear one; so are checks that look beyond
/// their file, because those are never reused.
fn batches(rule: &Rule, reviewers: &[Reviewer], redaction: &str) -> Result<Vec<Batch>, PlanError> {
    let batch = |judges: Vec<Reviewer>, pure: bool, wanted: fn(&Criterion) -> bool| Batch {
        criteria: (0..rule.criteria.len()).filter(|i| wanted(&rule.criteria[*i])).collect(),
        judges,
        pure,
        redaction: redaction.to_owned(),
    };
    let checks = Reviewer {
        name: CHECKS.to_owned(),
        kind: ReviewerKind::Checks,
        identity: CHECKS_IDENTITY.to_owned(),
        sees_project: false,
        room_bytes: None,
        place: None,
    };
    let mut batches = vec![
        batch(vec![checks.clone()], true, |c| c.check.as_ref().is_some_and(|check| check.is_pure())),
        batch(vec![checks], false, |c| c.check.as_ref().is_some_and(|check| !check.is_pure())),
    ];
    batches.push(batch(judges(rule, reviewers)?, true, |c| c.check.is_none()));
    batches.retain(|batch| !batch.criteria.is_empty());
    Ok(batches)
}

/// Who may be asked the questions of a rule, in order; none where it has checks only.
pub fn judges(rule: &Rule, reviewers: &[Reviewer]) -> Result<Vec<Reviewer>, PlanError> {
    let Some(first) = rule.criteria.iter().find(|criterion| criterion.check.is_none()) else {
        return Ok(vec![]);
    };
    let can_ask = |reviewer: &&Reviewer| reviewer.kind != ReviewerKind::Checks;
    if let Some(name) = &rule.reviewer
        && !reviewers.iter().any(|reviewer| reviewer.name == *name)
    {
        return Err(PlanError::UnknownReviewer { rule: rule.name.clone(), reviewer: name.clone() });
    }
    let wanted = |reviewer: &&Reviewer| rule.reviewer.as_ref().is_none_or(|name| reviewer.name == *name);
    let judges: Vec<_> = reviewers.iter().filter(can_ask).filter(wanted).cloned().collect();
    if judges.is_empty() {
        return Err(PlanError::NoReviewer { rule: rule.name.clone(), criterion: first.name.clone() });
    }
    Ok(judges)
}

fn assignment(
    index: usize,
    rule: &Rule,
    target: &Target,
    files: &[usize],
    batch: &Batch,
    submission: &Submission,
) -> Assignment {
    let candidate = |judge: &Reviewer| Candidate {
        reviewer: judge.name.clone(),
        kind: judge.kind,
        look: FIRST_LOOK,
        key: key((index, rule), batch, files, submission, judge, FIRST_LOOK),
        reuse: match judge.kind {
            ReviewerKind::SelfReview => Reuse::Never,
            _ if files.is_empty() || !batch.pure => Reuse::Never,
            _ if judge.sees_project => Reuse::Review,
            _ => Reuse::Anywhere,
        },
        place: judge.place.clone(),
    };
    Assignment {
        rule: index,
        target: target.clone(),
        criteria: batch.criteria.clone(),
        files: files.to_vec(),
        candidates: batch.judges.iter().map(candidate).collect(),
        not_seen: false,
    }
}

/// Everything the reviewer could see and was asked, and the look; not severity, round, time or anything random.
fn key(
    (index, rule): (usize, &Rule),
    batch: &Batch,
    files: &[usize],
    submission: &Submission,
    judge: &Reviewer,
    look: u32,
) -> Key {
    let checked = judge.kind == ReviewerKind::Checks;
    let mut parts = Parts::new("assignment/2");
    parts.count(PROMPT_VERSION as usize);
    parts.count(batch.criteria.len());
    for criterion in batch.criteria.iter().filter_map(|i| rule.criteria.get(*i)) {
        parts.text(&criterion.name).text(&criterion.question);
        parts.maybe(criterion.check.as_ref().map(|check| format!("{check:?}")).as_deref());
    }
    // Our checks see neither the rule's name nor guidance nor notes, so a new word there asks them nothing new.
    parts.maybe(Some(rule.name.as_str()).filter(|_| !checked));
    parts.maybe(rule.guidance.as_deref().filter(|_| !checked));
    parts.maybe(submission.notes.as_ref().filter(|_| !checked).map(|notes| notes.as_str()));
    parts.count(usize::from(judge.sees_project)).text(&judge.identity).text(&batch.redaction);
    parts.count(files.len());
    for file in files.iter().filter_map(|i| submission.files.get(*i)) {
        parts.text(&file.path).text(submission.output_name(file)).text(file.digest.as_str());
    }
    // What stands around a change; where there is none, keys are what they always were.
    if let Some(context) = submission.context.as_ref().filter(|_| !checked) {
        parts.text("context").text(context.as_str());
    }
    if !checked && rule.asks_cause(submission) {
        parts.text("caused by the change");
    }
    if !checked {
        submission.name_guidance(&mut parts, index, files);
    }
    // The same for the first look.
    if look != FIRST_LOOK {
        parts.text("look").count(look as usize);
    }
    parts.key()
}

#[cfg(test)]
mod tests;
