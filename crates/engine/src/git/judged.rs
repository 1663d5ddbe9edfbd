//! A kept checkout of exactly a judged tree, outside of the project, in which its tests run. It is brought up to date in
//! place, so that what did not change keeps its time and builds stay quick.

use super::listing::{Listing, Reading};
use super::objects::LazyObjects;
use super::room::Room;
use super::{Git, GitError, Result};
use crate::private;
use crate::scratch::Scratch;
use countersign_core::digest::{Digest, Parts};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

const COMMAND: &str = "checkout-index";
const FILES: &str = "files";
const SET_UP: &str = "set-up";
const OWN: &[u8] = b".git";
const OWN_CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfilemode = true\n";
const OWN_CONFIG_SHA256: &str = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfilemode = true\n[extensions]\n\tobjectformat = sha256\n";
/// The most checkouts of one project.
const PLACES_MAX: usize = 64;
const OWNER_MAY_ALL: u32 = 0o700;

/// The files of a judged tree in a folder of their own. Nobody else uses the folder meanwhile.
#[derive(Debug)]
pub struct JudgedFiles {
    /// What stands for the folder that was asked about.
    pub folder: PathBuf,
    within: PathBuf,
    tree: String,
    _lock: File,
    _scratch: Option<Scratch>,
}

/// Why there is no checkout.
#[derive(Debug, thiserror::Error)]
pub enum JudgedFilesError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the folder for the judged files cannot be used: {0}")]
    Io(#[from] io::Error),
    /// What is kept would not be told apart from what is judged.
    #[error("`commands.keep` names `{kept}`, but `{file}` is one of the judged files")]
    Kept { kept: String, file: String },
}

/// What survives in the checkout although the tree does not have it: paths that begin at the folder that was asked about.
#[derive(Clone, Copy, Debug)]
pub enum Keep<'a> {
    /// A person named them: a tree that has one of them is refused.
    Named(&'a [String]),
    /// Nobody named them: one that the tree has is not kept.
    Usual(&'a [&'a str]),
}

/// The folder of a checkout, locked.
struct Place {
    within: PathBuf,
    lock: File,
    scratch: Option<Scratch>,
}

impl Git {
    /// Puts exactly the files of a tree of this repository where its tests run, whatever settings, attributes, filters and
    /// index of the repository say. What is neither in the tree nor kept is removed.
    pub async fn check_out_judged(
        &self,
        tree: &str,
        cache: Option<&Path>,
        keep: Keep<'_>,
    ) -> Result<JudgedFiles, JudgedFilesError> {
        let Place { within, lock, scratch } = place(&self.top(), cache)?;
        let folder = fill(self, tree, &within, keep).await?;
        Ok(JudgedFiles { folder, within, tree: tree.to_owned(), _lock: lock, _scratch: scratch })
    }
}

/// Fills a checkout, and returns what stands for the folder of this git.
async fn fill(git: &Git, tree: &str, within: &Path, keep: Keep<'_>) -> Result<PathBuf, JudgedFilesError> {
    let top = git.top();
    let prefix = git.below_top(&top);
    let reading = Reading { top: &top, prefix: b"" };
    let source = git.clone().within(&top);
    let listing = Listing::read(&source, &mut LazyObjects::of(&source), tree, &reading).await?;
    let kept = kept(&listing, &prefix, keep)?;
    let files = within.join(FILES);
    let (at, listing) = (files.clone(), Arc::new(listing));
    let known = Arc::clone(&listing);
    let cleared = tokio::task::spawn_blocking(move || {
        private::make_folders(&at)?;
        clear(&at, &[], &known, &kept)
    });
    cleared.await.map_err(io::Error::other)??;
    let index = put(&listing.sources[0], tree, &files, &within.join("top")).await?;
    for module in &listing.submodules {
        let folder = files.join(OsStr::from_bytes(&module.path));
        fs::create_dir_all(&folder)?;
        let room = within.join(Digest::of(&module.path).short());
        put(&listing.sources[module.source], &module.id, &folder, &room).await?;
    }
    let objects = git.places().await?.objects.canonicalize()?;
    own_repository(&files.join(OsStr::from_bytes(OWN)), &objects, tree, &index).await?;
    Ok(files.join(OsStr::from_bytes(&prefix)))
}

impl JudgedFiles {
    /// Puts everything right again, after a command ran here.
    pub async fn put_right(&mut self, git: &Git, keep: Keep<'_>) -> Result<(), JudgedFilesError> {
        self.folder = fill(git, &self.tree, &self.within, keep).await?;
        Ok(())
    }

    /// Whether this command has set up the checkout for these files.
    pub fn is_set_up(&self, command: &str) -> bool {
        let known = fs::read_to_string(self.within.join(SET_UP)).unwrap_or_default();
        known == self.set_up(command).as_str()
    }

    pub fn note_set_up(&self, command: &str) -> io::Result<()> {
        private::write(&self.within.join(SET_UP), self.set_up(command).as_str())
    }

    fn set_up(&self, command: &str) -> Digest {
        Parts::new("set-up/1").text(&self.tree).text(command).digest()
    }
}

/// The kept paths, from the top of the worktree.
fn kept(listing: &Listing, prefix: &[u8], keep: Keep<'_>) -> Result<BTreeSet<Vec<u8>>, JudgedFilesError> {
    let full = |path: &str| [prefix, path.trim_end_matches('/').as_bytes()].concat();
    let tracked = |path: &Vec<u8>| {
        let below = [&path[..], b"/"].concat();
        let inside = listing.files.range(below.clone()..).next().map(|(file, _)| file);
        let inside = inside.filter(|file| file.starts_with(&below));
        listing.files.get_key_value(path).map(|(file, _)| file).or(inside)
    };
    match keep {
        Keep::Usual(paths) => {
            Ok(paths.iter().map(|path| full(path)).filter(|path| tracked(path).is_none()).collect())
        }
        Keep::Named(paths) => paths
            .iter()
            .map(|kept| match tracked(&full(kept)) {
                None => Ok(full(kept)),
                Some(file) => {
                    let file = String::from_utf8_lossy(file).into_owned();
                    Err(JudgedFilesError::Kept { kept: kept.clone(), file })
                }
            })
            .collect(),
    }
}

/// A folder in the cache; one that is gone afterwards where the cache cannot be used.
fn place(top: &Path, cache: Option<&Path>) -> io::Result<Place> {
    if let Some(cache) = cache
        && let Ok(place) = kept_place(cache, top)
    {
        return Ok(place);
    }
    let scratch = Scratch::shielded("tests")?;
    let within = scratch.path().join("checkout");
    let lock = private::make_file(&within.with_extension(super::room::LOCK))?;
    private::make_folders(&within)?;
    Ok(Place { within, lock, scratch: Some(scratch) })
}

/// The first checkout of the project that nobody uses at this moment: all its worktrees share them.
fn kept_place(cache: &Path, top: &Path) -> io::Result<Place> {
    let project = super::main_worktree(top).unwrap_or_else(|| top.to_owned());
    let name = Digest::of(project.as_os_str().as_bytes());
    for n in 0..PLACES_MAX {
        let within = cache.join(format!("{}-{n}", name.short()));
        let is_new = !within.exists();
        private::make_folders(&within)?;
        let lock = private::make_file(&within.with_extension(super::room::LOCK))?;
        if lock.try_lock().is_err() {
            continue;
        }
        lock.set_modified(SystemTime::now())?;
        if is_new {
            super::room::remove_unused(cache);
        }
        return Ok(Place { within, lock, scratch: None });
    }
    Err(io::Error::other("all checkouts are in use"))
}

/// Removes what is neither in the tree nor kept.
fn clear(top: &Path, at: &[u8], listing: &Listing, kept: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    let folder = top.join(OsStr::from_bytes(at));
    open_up(&folder)?;
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let path = [at, name.as_bytes()].concat();
        if kept.contains(&path) || path == OWN {
            continue;
        }
        let below = [&path[..], b"/"].concat();
        let leads_on = || listing.folders.contains(&path) || kept.iter().any(|kept| kept.starts_with(&below));
        match entry.file_type()?.is_dir() {
            true if leads_on() => clear(top, &below, listing, kept)?,
            false if listing.files.contains_key(&path) => {}
            _ => remove(&entry.path())?,
        }
    }
    Ok(())
}

/// Removes a file, a link or a folder. Tests may leave folders that nobody may write to.
fn remove(path: &Path) -> io::Result<()> {
    if !path.symlink_metadata()?.is_dir() {
        return fs::remove_file(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_all(path)?;
            fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

fn open_all(folder: &Path) -> io::Result<()> {
    open_up(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_all(&entry.path())?;
        }
    }
    Ok(())
}

fn open_up(folder: &Path) -> io::Result<()> {
    let mode = folder.symlink_metadata()?.permissions().mode();
    match mode & OWNER_MAY_ALL == OWNER_MAY_ALL {
        true => Ok(()),
        false => fs::set_permissions(folder, Permissions::from_mode(mode | OWNER_MAY_ALL)),
    }
}

/// Writes the files that are not as the tree has them, and returns an index of all. `within` is a folder for the room.
async fn put(source: &Git, tree: &str, files: &Path, within: &Path) -> Result<PathBuf, JudgedFilesError> {
    let objects = source.places().await?.objects.canonicalize()?;
    // What earlier tests may have written there would steer git.
    if within.symlink_metadata().is_ok() {
        remove(within)?;
    }
    private::make_folders(within)?;
    let room = Room::make(within, Some(&objects), tree.len())?;
    if !room.has_files(tree, files).await? {
        room.git(files).run([COMMAND, "-a", "-f", "-q"]).await?;
        // Git does not compare an object with its id when it writes a file.
        if !room.has_files(tree, files).await? {
            let words = format!("the objects of {tree} are not what their ids say");
            return Err(GitError::unexpected(COMMAND, words).into());
        }
    }
    room.require_untouched()?;
    Ok(room.index())
}

/// A repository with one commit of the tree, for tools that ask git which files there are. It reads the objects of the
/// project's repository, and writes nothing there.
async fn own_repository(
    folder: &Path,
    objects: &Path,
    tree: &str,
    index: &Path,
) -> Result<(), JudgedFilesError> {
    if folder.symlink_metadata().is_ok() {
        remove(folder)?;
    }
    for below in ["refs/heads", "refs/tags", "info", "objects/info", "objects/pack"] {
        private::make_folders(&folder.join(below))?;
    }
    let is_sha1 = tree.len() == super::objects::SHA1_LETTERS;
    private::write(&folder.join("config"), if is_sha1 { OWN_CONFIG } else { OWN_CONFIG_SHA256 })?;
    private::write(&folder.join("HEAD"), "ref: refs/heads/main\n")?;
    private::write(&folder.join("objects/info/alternates"), format!("{}\n", objects.display()))?;
    fs::copy(index, folder.join("index"))?;
    let git = Git::at(folder).alone().with("GIT_DIR", folder);
    let commit = git.own_commit(tree, None, "countersign: the files that are judged").await?;
    private::write(&folder.join("refs/heads/main"), format!("{commit}\n"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::Repository;

    struct Bench {
        repository: Repository,
        cache: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let repository = Repository::new();
            repository
                .write("a.txt", "one\n")
                .write("sub/b.txt", "two\n")
                .write("run.sh", "true\n")
                .commit("first");
            Self { repository, cache: tempfile::tempdir().unwrap() }
        }

        async fn files(&self, tree: &str, keep: Keep<'_>) -> Result<JudgedFiles, JudgedFilesError> {
            Git::at(self.repository.root()).check_out_judged(tree, Some(self.cache.path()), keep).await
        }
    }

    const NONE: Keep<'static> = Keep::Usual(&[]);

    #[tokio::test]
    async fn a_checkout_is_brought_up_to_date_in_place() {
        let bench = Bench::new();
        let first = bench.repository.git(["rev-parse", "HEAD^{tree}"]);
        let files = bench.files(&first, Keep::Usual(&["kept"])).await.unwrap();
        let folder = files.folder.clone();
        let time = |name: &str| folder.join(name).metadata().unwrap().modified().unwrap();
        let before = time("a.txt");
        assert_eq!(fs::read_to_string(folder.join("sub/b.txt")).unwrap(), "two\n");
        // Another use at the same time has another folder.
        let other = bench.files(&first, NONE).await.unwrap();
        assert_ne!(other.folder, folder);
        drop((files, other));
        // What tests leave: changed, new, replaced and hidden files.
        fs::write(folder.join("run.sh"), "false\n").unwrap();
        fs::write(folder.join("new.txt"), "").unwrap();
        fs::remove_file(folder.join("sub/b.txt")).unwrap();
        fs::create_dir_all(folder.join("sub/b.txt/deep")).unwrap();
        fs::create_dir_all(folder.join("sub/.git/objects")).unwrap();
        fs::create_dir_all(folder.join("kept/built")).unwrap();
        fs::remove_dir_all(folder.join(".git")).unwrap();
        fs::write(folder.join(".git"), "gitdir: /nowhere\n").unwrap();
        bench.repository.write("c.txt", "three\n").commit("second");
        let second = bench.repository.git(["rev-parse", "HEAD^{tree}"]);
        let files = bench.files(&second, Keep::Usual(&["kept"])).await.unwrap();
        assert_eq!(files.folder, folder);
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!((read("run.sh").as_str(), read("sub/b.txt").as_str()), ("true\n", "two\n"));
        assert_eq!((read("c.txt").as_str(), time("a.txt")), ("three\n", before));
        for gone in ["new.txt", "sub/.git"] {
            assert!(!folder.join(gone).exists(), "{gone}");
        }
        assert!(folder.join("kept/built").is_dir());
        // It is a repository of its own.
        let git = Git::at(&folder);
        assert_eq!(git.text(["ls-files"]).await.unwrap(), "a.txt\nc.txt\nrun.sh\nsub/b.txt");
        assert_eq!(git.text(["status", "--porcelain"]).await.unwrap(), "");
        assert_eq!(git.text(["rev-parse", "HEAD^{tree}"]).await.unwrap(), second);
        drop(files);
        let files = bench.files(&first, NONE).await.unwrap();
        assert!(!files.folder.join("kept").exists() && !files.folder.join("c.txt").exists());
        assert!(!files.is_set_up("x"));
        files.note_set_up("x").unwrap();
        assert!(files.is_set_up("x") && !files.is_set_up("y"));
    }

    #[tokio::test]
    async fn a_kept_path_with_judged_files_is_refused_if_a_person_named_it() {
        let bench = Bench::new();
        let tree = bench.repository.git(["rev-parse", "HEAD^{tree}"]);
        for (kept, file) in
            [("sub", Some("sub/b.txt")), ("a.txt", Some("a.txt")), ("su", None), ("sub/x", None)]
        {
            let named = [kept.to_owned()];
            match (bench.files(&tree, Keep::Named(&named)).await, file) {
                (Ok(_), None) => {}
                (Err(error), Some(file)) => assert!(error.to_string().contains(file), "{error}"),
                (other, _) => panic!("{kept}: {other:?}"),
            }
        }
        let files = bench.files(&tree, Keep::Usual(&["sub"])).await.unwrap();
        fs::write(files.folder.join("sub/new.txt"), "").unwrap();
        drop(files);
        let files = bench.files(&tree, Keep::Usual(&["sub"])).await.unwrap();
        assert!(!files.folder.join("sub/new.txt").exists());
    }

    #[tokio::test]
    async fn a_project_below_the_root_and_a_submodule_are_there() {
        let bench = Bench::new();
        let inner = Repository::new();
        inner.write("inside.txt", "in\n").commit("inner");
        let url = inner.root().to_str().unwrap().to_owned();
        bench.repository.git(["submodule", "--quiet", "add", &url, "module"]);
        bench.repository.commit("with a module");
        let tree = bench.repository.git(["rev-parse", "HEAD^{tree}"]);
        let git = Git::at(&bench.repository.path("sub"));
        // Without a cache the folder is gone afterwards.
        let files = git.check_out_judged(&tree, None, NONE).await.unwrap();
        let folder = files.folder.clone();
        assert!(folder.ends_with("sub") && folder.join("b.txt").is_file());
        assert_eq!(fs::read_to_string(folder.join("../module/inside.txt")).unwrap(), "in\n");
        drop(files);
        assert!(!folder.exists());
    }
}
