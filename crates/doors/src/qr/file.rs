//! The state files of a folder, on the disk: read by anybody at any time, written under a lock of their own.
//!
//! The lock is a file beside the state file. Locking the state file itself would lock what the next writer
//! replaces, and two writers would each believe to be alone.

use super::phase::{Phase, file_name};
use super::state::{HINT, State};
use countersign_core::digest::Digest;
use countersign_engine::private;
use countersign_engine::workspace::write_atomically;
use countersign_engine::yaml::{Diagnostic, FileBytes, Place, Source};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use thiserror::Error;

/// How large a state file may be.
pub const STATE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How long a writer waits for the others.
pub const LOCK_SECONDS_MAX: u64 = 60;

/// Why a state file could not be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// There is no such folder.
    #[error("there is no state directory `{0}`")]
    NoFolder(PathBuf),
    /// The phase has no file yet.
    #[error("there is no `{0}`: the phase has not been broken into items")]
    Missing(PathBuf),
    /// The file is not what it should be.
    #[error("{0}")]
    Bad(Box<Diagnostic>),
    /// The file of a phase is there under both its names.
    #[error("both `{0}` and `{1}` are there, and only one can be the state of the phase")]
    Two(PathBuf, PathBuf),
    /// Somebody else has held the lock all the time.
    #[error("`{0}` has been locked by another process for {LOCK_SECONDS_MAX} seconds")]
    Locked(PathBuf),
    /// The disk.
    #[error("`{path}`: {error}")]
    Io {
        /// What was read or written.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    |error| FileError::Io { path, error }
}

/// A state directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

/// A state as it was read, and the digest of the file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// What the file says.
    pub state: State,
    /// Which bytes said it.
    pub digest: Digest,
}

impl StateDir {
    /// The directory at this path, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the directory, for this user alone: planners put it into the temporary folder. Says whether it was not there before.
    pub fn create(&self) -> Result<bool, FileError> {
        if self.0.is_dir() {
            return Ok(false);
        }
        private::make_folders(&self.0).map_err(io_error(&self.0))?;
        Ok(true)
    }

    /// The state files that are there, by the names files of phases have.
    pub fn files(&self) -> Vec<PathBuf> {
        let names = Phase::ALL.iter().flat_map(|phase| phase.names()).map(|name| file_name(name));
        names.map(|name| self.0.join(name)).filter(|path| path.exists()).collect()
    }

    /// The file of a phase: the one that is there, under whichever of its names.
    pub fn file(&self, phase: Phase) -> Result<PathBuf, FileError> {
        let mut paths = phase.names().iter().map(|name| self.0.join(file_name(name)));
        let own = self.0.join(phase.file_name());
        let there: Vec<PathBuf> = paths.by_ref().filter(|path| path.exists()).collect();
        match there.as_slice() {
            [] => Ok(own),
            [only] => Ok(only.clone()),
            [first, second, ..] => Err(FileError::Two(first.clone(), second.clone())),
        }
    }

    /// The state of a phase; none where it has no file yet. Needs no lock: a file is replaced whole.
    pub fn read(&self, phase: Phase) -> Result<Option<Loaded>, FileError> {
        read(&self.file(phase)?)
    }

    /// The state of a phase that has one.
    pub fn require(&self, phase: Phase) -> Result<Loaded, FileError> {
        if !self.0.is_dir() {
            return Err(FileError::NoFolder(self.0.clone()));
        }
        self.read(phase)?.ok_or_else(|| FileError::Missing(self.0.join(phase.file_name())))
    }

    /// Whether anybody has ever locked the state of a phase.
    pub fn has_lock(&self, phase: Phase) -> bool {
        self.lock_path(phase).is_file()
    }

    fn lock_path(&self, phase: Phase) -> PathBuf {
        self.0.join(format!("{}.lock", phase.file_name()))
    }

    /// Keeps all others from writing the state of a phase.
    pub fn lock(&self, phase: Phase) -> Result<Locked, FileError> {
        if !self.0.is_dir() {
            return Err(FileError::NoFolder(self.0.clone()));
        }
        let path = self.lock_path(phase);
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(not_a_file(&path));
        }
        let file = File::options().create(true).append(true).open(&path).map_err(io_error(&path))?;
        let lock = acquire(file, &path)?;
        Ok(Locked { path: self.file(phase)?, _lock: lock })
    }
}

/// Waits for a lock, and not for ever: a process that was stopped keeps it.
fn acquire(file: File, path: &Path) -> Result<File, FileError> {
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(io_error(path)(error)),
    }
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(file.lock().map(|()| file)));
    match wait.recv_timeout(Duration::from_secs(LOCK_SECONDS_MAX)) {
        Ok(locked) => locked.map_err(io_error(path)),
        Err(_) => Err(FileError::Locked(path.to_owned())),
    }
}

/// The state of a phase while nobody else can write it.
#[derive(Debug)]
pub struct Locked {
    path: PathBuf,
    _lock: File,
}

impl Locked {
    /// Where the state is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The state as it is; none where there is no file.
    pub fn read(&self) -> Result<Option<Loaded>, FileError> {
        read(&self.path)
    }

    /// The state as it is, of a phase that has one.
    pub fn require(&self) -> Result<Loaded, FileError> {
        self.read()?.ok_or_else(|| FileError::Missing(self.path.clone()))
    }

    /// Replaces the state. Gives the digest of what is there now.
    pub fn write(&self, state: &State) -> Result<Digest, FileError> {
        let text = state.text();
        if text.len() as u64 > STATE_BYTES_MAX {
            return Err(FileError::Bad(Box::new(too_large(&self.path))));
        }
        write_atomically(&self.path, &text).map_err(io_error(&self.path))?;
        Ok(Digest::of(text.as_bytes()))
    }

    /// Removes the file. Says whether there was one.
    pub fn remove(&self) -> Result<bool, FileError> {
        match std::fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io_error(&self.path)(error)),
        }
    }
}

/// Reads one state file.
pub fn read(path: &Path) -> Result<Option<Loaded>, FileError> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(path)(error)),
        Ok(found) if !found.is_file() => return Err(not_a_file(path)),
        Ok(_) => {}
    }
    let mut bytes = vec![];
    let file = File::open(path).map_err(io_error(path))?;
    file.take(STATE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(io_error(path))?;
    if bytes.len() as u64 > STATE_BYTES_MAX {
        return Err(FileError::Bad(Box::new(too_large(path))));
    }
    let digest = Digest::of(&bytes);
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let bytes = error.into_bytes();
            let problem = Source::read(&FileBytes { path: path.to_owned(), bytes }).err();
            return Err(FileError::Bad(Box::new(problem.unwrap_or_else(|| too_large(path)))));
        }
    };
    let state = State::parse(path, &text).map_err(|problem| FileError::Bad(Box::new(problem)))?;
    Ok(Some(Loaded { state, digest }))
}

/// Nothing but a file is opened: a named pipe would wait for somebody at its other end, for ever.
fn not_a_file(path: &Path) -> FileError {
    io_error(path)(io::Error::new(ErrorKind::InvalidInput, "it is not a file"))
}

fn too_large(path: &Path) -> Diagnostic {
    let message = format!("the file is larger than {STATE_BYTES_MAX} bytes");
    Diagnostic::new("too-large", Place::start_of(&Source::new(path, "")), message).with_hint(HINT)
}
