//! `tasks.md`: the tasks of a project as people write them. Pure: text in, tasks or everything wrong with them out.
//!
//! ```text
//! text ──► line ──► scan ──► read, circle ──► TaskList ──► order
//!          one      tasks    what they mean   tasks        which can run now
//!          line     by span  all mistakes
//!                     └────► edit             a status or a checklist written back, no other byte touched
//! ```

mod circle;
mod edit;
mod line;
mod order;
mod read;
mod scan;
#[cfg(test)]
mod tests;

pub use edit::{EditError, set_status, tick_checklist};
pub use order::{in_milestone, ready, waits_for};
pub use read::{MAX_TASKS_BYTES, Reading, parse};

use std::collections::HashMap;
use std::fmt;

/// The tasks of a file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskList {
    tasks: Vec<Task>,
    by_id: HashMap<String, usize>,
}

impl TaskList {
    /// Of several tasks with one id, which is reported elsewhere, the first is found by it.
    pub(super) fn new(tasks: Vec<Task>) -> Self {
        let mut by_id = HashMap::with_capacity(tasks.len());
        for (place, task) in tasks.iter().enumerate() {
            by_id.entry(task.id.clone()).or_insert(place);
        }
        Self { tasks, by_id }
    }

    /// All of them, in the order of the file.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The same list with one task in another status.
    pub fn with_status(mut self, id: &str, status: Status) -> Self {
        if let Some(task) = self.place_of(id).and_then(|place| self.tasks.get_mut(place)) {
            task.status = status;
        }
        self
    }

    /// The task of this id.
    pub fn get(&self, id: &str) -> Option<&Task> {
        self.place_of(id).and_then(|place| self.tasks.get(place))
    }

    pub(super) fn place_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Such as `TASK-001`: capital letters and digits, a dash, a number.
    pub id: String,
    /// What its header says after the id.
    pub name: String,
    /// How much it presses.
    pub priority: Priority,
    /// How it stands, as the file says.
    pub status: Status,
    /// How long it may take, as written: `2-3d`, `4h`, `0.5d`.
    pub estimate: Option<String>,
    /// What has to be done, item by item.
    pub checklist: Vec<ChecklistItem>,
    /// The requirements and designs it comes from.
    pub traces: Vec<String>,
    /// The tasks that must be done before.
    pub depends_on: Vec<String>,
    /// The tasks it says it holds up. For readers: only `depends_on` decides what can run.
    pub blocks: Vec<String>,
    /// The milestone it stands under, `Milestone` included.
    pub milestone: Option<String>,
    /// Everything else that is written about it, for prompts.
    pub description: String,
    /// The line of its header, from 1.
    pub line: usize,
}

/// Something to do in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecklistItem {
    /// What.
    pub text: String,
    /// Whether it is ticked.
    pub done: bool,
    /// Whether it stands under `**Tests…` rather than under `**Checklist:**`.
    pub is_test: bool,
    /// Its line, from 1.
    pub line: usize,
}

/// How much a task presses, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// First of all.
    P0,
    /// Soon.
    P1,
    /// Some time.
    P2,
    /// If there is time.
    P3,
}

impl Priority {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::P0, Self::P1, Self::P2, Self::P3];

    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::P0 => "P0",
            Self::P1 => "P1",
            Self::P2 => "P2",
            Self::P3 => "P3",
        }
    }
}

/// How a task stands, as the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nobody began.
    Todo,
    /// Somebody is at it.
    InProgress,
    /// It waits for its review.
    Review,
    /// It is done.
    Done,
    /// It cannot be done now.
    Blocked,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Todo, Self::InProgress, Self::Review, Self::Done, Self::Blocked];

    /// The word in the file, which wins over the sign before it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Todo => "TODO",
            Self::InProgress => "IN_PROGRESS",
            Self::Review => "REVIEW",
            Self::Done => "DONE",
            Self::Blocked => "BLOCKED",
        }
    }

    /// The sign before the word.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Todo => "⬜",
            Self::InProgress => "🔄",
            Self::Review => "🔍",
            Self::Done => "✅",
            Self::Blocked => "⏸️",
        }
    }

    /// The status a word means, in any case.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
