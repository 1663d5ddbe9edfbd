//! Looking at a change leaves everything of the user's as it was.

use super::{fingerprint, since};
use countersign_testkit::Repository;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every file below a folder, with its bytes.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(everything(&path));
        } else {
            all.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    all
}

#[tokio::test]
async fn index_objects_and_files_stay_byte_for_byte() {
    let repository = Repository::new();
    repository.write("a.md", "1\n").write("b.md", "1\n");
    let base = repository.commit("first");
    repository.write("a.md", "2\n").git(["add", "a.md"]);
    repository.write("a.md", "3\n").write("new.md", "x\n").remove("b.md");
    repository.git(["add", "--intent-to-add", "new.md"]);
    let status = repository.git(["status", "--porcelain=v2"]);
    let before = everything(repository.root());
    let change = since(&repository, &base).await;
    assert_eq!(change.files.len(), 3);
    assert!(super::patch(&change, "a.md").ends_with("-1\n+3\n"));
    assert_eq!(everything(repository.root()), before);
    assert_eq!(repository.git(["status", "--porcelain=v2"]), status);
}

#[tokio::test]
async fn a_fingerprint_names_the_state_and_not_how_it_came_about() {
    let repository = Repository::new();
    let base = repository.write("a.md", "1\n").commit("first");
    repository.write("a.md", "2\n").write("b.md", "x\n");
    let unstaged = fingerprint(&repository, &base).await;
    repository.git(["add", "-A"]);
    assert_eq!(fingerprint(&repository, &base).await, unstaged);
    let second = repository.commit("second");
    assert_eq!(fingerprint(&repository, &base).await, unstaged);
    assert_ne!(fingerprint(&repository, &second).await, unstaged, "against another base");
    repository.write("b.md", "y\n");
    assert_ne!(fingerprint(&repository, &base).await, unstaged);
}

#[tokio::test]
async fn an_edit_in_the_same_moment_as_the_commit_is_seen() {
    // Same size, and mostly the same time as the index has for it.
    let repository = Repository::new();
    for n in 0..20 {
        let base = repository.write("a.md", format!("{n:04}\n")).commit("committed");
        repository.write("a.md", "edit\n");
        assert_eq!(super::told(&since(&repository, &base).await), ["modified a.md +1 -1"], "{n}");
    }
}

/// Git takes a path that is left out for one that is wanted, and refuses what is ignored.
#[tokio::test]
async fn what_is_left_out_may_be_ignored_too() {
    let repository = Repository::new();
    let base = repository.write(".gitignore", ".countersign/\nspec/.state\n").commit("first");
    repository.write(".countersign/ledger", "x").write("spec/.state", "y").write("spec/tasks.md", "t");
    repository.write("a.md", "1\n").write("deep/spec/tasks.md", "work\n");
    let left_out =
        [".countersign/**", "spec/.state", "spec/tasks.md", "_x", "-y"].map(str::to_owned).to_vec();
    let wanted = countersign_engine::workspace::ChangeWanted { left_out, ..super::wanted(Some(&base)) };
    let change = super::seen(repository.root(), &wanted).await;
    let paths: Vec<_> = change.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a.md", "deep/spec/tasks.md"]);
}
