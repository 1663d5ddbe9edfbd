//! Objects of a repository, each compared with its id. Git does not do that when it reads: whoever writes into the folder of
//! a repository can give an object other contents under the same id.

use super::run::{end, tail};
use super::{Git, GitError, Result};
use sha1::Digest as _;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

const COMMAND: &str = "cat-file";
pub(super) const SHA1_LETTERS: usize = 40;
/// The longest object that is read into memory.
const OBJECT_BYTES_MAX: u64 = 64 * 1024 * 1024;
const BUFFER_BYTES: usize = 128 * 1024;
const ID_BYTES_MAX: usize = 32;
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// An object whose contents are what its id says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) bytes: Vec<u8>,
}

impl Object {
    /// Whether it is this tree, or a commit with it.
    pub(super) fn has_tree(&self, tree: &Self) -> bool {
        match self.kind.as_str() {
            "tree" => self.id == tree.id,
            "commit" => self.tree() == Some(tree.id.as_str()),
            _ => false,
        }
    }

    /// The tree that a commit names in its first line.
    fn tree(&self) -> Option<&str> {
        let line = self.bytes.split(|byte| *byte == b'\n').next()?;
        std::str::from_utf8(line).ok()?.strip_prefix("tree ")
    }

    /// The entries of a tree.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        entries(&self.bytes, self.id.len())
    }
}

/// One entry of a tree.
pub(super) struct Entry<'a> {
    pub(super) mode: &'a str,
    pub(super) name: &'a [u8],
    raw: &'a [u8],
}

impl Entry<'_> {
    pub(super) fn id(&self) -> String {
        hex(self.raw)
    }

    pub(super) fn raw_id(&self) -> Option<Id> {
        Id::from_bytes(self.raw)
    }
}

/// The id of an object in bytes: of a large repository there are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    bytes: [u8; ID_BYTES_MAX],
    length: usize,
}

impl Id {
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut id = Self { bytes: [0; ID_BYTES_MAX], length: bytes.len() };
        id.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(id)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// How many letters it has as a text.
    pub(super) fn letters(&self) -> usize {
        self.length * 2
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(self.as_bytes()))
    }
}

/// A process that is started when the first object is asked for.
pub(super) struct LazyObjects {
    git: Git,
    open: Option<Objects>,
}

impl LazyObjects {
    pub(super) fn of(git: &Git) -> Self {
        Self { git: git.clone(), open: None }
    }

    pub(super) fn get(&mut self) -> Result<&mut Objects> {
        match &mut self.open {
            Some(objects) => Ok(objects),
            open => Ok(open.insert(self.git.objects()?)),
        }
    }
}

/// One process that reads objects as they are asked for.
pub(super) struct Objects {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    git: Git,
}

impl Git {
    pub(super) fn objects(&self) -> Result<Objects> {
        let git = self.clone().with_input([]);
        let mut child = git.start(&[COMMAND.into(), "--batch".into()]).map_err(GitError::NotStarted)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Objects {
                child,
                stdin,
                stdout: BufReader::with_capacity(BUFFER_BYTES, stdout),
                git: self.clone(),
            }),
            _ => Err(GitError::unexpected(COMMAND, "it has no output")),
        }
    }
}

impl Objects {
    /// The objects of these names, each compared with its id; none where a name stands for none.
    pub(super) async fn get(&mut self, names: &[String]) -> Result<Vec<Option<Object>>> {
        let mut all = Vec::with_capacity(names.len());
        self.each(names, |object| {
            all.push(object);
            Ok(())
        })
        .await?;
        Ok(all)
    }

    /// The same for one name.
    pub(super) async fn one(&mut self, name: &str) -> Result<Option<Object>> {
        Ok(self.get(&[name.to_owned()]).await?.pop().flatten())
    }

    /// Hands over one object after the other, so that only one is in memory.
    pub(super) async fn each(
        &mut self,
        names: &[String],
        mut take: impl FnMut(Option<Object>) -> Result<()>,
    ) -> Result<()> {
        let mut open: Option<Object> = None;
        let collect = |part: Part<'_>| match part {
            Part::Missing => take(None),
            Part::Begin { size, .. } if size > OBJECT_BYTES_MAX => {
                Err(GitError::TooMuchOutput { command: COMMAND.to_owned(), limit_bytes: OBJECT_BYTES_MAX })
            }
            Part::Begin { id, kind, .. } => {
                open = Some(Object { id: id.to_owned(), kind: kind.to_owned(), bytes: vec![] });
                Ok(())
            }
            Part::Bytes(bytes) => {
                open.iter_mut().for_each(|object| object.bytes.extend_from_slice(bytes));
                Ok(())
            }
            Part::End => take(open.take()),
        };
        self.stream(names, collect).await
    }

    /// Hands over the objects piece by piece. The last piece comes after the contents were compared with the id.
    pub(super) async fn stream(
        &mut self,
        names: &[String],
        take: impl FnMut(Part<'_>) -> Result<()>,
    ) -> Result<()> {
        if names.iter().any(|name| name.contains('\n')) {
            return Err(GitError::unexpected(COMMAND, "a name has a line break"));
        }
        let (stdin, stdout) = (&mut self.stdin, &mut self.stdout);
        let ask = async {
            let input = names.iter().fold(String::new(), |text, name| text + name + "\n");
            // A process that is gone shows in what is read.
            let _ = stdin.write_all(input.as_bytes()).await;
            let _ = stdin.flush().await;
        };
        let is_cut = AtomicBool::new(false);
        let both = async { tokio::join!(ask, read(stdout, names, take, &is_cut)).1 };
        match self.git.in_time(COMMAND, &mut self.child, both).await {
            Err(error) if is_cut.load(Ordering::Relaxed) => Err(self.reason(error).await),
            done => done,
        }
    }

    /// What git says about an answer that is missing; the error itself where it says nothing.
    async fn reason(&mut self, error: GitError) -> GitError {
        let Some(stderr) = self.child.stderr.take() else { return error };
        end(&mut self.child).await;
        match tail(stderr).await {
            words if words.trim_ascii().is_empty() => error,
            words => GitError::failed(COMMAND, None, &words),
        }
    }

    /// Compares objects with their ids; all have to be there.
    pub(super) async fn check(&mut self, ids: &[String]) -> Result<()> {
        let mut wanted = ids.iter();
        self.stream(ids, |part| {
            let is_wanted = match part {
                Part::Bytes(_) | Part::End => true,
                Part::Missing => false,
                Part::Begin { id, .. } => wanted.next().is_some_and(|wanted| wanted == id),
            };
            if is_wanted { Ok(()) } else { Err(missing(ids.first().map_or("", String::as_str))) }
        })
        .await
    }

    /// A file of a tree, by the names on its path: its mode and object. None where it is not there.
    pub(super) async fn at(&mut self, root: &Object, path: &[&[u8]]) -> Result<Option<(String, Object)>> {
        let mut steps: VecDeque<&[u8]> = path.iter().copied().collect();
        let mut folder = root.clone();
        while let Some(name) = steps.pop_front() {
            if folder.kind != "tree" {
                return Ok(None);
            }
            let found = folder.entries().find(|entry| entry.name == name);
            let Some((mode, id)) = found.map(|entry| (entry.mode.to_owned(), entry.id())) else {
                return Ok(None);
            };
            if mode == SUBMODULE {
                return Ok(None);
            }
            let object = self.one(&id).await?;
            let object = object.filter(|object| object.id == id).ok_or_else(|| missing(&id))?;
            if steps.is_empty() {
                return Ok(Some((mode, object)));
            }
            folder = object;
        }
        Ok(None)
    }

    /// The tree of a commit or tree; an id that is asked for has to be that of the object.
    pub(super) async fn root(&mut self, commit: &str) -> Result<Object> {
        let names = [commit.to_owned(), format!("{commit}^{{tree}}")];
        let found = self.get(&names).await?;
        let Ok([Some(top), Some(root)]) = <[Option<Object>; 2]>::try_from(found) else {
            return Err(GitError::unexpected(COMMAND, format!("there is no commit {commit}")));
        };
        let is_id = commit.len() >= SHA1_LETTERS && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        match (is_id && top.id != commit) || !top.has_tree(&root) {
            true => {
                let words = format!("the tree of {commit} is not what its id says");
                Err(GitError::unexpected(COMMAND, words))
            }
            false => Ok(root),
        }
    }
}

/// The mode of a tree in a tree.
pub(super) const FOLDER: &str = "40000";
/// The mode of a pointer to a commit of another repository.
pub(super) const SUBMODULE: &str = "160000";

pub(super) fn missing(id: &str) -> GitError {
    GitError::unexpected(COMMAND, format!("object `{id}` is not in the repository"))
}

/// A piece of what is read.
pub(super) enum Part<'a> {
    /// No object has the name.
    Missing,
    Begin {
        id: &'a str,
        kind: &'a str,
        size: u64,
    },
    Bytes(&'a [u8]),
    End,
}

async fn read(
    from: &mut BufReader<ChildStdout>,
    names: &[String],
    mut take: impl FnMut(Part<'_>) -> Result<()>,
    // Whether git has not given the answer: then it may say why.
    is_cut: &AtomicBool,
) -> Result<()> {
    let lost = |error: std::io::Error| GitError::unexpected(COMMAND, error.to_string());
    for name in names {
        let mut line = vec![];
        from.take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await.map_err(lost)?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let unsaid = || {
            is_cut.store(true, Ordering::Relaxed);
            GitError::unexpected(COMMAND, format!("it does not say what `{name}` is"))
        };
        if line.ends_with(" missing\n") {
            take(Part::Missing)?;
            continue;
        }
        let [id, kind, size] = line.trim_end_matches('\n').split(' ').collect::<Vec<_>>()[..] else {
            return Err(unsaid());
        };
        let size: u64 = size.parse().map_err(|_| unsaid())?;
        take(Part::Begin { id, kind, size })?;
        let mut hasher = Hasher::new(kind, size, id.len());
        let mut left = size;
        while left > 0 {
            let bytes = from.fill_buf().await.map_err(lost)?;
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            if n == 0 {
                return Err(unsaid());
            }
            hasher.update(&bytes[..n]);
            take(Part::Bytes(&bytes[..n]))?;
            from.consume(n);
            left -= n as u64;
        }
        if from.read_u8().await.ok() != Some(b'\n') {
            return Err(unsaid());
        }
        if hasher.id() != id {
            let words = format!(
                "the contents of object {id} are not what its id says: the repository was tampered with or is damaged"
            );
            return Err(GitError::unexpected(COMMAND, words));
        }
        take(Part::End)?;
    }
    Ok(())
}

/// The id of an object, as long as the ids of its repository.
pub(super) fn hash(kind: &str, bytes: &[u8], letters: usize) -> String {
    let mut hasher = Hasher::new(kind, bytes.len() as u64, letters);
    hasher.update(bytes);
    hasher.id()
}

/// The id of an object that is read piece by piece.
pub(super) enum Hasher {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl Hasher {
    pub(super) fn new(kind: &str, size: u64, letters: usize) -> Self {
        let header = format!("{kind} {size}\0");
        match letters {
            SHA1_LETTERS => Self::Sha1(sha1::Sha1::new().chain_update(header)),
            _ => Self::Sha256(sha2::Sha256::new().chain_update(header)),
        }
    }

    /// Of the bytes alone, as LFS names them.
    pub(super) fn sha256() -> Self {
        Self::Sha256(sha2::Sha256::new())
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    pub(super) fn id(self) -> String {
        match self {
            Self::Sha1(hasher) => hex(&hasher.finalize()),
            Self::Sha256(hasher) => hex(&hasher.finalize()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The entries of a tree: mode, name, a zero byte, and the id in bytes.
fn entries(tree: &[u8], letters: usize) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = tree;
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let head = &rest[..end];
        let id = rest.get(end + 1..end + 1 + letters / 2)?;
        let space = head.iter().position(|byte| *byte == b' ')?;
        rest = &rest[end + 1 + letters / 2..];
        // Some old programs wrote the modes of folders with a zero in front.
        let mode = std::str::from_utf8(&head[..space]).ok()?.trim_start_matches('0');
        Some(Entry { mode, name: &head[space + 1..], raw: id })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        assert_eq!(hash("blob", b"", SHA1_LETTERS), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(hash("tree", b"", SHA1_LETTERS), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let sha256 = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
        assert_eq!(hash("blob", b"", sha256.len()), sha256);
    }
}
