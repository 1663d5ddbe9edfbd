//! One evaluation: the question, its answer, and once more where the answer cannot be used.

use super::cli::{CliQuestion, ReviewerCli};
use super::{
    QUALITY_GATE_RESPONSE_SCHEMA, QualityGate, QualityGateError, QualityGateResult, StepWork, shown,
};
use countersign_core::answer::{self, Defect};
use countersign_core::criterion::Criterion;
use countersign_core::prompt::{self, Question};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use serde_json::Value;

/// One review on one target.
pub(super) struct Evaluation<'a> {
    pub rule: &'a Rule,
    pub files: Vec<usize>,
    pub submission: &'a Submission,
    pub work: &'a StepWork,
}

impl Evaluation<'_> {
    pub async fn run(
        &self,
        cli: &dyn ReviewerCli,
        max_inline_files: usize,
    ) -> Result<QualityGateResult, QualityGateError> {
        let shown = shown::show(self.work, self.submission, &self.files, max_inline_files).await?;
        let notes = self.work.notes.as_deref();
        let payload = prompt::payload(&shown, notes);
        let system_prompt = prompt::system_prompt(&Question {
            criteria: self.rule.criteria.iter().map(|c| (c.name.as_str(), c.question.as_str())).collect(),
            notes,
            guidance: self.rule.guidance.as_deref(),
        });
        let first = self.ask(cli, &system_prompt, &payload).await?;
        let defect = match self.hold(&first) {
            Ok(result) => return Ok(result),
            Err(defect) => defect,
        };
        let again = prompt::repair_prompt(&system_prompt, &defect.to_string());
        let second = self.ask(cli, &again, &payload).await?;
        self.hold(&second).map_err(QualityGateError::Unusable)
    }

    /// The CLI is told its time and may keep it; the gate does not depend on that.
    async fn ask(
        &self,
        cli: &dyn ReviewerCli,
        system_prompt: &str,
        payload: &str,
    ) -> Result<Value, QualityGateError> {
        let timeout = QualityGate::compute_timeout(self.files.len());
        let question = CliQuestion { system_prompt, payload, schema: &QUALITY_GATE_RESPONSE_SCHEMA, timeout };
        match tokio::time::timeout(timeout, cli.ask(question)).await {
            Ok(answered) => Ok(answered?),
            Err(_) => Err(QualityGateError::TimedOut(timeout)),
        }
    }

    /// A reply is evidence; what it is worth is the core's law.
    fn hold(&self, structured_output: &Value) -> Result<QualityGateResult, Defect> {
        let criteria: Vec<&Criterion> = self.rule.criteria.iter().collect();
        let reply = answer::interpret(structured_output)?;
        answer::rule(reply, &criteria, false).map(Into::into)
    }
}
