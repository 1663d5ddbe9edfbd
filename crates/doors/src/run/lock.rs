//! The lock of a run: a file that names its holder. The kernel drops the lock when the process ends in any way.

use countersign_core::text::visible_line;
use rustix::io::Errno;
use rustix::process::Pid;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const MAX_HOLDER_BYTES: u64 = 4096;
/// A program that a killed run was just starting may hold the lock this long.
const RELEASE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub pid: u32,
    pub command: String,
    pub since: String,
    pub host: String,
}

#[derive(Debug)]
pub struct RunLock {
    file: File,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another run is under way: {0}")]
    Held(String),
    #[error("the lock {0} cannot be taken: {1}")]
    Io(String, io::Error),
}

impl RunLock {
    /// Takes the lock, or names its holder, whose file is never changed.
    pub fn take(path: &Path, holder: &Holder) -> Result<Self, LockError> {
        let failed = |error| LockError::Io(path.display().to_string(), error);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = open.map_err(failed)?;
        let deadline = Instant::now() + RELEASE;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            let held = words(&mut file).map_err(failed)?;
            if Instant::now() > deadline || !is_gone(&held, &holder.host) {
                return Err(LockError::Held(held));
            }
            std::thread::sleep(POLL);
        }
        let Holder { pid, command, since, host } = holder;
        let line = |text: &str| visible_line(text).into_owned();
        let text =
            format!("pid: {pid}\ncommand: {}\nsince: {}\nhost: {}\n", line(command), line(since), line(host));
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(failed)?;
        Ok(Self { file })
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // The file stays: without it, two runs could lock two files of one name.
        self.file.set_len(0).ok();
        // Explicit, because a program that is just being started has the file open too.
        self.file.unlock().ok();
    }
}

fn is_gone(words: &str, host: &str) -> bool {
    let of = |name: &str| words.split(", ").find_map(|part| part.strip_prefix(name));
    let pid = of("pid: ").and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
    of("host: ") == Some(host)
        && pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}

pub fn holder(path: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => words(&mut file).map(Some),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn words(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MAX_HOLDER_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let parts: Vec<_> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(visible_line).collect();
    match parts.is_empty() {
        true => Ok("an unknown process".to_owned()),
        false => Ok(parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> Holder {
        Holder {
            pid: 42,
            command: "run --all\n".into(),
            since: "2026-02-23T10:15:00".into(),
            host: "box".into(),
        }
    }

    #[test]
    fn a_second_run_says_who_and_leaves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.lock");
        std::fs::write(&path, "left by one that was killed, and longer than what comes next".repeat(9))
            .unwrap();
        assert_eq!(holder(&path).unwrap(), None);
        let lock = RunLock::take(&path, &me()).unwrap();
        let before = std::fs::read(&path).unwrap();
        let other = Holder { pid: 43, host: "another".into(), ..me() };
        let said = RunLock::take(&path, &other).unwrap_err().to_string();
        for part in [
            "another run is under way: pid: 42",
            "command: run --all",
            "since: 2026-02-23T10:15:00",
            "host: box",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert!(holder(&path).unwrap().unwrap().starts_with("pid: 42"));
        drop(lock);
        assert_eq!(holder(&path).unwrap(), None);
        RunLock::take(&path, &Holder { pid: 43, ..me() }).unwrap();
    }

    #[test]
    fn what_a_killed_run_was_starting_may_let_go_a_moment_later() {
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let (gone, alive) = (ended.id(), std::process::id());
        let said = |pid: u32, host: &str| format!("pid: {pid}, command: run, since: now, host: {host}");
        assert!(is_gone(&said(gone, "box"), "box") && !is_gone(&said(gone, "box"), "another"));
        assert!(!is_gone(&said(alive, "box"), "box") && !is_gone("unknown", "box"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.lock");
        std::fs::write(&path, said(gone, "box").replace(", ", "\n")).unwrap();
        let inherited = File::open(&path).unwrap();
        inherited.lock().unwrap();
        let letting_go = std::thread::spawn(move || drop(inherited));
        RunLock::take(&path, &me()).unwrap();
        letting_go.join().unwrap();
    }

    #[test]
    fn a_holder_that_says_nothing_is_still_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.lock");
        let file = File::create(&path).unwrap();
        file.lock().unwrap();
        let said = RunLock::take(&path, &me()).unwrap_err().to_string();
        assert!(said.ends_with("an unknown process"), "{said}");
        assert!(matches!(RunLock::take(&folder.path().join("no/l"), &me()), Err(LockError::Io { .. })));
    }
}
