//! The state files of a folder on the disk: read at any time, written under a lock. The lock is a file beside the state
//! file: the next writer replaces the state file itself, and two writers could both hold a lock of it.

use super::phase::{Phase, file_name};
use super::state::{HINT, State};
use countersign_core::digest::Digest;
use countersign_engine::private;
use countersign_engine::workspace::{remove_unfinished, write_atomically};
use countersign_engine::yaml::{Diagnostic, FileBytes, Source, read_at_most};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use thiserror::Error;

const STATE_BYTES_MAX: usize = 64 * 1024 * 1024;
const LOCK_SECONDS_MAX: u64 = 60;

#[derive(Debug, Error)]
pub enum FileError {
    #[error("there is no state directory `{0}`")]
    NoFolder(PathBuf),
    #[error("there is no `{0}`: the phase has not been broken into items")]
    Missing(PathBuf),
    #[error("{0}")]
    Bad(Box<Diagnostic>),
    #[error("both `{0}` and `{1}` exist, but a phase has one state file: remove one of them")]
    Two(PathBuf, PathBuf),
    #[error("`{0}` has been locked by another process for {LOCK_SECONDS_MAX} seconds")]
    Locked(PathBuf),
    #[error("`{path}`: {error}")]
    Io { path: PathBuf, error: io::Error },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    |error| FileError::Io { path, error }
}

fn bad(problem: Diagnostic) -> FileError {
    FileError::Bad(Box::new(problem))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub state: State,
    pub digest: Digest,
}

impl StateDir {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the directory, for this user alone: planners put it into the temporary folder. True if it is new.
    pub fn create(&self) -> Result<bool, FileError> {
        if self.0.is_dir() {
            return Ok(false);
        }
        private::make_folders(&self.0).map_err(io_error(&self.0))?;
        Ok(true)
    }

    pub fn files(&self) -> Vec<PathBuf> {
        Phase::ALL.into_iter().flat_map(|phase| self.files_of(phase)).collect()
    }

    fn files_of(&self, phase: Phase) -> impl Iterator<Item = PathBuf> {
        phase.names().iter().map(|name| self.0.join(file_name(name))).filter(|path| path.exists())
    }

    /// The file of a phase: the one that exists, under either of its names.
    fn file(&self, phase: Phase) -> Result<PathBuf, FileError> {
        let mut files = self.files_of(phase);
        match (files.next(), files.next()) {
            (Some(first), Some(second)) => Err(FileError::Two(first, second)),
            (only, _) => Ok(only.unwrap_or_else(|| self.0.join(phase.file_name()))),
        }
    }

    /// The state of a phase; none where it has no file yet. Needs no lock: a file is replaced whole.
    pub fn read(&self, phase: Phase) -> Result<Option<Loaded>, FileError> {
        let file = self.file(phase)?;
        remove_unfinished(&file);
        read_state(&file)
    }

    pub fn require(&self, phase: Phase) -> Result<Loaded, FileError> {
        self.require_folder()?;
        self.read(phase)?.ok_or_else(|| FileError::Missing(self.0.join(phase.file_name())))
    }

    fn require_folder(&self) -> Result<(), FileError> {
        if self.0.is_dir() { Ok(()) } else { Err(FileError::NoFolder(self.0.clone())) }
    }

    /// Whether the state of a phase was ever locked.
    pub(super) fn has_lock(&self, phase: Phase) -> bool {
        self.lock_path(phase).is_file()
    }

    fn lock_path(&self, phase: Phase) -> PathBuf {
        self.0.join(format!("{}.lock", phase.file_name()))
    }

    pub(super) fn lock(&self, phase: Phase) -> Result<Locked, FileError> {
        self.require_folder()?;
        let path = self.lock_path(phase);
        // A named pipe would wait for its other end for ever.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(io_error(&path)(io::Error::new(ErrorKind::InvalidInput, "it is not a file")));
        }
        let file = File::options().create(true).append(true).open(&path).map_err(io_error(&path))?;
        let lock = acquire(file, &path)?;
        Ok(Locked { path: self.file(phase)?, _lock: lock })
    }
}

/// Waits for a lock, with a bound: a process that was stopped keeps it.
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

#[derive(Debug)]
pub(super) struct Locked {
    path: PathBuf,
    _lock: File,
}

impl Locked {
    pub fn read(&self) -> Result<Option<Loaded>, FileError> {
        read_state(&self.path)
    }

    pub fn require(&self) -> Result<Loaded, FileError> {
        self.read()?.ok_or_else(|| FileError::Missing(self.path.clone()))
    }

    pub fn write(&self, state: &State) -> Result<Digest, FileError> {
        let file = FileBytes { path: self.path.clone(), bytes: state.text().into_bytes() };
        let text = within_bounds(&file)?;
        write_atomically(&self.path, text.text()).map_err(io_error(&self.path))?;
        Ok(Digest::of(&file.bytes))
    }

    pub fn remove(&self) -> Result<(), FileError> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error(&self.path)(error)),
            _ => Ok(()),
        }
    }
}

pub fn read_state(path: &Path) -> Result<Option<Loaded>, FileError> {
    let bytes = match read_at_most(path, STATE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(io_error(path))?,
    };
    let file = FileBytes { path: path.to_owned(), bytes };
    let state = State::parse(path, within_bounds(&file)?.text()).map_err(bad)?;
    Ok(Some(Loaded { state, digest: Digest::of(&file.bytes) }))
}

fn within_bounds(file: &FileBytes) -> Result<std::sync::Arc<Source>, FileError> {
    Source::read_within(file, STATE_BYTES_MAX).map_err(|problem| match problem.hint {
        None => bad(problem.with_hint(HINT)),
        Some(_) => bad(problem),
    })
}
