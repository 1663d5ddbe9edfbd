//! What a screen shows of a run: tasks by state, and everything about the selected one. Pure.

use countersign_core::cost::{MICRO, dollars};
use countersign_core::digest::Digest;
use countersign_core::happening::Issue;
use countersign_core::ids::ReviewId;
use countersign_core::review::State;
use countersign_doors::run::course::Course;
use countersign_doors::run::state::{ReviewStatus, Summary, TaskState};
use countersign_doors::run::status::standings;
use countersign_doors::run::tasks::TaskList;
use std::collections::HashMap;

/// Everything a screen shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The list of tasks.
    pub title: String,
    /// Whether somebody runs the tasks now.
    pub under_way: bool,
    /// The tasks, those that need somebody first.
    pub tasks: Vec<TaskRow>,
    /// What all attempts cost, as far as that is known.
    pub cost: Option<String>,
    /// The selected task.
    pub detail: Option<Detail>,
    /// What could not be read.
    pub trouble: Option<String>,
}

/// How a task stands, in the order of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// A person has to decide.
    Waiting,
    /// Somebody is at it.
    Running,
    /// It did not go through.
    Failed,
    /// Nobody began.
    Pending,
    /// It was left out.
    Skipped,
    /// It is done.
    Done,
}

impl Group {
    /// In a word.
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

/// A task in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How it stands.
    pub group: Group,
    /// Stage and attempt, or what became of it.
    pub words: String,
}

/// The selected task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    /// Its id.
    pub task: String,
    /// Its review, where there is one.
    pub review: Option<Reviewed>,
    /// Which file the output is from.
    pub output_from: Option<String>,
    /// The end of what its attempt wrote.
    pub output: String,
}

/// A review of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Reviewed {
    /// Its id.
    pub id: ReviewId,
    /// The work it is about.
    pub digest: Option<Digest>,
    /// Whether a person has to decide.
    pub waits: bool,
    /// How it stands, in words.
    pub standing: String,
    /// Every round: its verdict, what was found, what it cost.
    pub rounds: Vec<String>,
    /// What was found in the last round.
    pub issues: Vec<Issue>,
    /// What people decided.
    pub decisions: Vec<String>,
    /// What all of it cost.
    pub cost: String,
}

/// What is known about the tasks of a list.
pub struct Known<'k> {
    /// The list.
    pub list: &'k TaskList,
    /// What became of them.
    pub summaries: &'k [Summary],
    /// How open reviews stand, by task.
    pub reviews: &'k HashMap<String, State>,
    /// How far running ones are, by task.
    pub courses: &'k HashMap<String, Course>,
    /// Whether somebody runs them now.
    pub under_way: bool,
}

impl Known<'_> {
    /// The tasks, those that need somebody first, in the order of the list within one state.
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
        match group {
            Group::Waiting | Group::Running => {
                let course = self.courses.get(id);
                let attempt = course.map(|course| format!("try {}", course.attempt));
                let stage = match (group, course) {
                    (Group::Running, _) if !self.under_way => Some("interrupted"),
                    (_, course) => course.map(|course| course.stage.name()),
                };
                [stage.map(str::to_owned), attempt].into_iter().flatten().collect::<Vec<_>>().join(" · ")
            }
            Group::Failed => {
                let code = summary.and_then(|summary| summary.error_code.as_ref()).map(ToString::to_string);
                code.or_else(|| review.map(|review| format!("review: {review}"))).unwrap_or_default()
            }
            Group::Pending => match state {
                TaskState::Other(word) => word.clone(),
                _ => String::new(),
            },
            Group::Skipped | Group::Done => {
                review.map(|review| format!("review: {review}")).unwrap_or_default()
            }
        }
    }

    /// What all attempts cost, those that are under way included.
    pub fn cost(&self) -> Option<String> {
        let ended = self.summaries.iter().filter_map(|summary| summary.cost_usd).map(microusd);
        let running = self.courses.values().filter_map(|course| course.cost_microusd);
        let known: Vec<u64> = ended.chain(running).collect();
        let sum = known.iter().fold(0_u64, |sum, more| sum.saturating_add(*more));
        (!known.is_empty()).then(|| dollars(sum))
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
    /// How many tasks stand like this.
    pub fn count(&self, group: Group) -> usize {
        self.tasks.iter().filter(|row| row.group == group).count()
    }

    /// Where a task is in the list.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.tasks.iter().position(|row| row.id == id)
    }

    /// The review of a task that waits for a person, if that is what is shown.
    pub fn waiting(&self, id: &str) -> Option<(&Reviewed, &Digest)> {
        let detail = self.detail.as_ref().filter(|detail| detail.task == id)?;
        let review = detail.review.as_ref().filter(|review| review.waits)?;
        Some((review, review.digest.as_ref()?))
    }
}
