//! The format of `tasks.md`: from its text to tasks, or to everything that is wrong with them. It reads no files.
//!
//! ```text
//! text ──► line ──► scan ──► read ──────────► TaskList
//!          one      tasks    their values,    which can run now
//!          line     by span  all mistakes
//!                     └────► edit             a new status or ticked checklist, no other byte changed
//! ```

mod edit;
mod line;
mod read;
mod scan;
#[cfg(test)]
mod tests;

pub use edit::EditError;
pub(super) use edit::{set_status, tick_checklist};
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

    /// These tasks with their statuses, and with everything else as another list has it.
    pub(super) fn defined_by(mut self, other: &Self) -> Self {
        for task in &mut self.tasks {
            if let Some(known) = other.get(&task.id) {
                *task = Task { status: task.status, ..known.clone() };
            }
        }
        self
    }

    pub fn get(&self, id: &str) -> Option<&Task> {
        self.place_of(id).and_then(|place| self.tasks.get(place))
    }

    fn place_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// What can run now: what is in progress, then what is to be done and waits for nothing; by priority, and within
    /// one priority in the order of the file. Tasks in review or blocked wait for a person.
    pub(super) fn ready(&self) -> Vec<&Task> {
        let can_run = |task: &&Task| match task.status {
            Status::InProgress => true,
            Status::Todo => self.waits_for(task).is_empty(),
            Status::Review | Status::Done | Status::Blocked => false,
        };
        let mut tasks: Vec<_> = self.tasks.iter().filter(can_run).collect();
        tasks.sort_by_key(|task| (task.status != Status::InProgress, task.priority));
        tasks
    }

    /// The dependencies of a task that are not done. One that does not exist is not done.
    pub(super) fn waits_for<'t>(&self, task: &'t Task) -> Vec<&'t str> {
        let done = |id: &str| self.get(id).is_some_and(|other| other.status == Status::Done);
        task.depends_on.iter().map(String::as_str).filter(|id| !done(id)).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Such as `TASK-001`: capital letters and digits, a dash, a number.
    pub id: String,
    pub name: String,
    pub priority: Priority,
    pub status: Status,
    /// The estimate as written: `2-3d`, `4h`, `0.5d`.
    pub estimate: Option<String>,
    pub checklist: Vec<ChecklistItem>,
    pub traces: Vec<String>,
    pub depends_on: Vec<String>,
    /// Its milestone, with the word `Milestone`.
    pub milestone: Option<String>,
    /// All other text about it, for prompts.
    pub description: String,
    /// The line of its header, from 1.
    pub line: usize,
}

impl Task {
    /// Whether it stands under a milestone whose name has this in it, in any case.
    pub(super) fn in_milestone(&self, wanted: &str) -> bool {
        let wanted = wanted.trim().to_lowercase();
        self.milestone.as_ref().is_some_and(|name| name.to_lowercase().contains(&wanted))
    }
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
        ["P0", "P1", "P2", "P3"][self as usize]
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.word().eq_ignore_ascii_case(word))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Todo,
    InProgress,
    Review,
    Done,
    Blocked,
}

impl Status {
    pub const ALL: [Self; 5] = [Self::Todo, Self::InProgress, Self::Review, Self::Done, Self::Blocked];

    const fn written(self) -> (&'static str, &'static str) {
        match self {
            Self::Todo => ("TODO", "⬜"),
            Self::InProgress => ("IN_PROGRESS", "🔄"),
            Self::Review => ("REVIEW", "🔍"),
            Self::Done => ("DONE", "✅"),
            Self::Blocked => ("BLOCKED", "⏸️"),
        }
    }

    /// The word in the file, which wins over the sign before it.
    pub const fn word(self) -> &'static str {
        self.written().0
    }

    pub const fn sign(self) -> &'static str {
        self.written().1
    }

    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word().eq_ignore_ascii_case(word))
    }
}
