//! Counts failures of the hook itself in a row, for each session. The ledger may be the cause, so the counts are outside
//! of the project: in the user's state folder, else in the temporary one.

use countersign_core::digest::Digest;
use countersign_doors::service::hook::input::Stopping;
use countersign_engine::programs::Hook;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An older count is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const MAX_SWEPT: usize = 64;
const NAME_LETTERS: usize = 32;

pub struct Tries {
    folders: Vec<PathBuf>,
    names: Vec<String>,
    /// Whether a hook held the agent before, if the program reports that reliably.
    was_held: Option<bool>,
}

impl Tries {
    /// The count for a stop. All stops without a session share one.
    pub fn of(hook: Hook, stopping: Option<&Stopping>, place: &Path) -> Self {
        let name = |session: &str| {
            let place = place.to_string_lossy();
            let parts = [hook.program.name, &place, session].join("\0");
            Digest::of(parts.as_bytes()).as_str().chars().take(NAME_LETTERS).collect::<String>()
        };
        let session = stopping.map(|stopping| name(stopping.subject(hook).as_str()));
        let was_held = stopping.filter(|one| one.prompt.is_none()).map(|one| one.was_held);
        Self { folders: folders(), names: session.into_iter().chain([name("")]).collect(), was_held }
    }

    /// Counts one more. Where no file can be written, an agent that was not held before is held once, and one of which
    /// that is unknown is not held.
    pub fn one_more(&self) -> Option<u32> {
        let name = self.names.first()?;
        let kept = self.folders.iter().find_map(|folder| self.count_in(folder, name));
        kept.or_else(|| (self.was_held == Some(false)).then_some(1))
    }

    pub fn over(&self) {
        for file in self.folders.iter().flat_map(|folder| self.names.iter().map(|name| folder.join(name))) {
            let _ = fs::remove_file(file);
        }
    }

    fn count_in(&self, folder: &Path, name: &str) -> Option<u32> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.ok().filter(|()| is_own(folder))?;
        sweep(folder);
        let file = folder.join(name);
        // The agent got input since: a new count.
        let anew = self.was_held == Some(false);
        let before = if anew { None } else { fs::read_to_string(&file).ok() };
        let count = before.and_then(|text| text.trim().parse::<u32>().ok()).unwrap_or(0).saturating_add(1);
        fs::write(&file, count.to_string()).ok()?;
        Some(count)
    }
}

fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    let user = rustix::process::geteuid().as_raw();
    let temporary = std::env::temp_dir().join(format!("countersign-hooks-{user}"));
    state.map(|state| state.join("countersign/hooks")).into_iter().chain([temporary]).collect()
}

/// Whether a folder belongs to this account and is no link.
fn is_own(folder: &Path) -> bool {
    let found = fs::symlink_metadata(folder);
    found.is_ok_and(|found| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw())
}

fn sweep(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else { return };
    let old = |file: &fs::DirEntry| {
        let changed = file.metadata().and_then(|found| found.modified());
        changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > KEPT))
    };
    for file in files.flatten().take(MAX_SWEPT).filter(old) {
        let _ = fs::remove_file(file.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(folder: &Path, was_held: Option<bool>) -> Tries {
        Tries { folders: vec![folder.to_owned()], names: vec!["s".into(), "unknown".into()], was_held }
    }

    #[test]
    fn tries_in_a_row_are_counted_until_the_hook_works_or_the_agent_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("made/when/needed");
        assert_eq!(tries(&folder, Some(false)).one_more(), Some(1));
        assert_eq!(tries(&folder, Some(true)).one_more(), Some(2));
        assert_eq!(tries(&folder, None).one_more(), Some(3));
        assert_eq!(tries(&folder, Some(false)).one_more(), Some(1));
        tries(&folder, Some(true)).over();
        assert_eq!(tries(&folder, None).one_more(), Some(1));
        fs::write(folder.join("s"), "nonsense").unwrap();
        assert_eq!(tries(&folder, None).one_more(), Some(1));
    }

    #[test]
    fn where_nothing_can_be_counted_an_agent_is_held_at_most_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for (was_held, tried) in [(Some(false), Some(1)), (Some(true), None), (None, None)] {
            assert_eq!(tries(&file.join("below"), was_held).one_more(), tried, "{was_held:?}");
        }
    }
}
