//! Which files a folder holds: what git would not ignore, in a fixed order.

use super::path::{PathProblem, Root};
use ignore::WalkBuilder;
use std::path::Path;

/// Files of a folder, and what had to be left out.
#[derive(Debug, Default)]
pub struct Found {
    /// Paths relative to the root, sorted.
    pub files: Vec<String>,
    /// What was left out, with the reason in words. Never silent.
    pub left_out: Vec<String>,
}

/// Lists the files below a folder of the project. Ignored and hidden files are not the work.
pub fn walk(root: &Root, folder: &str) -> Result<Found, PathProblem> {
    let mut found = Found::default();
    let start = root.join(folder);
    let walker = WalkBuilder::new(&start).require_git(false).follow_links(false).build();
    for entry in walker {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink()) => {
                take(root, entry.path(), &mut found)?;
            }
            Ok(_) => {}
            Err(error) => found.left_out.push(error.to_string()),
        }
    }
    found.files.sort();
    Ok(found)
}

fn take(root: &Root, path: &Path, found: &mut Found) -> Result<(), PathProblem> {
    let relative = match root.relative(root.path(), path) {
        Ok(relative) => relative,
        Err(problem) => {
            found.left_out.push(problem.to_string());
            return Ok(());
        }
    };
    match super::require_file(root, &relative) {
        Ok(()) => found.files.push(relative),
        // A link to a folder of the project is walked by that folder's own name.
        Err(PathProblem::NotAFile(_, "a directory")) => {}
        // Work that cannot be read must not pass unread.
        Err(problem @ PathProblem::Unreadable { .. }) => return Err(problem),
        Err(problem) => found.left_out.push(problem.to_string()),
    }
    Ok(())
}
