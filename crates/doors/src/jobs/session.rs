//! A session: the workflows of each agent, and which of their steps are done. Pure: events in, state and decisions out.

use super::job::{Job, Step, Workflow};
use countersign_core::digest::{Digest, Parts};
use countersign_core::ids::ReviewId;
use countersign_core::submission::Material;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Files by the name of the output they belong to.
pub type Outputs = BTreeMap<String, Vec<String>>;

/// An event of a session, as the ledger keeps it. Fields are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Happened {
    WorkflowStarted {
        agent: String,
        goal: String,
        /// As it was then: later edits of its files do not change a running workflow.
        job: Box<Job>,
        workflow: String,
    },
    StepFinished {
        frame: u32,
        step: String,
        outputs: Outputs,
        arguments: Digest,
        /// What the files held; none in old ledgers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contents: Option<Digest>,
        gate: Gate,
    },
    WentBack {
        frame: u32,
        step: String,
        invalidated: Vec<String>,
    },
    WorkflowAborted {
        frame: u32,
        explanation: String,
    },
    AnswerDelivered {
        frame: u32,
        step: String,
    },
}

impl Happened {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::WorkflowStarted { .. } => "workflow_started",
            Self::StepFinished { .. } => "step_finished",
            Self::WentBack { .. } => "went_back",
            Self::WorkflowAborted { .. } => "workflow_aborted",
            Self::AnswerDelivered { .. } => "answer_delivered",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Review {
        review: ReviewId,
        not_applicable: Vec<String>,
    },
    NoReviews,
    /// No output that a review looks at was handed in.
    NotApplicable(Vec<String>),
    Off,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    pub frames: Vec<Frame>,
    pub n: u64,
    /// The step each agent finished last.
    last: BTreeMap<String, (u32, String)>,
}

/// One workflow of a session: one entry of an agent's stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// From 1.
    pub number: u32,
    pub agent: String,
    pub goal: String,
    pub job: Job,
    pub workflow: Workflow,
    pub done: BTreeMap<String, Done>,
    pub aborted: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub outputs: Outputs,
    /// The digest of the call that handed it in.
    pub arguments: Digest,
    pub contents: Option<Digest>,
    pub gate: Gate,
    pub delivered: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotTaken(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub frame: u32,
    pub step: String,
    /// Whether the step is done, and the answer is to be repeated.
    pub again: bool,
}

/// The digest of what a call hands in, by which a repeated call is recognised.
pub fn arguments(outputs: &Outputs, notes: Option<&str>) -> Digest {
    let mut parts = Parts::new("finished_step/1");
    parts.count(outputs.len());
    for (name, files) in outputs {
        parts.text(name).count(files.len());
        for file in files {
            parts.text(file);
        }
    }
    parts.maybe(notes).digest()
}

/// The digest of what files hold, by their paths.
pub fn contents<'a>(files: impl Iterator<Item = &'a Material>) -> Digest {
    let mut files: Vec<_> = files.map(|file| (file.path.as_str(), file.digest.as_str())).collect();
    files.sort_unstable();
    files.dedup();
    let mut parts = Parts::new("finished_step/contents/1");
    parts.count(files.len());
    for (path, digest) in files {
        parts.text(path).text(digest);
    }
    parts.digest()
}

impl Session {
    pub fn apply(&mut self, event: &Happened) {
        self.n += 1;
        match event {
            Happened::WorkflowStarted { agent, goal, job, workflow } => {
                let named = job.workflows.iter().find(|known| known.name == *workflow).cloned();
                self.frames.push(Frame {
                    number: u32::try_from(self.frames.len()).unwrap_or(u32::MAX).saturating_add(1),
                    agent: agent.clone(),
                    goal: goal.clone(),
                    job: (**job).clone(),
                    workflow: named.unwrap_or_default(),
                    done: BTreeMap::new(),
                    aborted: None,
                });
            }
            Happened::StepFinished { frame, step, outputs, arguments, contents, gate } => {
                let Some(found) = self.frame_mut(*frame) else { return };
                let agent = found.agent.clone();
                let (outputs, arguments) = (outputs.clone(), arguments.clone());
                let (contents, gate) = (contents.clone(), gate.clone());
                let done = Done { outputs, arguments, contents, gate, delivered: false };
                found.done.insert(step.clone(), done);
                self.last.insert(agent, (*frame, step.clone()));
            }
            Happened::WentBack { frame, invalidated, .. } => {
                let Some(found) = self.frame_mut(*frame) else { return };
                found.done.retain(|step, _| !invalidated.contains(step));
                self.forget_last(*frame);
            }
            Happened::WorkflowAborted { frame, explanation } => {
                let Some(found) = self.frame_mut(*frame) else { return };
                found.aborted = Some(explanation.clone());
                self.forget_last(*frame);
            }
            Happened::AnswerDelivered { frame, step } => {
                let done = self.frame_mut(*frame).and_then(|frame| frame.done.get_mut(step));
                if let Some(done) = done {
                    done.delivered = true;
                }
            }
        }
    }

    pub fn frame(&self, number: u32) -> Option<&Frame> {
        self.frames.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    fn forget_last(&mut self, frame: u32) {
        let agent = self.frame(frame).map(|frame| frame.agent.clone());
        agent.map(|agent| self.last.remove(&agent));
    }

    fn frame_mut(&mut self, number: u32) -> Option<&mut Frame> {
        self.frames.get_mut(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The active workflows of an agent, the innermost last.
    pub fn stack(&self, agent: &str) -> impl Iterator<Item = &Frame> {
        let agent = agent.to_owned();
        self.frames.iter().filter(move |frame| frame.agent == agent && frame.is_active())
    }

    pub fn current(&self, agent: &str) -> Result<&Frame, NotTaken> {
        let none = || NotTaken("no workflow is under way here: call start_workflow first".to_owned());
        self.stack(agent).last().ok_or_else(none)
    }

    pub fn is_at_work(&self, agent: &str) -> bool {
        self.current(agent).is_ok()
    }

    /// Whether a call of an agent may be one that was answered before: its files decide.
    pub fn may_repeat(&self, agent: &str, arguments: &Digest) -> bool {
        self.same(agent, arguments).is_some()
    }

    /// Whether the answer to this call of an agent was not delivered.
    pub fn has_lost(&self, agent: &str, arguments: &Digest) -> bool {
        let same = self.same(agent, arguments);
        same.and_then(|same| self.done(&same)).is_some_and(|done| !done.delivered)
    }

    pub fn is_active(&self) -> bool {
        self.frames.iter().any(Frame::is_active)
    }

    /// The step that a call is about. It may name the step; the outputs are given, and what their files hold now.
    pub fn about(
        &self,
        agent: &str,
        named: Option<&str>,
        outputs: &Outputs,
        (arguments, now): (&Digest, Option<&Digest>),
    ) -> Result<About, NotTaken> {
        let again = |(frame, step): &(u32, String)| About { frame: *frame, step: step.clone(), again: true };
        let same = self.same(agent, arguments);
        let same = same.as_ref().filter(|(_, step)| named.is_none_or(|named| named == step));
        let is_same = |done: &Done| done.contents.is_none() || done.contents.as_ref() == now;
        // The answer was not delivered, and this is the same call with the same files again.
        let is_lost = |done: &Done| !done.delivered && is_same(done);
        if let Some(lost) = same.filter(|last| self.done(last).is_some_and(is_lost)) {
            return Ok(again(lost));
        }
        let frame = match self.current(agent) {
            Ok(frame) => frame,
            Err(none) => return same.map(again).ok_or(none),
        };
        if let Some(step) = named {
            return frame.about(step, arguments).or_else(|none| same.map(again).ok_or(none));
        }
        let open = frame.open_steps();
        let fits =
            |step: &Step| outputs.keys().all(|name| step.outputs.iter().any(|output| output.name == *name));
        match (open.iter().find(|step| fits(step)), same, open.as_slice()) {
            (Some(step), _, _) => Ok(frame.open(&step.id)),
            (None, Some(before), _) => Ok(again(before)),
            // A later check says which names are wrong.
            (None, None, [only]) => Ok(frame.open(&only.id)),
            (None, None, several) => Err(NotTaken(format!(
                "these outputs fit none of the open steps ({}): name one with step_id",
                ids(several)
            ))),
        }
    }

    /// The step that an agent finished last by this call, or a concurrent one.
    fn same(&self, agent: &str, arguments: &Digest) -> Option<(u32, String)> {
        let (number, last) = self.last.get(agent)?;
        let frame = self.frame(*number)?;
        let beside = frame.workflow.entries.iter().find(|entry| entry.contains(last));
        let mut steps = std::iter::once(last).chain(beside.into_iter().flatten());
        let same = steps.find(|step| frame.done.get(*step).is_some_and(|done| done.arguments == *arguments));
        same.map(|step| (*number, step.clone()))
    }

    fn done(&self, (frame, step): &(u32, String)) -> Option<&Done> {
        self.frame(*frame)?.done.get(step)
    }

    /// The event of a step that passed. None where it is finished already, or the workflow is over.
    pub fn finish(
        &self,
        frame: u32,
        step: &str,
        outputs: Outputs,
        (arguments, contents): (Digest, Digest),
        gate: Gate,
    ) -> Option<Happened> {
        let found = self.frame(frame).filter(|frame| frame.is_active())?;
        found.open_steps().iter().find(|known| known.id == step)?;
        let (step, contents) = (step.to_owned(), Some(contents));
        Some(Happened::StepFinished { frame, step, outputs, arguments, contents, gate })
    }

    pub fn go_to(&self, agent: &str, step: &str) -> Result<Happened, NotTaken> {
        let frame = self.current(agent)?;
        let entries = &frame.workflow.entries;
        let wanted = entries.iter().position(|entry| entry.iter().any(|known| known == step));
        let current = frame.entry().unwrap_or(entries.len());
        let Some(wanted) = wanted else {
            let known: Vec<_> = entries.iter().flatten().map(String::as_str).collect();
            return Err(NotTaken(format!(
                "workflow '{}' has no step '{step}'; its steps: {}",
                frame.workflow.name,
                known.join(", ")
            )));
        };
        if wanted > current {
            return Err(NotTaken(format!(
                "step '{step}' comes later: steps are only reached by finishing those before them"
            )));
        }
        // Concurrent steps stay done; all later steps depend on this one.
        let later = entries.iter().skip(wanted + 1).flatten().map(String::as_str);
        let invalid = |step: &&str| frame.done.contains_key(*step);
        let invalidated = std::iter::once(step).chain(later).filter(invalid).map(str::to_owned).collect();
        Ok(Happened::WentBack { frame: frame.number, step: step.to_owned(), invalidated })
    }

    pub fn abort(&self, agent: &str, explanation: &str) -> Result<Happened, NotTaken> {
        let frame = self.current(agent)?;
        Ok(Happened::WorkflowAborted { frame: frame.number, explanation: explanation.to_owned() })
    }
}

impl Frame {
    pub fn is_active(&self) -> bool {
        self.aborted.is_none() && self.entry().is_some()
    }

    /// The first entry with a step that is not done.
    pub fn entry(&self) -> Option<usize> {
        self.workflow.entries.iter().position(|entry| entry.iter().any(|step| !self.done.contains_key(step)))
    }

    pub fn open_steps(&self) -> Vec<&Step> {
        let entry = self.entry().and_then(|entry| self.workflow.entries.get(entry));
        let open = entry.into_iter().flatten().filter(|step| !self.done.contains_key(*step));
        open.filter_map(|step| self.job.step(step)).collect()
    }

    /// The steps that were finished without the gate.
    pub fn not_judged(&self) -> Vec<&str> {
        let off = self.done.iter().filter(|(_, done)| done.gate == Gate::Off);
        off.map(|(step, _)| step.as_str()).collect()
    }

    fn open(&self, step: &str) -> About {
        About { frame: self.number, step: step.to_owned(), again: false }
    }

    fn about(&self, step: &str, arguments: &Digest) -> Result<About, NotTaken> {
        let open = self.open_steps();
        if open.iter().any(|known| known.id == step) {
            return Ok(self.open(step));
        }
        match self.done.get(step) {
            Some(done) if done.arguments == *arguments => Ok(About { again: true, ..self.open(step) }),
            Some(_) => Err(NotTaken(format!(
                "step '{step}' is finished already: to do it again, call go_to_step with it first"
            ))),
            None => Err(NotTaken(format!("step '{step}' is not open; open now: {}", ids(&open)))),
        }
    }

    pub fn title(&self) -> String {
        format!("{}/{}", self.job.name, self.workflow.name)
    }
}

fn ids(steps: &[&Step]) -> String {
    steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
