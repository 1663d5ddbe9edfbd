//! Paths that stay inside the project root, the files of a folder, and given texts that are read like files.

use ignore::WalkBuilder;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The project root, resolved once.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
    /// Texts that are read like files of the project.
    given: Arc<BTreeMap<String, String>>,
}

#[derive(Debug, thiserror::Error)]
pub enum PathProblem {
    /// It leads out of the project: the path as given, and the root.
    #[error("`{0}` is outside the project root `{1}`")]
    Outside(String, String),
    #[error("`{0}` does not exist")]
    Missing(String),
    /// It is something that cannot be judged, such as a directory.
    #[error("`{0}` is {1}, not a file")]
    NotAFile(String, &'static str),
    #[error("`{0}` has a name that is not valid UTF-8")]
    NotText(String),
    #[error("`{0}` could not be read: {1}")]
    Unreadable(String, io::Error),
}

impl Root {
    pub fn new(path: &Path) -> io::Result<Self> {
        path.canonicalize().map(|path| Self { path, given: Arc::default() })
    }

    /// The same project with texts beside its files. Each has a relative path, and takes the place of a file at that path.
    pub fn with_given(&self, texts: BTreeMap<String, String>) -> Self {
        let plain =
            |name: &str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let given = texts.into_iter().filter(|(name, _)| plain(name)).collect();
        Self { path: self.path.clone(), given: Arc::new(given) }
    }

    /// The root as an absolute path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_given(&self, path: &str) -> bool {
        self.given.contains_key(path)
    }

    pub fn join(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    /// Makes a path relative to the root, whether or not something is there. Links and `..` are followed as
    /// far as the path exists, and must stay inside.
    pub fn relative(&self, base: &Path, given: &Path) -> Result<String, PathProblem> {
        let outside = || PathProblem::Outside(shown(given), shown(&self.path));
        let absolute = base.join(given);
        let cleaned = clean(&absolute);
        let resolved =
            resolve_existing(&cleaned).map_err(|error| PathProblem::Unreadable(shown(given), error))?;
        let real = resolved.strip_prefix(&self.path).map_err(|_| outside())?;
        // A link inside the project keeps the name it was given by; a path with `..` in it has no such name.
        let named = cleaned.strip_prefix(&self.path).unwrap_or(real);
        let plain = !given.components().any(|part| part == Component::ParentDir);
        let relative = if plain { named } else { real };
        relative.to_str().map(str::to_owned).ok_or_else(|| PathProblem::NotText(shown(given)))
    }
}

fn shown(path: &Path) -> String {
    countersign_core::text::visible_line(&path.to_string_lossy()).into_owned()
}

/// Takes out `.` and, from the left, `..`.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Follows the links of the longest part of a path that exists.
fn resolve_existing(path: &Path) -> io::Result<PathBuf> {
    for ancestor in path.ancestors() {
        match ancestor.canonicalize() {
            Ok(real) => {
                let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
                return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
            }
            // A link to nowhere must not be taken for a name that is free.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !ancestor.is_symlink() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(path.to_owned())
}

/// Opens a regular file of the project; never waits for a pipe, never leaves the root.
pub(super) fn open(root: &Root, path: &str) -> io::Result<(File, Metadata)> {
    if let Some(text) = root.given.get(path) {
        return unnamed_file(text);
    }
    let absolute = root.join(path);
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
    let file = File::options().read(true).custom_flags(nonblock as i32).open(&absolute)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        let words = format!("it is {}, not a file", kind(&metadata));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    if !absolute.canonicalize()?.starts_with(root.path()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it points outside the project root"));
    }
    Ok((file, metadata))
}

/// A text as a file without a name.
fn unnamed_file(text: &str) -> io::Result<(File, Metadata)> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Refuses what cannot be judged, before a reviewer is asked.
pub fn require_file(root: &Root, path: &str) -> Result<(), PathProblem> {
    let given = || countersign_core::text::visible_line(path).into_owned();
    match std::fs::metadata(root.join(path)) {
        Ok(metadata) if metadata.is_file() => {
            open(root, path).map(drop).map_err(|error| PathProblem::Unreadable(given(), error))
        }
        Ok(metadata) => Err(PathProblem::NotAFile(given(), kind(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(PathProblem::Missing(given())),
        Err(error) => Err(PathProblem::Unreadable(given(), error)),
    }
}

fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () => "something special",
    }
}

/// Files of a folder.
#[derive(Debug, Default)]
pub struct FolderFiles {
    /// Paths relative to the root, sorted; also of what is there and cannot be read.
    pub files: Vec<String>,
    /// Files whose names are not text, as they can be shown.
    pub unnamed: Vec<String>,
}

impl FolderFiles {
    /// What no rule can be about, in words.
    pub fn left_out(&self) -> Vec<String> {
        self.unnamed.iter().map(|name| format!("the name of `{name}` is not text")).collect()
    }
}

/// Lists the files below a folder of the project. Ignored and hidden files are not the work. A folder that cannot be read is
/// an error: nobody knows what is in it.
pub fn walk(root: &Root, folder: &str) -> Result<FolderFiles, PathProblem> {
    let mut found = FolderFiles::default();
    let start = root.join(folder);
    let walker = WalkBuilder::new(&start).require_git(false).follow_links(false).build();
    for entry in walker {
        let entry = entry.map_err(|error| {
            let words = error.to_string();
            let why = error.into_io_error().unwrap_or_else(|| io::Error::other(words));
            PathProblem::Unreadable(shown(&start), why)
        })?;
        if entry.file_type().is_some_and(|kind| !kind.is_dir()) && !is_folder_of(root, entry.path()) {
            match entry.path().strip_prefix(root.path()).unwrap_or(entry.path()).to_str() {
                Some(path) => found.files.push(path.to_owned()),
                None => found.unnamed.push(shown(entry.path())),
            }
        }
    }
    found.files.sort();
    Ok(found)
}

/// Whether a link leads to a folder of the project, which has its own name.
pub(super) fn is_folder_of(root: &Root, path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real.is_dir() && real.starts_with(root.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_given_text_is_read_like_a_file_and_never_leads_out() {
        let project = tempfile::tempdir().unwrap();
        let names = ["plan.md (milestone M1)", "/etc/passwd", "../out", "a/../b"];
        let texts = names.map(|name| (name.to_owned(), "text".to_owned())).into();
        let root = Root::new(project.path()).unwrap().with_given(texts);
        let read = |name: &str| open(&root, name).map(|(file, _)| std::io::read_to_string(file).unwrap());
        assert_eq!(read(names[0]).unwrap(), "text");
        assert_eq!(read(names[0]).unwrap(), "text", "every time it is read");
        for name in &names[1..] {
            assert_ne!(read(name).ok().as_deref(), Some("text"), "{name}");
        }
    }

    #[test]
    fn paths_stay_inside_the_root() {
        let outer = tempfile::tempdir().unwrap();
        let project = outer.path().join("project");
        std::fs::create_dir_all(project.join("docs")).unwrap();
        std::fs::write(project.join("docs/a.md"), "a").unwrap();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        symlink("../secret", project.join("out")).unwrap();
        symlink("..", project.join("up")).unwrap();
        symlink("docs/a.md", project.join("in.md")).unwrap();
        symlink("/nowhere/at/all", project.join("dangling")).unwrap();
        let root = Root::new(&project).unwrap();
        let relative = |given: &str| root.relative(root.path(), Path::new(given));
        let absolute = root.join("docs/a.md").to_string_lossy().into_owned();
        for (given, expected) in [
            ("docs/a.md", "docs/a.md"),
            ("./docs/./a.md", "docs/a.md"),
            ("docs/../docs/a.md", "docs/a.md"),
            ("in.md", "in.md"),
            ("missing.md", "missing.md"),
            (absolute.as_str(), "docs/a.md"),
        ] {
            assert_eq!(relative(given).unwrap(), expected, "{given}");
        }
        for given in
            ["../secret", "out", "up/secret", "docs/../../secret", "/etc/passwd", "up/project/../secret"]
        {
            assert!(matches!(relative(given), Err(PathProblem::Outside { .. })), "{given}");
        }
        assert!(relative("dangling").is_err());
        assert!(open(&root, "out").is_err(), "a link that appears later is refused when it is read");
    }

    #[test]
    fn only_files_are_judged() {
        let project = tempfile::tempdir().unwrap();
        let root = Root::new(project.path()).unwrap();
        std::fs::create_dir(project.path().join("dir")).unwrap();
        std::fs::write(project.path().join("file"), "").unwrap();
        let fifo = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            project.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            fifo,
            0,
        )
        .unwrap();
        let said = |path: &str| require_file(&root, path).map_err(|problem| problem.to_string());
        assert_eq!(said("file"), Ok(()));
        assert_eq!(said("dir"), Err("`dir` is a directory, not a file".into()));
        assert_eq!(said("pipe"), Err("`pipe` is a FIFO, not a file".into()));
        assert_eq!(said("none"), Err("`none` does not exist".into()));
    }
}
