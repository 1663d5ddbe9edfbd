//! What an earlier look found is kept, and nobody can use it to hide an edit.

use super::{Change, ChangeError, ChangeWanted, told};
use countersign_core::digest::Digest;
use countersign_engine::git::Kept;
use countersign_engine::workspace::{self, Root};
use countersign_testkit::Repository;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const FILES: usize = 120;
/// How long files are young, at least.
const YOUNG: Duration = Duration::from_millis(500);
const LOOKS_MAX: usize = 50;
const EDITED: &str = "docs/page-7.md";

struct Case {
    repository: Repository,
    base: String,
    own: PathBuf,
    digest: Option<Digest>,
}

impl Case {
    fn new() -> Self {
        Self::of(Repository::new())
    }

    fn of(repository: Repository) -> Self {
        for n in 0..FILES {
            repository.write(format!("docs/page-{n}.md"), format!("good {n}\n"));
        }
        repository.write(".gitignore", "*.log\n/out/\n");
        let base = repository.commit("first");
        let own = repository.beside("own");
        Self { repository, base, own, digest: None }
    }

    /// Looks until the list has every file: young ones are read again.
    async fn settled() -> Self {
        Self::new().settle().await
    }

    async fn settle(self) -> Self {
        let mut case = self;
        let works = Kept::works_in(case.repository.root());
        case.until_old();
        for _ in 0..LOOKS_MAX {
            let (_, unread) = case.look().await;
            if unread == FILES + 1 || !works {
                return case;
            }
        }
        panic!("the list never has every file");
    }

    /// Waits until all files are old enough for the list. A few young ones that are left are not worth a new list, so they
    /// would stay young for ever.
    fn until_old(&self) {
        let folder = self.repository.path("docs");
        let changed = |path: PathBuf| {
            let found = fs::metadata(path).unwrap();
            Duration::new(found.ctime().unsigned_abs(), u32::try_from(found.ctime_nsec()).unwrap())
        };
        let newest = fs::read_dir(folder).unwrap().map(|entry| changed(entry.unwrap().path())).max().unwrap();
        let old = UNIX_EPOCH + newest + YOUNG;
        while let Ok(left) = old.duration_since(SystemTime::now()) {
            std::thread::sleep(left);
        }
    }

    fn list(&self) -> PathBuf {
        self.own.join("room/list")
    }

    fn file(&self) -> PathBuf {
        self.repository.path(EDITED)
    }

    /// What has changed, and how many files were not read for that. The digest goes on record.
    async fn look(&mut self) -> (Vec<String>, usize) {
        let kept = Kept::new(&self.own, "list", self.digest.clone());
        let found = self.changed(Some(kept.clone())).await;
        self.digest = kept.renewed().or(self.digest.take());
        (found.map_or(vec![], |change| told(&change)), kept.unread())
    }

    async fn changed(&self, kept: Option<Kept>) -> Option<Change> {
        let root = Root::new(self.repository.root()).unwrap();
        let wanted = ChangeWanted { base: Some(self.base.clone()), kept, ..ChangeWanted::default() };
        match workspace::change(&root, &wanted).await {
            Err(ChangeError::Empty { .. }) => None,
            change => Some(change.unwrap()),
        }
    }

    /// The list does not hide the edit, and it is what is seen without it.
    #[track_caller]
    fn sees(self, name: &str) -> impl Future<Output = Self> {
        let name = name.to_owned();
        let mut case = self;
        async move {
            let cold = told(&case.changed(None).await.unwrap());
            assert_eq!(case.look().await.0, cold, "{name}");
            assert!(cold.iter().any(|line| line.contains(EDITED)), "{name}: {cold:?}");
            case
        }
    }
}

fn put_back(path: &Path, at: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

/// The numbers of a file, as the list has them.
fn state(path: &Path) -> Vec<u8> {
    let found = fs::symlink_metadata(path).unwrap();
    let ns = |seconds: i64, rest: i64| (seconds * 1_000_000_000 + rest).cast_unsigned();
    let (edited, changed) = (ns(found.mtime(), found.mtime_nsec()), ns(found.ctime(), found.ctime_nsec()));
    [found.dev(), found.ino(), found.size(), found.mode().into(), edited, changed]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let at = bytes.windows(old.len()).position(|window| window == old)?;
    Some([&bytes[..at], new, &bytes[at + old.len()..]].concat())
}

#[tokio::test]
async fn issue_18_files_that_nobody_touched_are_not_read_again() {
    let mut case = Case::settled().await;
    let all = if Kept::works_in(case.repository.root()) { FILES + 1 } else { 0 };
    let before = case.digest.clone();
    assert_eq!(case.look().await, (vec![], all));
    assert_eq!(case.digest, before, "a list that says the same is not written again");
    case.repository.write(EDITED, "bad 7\n").write("new.md", "x\n").write("out/a.log", "x\n");
    let (told, unread) = case.look().await;
    assert_eq!((told.len(), unread), (2, all.saturating_sub(1)));
    // Another base: what is known of the files is taken over.
    case.base = case.repository.commit("second");
    let (told, unread) = case.look().await;
    assert_eq!((told, unread), (vec![], all.saturating_sub(1)));
    assert_ne!(case.digest, before);
    fs::remove_file(case.file()).unwrap();
    assert_eq!(case.look().await.0, [format!("deleted {EDITED} +0 -1")]);
}

#[tokio::test]
async fn issue_18_every_kind_of_repository_keeps_a_list() {
    let sha256 = Repository::new();
    fs::remove_dir_all(sha256.path(".git")).unwrap();
    sha256.git(["init", "-q", "--object-format=sha256"]);
    sha256.git(["config", "user.name", "Test"]);
    sha256.git(["config", "user.email", "test@example.invalid"]);
    let case = Case::of(sha256).settle().await;
    case.repository.write(EDITED, "bad 7\n");
    case.sees("sha256").await;

    // A ref that is packed, and an index that is split, are asked of git.
    let case = Case::settled().await;
    case.repository.git(["pack-refs", "--all"]);
    case.repository.git(["update-index", "--split-index"]);
    let mut case = case.settle().await;
    assert!(case.look().await.0.is_empty());
    case.repository.write(EDITED, "bad 7\n");
    case.sees("packed").await;

    let case = Case::settled().await;
    let linked = case.repository.beside("linked");
    case.repository.git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    let root = Root::new(&linked).unwrap();
    let kept = Kept::new(&case.own, "list", case.digest.clone());
    let wanted =
        ChangeWanted { base: Some(case.base.clone()), kept: Some(kept.clone()), ..ChangeWanted::default() };
    // The list of one worktree says nothing about another one.
    assert!(matches!(workspace::change(&root, &wanted).await, Err(ChangeError::Empty { .. })));
    assert_eq!(kept.unread(), 0);
    assert_ne!(Kept::name(&linked), Kept::name(case.repository.root()));
}

#[tokio::test]
async fn attack_18_a_forged_list_of_files_does_not_count() {
    let case = Case::settled().await;
    let works = Kept::works_in(case.repository.root());
    let (good, old) = (fs::read(case.list()).unwrap(), state(&case.file()));
    fs::write(case.file(), "bad 7\n").unwrap();
    let forged = replaced(&good, &old, &state(&case.file()));
    assert_eq!(forged.is_some(), works, "the list has no such file");
    let forged = forged.unwrap_or(good);
    fs::write(case.list(), &forged).unwrap();
    let mut case = case.sees("the state of a file").await;
    // With the digest of the forged list on record, the edit would be hidden: the digest is what decides.
    fs::write(case.list(), &forged).unwrap();
    case.digest = Some(Digest::of(&forged));
    assert_eq!(case.look().await.0.is_empty(), works);
}

#[tokio::test]
async fn attack_18_edits_with_their_times_put_back_are_seen() {
    type Edit = fn(&Path, SystemTime);
    let edits: [(&str, Edit); 4] = [
        ("the same size and time", |path, at| {
            fs::write(path, "evil 7\n").unwrap();
            put_back(path, at);
        }),
        ("renamed into its place", |path, at| {
            let other = path.with_extension("other");
            fs::write(&other, "evil 7\n").unwrap();
            put_back(&other, at);
            fs::rename(other, path).unwrap();
        }),
        ("written by another name", |path, at| {
            let other = path.with_extension("other");
            fs::hard_link(path, &other).unwrap();
            fs::write(&other, "evil 7\n").unwrap();
            put_back(&other, at);
            fs::remove_file(other).unwrap();
        }),
        ("two files exchanged", |path, _| {
            let (other, away) = (path.with_file_name("page-8.md"), path.with_extension("away"));
            fs::rename(path, &away).unwrap();
            fs::rename(&other, path).unwrap();
            fs::rename(&away, &other).unwrap();
        }),
    ];
    for (name, edit) in edits {
        let case = Case::settled().await;
        let at = fs::metadata(case.file()).unwrap().modified().unwrap();
        edit(&case.file(), at);
        assert_eq!(fs::metadata(case.file()).unwrap().len(), 7, "{name}");
        case.sees(name).await;
    }
}

#[tokio::test]
async fn attack_18_edits_in_the_moment_of_the_list_are_seen() {
    let mut case = Case::settled().await;
    for n in 0..10 {
        // Enough files to have the list written, and an edit right after.
        for page in 0..FILES {
            case.repository.write(format!("docs/page-{page}.md"), format!("goo{n} {page}\n"));
        }
        case.base = case.repository.commit("next");
        let at = fs::metadata(case.file()).unwrap().modified().unwrap();
        case.look().await;
        fs::write(case.file(), format!("bad{n} 7\n")).unwrap();
        put_back(&case.file(), at);
        case = case.sees(&n.to_string()).await;
    }
}

/// A process that shares memory with a file: the kernel notes no time when it writes there once more.
const SHARED: &str = "import mmap, sys
file = open(sys.argv[1], 'r+b')
memory = mmap.mmap(file.fileno(), 7)
memory[0:4] = b'good'
print('mapped', flush=True)
sys.stdin.readline()
memory[0:4] = b'evil'
print('written', flush=True)
sys.stdin.readline()
";

#[tokio::test]
async fn attack_18_writes_through_shared_memory_are_seen() {
    let mut case = Case::new();
    let mut python = Command::new("python3");
    python.args(["-c", SHARED]).arg(case.file()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().unwrap();
    let (mut tell, said) = (python.stdin.take().unwrap(), BufReader::new(python.stdout.take().unwrap()));
    let mut said = said.lines();
    assert_eq!(said.next().unwrap().unwrap(), "mapped");
    let works = Kept::works_in(case.repository.root());
    case = case.settle().await;
    let before = state(&case.file());
    tell.write_all(b"now\n").unwrap();
    assert_eq!(said.next().unwrap().unwrap(), "written");
    assert_eq!(fs::read(case.file()).unwrap(), b"evil 7\n");
    // Where the kernel could not be made to note the time, the file is read in any case.
    assert_eq!(state(&case.file()) != before, works);
    case.sees("shared memory").await;
    drop(tell);
    python.wait().unwrap();
}

#[tokio::test]
async fn issue_18_an_odd_list_is_not_used() {
    let case = Case::settled().await;
    let good = fs::read(case.list()).unwrap();
    let beginning = b"countersign room 1\n".len();
    let mut later = good.clone();
    later[beginning..beginning + 8].copy_from_slice(&i64::MAX.to_le_bytes());
    let other = replaced(&good, b"room 1", b"room 9").unwrap();
    let odd: [(&str, Vec<u8>); 5] = [
        ("of the future", later),
        ("of another format", other),
        ("cut", good[..good.len() - 1].to_vec()),
        ("with more", [&good[..], b"x"].concat()),
        ("empty", vec![]),
    ];
    for (name, bytes) in odd {
        fs::write(case.list(), &bytes).unwrap();
        let kept = Kept::new(&case.own, "list", Some(Digest::of(&bytes)));
        assert_eq!(case.changed(Some(kept.clone())).await, None, "{name}");
        assert_eq!(kept.unread(), 0, "{name}");
        assert!(kept.renewed().is_some(), "{name}");
    }
    fs::remove_file(case.list()).unwrap();
    let kept = Kept::new(&case.own, "list", case.digest.clone());
    assert_eq!((case.changed(Some(kept.clone())).await, kept.unread()), (None, 0));
}

/// What is ignored counts once HEAD or the index has it, also where both were as they are now in an earlier look.
#[tokio::test]
async fn attack_18_what_the_index_and_head_have_is_never_ignored_by_the_list() {
    let mut case = Case::settled().await;
    case.repository.write("a.log", "x\n").write("out/b.txt", "x\n");
    assert!(case.look().await.0.is_empty());
    case.repository.git(["add", "-f", "a.log"]);
    assert_eq!(case.look().await.0, ["added a.log +1 -0"]);
    case.repository.git(["reset", "-q"]);
    assert!(case.look().await.0.is_empty());
    case.repository.git(["add", "-f", "out/b.txt"]);
    case.repository.commit("second");
    assert_eq!(case.look().await.0, ["added out/b.txt +1 -0"]);
    case.repository.git(["update-index", "--split-index"]);
    assert_eq!(case.look().await.0, ["added out/b.txt +1 -0"]);
}
