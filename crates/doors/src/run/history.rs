//! The history of a list of tasks: one line a change, only ever added to.

use countersign_core::text::visible_line;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Adds `at | task | change`, such as `2026-02-23T10:15:00 | TASK-001 | status -> done`.
pub fn append(path: &Path, at: &str, task: &str, change: &str) -> io::Result<()> {
    let line = format!("{} | {} | {}\n", visible_line(at), visible_line(task), visible_line(change));
    // In one write, so that lines of two processes do not mix.
    OpenOptions::new().append(true).create(true).open(path)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_and_stay_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.log");
        append(&path, "2026-02-23T10:15:00", "TASK-001", "status -> done").unwrap();
        append(&path, "t", "TASK-002", "two\nlines").unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(
            text.starts_with("2026-02-23T10:15:00 | TASK-001 | status -> done\nt | TASK-002 | two"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 2);
    }
}
