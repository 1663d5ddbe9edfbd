//! Compares the files as they are with a base by git, on a copy of the index.

use super::parse::{Defect, Parser};
use super::{Change, ChangeLimits, ChangedFile};
use crate::git::{Git, GitError};
use crate::private;
use crate::scratch::Scratch;
use crate::workspace::Root;
use countersign_core::digest::{Digest, Parts};
use countersign_core::outcome::{NoVerdict, Outcome};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

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
            Self::Git(GitError::TimedOut { .. }) => Outcome::NoVerdict(NoVerdict::Timeout),
            Self::Git(_) => Outcome::Usage,
            Self::Io(_) => Outcome::Internal,
        }
    }
}

/// Everything below the root that differs since the base. Two processes, and two more where the tree is kept.
pub async fn change(root: &Root, wanted: &ChangeWanted) -> Result<Change, ChangeError> {
    let Compared { files, list, tree } = compare(root, wanted, true).await?;
    if files.is_empty() {
        return Err(ChangeError::Empty { base: wanted.base.clone() });
    }
    Ok(Change { base: wanted.base.clone(), fingerprint: named(wanted, &list), files, tree, seen: vec![] })
}

/// Names the state of the files against the base, as [`Change::fingerprint`] does. Two processes.
pub async fn fingerprint(root: &Root, wanted: &ChangeWanted) -> Result<Digest, ChangeError> {
    let compared = compare(root, wanted, false).await?;
    Ok(named(wanted, &compared.list))
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
    let git = Git::at(root.path());
    let places = git.places().await?;
    let folder = Scratch::new("change")?;
    let (index, objects) = (folder.path().join("index"), folder.path().join("objects"));
    private::make_folder(&objects)?;
    let (from, to) = (places.index.clone(), index.clone());
    tokio::task::spawn_blocking(move || copy_index(&from, &to)).await.map_err(io::Error::other)??;
    let mut git = git.with("GIT_INDEX_FILE", index);
    if !(wanted.keeps_tree && patches) {
        // New contents go to a folder of ours, and the repository's are read from where they are.
        git = git
            .with("GIT_OBJECT_DIRECTORY", objects)
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&places.objects));
    }
    git.run(ADD.split_whitespace().map(str::to_owned).chain(paths(wanted))).await?;
    let base = match &wanted.base {
        Some(base) => base.clone(),
        None => git.empty_tree().await?,
    };
    let mut args: Vec<String> = COMPARE.split_whitespace().map(str::to_owned).collect();
    args.extend(patches.then(|| "-p".to_owned()));
    args.extend([base.clone(), "--".to_owned()]);
    args.extend(paths(wanted));
    let mut parser = Parser::new(wanted.limits);
    let mut defect = None;
    let streamed = git
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
    let tree = match wanted.keeps_tree && patches {
        true => {
            if !wanted.left_out.is_empty() {
                // What is left out is not shown, so it is not committed either, even if it is in the index.
                let left_out = wanted.left_out.iter().map(|pattern| format!(":(glob){pattern}"));
                let reset = ["reset", "-q", &base, "--"].map(str::to_owned);
                git.run(reset.into_iter().chain(left_out)).await?;
            }
            Some(git.text(["write-tree"]).await?)
        }
        false => None,
    };
    Ok(Compared { files, list, tree })
}

/// Copies the index with its time. Git reads a file again if it is not older than the index, because it may have been
/// written in the same moment; a newer copy of the index would hide such a file.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = match File::open(from) {
        Ok(file) => file,
        // Before anything was added there is none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let written = from.metadata()?.modified()?;
    let mut to = private::make_file(to)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(written)
}

/// Brings the copy of the index up to date, as a commit of everything would.
const ADD: &str = "-c core.trustctime=true -c core.checkStat=default -c core.safecrlf=false \
    -c core.splitIndex=false -c core.untrackedCache=false -c core.looseCompression=0 -c index.threads=1 \
    -c diff.ignoreSubmodules=none add -A --";

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

/// A path in a list of paths: one with a colon or a quote in it is read as a quoted one.
fn quoted(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\')) {
        return path.as_os_str().to_owned();
    }
    let mut out = vec![b'"'];
    for byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
    OsString::from_vec(out)
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
