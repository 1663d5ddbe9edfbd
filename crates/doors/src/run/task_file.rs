//! `tasks.md` on the disk: read anew each time, because people edit it during a run. The history has all changes.

use super::layout::Layout;
use super::tasks::{self, EditError, MAX_TASKS_BYTES, Reading, Status, TaskList};
use countersign_core::text::visible_line;
use countersign_engine::workspace::write_atomically;
use countersign_engine::yaml::{Diagnostic, FileBytes, Problems, Source, read_at_most, unreadable};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub struct TaskFile {
    layout: Layout,
    writing: Mutex<()>,
}

/// Why the list cannot be used. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum TaskFileError {
    #[error("{0}")]
    Mistakes(Problems),
    /// It cannot be read while it is to be changed.
    #[error("{0}")]
    Unreadable(Problems),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("{0} cannot be written: {1}")]
    Io(String, io::Error),
}

impl TaskFileError {
    fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        let file = path.display().to_string();
        move |error| Self::Io(file.clone(), error)
    }
}

impl TaskFile {
    pub fn new(layout: &Layout) -> Self {
        Self { layout: layout.clone(), writing: Mutex::new(()) }
    }

    pub fn read(&self) -> Result<TaskList, TaskFileError> {
        let reading = read(&self.layout.tasks()).and_then(|reading| reading.valid());
        reading.map(|(list, _)| list).map_err(TaskFileError::Mistakes)
    }

    pub fn text(&self) -> Result<String, TaskFileError> {
        let path = self.layout.tasks();
        std::fs::read_to_string(&path).map_err(TaskFileError::io(&path))
    }

    pub fn put_back(&self, text: &str) -> Result<(), TaskFileError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.layout.tasks();
        write_atomically(&path, text).map_err(TaskFileError::io(&path))
    }

    /// Writes a status, and ticks the checklist of a task that is done. `at` is the local time.
    pub fn set(&self, task: &str, status: Status, at: &str) -> Result<(), TaskFileError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        write_status(&self.layout, task, status, at)?;
        if status == Status::Done {
            write_checklist(&self.layout, task, at)?;
        }
        Ok(())
    }
}

/// Reads the tasks; fails only where the file itself cannot be read.
pub fn read(path: &Path) -> Result<Reading, Problems> {
    Ok(tasks::parse(&source(path)?.1))
}

fn source(path: &Path) -> Result<(FileBytes, Arc<Source>), Diagnostic> {
    let bytes = read_at_most(path, MAX_TASKS_BYTES).map_err(|error| unreadable(path, &error.to_string()))?;
    let file = FileBytes { path: path.to_owned(), bytes };
    let source = Source::read_within(&file, MAX_TASKS_BYTES)?;
    Ok((file, source))
}

fn write_status(layout: &Layout, id: &str, status: Status, at: &str) -> Result<(), TaskFileError> {
    let text = editable(&layout.tasks())?;
    let edited = tasks::set_status(&text, id, status)?;
    replace(layout, &text, &edited, [at, id, &format!("status -> {}", status.word().to_lowercase())])
}

fn write_checklist(layout: &Layout, id: &str, at: &str) -> Result<(), TaskFileError> {
    let text = editable(&layout.tasks())?;
    let (edited, count) = tasks::tick_checklist(&text, id)?;
    replace(layout, &text, &edited, [at, id, &format!("checklist: marked {count} items done")])
}

/// The text with its byte order mark, which [`Source`] leaves out.
fn editable(path: &Path) -> Result<String, TaskFileError> {
    let unusable = |problem: Diagnostic| TaskFileError::Unreadable(problem.into());
    let (file, _) = source(path).map_err(unusable)?;
    String::from_utf8(file.bytes).map_err(|error| unusable(unreadable(path, &error.to_string())))
}

/// Replaces the list, if it changed, and adds a line to the history: `2026-02-23T10:15:00 | TASK-001 | status -> done`.
fn replace(layout: &Layout, text: &str, edited: &str, line: [&str; 3]) -> Result<(), TaskFileError> {
    if edited == text {
        return Ok(());
    }
    let (path, history) = (layout.tasks(), layout.history());
    // A link stays a link.
    let real = path.canonicalize().map_err(TaskFileError::io(&path))?;
    write_atomically(&real, edited).map_err(TaskFileError::io(&path))?;
    let line = format!("{}\n", line.map(visible_line).join(" | "));
    // In one write, so that lines of two processes do not mix.
    let file = OpenOptions::new().append(true).create(true).open(&history);
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(TaskFileError::io(&history))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const TASKS: &str = "\u{feff}### A-1: a\r\n🔴 P0 | ⬜ TODO\r\n**Checklist:**\r\n- [ ] b\r\n- [ ] c";

    fn project() -> (tempfile::TempDir, Layout) {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path(), "").unwrap();
        fs::create_dir(layout.spec()).unwrap();
        fs::write(layout.tasks(), TASKS).unwrap();
        (folder, layout)
    }

    #[test]
    fn changes_are_written_and_noted_once() {
        let (_folder, layout) = project();
        fs::set_permissions(layout.tasks(), fs::Permissions::from_mode(0o664)).unwrap();
        for at in ["T1", "T2\nmore"] {
            write_status(&layout, "A-1", Status::InProgress, at).unwrap();
        }
        for at in ["T2\n", "T3"] {
            write_checklist(&layout, "A-1", at).unwrap();
        }
        let expect = TASKS.replace("⬜ TODO", "🔄 IN_PROGRESS").replace("[ ]", "[x]");
        assert_eq!(fs::read_to_string(layout.tasks()).unwrap(), expect);
        let history = fs::read_to_string(layout.history()).unwrap();
        // Only the first line of a field is written, so that a change stays one line.
        assert_eq!(history, "T1 | A-1 | status -> in_progress\nT2 | A-1 | checklist: marked 2 items done\n");
        assert_eq!(fs::metadata(layout.tasks()).unwrap().permissions().mode() & 0o777, 0o664);
    }

    #[test]
    fn what_cannot_be_changed_stays_and_is_not_noted() {
        let (_folder, layout) = project();
        let missing = write_status(&layout, "A-2", Status::Done, "T").unwrap_err();
        assert!(matches!(missing, TaskFileError::Edit(EditError::Missing(_))));
        fs::write(layout.tasks(), b"### A-1: a\nP0 | TODO \xff").unwrap();
        let unreadable = write_status(&layout, "A-1", Status::Done, "T").unwrap_err().to_string();
        assert!(unreadable.contains("tasks.md:2:11: the file is not UTF-8"), "{unreadable}");
        fs::remove_file(layout.tasks()).unwrap();
        assert!(matches!(write_checklist(&layout, "A-1", "T"), Err(TaskFileError::Unreadable(_))));
        assert!(!layout.history().exists());
    }

    #[test]
    fn a_link_stays_a_link() {
        let (folder, layout) = project();
        let real = folder.path().join("elsewhere.md");
        fs::rename(layout.tasks(), &real).unwrap();
        std::os::unix::fs::symlink(&real, layout.tasks()).unwrap();
        write_status(&layout, "A-1", Status::Done, "T").unwrap();
        assert!(layout.tasks().is_symlink() && fs::read_to_string(real).unwrap().contains("✅ DONE"));
    }
}
