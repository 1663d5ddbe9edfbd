//! The list of tasks while several of them run: read anew each time, since people edit it meanwhile, and written by
//! one at a time.

use super::layout::Layout;
use super::tasks::{Status, TaskList};
use super::tasks_file::{self, WriteError};
use countersign_engine::workspace::write_atomically;
use countersign_engine::yaml::Problems;
use std::sync::{Mutex, PoisonError};

/// The list of tasks.
pub struct TaskFile {
    layout: Layout,
    writing: Mutex<()>,
}

/// Why the list cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskFileError {
    /// It cannot be read, or has mistakes.
    #[error("{0}")]
    Mistakes(Problems),
    /// It cannot be changed.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl TaskFile {
    /// The list of a layout.
    pub fn new(layout: &Layout) -> Self {
        Self { layout: layout.clone(), writing: Mutex::new(()) }
    }

    /// All tasks as they are now.
    pub fn read(&self) -> Result<TaskList, TaskFileError> {
        let reading = tasks_file::read(&self.layout.tasks()).and_then(|reading| reading.valid());
        reading.map(|(list, _)| list).map_err(TaskFileError::Mistakes)
    }

    /// The text as it is now.
    pub fn text(&self) -> Result<String, TaskFileError> {
        std::fs::read_to_string(self.layout.tasks()).map_err(|error| self.io(error))
    }

    /// Puts the text back as it was.
    pub fn put_back(&self, text: &str) -> Result<(), TaskFileError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        write_atomically(&self.layout.tasks(), text).map_err(|error| self.io(error))
    }

    /// Writes a status back, and ticks the checklist of what is done.
    pub fn set(&self, task: &str, status: Status, at: &str) -> Result<(), TaskFileError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        tasks_file::write_status(&self.layout, task, status, at)?;
        if status == Status::Done {
            tasks_file::write_checklist(&self.layout, task, at)?;
        }
        Ok(())
    }

    fn io(&self, error: std::io::Error) -> TaskFileError {
        WriteError::Io { file: self.layout.tasks().display().to_string(), error }.into()
    }
}
