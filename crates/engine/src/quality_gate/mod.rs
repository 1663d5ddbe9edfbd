//! The quality gate as a library: a step's outputs held against quality criteria by a reviewer CLI, or written
//! down as instructions for the author's own review.
//!
//! It keeps nothing: no ledger, no reuse of rulings, no count of attempts. What it decides is decided by the
//! same functions of `countersign_core` that the engine uses: prompts, schema, timeouts, targets, and what a
//! reply is worth. Deliberately strict beyond reading a reply: a pass needs a passing ruling for every
//! criterion, so a reply that only claims to pass, or contradicts itself, is asked again once and is then an
//! error.
//!
//! Files go into a question with their contents while they are at most `max_inline_files` and their text is
//! at most [`MAX_PROMPT_BYTES`] together; otherwise all are listed by path and the reviewer reads them itself.
//! What is sent is what was looked at; a file that changes after that is the caller's to notice, as the engine
//! does.

mod cli;
mod error;
mod evaluation;
mod result;
mod shown;
mod step;
mod together;

pub use cli::{Asked, CliError, CliQuestion, ReviewerCli};
pub use countersign_core::answer::Ruling as CriterionResult;
pub use countersign_core::policy::DEFAULT_MAX_INLINE_FILES;
pub use countersign_core::submission::OutputKind;
pub use error::{QualityGateError, Unanswered, Unfinished};
pub use result::{QualityGateResult, ReviewResult};
pub use step::{OutputValue, STEP, StepReview, StepWork};

use countersign_core::answer;
use countersign_core::plan::{self, Target};
use countersign_core::policy;
use countersign_core::prompt::{self, ReviewSection, SelfReview};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use evaluation::Evaluation;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Up to this much text goes into one question; it is the configuration's default for a prompt.
pub const MAX_PROMPT_BYTES: u64 = crate::config::DEFAULT_BYTES as u64;

/// The schema every reply is asked for in.
pub static QUALITY_GATE_RESPONSE_SCHEMA: LazyLock<Value> = LazyLock::new(prompt::response_schema);

/// The schema every reply is asked for in.
pub fn quality_gate_response_schema() -> &'static Value {
    &QUALITY_GATE_RESPONSE_SCHEMA
}

/// The gate.
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
    /// A gate that asks this CLI; without one it can only write instructions for a self-review. Without
    /// `max_inline_files` it is [`DEFAULT_MAX_INLINE_FILES`], with a CLI and without; 0 lists every file.
    pub fn new(cli: Option<Arc<dyn ReviewerCli>>, max_inline_files: Option<usize>) -> Self {
        Self { cli, max_inline_files: max_inline_files.unwrap_or(DEFAULT_MAX_INLINE_FILES) }
    }

    /// Up to this many files a question carries their contents.
    pub fn max_inline_files(&self) -> usize {
        self.max_inline_files
    }

    /// Holds all outputs together against criteria: names and questions, in order.
    ///
    /// No criteria pass by themselves, CLI or not. Each question has the time of [`Self::compute_timeout`];
    /// there are at most two, the second with the defect of the first reply named.
    pub async fn evaluate(
        &self,
        quality_criteria: &[(String, String)],
        work: &StepWork,
        additional_review_guidance: Option<&str>,
    ) -> Result<QualityGateResult, QualityGateError> {
        if quality_criteria.is_empty() {
            return Ok(QualityGateResult::no_criteria());
        }
        let review = StepReview {
            run_each: STEP.to_owned(),
            quality_criteria: quality_criteria.to_vec(),
            additional_review_guidance: additional_review_guidance.map(str::to_owned),
        };
        // Nobody to ask is said before any file is looked at.
        self.cli()?;
        let rules = [review.rule()?];
        let submission = shown::lay_out(work, &rules).await?;
        let files = (0..submission.files.len()).collect();
        let evaluation = Evaluation { rule: &rules[0], files, submission: &submission, work };
        self.run(&evaluation).await
    }

    /// Runs every evaluation of every review, all at once, and returns those that failed.
    ///
    /// A review of a declared output that was handed in without files has nothing to evaluate; whether an
    /// output may be absent is for the caller to say before. Nothing is asked if any review is wrong in itself:
    /// a `run_each` that is neither `step` nor an output, two criteria of one name. If some evaluation comes to
    /// no verdict the answer is [`QualityGateError::Unfinished`], which carries every verdict there is.
    /// Returning, or dropping the future, ends every evaluation: none runs on.
    pub async fn evaluate_reviews(
        &self,
        reviews: &[StepReview],
        work: &StepWork,
    ) -> Result<Vec<ReviewResult>, QualityGateError> {
        let rules: Vec<Rule> = reviews.iter().map(StepReview::rule).collect::<Result<_, _>>()?;
        if rules.is_empty() {
            return Ok(vec![]);
        }
        let submission = shown::lay_out(work, &rules).await?;
        let mut targets = vec![];
        for rule in &rules {
            targets.extend(targets_of(rule, &submission)?.into_iter().map(|(target, files)| {
                let target_file = target_file(target);
                (target_file, Evaluation { rule, files, submission: &submission, work })
            }));
        }
        if targets.iter().any(|(_, evaluation)| !evaluation.rule.criteria.is_empty()) {
            self.cli()?;
        }
        let running = targets.iter().map(|(_, evaluation)| self.run(evaluation)).collect();
        let ended = together::all(running).await;
        let about = targets.iter().map(|(file, evaluation)| (evaluation.rule.name.clone(), file.clone()));
        settle(about.zip(ended))
    }

    /// What a reviewer is shown of all outputs together.
    pub async fn build_payload(&self, work: &StepWork) -> Result<String, QualityGateError> {
        let submission = shown::lay_out(work, &[]).await?;
        let files: Vec<usize> = (0..submission.files.len()).collect();
        let shown = shown::show(work, &submission, &files, self.max_inline_files).await?;
        Ok(prompt::payload(&shown, work.notes.as_deref()))
    }

    /// The instructions of a self-review: a complete Markdown document. Where it is written is the caller's
    /// business.
    pub async fn build_review_instructions_file(
        &self,
        reviews: &[StepReview],
        work: &StepWork,
    ) -> Result<String, QualityGateError> {
        let rules: Vec<Rule> = reviews.iter().map(StepReview::rule).collect::<Result<_, _>>()?;
        let submission = shown::lay_out(work, &rules).await?;
        let sections = rules.iter().map(|rule| section(rule, &submission)).collect::<Result<_, _>>()?;
        let all: Vec<usize> = (0..submission.files.len()).collect();
        let files = shown::show(work, &submission, &all, self.max_inline_files).await?;
        let review = SelfReview { files, reviews: sections, notes: work.notes.clone(), handing_in: None };
        Ok(prompt::self_review_instructions(&review))
    }

    /// Reads structured output and no more: missing keys have their defaults, and nothing is held against any
    /// criteria. [`Self::evaluate`] does that.
    pub fn parse_result(structured_output: &Value) -> Result<QualityGateResult, QualityGateError> {
        answer::interpret(structured_output).map(Into::into).map_err(QualityGateError::Uninterpretable)
    }

    /// How long a question about this many files may take.
    pub fn compute_timeout(files: usize) -> Duration {
        Duration::from_secs(policy::timeout_seconds(files))
    }

    fn cli(&self) -> Result<&dyn ReviewerCli, QualityGateError> {
        self.cli.as_deref().ok_or(QualityGateError::NoCli)
    }

    async fn run(&self, evaluation: &Evaluation<'_>) -> Result<QualityGateResult, QualityGateError> {
        if evaluation.rule.criteria.is_empty() {
            return Ok(QualityGateResult::no_criteria());
        }
        evaluation.run(self.cli()?, self.max_inline_files).await
    }
}

fn targets_of(rule: &Rule, submission: &Submission) -> Result<Vec<(Target, Vec<usize>)>, QualityGateError> {
    plan::targets(rule, submission, None).map_err(QualityGateError::unplannable)
}

fn target_file(target: Target) -> Option<String> {
    match target {
        Target::File(path) => Some(path),
        Target::All | Target::Matching | Target::Output(_) => None,
    }
}

fn section(rule: &Rule, submission: &Submission) -> Result<ReviewSection, QualityGateError> {
    let targets = targets_of(rule, submission)?;
    Ok(ReviewSection {
        scope: rule.scope_words(),
        criteria: rule.criteria.iter().map(|c| (c.name.clone(), c.question.clone())).collect(),
        guidance: rule.guidance.clone(),
        each_file: targets.into_iter().filter_map(|(target, _)| target_file(target)).collect(),
    })
}

type Ended = ((String, Option<String>), Result<QualityGateResult, QualityGateError>);

/// The failed verdicts if there is a verdict for everything, else all there is.
fn settle(ended: impl Iterator<Item = Ended>) -> Result<Vec<ReviewResult>, QualityGateError> {
    let (mut verdicts, mut unanswered) = (vec![], vec![]);
    for ((review_run_each, target_file), ended) in ended {
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
