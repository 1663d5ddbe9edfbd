//! The content of the screen: tasks by state, and everything about the selected one. Pure.

use countersign_app::time::between;
use countersign_core::cost::{MICRO, dollars};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::progress::Issue;
use countersign_core::review::State;
use countersign_doors::run::checkpoint::Checkpoint;
use countersign_doors::run::state::{ReviewStatus, Summary, TaskState};
use countersign_doors::run::status::standings;
use countersign_doors::run::tasks::TaskList;
use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    pub title: String,
    pub under_way: bool,
    /// Those that wait for a person come first.
    pub tasks: Vec<TaskRow>,
    /// What all attempts cost, as far as that is known.
    pub cost: Option<String>,
    pub detail: Option<Detail>,
    pub trouble: Option<String>,
}

/// The state of a task, in the order of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Waiting,
    Running,
    Failed,
    Pending,
    Skipped,
    Done,
}

impl Group {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting for you",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Pending => "to do",
            Self::Skipped => "skipped",
            Self::Done => "done",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    pub id: String,
    pub name: String,
    pub group: Group,
    /// Stage and attempt, or the result.
    pub words: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    pub task: String,
    pub review: Option<Reviewed>,
    pub output_from: Option<String>,
    /// The end of that file.
    pub output: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reviewed {
    pub id: ReviewId,
    pub digest: Option<Digest>,
    pub waits: bool,
    pub standing: String,
    /// Every round: verdict, number of findings, cost.
    pub rounds: Vec<String>,
    pub issues: Vec<Issue>,
    pub decisions: Vec<String>,
    pub cost: String,
    /// The change as it was judged; empty where there is none.
    pub diff: String,
}

pub struct Known<'k> {
    pub list: &'k TaskList,
    pub summaries: &'k [Summary],
    pub reviews: &'k HashMap<String, State>,
    pub checkpoints: &'k HashMap<String, Checkpoint>,
    pub under_way: bool,
    /// Local time without a zone.
    pub now: String,
}

impl Known<'_> {
    /// The tasks, those that wait for a person first, in the order of the list within one state.
    pub fn rows(&self) -> Vec<TaskRow> {
        let mut rows: Vec<TaskRow> = standings(self.list, self.summaries)
            .iter()
            .map(|standing| {
                let (id, state) = (&standing.task.id, standing.state());
                let group = self.group(id, &state);
                let words = self.words(id, group, &state, standing.summary);
                TaskRow { id: id.clone(), name: standing.task.name.clone(), group, words }
            })
            .collect();
        rows.sort_by_key(|row| row.group);
        rows
    }

    fn group(&self, id: &str, state: &TaskState) -> Group {
        match state {
            _ if self.reviews.get(id) == Some(&State::AwaitingPerson) => Group::Waiting,
            TaskState::Running => Group::Running,
            TaskState::Failed => Group::Failed,
            TaskState::Skipped => Group::Skipped,
            TaskState::Success => Group::Done,
            TaskState::Pending | TaskState::Other(_) => Group::Pending,
        }
    }

    fn words(&self, id: &str, group: Group, state: &TaskState, summary: Option<&Summary>) -> String {
        let review = summary.and_then(|summary| summary.review_status.as_ref());
        let review = review.filter(|review| **review != ReviewStatus::NotRun);
        let review = review.map(|review| format!("review: {review}"));
        match group {
            Group::Waiting | Group::Running => {
                let checkpoint = self.checkpoints.get(id);
                let attempt = checkpoint.map(|checkpoint| format!("try {}", checkpoint.attempt));
                let stage = match group {
                    Group::Running if !self.under_way => Some("interrupted"),
                    _ => checkpoint.map(|checkpoint| checkpoint.stage.name()),
                };
                let started = summary.and_then(|summary| summary.started_at.as_deref());
                let long = started.filter(|_| group == Group::Running && self.under_way);
                let long = long.and_then(|started| between(started, &self.now));
                [stage.map(str::to_owned), attempt, long]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" · ")
            }
            Group::Failed => {
                let code = summary.and_then(|summary| summary.error_code.as_ref()).map(ToString::to_string);
                code.or(review).unwrap_or_default()
            }
            Group::Pending => match state {
                TaskState::Other(word) => word.clone(),
                _ => String::new(),
            },
            Group::Skipped | Group::Done => review.unwrap_or_default(),
        }
    }

    /// What all attempts cost, those that are under way included.
    pub fn cost(&self) -> Option<String> {
        let ended = self.summaries.iter().filter_map(|summary| summary.cost_usd).map(microusd);
        let running = self.checkpoints.values().filter_map(|checkpoint| checkpoint.cost_microusd);
        ended.chain(running).reduce(u64::saturating_add).map(dollars)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an amount of money"
)]
fn microusd(usd: f64) -> u64 {
    (usd * MICRO as f64).round().max(0.0) as u64
}

impl Board {
    pub fn count(&self, group: Group) -> usize {
        self.tasks.iter().filter(|row| row.group == group).count()
    }

    pub fn place(&self, id: &str) -> Option<usize> {
        self.tasks.iter().position(|row| row.id == id)
    }

    /// The review of a task that waits for a person, if that review is shown.
    pub fn waiting(&self, id: &str) -> Option<(&Reviewed, &Digest)> {
        let detail = self.detail.as_ref().filter(|detail| detail.task == id)?;
        let review = detail.review.as_ref().filter(|review| review.waits)?;
        Some((review, review.digest.as_ref()?))
    }
}
