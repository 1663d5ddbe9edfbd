//! Changes of real repositories, in every state a repository can be in.

mod hostile;
mod kept;
mod matrix;
mod reading;
mod untouched;

use countersign_core::digest::Digest;
use countersign_engine::workspace::{self, Change, ChangeError, ChangeWanted, Root};
use countersign_testkit::Repository;
use std::path::Path;

fn wanted(base: Option<&str>) -> ChangeWanted {
    ChangeWanted { base: base.map(str::to_owned), ..ChangeWanted::default() }
}

/// The change since a commit, seen twice: it has to be the same, and its fingerprint without patches too.
async fn seen(root: &Path, wanted: &ChangeWanted) -> Change {
    let root = Root::new(root).unwrap();
    let change = workspace::change(&root, wanted).await.unwrap();
    assert_eq!(workspace::change(&root, wanted).await.unwrap(), change);
    assert_eq!(workspace::fingerprint(&root, wanted).await.unwrap(), change.fingerprint);
    change
}

async fn since(repository: &Repository, base: &str) -> Change {
    seen(repository.root(), &wanted(Some(base))).await
}

async fn fingerprint(repository: &Repository, base: &str) -> Digest {
    workspace::fingerprint(&Root::new(repository.root()).unwrap(), &wanted(Some(base))).await.unwrap()
}

async fn refused(repository: &Repository, wanted: &ChangeWanted) -> ChangeError {
    workspace::change(&Root::new(repository.root()).unwrap(), wanted).await.unwrap_err()
}

/// Paths with what became of them.
fn told(change: &Change) -> Vec<String> {
    let line = |file: &workspace::ChangedFile| {
        let from = file.old_path.as_deref().map(|old| format!(" from {old}")).unwrap_or_default();
        format!("{} {}{from} +{} -{}", file.kind.word(), file.path, file.added, file.removed)
    };
    change.files.iter().map(line).collect()
}

/// The patch of a file.
fn patch<'a>(change: &'a Change, path: &str) -> &'a str {
    &change.files.iter().find(|file| file.path == path).unwrap().patch
}
