//! The answers of the jobs door. Every key is there, as null if absent. The doc comments are in the tools' schemas.

use super::job::{RunEach, Step, StepReview};
use super::session::{Frame, Happened, Session};
use countersign_core::answer::Ruling;
use countersign_core::plan::{Assignment, Target};
use countersign_core::review::{Review, Round};
use countersign_core::submission::OutputKind;
use countersign_core::text::counted;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Values by name, written in their own order: JSON maps of this program are sorted otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InOrder<V>(pub Vec<(String, V)>);

impl<V: Serialize> Serialize for InOrder<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// How a path of the project is shown to an agent: as it would hand it in.
pub type Shown<'a> = &'a dyn Fn(&str) -> String;

/// A path, or several.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Paths {
    One(String),
    Several(Vec<String>),
}

/// What `get_workflows` answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Workflows {
    /// The jobs that can be read.
    pub jobs: Vec<JobInfo>,
    /// The jobs that cannot be read.
    pub errors: Vec<JobError>,
    /// Where jobs were looked for, if there are none.
    pub note: Option<String>,
}

/// A job, in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobInfo {
    /// Its name.
    pub name: String,
    /// A summary in one line.
    pub summary: String,
    /// Its workflows.
    pub workflows: Vec<WorkflowInfo>,
}

/// A workflow, in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkflowInfo {
    /// Its name.
    pub name: String,
    /// A summary in one line.
    pub summary: String,
    /// How to start it.
    pub how_to_invoke: String,
}

/// A job that cannot be read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobError {
    /// The name of its folder.
    pub job_name: String,
    /// The folder.
    pub job_dir: String,
    /// The mistakes, with their places.
    pub error: String,
}

/// What `start_workflow` answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Started {
    /// The first step.
    pub begin_step: BeginStep,
    /// The active workflows of this agent.
    pub stack: Vec<StackEntry>,
    /// What to do next.
    pub important_note: String,
}

/// A step to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BeginStep {
    /// The session, for later calls.
    pub session_id: String,
    /// The step.
    pub step_id: String,
    /// Where the job's own files are.
    pub job_dir: String,
    /// The outputs to hand in.
    pub step_expected_outputs: Vec<ExpectedOutput>,
    /// The reviews of the step.
    pub step_reviews: Vec<ReviewInfo>,
    /// What to do.
    pub step_instructions: String,
    /// Information for all steps of the job.
    pub common_job_info: String,
    /// Other steps that can be done at the same time; hand in each with its `step_id`.
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    pub concurrent_steps: Option<Vec<BeginStep>>,
}

/// An expected output of a step.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedOutput {
    /// Its name.
    pub name: String,
    /// `file` or `files`.
    pub r#type: &'static str,
    /// What it is.
    pub description: String,
    /// Whether the step cannot finish without it.
    pub required: bool,
    /// How to pass it to finished_step.
    pub syntax_for_finished_step_tool: &'static str,
}

/// A review of a step.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReviewInfo {
    /// `step`, or the output that it looks at.
    pub run_each: String,
    /// The criteria: names and questions.
    #[schemars(with = "Map<String, Value>")]
    pub quality_criteria: InOrder<String>,
    /// More information for reviewers.
    pub additional_review_guidance: Option<String>,
}

/// One workflow of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StackEntry {
    /// `job/workflow`.
    pub workflow: String,
    /// The step it is at.
    pub step: String,
}

/// What `finished_step` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Finished {
    /// `needs_work`, `next_step` or `workflow_complete`.
    pub status: &'static str,
    /// What happened, and what to do next.
    pub feedback: Option<String>,
    /// The reviews that failed.
    pub failed_reviews: Option<Vec<FailedReview>>,
    /// The next step.
    pub begin_step: Option<BeginStep>,
    /// A summary of the workflow, when it is complete.
    pub summary: Option<String>,
    /// All outputs of the workflow by name, when it is complete: a path, or a list of paths.
    #[schemars(with = "Option<BTreeMap<String, Paths>>")]
    pub all_outputs: Option<InOrder<Paths>>,
    /// The active workflows of this agent.
    pub stack: Vec<StackEntry>,
}

/// A review that failed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailedReview {
    /// What it looked at: `step`, or an output.
    pub review_run_each: String,
    /// The file, if the review was about one file.
    pub target_file: Option<String>,
    /// Always false.
    pub passed: bool,
    /// The overall feedback of the reviewer.
    pub feedback: String,
    /// The result for each criterion.
    pub criteria_results: Vec<CriterionResult>,
}

/// The result for a criterion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CriterionResult {
    /// Its name.
    pub criterion: String,
    /// Whether it is met.
    pub passed: bool,
    /// The feedback on it.
    pub feedback: Option<String>,
}

/// What `abort_workflow` answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Aborted {
    /// The aborted workflow.
    pub aborted_workflow: String,
    /// The step it was at.
    pub aborted_step: String,
    /// The reason.
    pub explanation: String,
    /// The workflows that are still active.
    pub stack: Vec<StackEntry>,
    /// The workflow that continues.
    pub resumed_workflow: Option<String>,
    /// The step it is at.
    pub resumed_step: Option<String>,
}

/// What `go_to_step` answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WentTo {
    /// The step.
    pub begin_step: BeginStep,
    /// Steps that must be done again.
    pub invalidated_steps: Vec<String>,
    /// The active workflows of this agent.
    pub stack: Vec<StackEntry>,
}

/// The active workflows of an agent.
pub fn stack(session: &Session, agent: &str) -> Vec<StackEntry> {
    let entry = |frame: &Frame| StackEntry {
        workflow: frame.title(),
        step: frame.open_steps().first().map(|step| step.id.clone()).unwrap_or_default(),
    };
    session.stack(agent).map(entry).collect()
}

/// The open step of a workflow, with the concurrent ones. `first` comes first if it is open.
pub fn begin(session_id: &str, frame: &Frame, first: Option<&str>) -> Option<BeginStep> {
    let mut open = frame.open_steps();
    if let Some(at) = first.and_then(|first| open.iter().position(|step| step.id == first)) {
        open[..=at].rotate_right(1);
    }
    let mut steps = open.into_iter().map(|step| begin_one(session_id, frame, step));
    let mut begin = steps.next()?;
    begin.concurrent_steps = Some(steps.collect()).filter(|others: &Vec<_>| !others.is_empty());
    Some(begin)
}

fn begin_one(session_id: &str, frame: &Frame, step: &Step) -> BeginStep {
    let expected = step.outputs.iter().map(|output| {
        let (r#type, syntax_for_finished_step_tool) = match output.kind {
            OutputKind::File => ("file", "filepath"),
            OutputKind::Files => ("files", "array of filepaths for all individual files"),
        };
        let (name, description) = (output.name.clone(), output.description.clone());
        ExpectedOutput { name, r#type, description, required: output.required, syntax_for_finished_step_tool }
    });
    BeginStep {
        session_id: session_id.to_owned(),
        step_id: step.id.clone(),
        job_dir: frame.job.dir.display().to_string(),
        step_expected_outputs: expected.collect(),
        step_reviews: step.reviews.iter().map(review_info).collect(),
        step_instructions: step.instructions.clone(),
        common_job_info: frame.job.common_info.clone(),
        concurrent_steps: None,
    }
}

fn review_info(review: &StepReview) -> ReviewInfo {
    ReviewInfo {
        run_each: review.run_each.text().to_owned(),
        quality_criteria: InOrder(review.criteria.clone()),
        additional_review_guidance: review.guidance.clone(),
    }
}

/// The answer to a step that passed: the next step, or the end.
pub fn after(
    session_id: &str,
    session: &Session,
    frame: &Frame,
    feedback: Option<String>,
    shown: Shown<'_>,
) -> Finished {
    let stack = stack(session, &frame.agent);
    if let Some(begin_step) = begin(session_id, frame, None).filter(|_| frame.is_active()) {
        let begin_step = Some(begin_step);
        return Finished { status: "next_step", feedback, begin_step, stack, ..Finished::default() };
    }
    let resumed =
        stack.last().map(|parent| format!(" {} continues at step {}.", parent.workflow, parent.step));
    let not_judged = match frame.not_judged().len() {
        0 => String::new(),
        count => format!(" {} not judged (--no-quality-gate).", counted(count, "step was", "steps were")),
    };
    let summary = format!(
        "{}: finished, with {}.{not_judged} Goal: {}{}",
        frame.title(),
        counted(frame.done.len(), "step", "steps"),
        frame.goal,
        resumed.unwrap_or_default()
    );
    Finished {
        status: "workflow_complete",
        feedback,
        summary: Some(summary),
        all_outputs: Some(all_outputs(frame, shown)),
        stack,
        ..Finished::default()
    }
}

/// All outputs in the order of the workflow and its steps. Of two with one name, that of the later step counts.
fn all_outputs(frame: &Frame, shown: Shown<'_>) -> InOrder<Paths> {
    let mut all: Vec<(String, Paths)> = vec![];
    for step in frame.workflow.entries.iter().flatten().filter_map(|id| frame.job.step(id)) {
        let Some(done) = frame.done.get(&step.id) else { continue };
        for output in &step.outputs {
            let Some(files) = done.outputs.get(&output.name) else { continue };
            let paths = match (output.kind, files.as_slice()) {
                (OutputKind::File, [only]) => Paths::One(shown(only)),
                (_, several) => Paths::Several(several.iter().map(|path| shown(path)).collect()),
            };
            all.retain(|(name, _)| *name != output.name);
            all.push((output.name.clone(), paths));
        }
    }
    InOrder(all)
}

pub fn failed_reviews(review: &Review, round: &Round, step: &Step, shown: Shown<'_>) -> Vec<FailedReview> {
    let failures = round.judgement.blocking.iter().chain(&round.judgement.waived);
    let indices: BTreeSet<usize> = failures.map(|place| place.assignment).collect();
    let result = |ruling: &Ruling| CriterionResult {
        criterion: ruling.criterion.clone(),
        passed: ruling.passed,
        feedback: ruling.words(),
    };
    let failed = |index: &usize| {
        let assignment = round.assignments.get(*index)?;
        let (_, given) = round.answer_to(assignment)?;
        let asked = step.reviews.get(assignment.rule);
        Some(FailedReview {
            review_run_each: asked.map_or("step", |one| one.run_each.text()).to_owned(),
            target_file: target_file(review, assignment).map(|path| shown(&path)),
            passed: false,
            feedback: given.answer.feedback.clone(),
            criteria_results: given.answer.rulings.iter().map(result).collect(),
        })
    };
    indices.iter().filter_map(failed).collect()
}

/// The name of a part without a verdict: its file or output.
pub fn unit(review: &Review, assignment: &Assignment, step: &Step) -> String {
    let which = step.reviews.get(assignment.rule).map(|one| &one.run_each);
    match (target_file(review, assignment), which) {
        (Some(file), _) => file,
        (None, Some(RunEach::Output(name))) => format!("output '{name}'"),
        (None, _) => "all outputs together".to_owned(),
    }
}

fn target_file(review: &Review, assignment: &Assignment) -> Option<String> {
    let files = review.round().map(|round| &round.submission.files)?;
    match (&assignment.target, assignment.files.as_slice()) {
        (Target::All, _) => None,
        (Target::File(path), _) => Some(path.clone()),
        (_, [only]) => files.get(*only).map(|file| file.path.clone()),
        _ => None,
    }
}

pub fn aborted(before: &Session, session: &Session, event: &Happened) -> Option<Aborted> {
    let Happened::WorkflowAborted { frame, explanation } = event else { return None };
    let frame = before.frame(*frame)?;
    let stack = stack(session, &frame.agent);
    let resumed = stack.last().cloned();
    Some(Aborted {
        aborted_workflow: frame.title(),
        aborted_step: frame.open_steps().first().map(|step| step.id.clone()).unwrap_or_default(),
        explanation: explanation.clone(),
        resumed_workflow: resumed.as_ref().map(|entry| entry.workflow.clone()),
        resumed_step: resumed.map(|entry| entry.step),
        stack,
    })
}
