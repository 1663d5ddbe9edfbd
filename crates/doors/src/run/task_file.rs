//! The list of tasks on the disk: read anew each time, since people edit it while tasks run, and written back with
//! nothing changed but a status or a checklist.

use super::layout::Layout;
use super::tasks::{self, EditError, MAX_TASKS_BYTES, Status, TaskList};
use countersign_engine::yaml::{FileBytes, Problems, Source, read_at_most};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The list of tasks.
pub struct TaskFile {
    path: PathBuf,
    history: PathBuf,
    writing: Mutex<()>,
}

/// Why the list cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskFileError {
    /// It cannot be read or written.
    #[error("`{path}` cannot be {what}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Read or written.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
    /// It has mistakes.
    #[error("the list of tasks has mistakes")]
    Mistakes(Problems),
    /// The task cannot be changed in it.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl TaskFile {
    /// The list of a layout.
    pub fn new(layout: &Layout) -> Self {
        Self { path: layout.tasks(), history: layout.history(), writing: Mutex::new(()) }
    }

    /// All tasks as they are now.
    pub fn read(&self) -> Result<TaskList, TaskFileError> {
        let bytes = read_at_most(&self.path, MAX_TASKS_BYTES).map_err(|error| self.io("read", error))?;
        let file = FileBytes { path: self.path.clone(), bytes };
        let source = Source::read_within(&file, MAX_TASKS_BYTES);
        let source = source.map_err(|problem| TaskFileError::Mistakes(problem.into()))?;
        let (list, _) = tasks::parse(&source).valid().map_err(TaskFileError::Mistakes)?;
        Ok(list)
    }

    /// The text as it is now.
    pub fn text(&self) -> Result<String, TaskFileError> {
        std::fs::read_to_string(&self.path).map_err(|error| self.io("read", error))
    }

    /// Puts the text back as it was.
    pub fn put_back(&self, text: &str) -> Result<(), TaskFileError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.replace(text)
    }

    /// Writes a status back, ticks the checklist of what is done, and notes it in the history.
    pub fn set(&self, task: &str, status: Status, at: &str) -> Result<(), TaskFileError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.text()?;
        let mut after = tasks::set_status(&before, task, status)?;
        if status == Status::Done {
            after = tasks::tick_checklist(&after, task)?.0;
        }
        if after == before {
            return Ok(());
        }
        self.replace(&after)?;
        let line = format!("{at} | {task} | status -> {}\n", status.word().to_lowercase());
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.history);
        // Whole lines in one write: two processes may note something at once.
        let noted = file.and_then(|mut file| file.write_all(line.as_bytes()));
        noted.map_err(|error| TaskFileError::Io {
            path: self.history.display().to_string(),
            what: "written",
            error,
        })
    }

    /// Whole or not at all, with the rights it had.
    fn replace(&self, text: &str) -> Result<(), TaskFileError> {
        let folder = self.path.parent().unwrap_or(std::path::Path::new("."));
        let replaced = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().set_permissions(std::fs::metadata(&self.path)?.permissions())?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map(drop).map_err(|error| error.error)
        };
        replaced().map_err(|error| self.io("written", error))
    }

    fn io(&self, what: &'static str, error: io::Error) -> TaskFileError {
        TaskFileError::Io { path: self.path.display().to_string(), what, error }
    }
}
