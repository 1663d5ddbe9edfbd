//! Compares the files as they are with a base, by git in a room of our own.

use super::parse::{Defect, Parser};
use super::{Change, ChangeLimits, ChangedFile};
use crate::git::{Git, GitError, Snapshot, Unseen, UnseenReason};
use crate::scratch::Scratch;
use crate::workspace::{FolderFiles, Root, require_file};
use countersign_core::digest::{Digest, Parts};
use countersign_core::outcome::{NoVerdict, Outcome};
use std::io;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeWanted {
    /// The commit it is against; none for everything, where there is no commit yet.
    pub base: Option<String>,
    /// Patterns of our own state files, relative to the root: no part of the work.
    pub left_out: Vec<String>,
    pub limits: ChangeLimits,
    /// Whether the files as they are become a tree of the repository, to be committed as they were judged.
    pub keeps_tree: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("nothing has changed since {}", base.as_deref().unwrap_or("the beginning"))]
    Empty { base: Option<String> },
    #[error("more than {0} files have changed")]
    TooManyFiles(usize),
    /// Something is there that cannot be looked at.
    #[error("{0}")]
    Unseen(String),
    #[error(transparent)]
    Git(#[from] GitError),
    /// A folder of ours could not be used.
    #[error("the diff of the change could not be made: {0}")]
    Io(#[from] io::Error),
}

impl ChangeError {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Empty { .. } => Outcome::NoVerdict(NoVerdict::EmptyChange),
            Self::TooManyFiles { .. } | Self::Git(GitError::TooMuchOutput { .. }) => {
                Outcome::NoVerdict(NoVerdict::TooLong)
            }
            Self::Unseen(_) => Outcome::NoVerdict(NoVerdict::Unverified),
            Self::Git(GitError::TimedOut { .. }) => Outcome::NoVerdict(NoVerdict::Timeout),
            Self::Git(_) => Outcome::Usage,
            Self::Io(_) => Outcome::Internal,
        }
    }
}

/// Everything below the root that differs since the base.
pub async fn change(root: &Root, wanted: &ChangeWanted) -> Result<Change, ChangeError> {
    let Compared { files, list, tree } = compare(root, wanted, true).await?;
    if files.is_empty() {
        return Err(ChangeError::Empty { base: wanted.base.clone() });
    }
    Ok(Change { base: wanted.base.clone(), fingerprint: named(wanted, &list), files, tree, seen: vec![] })
}

/// Names the state of the files against the base, as [`Change::fingerprint`] does.
pub async fn fingerprint(root: &Root, wanted: &ChangeWanted) -> Result<Digest, ChangeError> {
    let compared = compare(root, wanted, false).await?;
    Ok(named(wanted, &compared.list))
}

/// Every file below the root that the base does not ignore, or that it or HEAD has; with what cannot be judged, in words.
pub async fn listed(root: &Root, base: Option<&str>) -> Result<FolderFiles, ChangeError> {
    let folder = Scratch::shielded("change")?;
    let snapshot = Git::at(root.path()).snapshot(base, folder.path()).await?;
    let mut found = FolderFiles::default();
    for (name, is_link) in snapshot.files() {
        let shown = || countersign_core::text::visible_line(&String::from_utf8_lossy(name)).into_owned();
        if name.starts_with(b".") || name.windows(2).any(|pair| pair == b"/.") {
            // Hidden files are no part of the project as a whole; of a change they are.
            continue;
        }
        match std::str::from_utf8(name) {
            Err(_) => found.left_out.push(format!("`{}` is not judged: its name is not UTF-8", shown())),
            Ok(path) if is_link => match require_file(root, path) {
                Ok(()) => found.files.push(path.to_owned()),
                Err(problem) => found.left_out.push(problem.to_string()),
            },
            Ok(path) => found.files.push(path.to_owned()),
        }
    }
    found.left_out.extend(snapshot.unseen.iter().map(|place| unseen_words(&snapshot, place)));
    Ok(found)
}

fn named(wanted: &ChangeWanted, list: &Digest) -> Digest {
    Parts::new("fingerprint/1").maybe(wanted.base.as_deref()).text(list.as_str()).digest()
}

struct Compared {
    files: Vec<ChangedFile>,
    list: Digest,
    tree: Option<String>,
}

async fn compare(root: &Root, wanted: &ChangeWanted, patches: bool) -> Result<Compared, ChangeError> {
    let folder = Scratch::shielded("change")?;
    let paths = paths(wanted);
    let snapshot = Git::at(root.path()).snapshot(wanted.base.as_deref(), folder.path()).await?;
    if let Some(place) = snapshot.unseen.first() {
        return Err(ChangeError::Unseen(unseen_words(&snapshot, place)));
    }
    let mut parser = Parser::new(wanted.limits);
    let writes = wanted.keeps_tree && patches;
    if snapshot.is_unchanged() && !writes {
        let (files, list) = parser.finish(patches).map_err(|defect| defective(defect, wanted))?;
        return Ok(Compared { files, list, tree: None });
    }
    let compared = snapshot.compare(folder.path()).await?;
    let mut args: Vec<String> = COMPARE.split_whitespace().map(str::to_owned).collect();
    args.extend(patches.then(|| "-p".to_owned()));
    args.extend([compared.old.clone(), "--".to_owned()]);
    args.extend(paths.iter().cloned());
    let mut defect = None;
    let streamed = compared
        .git
        .stream(args, wanted.limits.diff_bytes_max, |piece| {
            parser.feed(piece).map_err(|found| {
                defect = Some(found);
                GitError::unexpected("diff-index", "")
            })
        })
        .await;
    match defect {
        Some(defect) => return Err(defective(defect, wanted)),
        None => streamed?,
    };
    let (files, list) = parser.finish(patches).map_err(|defect| defective(defect, wanted))?;
    let tree = match writes {
        true => Some(snapshot.write_tree(&compared, &paths).await?),
        false => None,
    };
    compared.require_untouched()?;
    Ok(Compared { files, list, tree })
}

/// Why a place cannot be judged.
fn unseen_words(snapshot: &Snapshot, place: &Unseen) -> String {
    let path = String::from_utf8_lossy(snapshot.relative(&place.path)).into_owned();
    let path = countersign_core::text::visible_line(&path).into_owned();
    match &place.why {
        UnseenReason::Unreadable(why) => format!("`{path}` cannot be read: {why}"),
        UnseenReason::Special => format!("`{path}` is not a file: it is a pipe, a socket or a device"),
        UnseenReason::OtherCommit(commit) => {
            format!(
                "the submodule `{path}` has commit {commit} checked out, whose files are other than those on disk"
            )
        }
    }
}

/// Neither settings nor attributes decide what a reviewer sees. `--text` because an attribute can call any file binary;
/// `parse` finds out itself.
const COMPARE: &str = "-c diff.suppressBlankEmpty=false diff-index --cached -r --raw -z --relative \
    --find-renames=50% -l1000 --full-index --text --unified=3 --diff-algorithm=myers --submodule=short \
    --ignore-submodules=none --no-ext-diff --no-textconv --no-color";

fn paths(wanted: &ChangeWanted) -> Vec<String> {
    let left_out = wanted.left_out.iter().map(|pattern| format!(":(exclude,glob){}", as_pattern(pattern)));
    [".".to_owned()].into_iter().chain(left_out).collect()
}

/// The pattern without a literal beginning: git refuses an ignored path that is named literally, also to leave it out.
fn as_pattern(pattern: &str) -> String {
    match pattern.chars().next() {
        Some(first) if first.is_ascii_alphanumeric() || matches!(first, '.' | '_') => {
            format!("[{first}]{}", &pattern[1..])
        }
        _ => pattern.to_owned(),
    }
}

fn defective(defect: Defect, wanted: &ChangeWanted) -> ChangeError {
    match defect {
        Defect::TooManyFiles => ChangeError::TooManyFiles(wanted.limits.files_max),
        Defect::Unexpected(words) => {
            let words = countersign_core::text::visible_line(&words).into_owned();
            GitError::unexpected("diff-index", words).into()
        }
    }
}
