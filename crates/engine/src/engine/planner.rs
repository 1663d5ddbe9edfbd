//! The planner: from a request to exact bytes, a plan and the prompt of each question. It asks no reviewer and writes
//! nothing.

use super::ask::Worded;
use super::submitted_change::SubmittedChange;
use super::{EngineError, Panel, Result};
use crate::config::DEFAULT_BYTES;
use crate::fresh::now_ms;
use crate::ledger::Ledger;
use crate::workspace::{self, Changed, Root};
use countersign_core::accepting::{Accepting, Debt};
use countersign_core::cost::Budget;
use countersign_core::criterion::Criterion;
use countersign_core::digest::Digest;
use countersign_core::endpoint::Endpoint;
use countersign_core::ids::Subject;
use countersign_core::plan::{self, Assignment, Plan, Reviewer};
use countersign_core::policy::{self, GateFiles, Policy};
use countersign_core::prompt::{self, Body, Question, Shape, ShownFile};
use countersign_core::redact::Redaction;
use countersign_core::review::{AtGate, Review};
use countersign_core::rule::{Lines, Rule};
use countersign_core::submission::{Content, GuidanceFile, Material, Output, Submission};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// An upper bound for the description of a reply.
const SCHEMA_BYTES: u64 = 2 * 1024;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Clone, Debug)]
pub struct Request {
    /// What stays the same over retries.
    pub subject: Subject,
    pub rules: Vec<Rule>,
    /// When to stop, should this open a review.
    pub policy: Policy,
    pub outputs: Vec<Output>,
    /// Paths relative to the root, with the index of their output.
    pub files: Vec<(String, usize)>,
    /// Paths of files that guidance names, with the index of the rule.
    pub guidance_files: Vec<(usize, String)>,
    /// A change, instead of outputs and files.
    pub change: Option<SubmittedChange>,
    pub notes: Option<String>,
    /// Ask all reviewers again, even where a ruling stands.
    pub fresh: bool,
}

#[derive(Clone, Debug)]
pub struct Prepared {
    pub request: Request,
    pub submission: Submission,
    pub plan: Plan,
}

/// One question as it would be asked.
#[derive(Clone, Debug)]
pub struct Preview {
    pub system_prompt: String,
    pub payload: String,
    pub timeout_seconds: u64,
    /// What its reply is like.
    pub shape: Shape,
    /// Whether a ruling stands for it already.
    pub known: bool,
}

/// Limits that hold for every question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Up to this many files a question carries their contents; none for any number of files.
    pub max_inline_files: Option<usize>,
    /// Up to this many bytes together.
    pub prompt_bytes: u64,
    pub reply_bytes: usize,
}

impl Bounds {
    /// Whether a question shows the contents of these files.
    fn show(&self, files: &[Material]) -> bool {
        // What is not text is a line in the prompt, whatever its size.
        let text = files.iter().filter(|file| file.content == Content::Text);
        let bytes = text.map(|file| file.size_bytes).sum();
        prompt::fits_inline(files.len(), bytes, self.max_inline_files, self.prompt_bytes)
    }
}

/// Makes plans for one project.
#[derive(Clone)]
pub struct Planner {
    pub root: Root,
    pub panel: Panel,
    pub bounds: Bounds,
    /// What is kept from reviewers, the ledger and reports.
    pub redaction: Redaction,
    pub day_budget: Budget,
    /// For how many days what was judged is kept beside the ledger, to be shown; 0 for not at all.
    pub keep_contents_days: u32,
    /// Where the rules come from, at a gate.
    pub rules_from: Option<String>,
    /// The findings that are accepted as they are.
    pub baseline: Arc<[Debt]>,
}

impl Planner {
    pub(super) fn reviewers(&self) -> Vec<Reviewer> {
        self.panel.reviewers(self.bounds.prompt_bytes)
    }

    /// Looks at the files and makes the plan.
    pub async fn prepare(&self, request: Request) -> Result<Prepared> {
        let notes = request.notes.as_deref().map(|notes| Digest::of(notes.as_bytes()));
        self.prepare_for(request, notes, &self.reviewers()).await
    }

    /// The same for some reviewers, where only the digest of the notes is known.
    pub(super) async fn prepare_for(
        &self,
        mut request: Request,
        notes: Option<Digest>,
        reviewers: &[Reviewer],
    ) -> Result<Prepared> {
        // Rules go on record as they are asked, and what is handed in later is held against that record.
        super::redact::rules(&self.redaction, &mut request.rules);
        if request.change.is_none() {
            // There is no change that could have caused anything.
            whole_files(&mut request.rules);
        }
        let gathered = match &request.change {
            None => workspace::gather(&self.root, request.files.clone()).await,
            Some(handed) => {
                request.outputs = SubmittedChange::outputs();
                handed.materials(&self.root).await
            }
        };
        let files = gathered.map_err(EngineError::io("the files could not be read"))?;
        let mut submission = Submission::new(&request.rules, request.outputs.clone(), files, notes);
        if let Some(handed) = &request.change {
            let person = request.policy.gate_files == GateFiles::Person;
            submission = handed.name(submission);
            submission.steers_gate = person && !handed.change().gate_files().is_empty();
        }
        let submission = submission.with_guidance_files(self.guidance_files(&request).await?);
        let submission = Submission { rules_from: self.rules_from.clone(), ..submission };
        let mut plan = plan::plan(&request.rules, &submission, reviewers, self.redaction.identity())?;
        self.mark_listed(&mut plan.assignments, &submission);
        Ok(Prepared { request, submission, plan })
    }

    async fn guidance_files(&self, request: &Request) -> Result<Vec<GuidanceFile>> {
        let files = request.guidance_files.iter().map(|(rule, path)| (path.clone(), *rule)).collect();
        let found = workspace::gather(&self.root, files).await;
        let found = found.map_err(EngineError::io("the files that guidance names could not be read"))?;
        let named = |file: Material| GuidanceFile { rule: file.output, file: Material { output: 0, ..file } };
        Ok(found.into_iter().map(named).collect())
    }

    /// What a gate with this planner, these rules and this policy makes of the latest round of a review.
    pub fn at_gate(&self, mut rules: Vec<Rule>, policy: &Policy, review: &Review) -> AtGate {
        super::redact::rules(&self.redaction, &mut rules);
        let Some(round) = review.round() else { return AtGate { unasked: 1, ..AtGate::default() } };
        if round.rules.iter().all(|rule| rule.lines == Lines::File) {
            // Nothing was asked about causes, so everything counts as caused.
            whole_files(&mut rules);
        }
        let exceptions = match round.submission.rules_from {
            Some(_) => round.submission.accepting.exceptions.clone(),
            // The base of a question is its caller's.
            None => vec![],
        };
        let accepting = Accepting { baseline: self.debts(&round.submission), exceptions };
        let asks = plan::plan(&rules, &round.submission, &self.reviewers(), self.redaction.identity());
        let mut asks = asks.map(|plan| plan.assignments).unwrap_or_default();
        self.mark_listed(&mut asks, &round.submission);
        AtGate::of(review, round, (&asks, &rules), policy, accepting)
    }

    /// What the baseline has about these files.
    pub fn debts(&self, submission: &Submission) -> Vec<Debt> {
        let paths: HashSet<&str> = submission.files.iter().map(|file| file.path.as_str()).collect();
        let is_about = |debt: &&Debt| debt.file.as_deref().is_none_or(|file| paths.contains(file));
        self.baseline.iter().filter(is_about).cloned().collect()
    }

    /// Whether a reviewer gets only the paths of the files, where the usual limits would show it their contents. The key is
    /// the same, so the place of the answer says it: who sets tight limits must not get an answer that others use.
    pub(super) fn lists(&self, assignment: &Assignment, submission: &Submission, reviewer: &str) -> bool {
        let reads = self.panel.find(reviewer).is_none_or(|(panelist, _)| panelist.reads_files());
        if !reads || submission.change.is_some() {
            return false;
        }
        let files = materials(assignment, submission);
        let usual = Bounds { max_inline_files: None, prompt_bytes: DEFAULT_BYTES.into(), ..self.bounds };
        !self.bounds.show(&files) && usual.show(&files)
    }

    fn mark_listed(&self, assignments: &mut [Assignment], submission: &Submission) {
        for assignment in assignments {
            let listed = |name: &str| self.lists(assignment, submission, name);
            let listed: Vec<bool> = assignment.candidates.iter().map(|one| listed(&one.reviewer)).collect();
            for (candidate, _) in assignment.candidates.iter_mut().zip(listed).filter(|(_, listed)| *listed) {
                candidate.place = candidate.place.as_ref().map(Endpoint::mark_of_listed);
            }
        }
    }

    /// A question as it would be asked, and whether it has to be.
    pub async fn preview(
        &self,
        prepared: &Prepared,
        assignment: &Assignment,
        ledger: Option<&Ledger>,
    ) -> Result<Preview> {
        let known = match ledger {
            Some(ledger) => {
                let since = rulings_since(&prepared.request.policy);
                let known = ledger.rulings(&assignment.candidates, since).await?;
                let (rules, submission) = (&prepared.request.rules, &prepared.submission);
                let standing = ledger.standing(rules, submission, [assignment]).await?;
                standing.iter().any(|standing| standing.holds(submission.notes.as_ref()))
                    || known.iter().any(|known| !prepared.request.fresh || known.is_final())
            }
            None => false,
        };
        let first = assignment.candidates.first().map_or("", |candidate| candidate.reviewer.as_str());
        let worded = self.word(&prepared.request.rules, assignment, prepared, first).await;
        let worded = worded.map_err(|changed| EngineError::Internal(changed.to_string()))?;
        let timeout_seconds = self.timeout(assignment, first).as_secs();
        let payload = prompt::with_redactions(worded.payload, &worded.redacted);
        let shape = worded.shape;
        Ok(Preview { system_prompt: worded.system_prompt, payload, timeout_seconds, shape, known })
    }

    /// The prompt of a question: a change as it was handed in, or files with their contents where they fit, else with paths.
    pub(super) async fn word(
        &self,
        rules: &[Rule],
        assignment: &Assignment,
        prepared: &Prepared,
        reviewer: &str,
    ) -> Result<Worded, Changed> {
        let notes = prepared.request.notes.as_deref().map(|notes| self.redaction.redact(notes));
        let (notes, found) = notes.unzip();
        let (notes, mut redacted) = (notes.as_deref(), found.unwrap_or_default());
        let panelist = self.panel.find(reviewer).map(|(panelist, _)| panelist);
        let (shown, payload) = match &prepared.request.change {
            Some(handed) => self.word_change(handed, assignment, prepared, notes, &mut redacted)?,
            None => {
                let files = materials(assignment, &prepared.submission);
                // A reviewer that cannot be given files gets everything in the question, or is not asked.
                let reads = panelist.as_ref().is_none_or(|panelist| panelist.reads_files());
                let mut shown = self.show(&files, &prepared.submission, reads).await?;
                redacted.add(super::redact::shown(&self.redaction, &mut shown));
                let mut context = self.show_context(assignment, &prepared.submission).await?;
                redacted.add(super::redact::shown(&self.redaction, &mut context));
                let payload = prompt::payload_in_context(&shown, notes, &context);
                (shown, payload)
            }
        };
        let criteria: Vec<&Criterion> = assignment.asks(rules).collect();
        let question = Question {
            criteria: criteria.iter().map(|c| (c.name.as_str(), c.question.as_str())).collect(),
            notes,
            guidance: rules.get(assignment.rule).and_then(|rule| rule.guidance.as_deref()),
            asks_cause: rules.get(assignment.rule).is_some_and(|rule| rule.asks_cause(&prepared.submission)),
        };
        let system_prompt = match panelist.is_some_and(|panelist| panelist.answers_in_text()) {
            true => prompt::question_prompt(&question),
            false => prompt::system_prompt(&question),
        };
        Ok(Worded { system_prompt, payload, shape: question.shape(), shown, redacted })
    }

    /// Files as a reviewer gets them, who can read them itself or not.
    pub(crate) async fn show(
        &self,
        files: &[Material],
        submission: &Submission,
        reads: bool,
    ) -> Result<Vec<ShownFile>, Changed> {
        let inline = !reads || self.bounds.show(files);
        let mut shown = vec![];
        for file in files {
            let body = if inline { workspace::read_body(&self.root, file).await? } else { Body::Listed };
            let output = submission.output_name(file).to_owned();
            shown.push(ShownFile { path: file.path.clone(), output, body });
        }
        Ok(shown)
    }

    /// What guidance names, as every reviewer gets it.
    async fn show_context(
        &self,
        assignment: &Assignment,
        submission: &Submission,
    ) -> Result<Vec<ShownFile>, Changed> {
        let mut shown = vec![];
        for (file, is_shown) in submission.guidance_shown(assignment.rule, &assignment.files) {
            let body = if is_shown { workspace::read_body(&self.root, file).await? } else { Body::Listed };
            shown.push(ShownFile { path: file.path.clone(), output: String::new(), body });
        }
        Ok(shown)
    }

    /// How many bytes a question has, with those of files to be read beside it; none where they changed.
    pub(super) async fn bytes(
        &self,
        rules: &[Rule],
        assignment: &Assignment,
        prepared: &Prepared,
        reviewer: &str,
    ) -> Option<u64> {
        let worded = self.word(rules, assignment, prepared, reviewer).await.ok()?;
        let files = materials(assignment, &prepared.submission);
        let beside = files.iter().zip(&worded.shown).filter(|(_, shown)| shown.body.is_beside());
        let beside: u64 = beside.map(|(file, _)| file.size_bytes).sum();
        // The schema of a reply names the criteria once more.
        let names: usize = assignment.asks(rules).map(|criterion| criterion.name.len()).sum();
        Some(beside + (worded.system_prompt.len() + worded.payload.len() + names) as u64 + SCHEMA_BYTES)
    }

    pub(super) fn timeout(&self, assignment: &Assignment, reviewer: &str) -> Duration {
        let fixed = self.panel.find(reviewer).and_then(|(panelist, _)| panelist.timeout);
        fixed.unwrap_or(Duration::from_secs(policy::timeout_seconds(assignment.files.len())))
    }
}

/// Has every finding in a file count, whatever caused it.
fn whole_files(rules: &mut [Rule]) {
    rules.iter_mut().for_each(|rule| *rule = rule.about_whole_files());
}

pub(super) fn materials(assignment: &Assignment, submission: &Submission) -> Vec<Material> {
    assignment.files.iter().filter_map(|file| submission.files.get(*file).cloned()).collect()
}

/// Rulings that passed before this time do not stand any more.
pub(super) fn rulings_since(policy: &Policy) -> i64 {
    now_ms() - i64::from(policy.reuse_days) * DAY_MS
}
