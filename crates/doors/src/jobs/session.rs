//! A session: which workflows are under way, by whom, and which of their steps are done. Pure: events in, state
//! out, and what follows from a call.

use super::job::{Job, Step, Workflow};
use countersign_core::digest::{Digest, Parts};
use countersign_core::ids::ReviewId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Files by the name of the output they belong to.
pub type Outputs = BTreeMap<String, Vec<String>>;

/// What happened in a session, as the ledger keeps it. Fields are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Happened {
    /// A workflow began, on top of those that are under way.
    WorkflowStarted {
        /// Whose stack it is on.
        agent: String,
        /// What is to be reached.
        goal: String,
        /// The job as it was then: later edits of its files do not change what is under way.
        job: Box<Job>,
        /// The workflow's name.
        workflow: String,
    },
    /// A step passed its gate.
    StepFinished {
        /// The workflow, by number.
        frame: u32,
        /// The step.
        step: String,
        /// What was handed in.
        outputs: Outputs,
        /// The call it was handed in by.
        arguments: Digest,
        /// How it passed.
        gate: Gate,
    },
    /// An agent went back.
    WentBack {
        /// The workflow, by number.
        frame: u32,
        /// Where to.
        step: String,
        /// The steps that are to be done again.
        invalidated: Vec<String>,
    },
    /// A workflow was given up.
    WorkflowAborted {
        /// The workflow, by number.
        frame: u32,
        /// Why.
        explanation: String,
    },
    /// The answer that followed a step reached the agent.
    AnswerDelivered {
        /// The workflow, by number.
        frame: u32,
        /// The step.
        step: String,
    },
}

impl Happened {
    /// The name of the kind, as the ledger's column has it.
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

/// How a step passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// A review let it pass: by its verdict, or because somebody decided so.
    Review {
        /// The review.
        review: ReviewId,
        /// Reviews of the step that had nothing to look at.
        not_applicable: Vec<String>,
    },
    /// The step has no reviews.
    NoReviews,
    /// Nothing of what it could be reviewed for was handed in.
    NotApplicable(Vec<String>),
    /// The server was started without the gate.
    Off,
}

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// All workflows, in the order they were started.
    pub frames: Vec<Frame>,
    /// How many events this is the fold of.
    pub n: u64,
    /// The step each agent finished last.
    last: BTreeMap<String, (u32, String)>,
}

/// One workflow of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its number in the session, from 1.
    pub number: u32,
    /// Whose stack it is on.
    pub agent: String,
    /// What is to be reached.
    pub goal: String,
    /// The job, as it was at the start.
    pub job: Job,
    /// The workflow.
    pub workflow: Workflow,
    /// The steps that are done.
    pub done: BTreeMap<String, Done>,
    /// Why it was given up.
    pub aborted: Option<String>,
}

/// A step that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// What was handed in.
    pub outputs: Outputs,
    /// The call it was handed in by.
    pub arguments: Digest,
    /// How it passed.
    pub gate: Gate,
    /// Whether the agent got the answer.
    pub delivered: bool,
}

/// Why a call is not taken. The words are for the agent that called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotTaken(pub String);

/// What a call of `finished_step` is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A step that is open.
    Open {
        /// The workflow, by number.
        frame: u32,
        /// The step.
        step: String,
    },
    /// A step that is done: the answer is to be given again.
    Again {
        /// The workflow, by number.
        frame: u32,
        /// The step.
        step: String,
    },
}

/// Names a call by what it hands in, so that the same call is known again.
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

impl Session {
    /// Folds one event. It records and never decides.
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
            Happened::StepFinished { frame, step, outputs, arguments, gate } => {
                let Some(found) = self.frame_mut(*frame) else { return };
                let agent = found.agent.clone();
                let (outputs, arguments) = (outputs.clone(), arguments.clone());
                let done = Done { outputs, arguments, gate: gate.clone(), delivered: false };
                found.done.insert(step.clone(), done);
                self.last.insert(agent, (*frame, step.clone()));
            }
            Happened::WentBack { frame, invalidated, .. } => {
                let Some(found) = self.frame_mut(*frame) else { return };
                found.done.retain(|step, _| !invalidated.contains(step));
                let agent = found.agent.clone();
                self.last.remove(&agent);
            }
            Happened::WorkflowAborted { frame, explanation } => {
                let Some(found) = self.frame_mut(*frame) else { return };
                found.aborted = Some(explanation.clone());
                let agent = found.agent.clone();
                self.last.remove(&agent);
            }
            Happened::AnswerDelivered { frame, step } => {
                let done = self.frame_mut(*frame).and_then(|frame| frame.done.get_mut(step));
                if let Some(done) = done {
                    done.delivered = true;
                }
            }
        }
    }

    /// Folds all events of a session.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Happened>) -> Self {
        let mut session = Self::default();
        events.into_iter().for_each(|event| session.apply(event));
        session
    }

    /// A workflow by number.
    pub fn frame(&self, number: u32) -> Option<&Frame> {
        self.frames.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    fn frame_mut(&mut self, number: u32) -> Option<&mut Frame> {
        self.frames.get_mut(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The workflows of an agent that are under way, the innermost last.
    pub fn stack(&self, agent: &str) -> impl Iterator<Item = &Frame> {
        let agent = agent.to_owned();
        self.frames.iter().filter(move |frame| frame.agent == agent && frame.is_active())
    }

    /// The workflow an agent works on.
    pub fn current(&self, agent: &str) -> Result<&Frame, NotTaken> {
        let none = || NotTaken("no workflow is under way here: call start_workflow first".to_owned());
        self.stack(agent).last().ok_or_else(none)
    }

    /// Whether an agent has a workflow under way.
    pub fn is_at_work(&self, agent: &str) -> bool {
        self.current(agent).is_ok()
    }

    /// Whether the answer to this very call of an agent was lost on the way.
    pub fn has_lost(&self, agent: &str, arguments: &Digest) -> bool {
        let same = self.same(agent, arguments);
        same.and_then(|same| self.done(&same)).is_some_and(|done| !done.delivered)
    }

    /// Whether anybody works on anything.
    pub fn is_active(&self) -> bool {
        self.frames.iter().any(Frame::is_active)
    }

    /// What a call is about: it names no step, or one, and what it hands in.
    pub fn about(
        &self,
        agent: &str,
        named: Option<&str>,
        outputs: &Outputs,
        arguments: &Digest,
    ) -> Result<About, NotTaken> {
        let again = |(frame, step): &(u32, String)| About::Again { frame: *frame, step: step.clone() };
        let same = self.same(agent, arguments);
        let same = same.as_ref().filter(|(_, step)| named.is_none_or(|named| named == step));
        // The answer was lost on the way, and this is the same call once more.
        if let Some(lost) = same.filter(|last| self.done(last).is_some_and(|done| !done.delivered)) {
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
            |step: &&Step| outputs.keys().all(|name| step.outputs.iter().any(|output| output.name == *name));
        if let Some(step) = open.iter().copied().find(fits) {
            return Ok(About::Open { frame: frame.number, step: step.id.clone() });
        }
        if let Some(before) = same {
            return Ok(again(before));
        }
        match open.as_slice() {
            // What is wrong with the names is told against what it declares.
            [only] => Ok(About::Open { frame: frame.number, step: only.id.clone() }),
            several => Err(NotTaken(format!(
                "these outputs fit none of the open steps ({}): name one with step_id",
                several.iter().map(|step| step.id.as_str()).collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// The step an agent finished last by this very call, or one that was to be done beside it.
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

    /// What is recorded when a step has passed. Nothing where somebody was faster, or where the workflow is over.
    pub fn finish(
        &self,
        frame: u32,
        step: &str,
        outputs: Outputs,
        arguments: Digest,
        gate: Gate,
    ) -> Option<Happened> {
        let open = self.frame(frame).filter(|frame| frame.is_active()).map(Frame::open_steps);
        open.is_some_and(|open| open.iter().any(|known| known.id == step)).then(|| Happened::StepFinished {
            frame,
            step: step.to_owned(),
            outputs,
            arguments,
            gate,
        })
    }

    /// What is recorded when an agent goes back to a step, or stays where it is.
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
        // Within its own entry only the step itself is done again; everything after the entry rests on it.
        let later = entries.iter().skip(wanted + 1).flatten().map(String::as_str);
        let invalid = |step: &&str| frame.done.contains_key(*step);
        let invalidated = std::iter::once(step).chain(later).filter(invalid).map(str::to_owned).collect();
        Ok(Happened::WentBack { frame: frame.number, step: step.to_owned(), invalidated })
    }

    /// What is recorded when an agent gives its workflow up.
    pub fn abort(&self, agent: &str, explanation: &str) -> Result<Happened, NotTaken> {
        let frame = self.current(agent)?;
        Ok(Happened::WorkflowAborted { frame: frame.number, explanation: explanation.to_owned() })
    }
}

impl Frame {
    /// Whether it is neither complete nor given up.
    pub fn is_active(&self) -> bool {
        self.aborted.is_none() && self.entry().is_some()
    }

    /// Whether all its steps are done.
    pub fn is_complete(&self) -> bool {
        self.entry().is_none()
    }

    /// The entry it is at: the first with a step that is not done.
    pub fn entry(&self) -> Option<usize> {
        self.workflow.entries.iter().position(|entry| entry.iter().any(|step| !self.done.contains_key(step)))
    }

    /// The steps that can be handed in now.
    pub fn open_steps(&self) -> Vec<&Step> {
        let entry = self.entry().and_then(|entry| self.workflow.entries.get(entry));
        let open = entry.into_iter().flatten().filter(|step| !self.done.contains_key(*step));
        open.filter_map(|step| self.job.step(step)).collect()
    }

    /// The steps that were finished while the gate was off.
    pub fn not_judged(&self) -> Vec<&str> {
        let off = self.done.iter().filter(|(_, done)| done.gate == Gate::Off);
        off.map(|(step, _)| step.as_str()).collect()
    }

    /// What a call that names a step is about.
    fn about(&self, step: &str, arguments: &Digest) -> Result<About, NotTaken> {
        let open = self.open_steps();
        if open.iter().any(|known| known.id == step) {
            return Ok(About::Open { frame: self.number, step: step.to_owned() });
        }
        match self.done.get(step) {
            Some(done) if done.arguments == *arguments => {
                Ok(About::Again { frame: self.number, step: step.to_owned() })
            }
            Some(_) => Err(NotTaken(format!(
                "step '{step}' is finished already: to do it again, call go_to_step with it first"
            ))),
            None => Err(NotTaken(format!(
                "step '{step}' is not open; open now: {}",
                open.iter().map(|step| step.id.as_str()).collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// How people and answers call it.
    pub fn title(&self) -> String {
        format!("{}/{}", self.job.name, self.workflow.name)
    }
}

#[cfg(test)]
mod tests;
