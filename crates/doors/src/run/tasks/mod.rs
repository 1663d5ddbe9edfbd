//! The format of `tasks.md`: from its text to tasks, or to everything that is wrong with them. It reads no files.
//!
//! ```text
//! text ──► line ──► scan ──► read, circle ──► TaskList ──► order
//!          one      tasks    their values,    tasks        which can run now
//!          line     by span  all mistakes
//!                     └────► edit             a new status or ticked checklist, no other byte changed
//! ```

mod circle;
mod edit;
mod line;
mod order;
mod read;
mod scan;
#[cfg(test)]
mod tests;

pub use edit::EditError;
pub(super) use edit::{set_status, tick_checklist};
pub(super) use order::{in_milestone, ready, waits_for};
pub(super) use read::MAX_TASKS_BYTES;
pub use read::{Reading, parse};

use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskList {
    tasks: Vec<Task>,
    by_id: HashMap<String, usize>,
}

impl TaskList {
    /// Of several tasks with one id, which is a mistake, the first is found by it.
    fn new(tasks: Vec<Task>) -> Self {
        let mut by_id = HashMap::with_capacity(tasks.len());
        for (place, task) in tasks.iter().enumerate() {
            by_id.entry(task.id.clone()).or_insert(place);
        }
        Self { tasks, by_id }
    }

    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    pub(super) fn with_status(mut self, id: &str, status: Status) -> Self {
        if let Some(task) = self.place_of(id).and_then(|place| self.tasks.get_mut(place)) {
            task.status = status;
        }
        self
    }

    pub fn get(&self, id: &str) -> Option<&Task> {
        self.place_of(id).and_then(|place| self.tasks.get(place))
    }

    fn place_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Such as `TASK-001`: capital letters and digits, a dash, a number.
    pub id: String,
    /// The header after the id.
    pub name: String,
    pub priority: Priority,
    pub status: Status,
    /// The estimate as written: `2-3d`, `4h`, `0.5d`.
    pub estimate: Option<String>,
    pub checklist: Vec<ChecklistItem>,
    /// The ids of its requirements and designs.
    pub traces: Vec<String>,
    pub depends_on: Vec<String>,
    /// Its milestone, with the word `Milestone`.
    pub milestone: Option<String>,
    /// All other text about it, for prompts.
    pub description: String,
    /// The line of its header, from 1.
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecklistItem {
    pub text: String,
    pub done: bool,
}

/// The priority of a task, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    P0,
    P1,
    P2,
    P3,
}

impl Priority {
    pub const ALL: [Self; 4] = [Self::P0, Self::P1, Self::P2, Self::P3];

    pub const fn word(self) -> &'static str {
        match self {
            Self::P0 => "P0",
            Self::P1 => "P1",
            Self::P2 => "P2",
            Self::P3 => "P3",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Todo,
    InProgress,
    /// Waits for its review.
    Review,
    Done,
    Blocked,
}

impl Status {
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
