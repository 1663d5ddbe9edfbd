//! Finds the project of a hook by its files, also where they are invalid.

use crate::init::agents::names_hook;
use countersign_doors::service::hook::input::Stopping;
use countersign_engine::config::FILE_NAME;
use countersign_engine::programs::Hook;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Signs of a project: a repository, a configuration, or our own state.
const SIGNS: [&str; 3] = [".git", FILE_NAME, ".countersign"];

/// The folder of the project: of the session, wherever the agent changed to, else of the program itself. None where
/// none of these folders is in a project.
pub fn place(hook: Hook, stopping: Option<&Stopping>) -> Option<PathBuf> {
    let named = hook.project_variable.and_then(std::env::var_os).map(PathBuf::from);
    let folder = stopping.map(|stopping| stopping.folder.clone());
    let own = std::env::current_dir().ok();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut places = [named, folder, own].into_iter().flatten().filter(|place| place.is_absolute());
    places.find(|place| is_guarded(place, home.as_deref()))
}

/// Whether a folder or one above it has a sign of a project or an installed hook.
fn is_guarded(folder: &Path, home: Option<&Path>) -> bool {
    folder.ancestors().any(|folder| {
        let sign = SIGNS.iter().any(|sign| may_be_there(&folder.join(sign)));
        // Settings in the home folder are for all folders, and no sign of one project.
        sign || (Some(folder) != home && names_hook(folder))
    })
}

/// Whether a path exists, or may exist where permissions hide it.
fn may_be_there(path: &Path) -> bool {
    match std::fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_what_lies_there_however_broken_it_is() {
        let outer = tempfile::tempdir().unwrap();
        let home = outer.path().join("home");
        let of = |name: &str, lay: &dyn Fn(&Path)| {
            let folder = home.join(name);
            std::fs::create_dir_all(&folder).unwrap();
            lay(&folder);
            is_guarded(&folder.join("deep/and/gone"), Some(&home))
        };
        let settings = |text: &'static str| {
            move |folder: &Path| {
                std::fs::create_dir_all(folder.join(".claude")).unwrap();
                std::fs::write(folder.join(".claude/settings.json"), text).unwrap();
            }
        };
        settings(r#"{"command": "countersign hook claude"}"#)(&home);
        assert!(!of("nothing", &|_| {}), "what is the user's own is no sign of a project");
        assert!(of("folder", &|folder| std::fs::create_dir_all(folder.join(".git")).unwrap()));
        assert!(of("file", &|folder| std::fs::write(folder.join(".git"), "gitdir: /nowhere\n").unwrap()));
        assert!(of("link", &|folder| std::os::unix::fs::symlink("/nowhere", folder.join(FILE_NAME)).unwrap()));
        assert!(of("state", &|folder| std::fs::create_dir_all(folder.join(".countersign")).unwrap()));
        assert!(of("hook", &settings(r#"{"command": "/opt/countersign hook claude"}"#)));
        assert!(of("broken", &settings(r#"{{{ countersign hook claude"#)));
        assert!(!of("other", &settings(r#"{"hooks": {}}"#)));
    }
}
