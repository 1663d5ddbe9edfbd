//! Attacks on what hooks keep between calls: the list of files that need not be read again.

use crate::kit::{Case, held};
use countersign_engine::git::Kept;
use countersign_engine::ledger::Ledger;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const FILES: usize = 120;
/// As long as the bad text.
const GOOD: &str = "fine\n";
const BAD: &str = "BAD!\n";

/// A trusted project without changes, where hooks have been called until they read no file any more.
fn settled() -> Case {
    let case = Case::untrusted();
    for n in 0..FILES {
        case.project.write(&format!("docs/page-{n}.txt"), "text\n");
    }
    case.project.write("b.md", GOOD);
    case.repository.commit("pages");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    let file = case.project.path("b.md");
    loop {
        let ran = case.hook();
        assert!(ran.stdout.is_empty(), "{ran:?}");
        if !Kept::works_in(&case.root()) || at(&fs::read(list(&case)).unwrap(), &state(&file)).is_some() {
            return case;
        }
    }
}

/// The file that is kept.
fn list(case: &Case) -> PathBuf {
    let folder = fs::read_dir(case.project.ledger_path("room")).unwrap();
    let files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

/// How a list has the state of a file.
fn state(path: &Path) -> Vec<u8> {
    let found = fs::symlink_metadata(path).unwrap();
    let ns = |seconds: i64, rest: i64| (seconds * 1_000_000_000 + rest).cast_unsigned();
    let (edited, changed) = (ns(found.mtime(), found.mtime_nsec()), ns(found.ctime(), found.ctime_nsec()));
    let numbers = [found.dev(), found.ino(), found.size(), found.mode().into(), edited, changed];
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn at(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn events(case: &Case) -> u64 {
    let read = async {
        let ledger = Ledger::open_existing(&case.project.ledger_dir()).await.unwrap().unwrap();
        ledger.last_seq().await.unwrap()
    };
    tokio::runtime::Runtime::new().unwrap().block_on(read)
}

#[test]
fn attack_18_a_forged_list_hides_nothing_from_a_hook() {
    let case = settled();
    let file = case.project.path("b.md");
    let (old, time) = (state(&file), fs::metadata(&file).unwrap().modified().unwrap());
    case.project.write("b.md", BAD);
    File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    let mut bytes = fs::read(list(&case)).unwrap();
    if let Some(at) = at(&bytes, &old) {
        bytes[at..at + old.len()].copy_from_slice(&state(&file));
    }
    fs::write(list(&case), bytes).unwrap();
    held(&case.hook());
}

#[test]
fn attack_18_a_file_with_its_times_put_back_is_seen_by_a_hook() {
    let case = settled();
    let file = case.project.path("b.md");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    let other = case.project.path("b.other");
    fs::write(&other, BAD).unwrap();
    File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
    fs::rename(other, &file).unwrap();
    held(&case.hook());
}

#[test]
fn issue_18_a_git_that_is_too_old_is_named_with_the_version_wanted() {
    let case = Case::new();
    let old = tempfile::tempdir().unwrap();
    let git = old.path().join("git");
    let script =
        "#!/bin/sh\ncase \"$*\" in *--version) echo 'git version 2.30.2';; *) exec git \"$@\";; esac\n";
    fs::write(&git, script).unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    case.project.write(".gitattributes", "*.md -diff\n");
    let ran = case.gate_with(&[], |command| {
        command.env("COUNTERSIGN_TEST_GIT", &git);
    });
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("git 2.43 or newer is needed") && ran.stderr.contains("2.30.2"), "{ran:?}");
}

#[test]
fn issue_18_hooks_without_changes_add_nothing_to_the_ledger() {
    let case = settled();
    // Outside of the known file systems no list has states, and it is written once all the same.
    let before = events(&case);
    for _ in 0..3 {
        assert!(case.hook().stdout.is_empty());
    }
    assert_eq!(events(&case), before);
    // In CI nothing is kept.
    fs::remove_file(list(&case)).unwrap();
    let in_ci = case.hook_with(|command| {
        command.env("CI", "true");
    });
    assert!(in_ci.stdout.is_empty(), "{in_ci:?}");
    assert_eq!(fs::read_dir(case.project.ledger_path("room")).unwrap().count(), 0);
}
