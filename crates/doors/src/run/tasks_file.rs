//! `tasks.md` on the disk: read whole, changed by replacing it whole, every change noted in the history.

use super::history;
use super::layout::Layout;
use super::tasks::{self, EditError, MAX_TASKS_BYTES, Reading, Status};
use countersign_engine::workspace::write_atomically;
use countersign_engine::yaml::{Diagnostic, FileBytes, Problems, Source, read_at_most, unreadable};
use std::io;
use std::path::Path;

/// Why a change could not be written. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(Problems),
    /// The task is not there, or not as it should be.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The disk refused.
    #[error("{file} cannot be written: {error}")]
    Io {
        /// Which file.
        file: String,
        /// Why.
        error: io::Error,
    },
}

/// Reads the tasks; fails only where the file itself cannot be read.
pub fn read(path: &Path) -> Result<Reading, Problems> {
    let bytes = read_at_most(path, MAX_TASKS_BYTES).map_err(|error| unreadable(path, &error.to_string()))?;
    let file = FileBytes { path: path.to_owned(), bytes };
    Ok(tasks::parse(&Source::read_within(&file, MAX_TASKS_BYTES)?))
}

/// Writes a status back and notes it in the history; nothing where it stands so already. `at` is the local time.
pub fn write_status(layout: &Layout, id: &str, status: Status, at: &str) -> Result<bool, WriteError> {
    let path = layout.tasks();
    let text = text_of(&path)?;
    let edited = tasks::set_status(&text, id, status)?;
    if edited == text {
        return Ok(false);
    }
    replace(&path, &edited)?;
    let change = format!("status -> {}", status.word().to_lowercase());
    note(layout, at, id, &change)?;
    Ok(true)
}

/// Ticks the checklist of a task and notes it in the history. How many boxes were open.
pub fn write_checklist(layout: &Layout, id: &str, at: &str) -> Result<usize, WriteError> {
    let path = layout.tasks();
    let (edited, count) = tasks::tick_checklist(&text_of(&path)?, id)?;
    if count > 0 {
        replace(&path, &edited)?;
        note(layout, at, id, &format!("checklist: marked {count} items done"))?;
    }
    Ok(count)
}

/// The text with its byte order mark, which a reader is not shown.
fn text_of(path: &Path) -> Result<String, WriteError> {
    let unusable = |problem: Diagnostic| WriteError::Unreadable(problem.into());
    let bytes = read_at_most(path, MAX_TASKS_BYTES)
        .map_err(|error| unusable(unreadable(path, &error.to_string())))?;
    let file = FileBytes { path: path.to_owned(), bytes };
    Source::read_within(&file, MAX_TASKS_BYTES).map_err(unusable)?;
    String::from_utf8(file.bytes).map_err(|error| unusable(unreadable(path, &error.to_string())))
}

fn replace(path: &Path, text: &str) -> Result<(), WriteError> {
    let failed = |error| WriteError::Io { file: path.display().to_string(), error };
    // A link stays a link.
    let real = path.canonicalize().map_err(failed)?;
    write_atomically(&real, text).map_err(failed)
}

fn note(layout: &Layout, at: &str, id: &str, change: &str) -> Result<(), WriteError> {
    let path = layout.history();
    let failed = |error| WriteError::Io { file: path.display().to_string(), error };
    history::append(&path, at, id, change).map_err(failed)
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
        for expect in [true, false] {
            assert_eq!(write_status(&layout, "A-1", Status::InProgress, "T1").unwrap(), expect);
        }
        assert_eq!(write_checklist(&layout, "A-1", "T2").unwrap(), 2);
        assert_eq!(write_checklist(&layout, "A-1", "T3").unwrap(), 0);
        let expect = TASKS.replace("⬜ TODO", "🔄 IN_PROGRESS").replace("[ ]", "[x]");
        assert_eq!(fs::read_to_string(layout.tasks()).unwrap(), expect);
        let history = fs::read_to_string(layout.history()).unwrap();
        assert_eq!(history, "T1 | A-1 | status -> in_progress\nT2 | A-1 | checklist: marked 2 items done\n");
        assert_eq!(fs::metadata(layout.tasks()).unwrap().permissions().mode() & 0o777, 0o664);
    }

    #[test]
    fn what_cannot_be_changed_stays_and_is_not_noted() {
        let (_folder, layout) = project();
        let missing = write_status(&layout, "A-2", Status::Done, "T").unwrap_err();
        assert!(matches!(missing, WriteError::Edit(EditError::Missing(_))));
        fs::write(layout.tasks(), b"### A-1: a\nP0 | TODO \xff").unwrap();
        let unreadable = write_status(&layout, "A-1", Status::Done, "T").unwrap_err().to_string();
        assert!(unreadable.contains("tasks.md:2:11: the file is not UTF-8"), "{unreadable}");
        fs::remove_file(layout.tasks()).unwrap();
        assert!(matches!(write_checklist(&layout, "A-1", "T"), Err(WriteError::Unreadable(_))));
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
