//! Compares the files as they are with a base, by git in a room of our own.

use super::gate_files::linked;
use super::parse::{Defect, Parser};
use super::{Change, ChangeLimits, ChangedFile, FileKind, Shape};
use crate::git::{self, Git, GitError, Kept, Snapshot, Unseen, UnseenReason};
use crate::scratch::Scratch;
use crate::workspace::path::is_folder_of;
use crate::workspace::{FolderFiles, Root};
use countersign_core::digest::{Digest, Parts};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::submission::Content;
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
    /// The commit after which HEAD is looked at: what it has otherwise than the files is named. None for not at all.
    pub since: Option<String>,
    /// What an earlier look found. Without it every file is read.
    pub kept: Option<Kept>,
}

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("nothing has changed since {}{}", base.as_deref().unwrap_or("the beginning"), in_head_words(other_in_head))]
    Empty { base: Option<String>, other_in_head: Vec<String> },
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
    /// Whether nothing has changed on disk, but HEAD has other contents.
    pub fn is_other_in_head(&self) -> bool {
        matches!(self, Self::Empty { other_in_head, .. } if !other_in_head.is_empty())
    }

    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Empty { .. } => Outcome::NoVerdict(NoVerdict::EmptyChange),
            Self::TooManyFiles { .. } | Self::Git(GitError::TooMuchOutput { .. }) => {
                Outcome::NoVerdict(NoVerdict::TooLong)
            }
            Self::Unseen(_) => Outcome::NoVerdict(NoVerdict::NotSeen),
            Self::Git(GitError::TimedOut { .. }) => Outcome::NoVerdict(NoVerdict::Timeout),
            Self::Git(_) => Outcome::Usage,
            Self::Io(_) => Outcome::Internal,
        }
    }
}

/// Everything below the root that differs since the base.
pub async fn change(root: &Root, wanted: &ChangeWanted) -> Result<Change, ChangeError> {
    let Compared { files, list, tree, other_in_head } = compare(root, wanted, true).await?;
    if files.is_empty() {
        return Err(ChangeError::Empty { base: wanted.base.clone(), other_in_head });
    }
    let (base, fingerprint, linked) = (wanted.base.clone(), named(wanted, &list), linked(root.path()));
    Ok(Change { base, fingerprint, files, tree, other_in_head, seen: vec![], linked })
}

/// Names the state of the files against the base, as [`Change::fingerprint`] does.
pub async fn fingerprint(root: &Root, wanted: &ChangeWanted) -> Result<Digest, ChangeError> {
    let compared = compare(root, wanted, false).await?;
    Ok(named(wanted, &compared.list))
}

/// Every file below the root that the base does not ignore, or that it or HEAD has.
pub async fn listed(root: &Root, base: Option<&str>) -> Result<FolderFiles, ChangeError> {
    let folder = Scratch::shielded("change")?;
    let snapshot = Git::at(root.path()).snapshot(base, folder.path(), None).await?;
    if let Some(place) = snapshot.unseen.iter().find(|place| is_folder(place)) {
        return Err(ChangeError::Unseen(unseen_words(&snapshot, place)));
    }
    let unseen = snapshot.unseen.iter().map(|place| (snapshot.relative(&place.path), false));
    let mut found = FolderFiles::default();
    for (name, is_link) in snapshot.files().chain(unseen) {
        if name.starts_with(b".") || name.windows(2).any(|pair| pair == b"/.") {
            // Hidden files are no part of the project as a whole; of a change they are.
            continue;
        }
        match std::str::from_utf8(name) {
            Err(_) => {
                let name = String::from_utf8_lossy(name);
                found.unnamed.push(countersign_core::text::visible_line(&name).into_owned());
            }
            Ok(path) if is_link && is_folder_of(root, &root.join(path)) => {}
            Ok(path) => found.files.push(path.to_owned()),
        }
    }
    found.files.sort();
    found.files.dedup();
    Ok(found)
}

fn named(wanted: &ChangeWanted, list: &Digest) -> Digest {
    Parts::new("fingerprint/1").maybe(wanted.base.as_deref()).text(list.as_str()).digest()
}

struct Compared {
    files: Vec<ChangedFile>,
    list: Digest,
    tree: Option<String>,
    other_in_head: Vec<String>,
}

async fn compare(root: &Root, wanted: &ChangeWanted, patches: bool) -> Result<Compared, ChangeError> {
    let folder = Scratch::shielded("change")?;
    let paths = paths(wanted);
    let (git, kept) = (Git::at(root.path()), wanted.kept.as_ref());
    let snapshot = git.snapshot(wanted.base.as_deref(), folder.path(), kept).await?;
    // Nobody knows which files a folder has that cannot be read.
    let is_folder =
        |place: &&Unseen| place.path.ends_with(b"/") || matches!(place.why, UnseenReason::OtherCommit(_));
    if let Some(place) = snapshot.unseen.iter().find(is_folder) {
        return Err(ChangeError::Unseen(unseen_words(&snapshot, place)));
    }
    let unseen = |places: &[Unseen]| places.iter().map(|place| unseen_file(&snapshot, place)).collect();
    let mut parser = Parser::new(wanted.limits);
    let writes = wanted.keeps_tree && patches;
    if snapshot.is_unchanged() && !writes {
        let (files, list) = parser.finish(patches).map_err(|defect| defective(defect, wanted))?;
        let other_in_head = other_in_head(&snapshot, wanted, None).await?;
        return Ok(Compared { files, list, tree: None, other_in_head }.and(unseen(&snapshot.unseen)));
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
    let (mut files, list) = parser.finish(patches).map_err(|defect| defective(defect, wanted))?;
    for file in &mut files {
        show_wide_text(file, &compared.git, wanted.limits).await?;
    }
    let tree = match writes {
        true => Some(snapshot.write_tree(&compared, &paths).await?),
        false => None,
    };
    compared.require_untouched()?;
    let other_in_head = other_in_head(&snapshot, wanted, Some(&compared)).await?;
    Ok(Compared { files, list, tree, other_in_head }.and(unseen(&compared.unseen)))
}

/// What HEAD has otherwise, where that is wanted.
async fn other_in_head(
    snapshot: &Snapshot,
    wanted: &ChangeWanted,
    compared: Option<&git::Compared>,
) -> Result<Vec<String>, ChangeError> {
    let Some(since) = &wanted.since else { return Ok(vec![]) };
    let paths = snapshot.other_in_head(since, compared).await?;
    Ok(paths.iter().map(|path| String::from_utf8_lossy(snapshot.relative(path)).into_owned()).collect())
}

/// That HEAD has other files, where it does.
fn in_head_words(files: &[String]) -> String {
    let Some(first) = files.first() else { return String::new() };
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    let first = countersign_core::text::visible_line(first);
    format!(" on disk, but HEAD has other contents of `{first}`{more}, which are not judged")
}

impl Compared {
    /// With places that are there and cannot be looked at.
    fn and(mut self, unseen: Vec<ChangedFile>) -> Self {
        if !unseen.is_empty() {
            let mut parts = Parts::new("change/unseen/1");
            parts.text(self.list.as_str()).count(unseen.len());
            for file in &unseen {
                parts.text(file.digest.as_str());
            }
            self.list = parts.digest();
            self.files.extend(unseen);
            self.files.sort_by(|one, other| one.path.cmp(&other.path));
        }
        self
    }
}

fn unseen_file(snapshot: &Snapshot, place: &Unseen) -> ChangedFile {
    let name = snapshot.relative(&place.path);
    let why = unseen_reason(&place.why);
    let path = String::from_utf8_lossy(name).into_owned();
    let patch = format!("[{why}]\n");
    ChangedFile {
        is_named_exactly: std::str::from_utf8(name).is_ok(),
        old_path: None,
        kind: if snapshot.has(&place.path) { FileKind::Modified } else { FileKind::Added },
        shape: Shape::Nothing,
        is_cut: false,
        is_binary: false,
        content: Content::Unreadable(why.clone()),
        wide: None,
        patch_bytes: patch.len() as u64,
        patch,
        digest: Parts::new("unseen-file/1").bytes(name).text(&why).digest(),
        added: 0,
        removed: 0,
        path,
    }
}

/// A file in UTF-16 is shown as text, as it is now.
async fn show_wide_text(file: &mut ChangedFile, git: &Git, limits: ChangeLimits) -> Result<(), ChangeError> {
    let Some(id) = file.wide.take() else { return Ok(()) };
    let mut bytes = vec![];
    let keep = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    git.stream(["cat-file", "blob", &id], limits.diff_bytes_max, keep).await?;
    let Some(text) = countersign_core::text::decode(bytes) else { return Ok(()) };
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    let head = file.patch.trim_end_matches("[binary: contents not shown]\n");
    let mut patch = format!("{head}[UTF-16, shown as text as it is now]\n@@ -0,0 +1,{} @@\n", lines.len());
    let whole: usize = lines.iter().map(|line| line.len() + 2).sum();
    for line in &lines {
        if patch.len() + line.len() + 2 > limits.patch_bytes_max {
            patch.push_str(&format!("[diff cut: {} of {whole} bytes shown]\n", patch.len()));
            file.is_cut = true;
            break;
        }
        patch.extend(["+", line, "\n"]);
    }
    file.patch_bytes = whole as u64;
    (file.added, file.removed) = (lines.len() as u64, 0);
    file.content = if file.is_cut { Content::Cut } else { Content::Text };
    (file.is_binary, file.patch) = (false, patch);
    Ok(())
}

/// Nobody knows which files a folder has that cannot be read.
fn is_folder(place: &Unseen) -> bool {
    place.path.ends_with(b"/") || matches!(place.why, UnseenReason::OtherCommit(_))
}

/// Why a place cannot be judged.
fn unseen_words(snapshot: &Snapshot, place: &Unseen) -> String {
    let path = String::from_utf8_lossy(snapshot.relative(&place.path)).into_owned();
    let path = countersign_core::text::visible_line(&path).into_owned();
    match &place.why {
        UnseenReason::OtherCommit(_) => format!("the submodule `{path}` {}", unseen_reason(&place.why)),
        why => format!("`{path}` is not judged: {}", unseen_reason(why)),
    }
}

fn unseen_reason(why: &UnseenReason) -> String {
    match why {
        UnseenReason::Unreadable(why) => format!("it cannot be read: {why}"),
        UnseenReason::Special => "it is not a file, but a pipe, a socket or a device".to_owned(),
        UnseenReason::Name => "git does not accept a file of this name".to_owned(),
        UnseenReason::OtherCommit(commit) => {
            format!("has commit {commit} checked out, whose files are other than those on disk")
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
