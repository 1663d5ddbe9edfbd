//! Sees every change on the path to some files while they are read, also one that is undone again.
//! Every folder on the path is watched, from the top: a file can be exchanged by exchanging any folder or link on its
//! path. Only the names on the path count, so a command may write other files beside them.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Component, Path, PathBuf};
use std::thread::JoinHandle;

const BUFFER_BYTES: usize = 16 * 1024;
/// As many links as the kernel follows in one path.
const LINKS_MAX: usize = 40;

const WATCHED: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::ONLYDIR);
/// Events that do not count for a folder: its files are watched by their own names.
const OF_FILES: ReadFlags = ReadFlags::MODIFY.union(ReadFlags::ATTRIB);
/// The folder is no longer watched, or events were lost.
const BLIND: ReadFlags = ReadFlags::DELETE_SELF
    .union(ReadFlags::UNMOUNT)
    .union(ReadFlags::QUEUE_OVERFLOW)
    .union(ReadFlags::IGNORED);

const UNSEEN: &str = "a folder on the way to the files";

type Names = HashMap<i32, HashSet<OsString>>;

#[derive(Debug)]
pub(crate) struct Watch {
    /// Closing it ends the reader.
    line: UnixStream,
    reader: JoinHandle<Option<String>>,
}

impl Watch {
    /// Watches each of these absolute paths. What is above `root` is watched as far as it may be read.
    pub(crate) fn begin<'a>(root: &Path, paths: impl Iterator<Item = &'a Path>) -> io::Result<Self> {
        let mut watched_paths = Paths::new(root)?;
        for path in paths {
            watched_paths.add(path)?;
        }
        let (line, end) = UnixStream::pair()?;
        let Paths { inotify, names, .. } = watched_paths;
        let reader = std::thread::Builder::new().spawn(move || read(&inotify, &names, &end))?;
        Ok(Self { line, reader })
    }

    /// Whether a name has changed since the beginning. Watching goes on.
    pub(crate) fn has_seen_a_change(&self) -> bool {
        // The reader has read all events when it answers, and does not answer any more once it has seen a change.
        let mut line = &self.line;
        line.write_all(&[0]).is_err() || line.read_exact(&mut [0]).is_err()
    }

    /// The name that changed since the beginning, if any did.
    pub(super) fn changed(self) -> Option<String> {
        drop(self.line);
        self.reader.join().unwrap_or_else(|_| Some(UNSEEN.to_owned()))
    }
}

/// Reads events until `end` is closed, and says there that it has read all when it is asked, because the kernel keeps a bounded number of them. Returns the first watched name
/// that an event is about.
fn read(inotify: &OwnedFd, names: &Names, end: &UnixStream) -> Option<String> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
    let mut reader = Reader::new(inotify, &mut buffer);
    loop {
        let mut ready = [PollFd::new(inotify, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Some(UNSEEN.to_owned()),
        }
        let is_asked = !ready[1].revents().is_empty();
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    if let Some(changed) = changed(names, event.wd(), event.events(), name) {
                        return Some(changed);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => break,
                Err(_) => return Some(UNSEEN.to_owned()),
            }
        }
        if is_asked {
            let mut asked = [0; 16];
            match (&*end).read(&mut asked) {
                Ok(n @ 1..) if (&*end).write_all(&asked[..n]).is_ok() => {}
                _ => return None,
            }
        }
    }
}

fn changed(names: &Names, wd: i32, events: ReadFlags, name: Option<&OsStr>) -> Option<String> {
    if events.intersects(BLIND) {
        return Some(UNSEEN.to_owned());
    }
    let name = name.filter(|name| names.get(&wd).is_some_and(|watched| watched.contains(*name)))?;
    let is_a_folder_as_it_was = events.contains(ReadFlags::ISDIR) && events.intersects(OF_FILES);
    (!is_a_folder_as_it_was).then(|| name.to_string_lossy().into_owned())
}

struct Paths<'a> {
    inotify: OwnedFd,
    root: &'a Path,
    names: Names,
    /// Folders whose path is watched, with their real paths.
    known: HashMap<PathBuf, PathBuf>,
}

impl<'a> Paths<'a> {
    fn new(root: &'a Path) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(refused)?;
        Ok(Self { inotify, root, names: HashMap::new(), known: HashMap::new() })
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let parent = match self.known.get(parent) {
            Some(parent) => parent.clone(),
            None => {
                let real = self.follow(parent)?;
                self.known.insert(parent.to_owned(), real.clone());
                real
            }
        };
        self.follow(&parent.join(name)).map(drop)
    }

    /// Follows a path step by step, as the kernel does; watches each step first. The real path, as far as it exists.
    fn follow(&mut self, path: &Path) -> io::Result<PathBuf> {
        let mut here = PathBuf::from("/");
        let mut steps: VecDeque<OsString> = steps(path).collect();
        let mut links = 0;
        while let Some(step) = steps.pop_front() {
            if step == ".." {
                here.pop();
                continue;
            }
            if !self.watch(&here, &step)? {
                return Ok(steps.into_iter().fold(here.join(step), |here, step| here.join(step)));
            }
            let next = here.join(&step);
            match std::fs::read_link(&next) {
                Ok(target) => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(io::Error::other(format!("`{}` has too many links", path.display())));
                    }
                    if target.is_absolute() {
                        here = PathBuf::from("/");
                    }
                    let rest = std::mem::take(&mut steps);
                    steps = self::steps(&target).chain(rest).collect();
                }
                Err(_) => here = next,
            }
        }
        Ok(here)
    }

    /// Watches a name in a folder. False where there is no such folder: its own name is watched then.
    fn watch(&mut self, folder: &Path, name: &OsStr) -> io::Result<bool> {
        match inotify::add_watch(&self.inotify, folder, WATCHED) {
            Ok(wd) => {
                self.names.entry(wd).or_default().insert(name.to_owned());
                Ok(true)
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            // The owner of the folders above the project decides who may watch them.
            Err(Errno::ACCESS) if self.root.starts_with(folder) && self.root != folder => Ok(true),
            Err(error) => Err(refused(error)),
        }
    }
}

fn refused(error: Errno) -> io::Error {
    match error {
        Errno::MFILE => io::Error::other(format!("{error}: raise fs.inotify.max_user_instances")),
        Errno::NOSPC => io::Error::other("too many folders are watched: raise fs.inotify.max_user_watches"),
        error => error.into(),
    }
}

fn steps(path: &Path) -> impl Iterator<Item = OsString> {
    let step = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(step).collect::<Vec<_>>().into_iter()
}
