//! The quality gate as a library: a reviewer CLI judges a step's outputs by quality criteria, or instructions for the
//! author's own review are written.
//!
//! It is the [`Engine`] with a ledger in memory for each call, so no ruling is reused and no attempt counted. A pass needs a
//! passing ruling for every criterion: a reply that only claims to pass, or contradicts itself, is asked again once and is
//! then an error.
//!
//! A question has the contents of its files while they are at most `max_inline_files` and [`MAX_PROMPT_BYTES`] together;
//! otherwise it lists their paths, and the reviewer reads them. If a file changes meanwhile, there is no verdict. Secrets are
//! replaced in what a question shows and in what comes back.

mod error;
mod step;

use crate::config::DEFAULT_BYTES;
use crate::engine::{
    Bounds, Engine, EngineError, Judge, Panel, Panelist, Planner, Request, Surroundings, hide_secrets,
    section,
};
use crate::ledger::Ledger;
use crate::process::GuardProgram;
use crate::reviewer::{EndsWith, Library};
use crate::workspace;
use countersign_core::answer;
use countersign_core::answer::{Answer, NO_CRITERIA};
use countersign_core::cost::Budget;
use countersign_core::ids::Subject;
use countersign_core::judge::RoundEnd;
use countersign_core::plan::{self, PlanError, Target};
use countersign_core::policy::{self, Policy};
use countersign_core::prompt::{self, SelfReview, ShownFile};
use countersign_core::redact::Redaction;
use countersign_core::review::Round;
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub use crate::reviewer::{Asked, CliError, CliQuestion, ReviewerCli};
pub use countersign_core::answer::Reply as QualityGateResult;
pub use countersign_core::answer::Ruling as CriterionResult;
pub use countersign_core::policy::DEFAULT_MAX_INLINE_FILES;
pub use countersign_core::submission::OutputKind;
pub use error::{QualityGateError, Unanswered, Unfinished};
pub use step::{OutputValue, STEP, StepReview, StepWork};

/// Up to this much text goes into one question; it is the configuration's default for a prompt.
pub const MAX_PROMPT_BYTES: u64 = DEFAULT_BYTES as u64;

/// The schema every reply is asked for in.
pub static QUALITY_GATE_RESPONSE_SCHEMA: LazyLock<Value> = LazyLock::new(prompt::response_schema);

pub fn quality_gate_response_schema() -> &'static Value {
    &QUALITY_GATE_RESPONSE_SCHEMA
}

#[derive(Clone)]
pub struct QualityGate {
    cli: Option<Arc<dyn ReviewerCli>>,
    max_inline_files: usize,
}

impl fmt::Debug for QualityGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QualityGate")
            .field("has_cli", &self.cli.is_some())
            .field("max_inline_files", &self.max_inline_files)
            .finish()
    }
}

impl QualityGate {
    /// A gate that asks this CLI; without one it can only write instructions for a self-review. `max_inline_files` is
    /// [`DEFAULT_MAX_INLINE_FILES`] by default; 0 lists every file.
    pub fn new(cli: Option<Arc<dyn ReviewerCli>>, max_inline_files: Option<usize>) -> Self {
        Self { cli, max_inline_files: max_inline_files.unwrap_or(DEFAULT_MAX_INLINE_FILES) }
    }

    /// Up to this many files a question carries their contents.
    pub fn max_inline_files(&self) -> usize {
        self.max_inline_files
    }

    /// Judges all outputs together by criteria (names and questions). No criteria pass by themselves, CLI or not. There are
    /// at most two questions, the second with the defect of the first reply, each with [`Self::compute_timeout`].
    pub async fn evaluate(
        &self,
        quality_criteria: &[(String, String)],
        work: &StepWork,
        additional_review_guidance: Option<&str>,
    ) -> Result<QualityGateResult, QualityGateError> {
        if quality_criteria.is_empty() {
            return Ok(no_criteria());
        }
        let review = StepReview {
            run_each: STEP.to_owned(),
            quality_criteria: quality_criteria.to_vec(),
            additional_review_guidance: additional_review_guidance.map(str::to_owned),
        };
        let mut ended = self.judge(vec![review.rule()?], work).await?;
        // A review of the whole step has one target.
        let (_, _, result) = ended.pop().ok_or(QualityGateError::Plan(PlanError::NothingToJudge))?;
        result
    }

    /// Runs every evaluation of every review, all at once, and returns those that failed.
    ///
    /// A review of a declared output without files has nothing to evaluate. Nothing is asked if any review is wrong: a
    /// `run_each` that is neither `step` nor an output, two criteria of one name. If an evaluation comes to no verdict, the
    /// error [`QualityGateError::Unfinished`] carries all other verdicts. Dropping the future ends every evaluation.
    pub async fn evaluate_reviews(
        &self,
        reviews: &[StepReview],
        work: &StepWork,
    ) -> Result<Vec<ReviewResult>, QualityGateError> {
        let rules: Vec<Rule> = reviews.iter().map(StepReview::rule).collect::<Result<_, _>>()?;
        if rules.is_empty() {
            return Ok(vec![]);
        }
        failed_verdicts(self.judge(rules, work).await?)
    }

    /// What a reviewer is shown of all outputs together.
    pub async fn build_payload(&self, work: &StepWork) -> Result<String, QualityGateError> {
        let (_, shown) = self.show_all(work, &[]).await?;
        let notes = work.notes.as_deref().map(|notes| Redaction::standard().hide(notes));
        Ok(prompt::payload(&shown, notes.as_deref()))
    }

    /// The instructions of a self-review: a complete Markdown document, which the caller writes.
    pub async fn build_review_instructions_file(
        &self,
        reviews: &[StepReview],
        work: &StepWork,
    ) -> Result<String, QualityGateError> {
        let rules: Vec<Rule> = reviews.iter().map(StepReview::rule).collect::<Result<_, _>>()?;
        let (submission, files) = self.show_all(work, &rules).await?;
        let of_rule = |rule| Ok(section(rule, &rule.criteria, targets_of(rule, &submission)?));
        let reviews = rules.iter().map(of_rule).collect::<Result<_, QualityGateError>>()?;
        let review = SelfReview { files, reviews, notes: work.notes.clone(), submit: None };
        Ok(prompt::self_review_instructions(&review))
    }

    /// Reads structured output with the defaults of missing keys; criteria are compared by [`Self::evaluate`].
    pub fn parse_result(structured_output: &Value) -> Result<QualityGateResult, QualityGateError> {
        answer::interpret(structured_output).map_err(QualityGateError::Uninterpretable)
    }

    /// How long a question about this many files may take.
    pub fn compute_timeout(files: usize) -> Duration {
        Duration::from_secs(policy::timeout_seconds(files))
    }

    /// Judges a step by rules: what each target of each rule came to, in order.
    async fn judge(&self, rules: Vec<Rule>, work: &StepWork) -> Result<Vec<Evaluated>, QualityGateError> {
        let asked: Vec<Rule> = rules.iter().filter(|rule| !rule.criteria.is_empty()).cloned().collect();
        // A missing reviewer is reported before any file is read.
        if !asked.is_empty() && self.cli.is_none() {
            return Err(QualityGateError::NoCli);
        }
        let outputs = work.named_outputs()?;
        let files = work.project_paths(&outputs).await?;
        let (planner, _ends) = self.planner(work);
        let request = Request {
            subject: Subject::new("library", [STEP]),
            rules: asked,
            policy: Policy::default(),
            outputs: outputs.clone(),
            files: files.clone(),
            guidance_files: vec![],
            change: None,
            notes: work.notes.clone(),
            fresh: false,
        };
        let prepared = match planner.prepare(request).await {
            Ok(prepared) => Some(prepared),
            Err(EngineError::Plan(PlanError::NothingToJudge)) => None,
            Err(EngineError::Plan(error)) => return Err(QualityGateError::unplannable(error)),
            Err(error) => return Err(error.into()),
        };
        let gathered = match &prepared {
            Some(prepared) => prepared.submission.clone(),
            None => Submission::new(&rules, outputs, workspace::gather(&work.root, files).await?, None),
        };
        let mut ended = vec![];
        for rule in rules.iter().filter(|rule| rule.criteria.is_empty()) {
            let passed = |target| (rule.name.clone(), target, Ok(no_criteria()));
            ended.extend(targets_of(rule, &gathered)?.into_iter().map(passed));
        }
        if let Some(prepared) = prepared {
            // Nothing here starts a program, so there is none to guard.
            let engine = Engine::new(planner, Ledger::in_memory(), GuardProgram(PathBuf::new()))?;
            let ticket = engine.submit(prepared).await?;
            let stored = engine.wait(&ticket, &CancellationToken::new()).await?;
            let none = || QualityGateError::NoVerdict("nothing was judged".to_owned());
            ended.extend(evaluated(&stored.review.rules, stored.review.round().ok_or_else(none)?));
        }
        ended.sort_by_key(|(name, ..)| rules.iter().position(|rule| rule.name == *name));
        Ok(ended)
    }

    /// Looks at every file of a step, and shows all of them.
    async fn show_all(
        &self,
        work: &StepWork,
        rules: &[Rule],
    ) -> Result<(Submission, Vec<ShownFile>), QualityGateError> {
        let outputs = work.named_outputs()?;
        let files = workspace::gather(&work.root, work.project_paths(&outputs).await?).await?;
        let submission = Submission::new(rules, outputs, files, None);
        let mut shown = self.planner(work).0.show(&submission.files, &submission, true).await?;
        hide_secrets(&Redaction::standard(), &mut shown);
        Ok((submission, shown))
    }

    /// Plans as every other way in, with the CLI as the one reviewer, who is asked everything at once.
    fn planner(&self, work: &StepWork) -> (Planner, Option<EndsWith>) {
        let library = self.cli.clone().map(Library::new);
        let ends = library.as_ref().map(Library::ends_with);
        let panelist = library.map(|library| Panelist {
            name: "cli".to_owned(),
            judge: Judge::Library(library),
            sees_project: true,
            timeout: None,
            concurrency: usize::MAX,
            window_tokens: None,
            price: None,
            question_microusd: None,
            vendor: None,
        });
        let bounds = Bounds {
            max_inline_files: Some(self.max_inline_files),
            prompt_bytes: MAX_PROMPT_BYTES,
            reply_bytes: DEFAULT_BYTES as usize,
        };
        let panel = Panel::new(panelist.into_iter().collect(), work.root.path(), 1, &Surroundings::default());
        let (root, redaction, day_budget) = (work.root.clone(), Redaction::standard(), Budget::default());
        (
            Planner {
                root,
                panel,
                bounds,
                redaction,
                day_budget,
                keep_contents_days: 0,
                rules_from: None,
                baseline: Arc::default(),
            },
            ends,
        )
    }
}

/// The rule and the target of an evaluation, and what it came to.
type Evaluated = (String, Target, Result<QualityGateResult, QualityGateError>);

fn evaluated(rules: &[Rule], round: &Round) -> Vec<Evaluated> {
    // Answers are about the files as they were looked at, and count only while those are what they were.
    let holds = matches!(round.end, Some(RoundEnd::Pass | RoundEnd::NeedsWork | RoundEnd::NoVerdict(_)));
    let of_assignment = |assignment: &plan::Assignment| {
        let rule = rules.get(assignment.rule).map(|rule| rule.name.clone()).unwrap_or_default();
        let result = match round.answer_to(assignment) {
            Some((_, given)) if holds => Ok(verdict_of(given.answer.clone())),
            _ => Err(QualityGateError::of(round.failure_of(assignment), assignment.files.len())),
        };
        (rule, assignment.target.clone(), result)
    };
    round.assignments.iter().map(of_assignment).collect()
}

fn targets_of(rule: &Rule, submission: &Submission) -> Result<Vec<Target>, QualityGateError> {
    let targets = plan::targets(rule, submission, None).map_err(QualityGateError::unplannable)?;
    Ok(targets.into_iter().map(|(target, _)| target).collect())
}

/// The failed verdicts if there is a verdict for everything, else all there is.
fn failed_verdicts(ended: Vec<Evaluated>) -> Result<Vec<ReviewResult>, QualityGateError> {
    let (mut verdicts, mut unanswered) = (vec![], vec![]);
    for (review_run_each, target, ended) in ended {
        let target_file = match target {
            Target::File(path) => Some(path),
            Target::All | Target::Matching | Target::Output(_) => None,
        };
        match ended {
            Ok(result) => verdicts.push(ReviewResult::new(review_run_each, target_file, result)),
            Err(error) => unanswered.push(Unanswered { review_run_each, target_file, error }),
        }
    }
    if !unanswered.is_empty() {
        return Err(QualityGateError::Unfinished(Unfinished { verdicts, unanswered }));
    }
    verdicts.retain(|verdict| !verdict.passed);
    Ok(verdicts)
}

/// The verdict of a review without criteria.
fn no_criteria() -> QualityGateResult {
    QualityGateResult { passed: true, feedback: NO_CRITERIA.to_owned(), criteria_results: vec![] }
}

/// The verdict of a valid answer: its rulings decide, not its overall result.
fn verdict_of(answer: Answer) -> QualityGateResult {
    QualityGateResult { passed: !answer.fails(), feedback: answer.feedback, criteria_results: answer.rulings }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewResult {
    /// The review's `run_each`.
    pub review_run_each: String,
    /// The file, where the files of a `files` output are reviewed one by one.
    pub target_file: Option<String>,
    pub passed: bool,
    /// What there is to say about the whole.
    pub feedback: String,
    /// The rulings by criterion; empty where a failing reply gave none.
    pub criteria_results: Vec<CriterionResult>,
}

impl ReviewResult {
    fn new(review_run_each: String, target_file: Option<String>, result: QualityGateResult) -> Self {
        let QualityGateResult { passed, feedback, criteria_results } = result;
        Self { review_run_each, target_file, passed, feedback, criteria_results }
    }
}
