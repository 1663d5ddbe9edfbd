//! The log of an attempt: the output of agent, tests and review, in a file of bounded size.

use countersign_engine::process::Tap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Clone)]
pub struct Log(Arc<Mutex<Open>>);

struct Open {
    file: File,
    bytes: u64,
}

pub fn path(logs: &Path, task: &str, attempt: u32) -> PathBuf {
    logs.join(format!("{task}-{attempt}.log"))
}

/// The logs of a task, oldest first.
pub fn all(logs: &Path, task: &str) -> Vec<PathBuf> {
    let number = |path: &Path| -> Option<u32> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(task)?.strip_prefix('-')?.strip_suffix(".log")?.parse().ok()
    };
    let entries = std::fs::read_dir(logs).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = entries.filter_map(|path| Some((number(&path)?, path))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

impl Log {
    pub fn open(logs: &Path, task: &str, attempt: u32) -> io::Result<Self> {
        std::fs::create_dir_all(logs)?;
        let file = OpenOptions::new().create(true).append(true).open(path(logs, task, attempt))?;
        let bytes = file.metadata()?.len();
        Ok(Self(Arc::new(Mutex::new(Open { file, bytes }))))
    }

    pub fn heading(&self, text: &str) {
        self.write(format!("\n== {text}\n").as_bytes());
    }

    pub fn tap(&self) -> Tap {
        let log = self.clone();
        Tap::new(move |piece| log.write(piece))
    }

    /// Writes as much as there is room for. A write error is ignored: it must not lose the work.
    pub fn write(&self, piece: &[u8]) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.bytes >= LOG_BYTES_MAX {
            return;
        }
        let room = usize::try_from(LOG_BYTES_MAX - open.bytes).unwrap_or(usize::MAX);
        let kept = &piece[..piece.len().min(room)];
        if open.file.write_all(kept).is_ok() {
            open.bytes += kept.len() as u64;
        }
        if open.bytes >= LOG_BYTES_MAX {
            let _ = open.file.write_all(format!("\n[cut: {LOG_BYTES_MAX} bytes are kept]\n").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_an_end_and_the_logs_of_a_task_an_order() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open(folder.path(), "T-1", 2).unwrap();
        let piece = vec![b'x'; 5 * 1024 * 1024];
        (0..5).for_each(|_| log.write(&piece));
        let file = path(folder.path(), "T-1", 2);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.len() as u64 <= LOG_BYTES_MAX + 64 && text.ends_with("bytes are kept]\n"));
        for attempt in [10, 9] {
            Log::open(folder.path(), "T-1", attempt).unwrap().heading("agent");
        }
        Log::open(folder.path(), "T-11", 1).unwrap();
        let found: Vec<_> = all(folder.path(), "T-1");
        assert_eq!(found, [2, 9, 10].map(|attempt| path(folder.path(), "T-1", attempt)));
    }
}
