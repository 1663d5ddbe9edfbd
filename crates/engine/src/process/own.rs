//! The children of this process, and orphans that it adopted.
//!
//! A program that kills its guards loses its parents. If this process adopts orphans, the program becomes its child and
//! can still be ended. To tell orphans from our own children, every start is recorded; start and record happen under one
//! lock, so that a new child is never taken for an orphan.

use std::io;
use tokio::process::{Child, Command};

pub use platform::adopt_orphans;
pub(super) use platform::{end_orphans, spawn_recorded};

/// A child of ours. Pid and start time name a process for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub pid: rustix::process::Pid,
    /// When it began, in ticks of the kernel.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub started: u64,
}

/// Starts a child. A process that adopts orphans must start every child by this, or the child may be taken for one.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    spawn_recorded(command).map(|(child, _)| child)
}

#[cfg(target_os = "linux")]
mod platform {
    use super::super::tree::{self, Process};
    use super::Own;
    use rustix::process::{Pid, Signal, WaitOptions, getpid, waitpid};
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError, RwLock};
    use tokio::process::{Child, Command};

    /// After so many starts, ended children are forgotten and ended orphans are reaped.
    const TIDY_EVERY: usize = 64;

    static ADOPTS: AtomicBool = AtomicBool::new(false);
    /// Held for reading by starts, for writing by a search for orphans.
    static STARTING: RwLock<()> = RwLock::new(());
    static OWN: Mutex<Vec<Own>> = Mutex::new(vec![]);

    /// Makes this process adopt programs that outlive their guards. Without it, a program that leaves its session and
    /// kills its guards is out of reach. Only for a process that starts every child by [`spawn`](super::spawn), which a
    /// library cannot know.
    pub fn adopt_orphans() {
        let adopts = rustix::process::set_child_subreaper(Some(getpid())).is_ok();
        ADOPTS.store(adopts, Ordering::Relaxed);
    }

    pub(in super::super) fn spawn_recorded(command: &mut Command) -> io::Result<(Child, Option<Own>)> {
        let starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        // The child is not reaped yet, so its pid is still its own.
        let own = pid.and_then(tree::process).map(own);
        let mut known = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(own);
        let is_due = known.len() >= TIDY_EVERY;
        drop((known, starting));
        if is_due {
            tidy();
        }
        Ok((child, own))
    }

    fn own(process: Process) -> Own {
        Own { pid: process.pid, started: process.started }
    }

    /// Kills orphans that began after a guard that was lost, with everything below them, and counts them. An orphan of
    /// another child, such as a hook of git, may be among them if it began meanwhile.
    pub(in super::super) fn end_orphans(lost: Own) -> usize {
        if !ADOPTS.load(Ordering::Relaxed) {
            return 0;
        }
        let _no_starts = STARTING.write().unwrap_or_else(PoisonError::into_inner);
        let all = tree::processes();
        let orphans = orphans(&all);
        let since = orphans.iter().filter(|orphan| orphan.started >= lost.started);
        let mut targets: Vec<Pid> = since.map(|orphan| orphan.pid).collect();
        targets.extend(tree::below(&all, targets.clone()));
        let ended = tree::signal_all(&all, &targets, Signal::KILL);
        reap(&orphans);
        ended
    }

    /// The children of this process that it did not start.
    fn orphans(all: &[Process]) -> Vec<Process> {
        let known = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = all.iter().filter(|process| process.parent == Some(getpid()));
        ours.filter(|process| !known.contains(&own((*process).clone()))).cloned().collect()
    }

    fn reap(orphans: &[Process]) {
        for orphan in orphans.iter().filter(|orphan| orphan.is_dead) {
            let _ = waitpid(Some(orphan.pid), WaitOptions::NOHANG);
        }
    }

    fn tidy() {
        let _no_starts = STARTING.write().unwrap_or_else(PoisonError::into_inner);
        let all = tree::processes();
        if ADOPTS.load(Ordering::Relaxed) {
            reap(&orphans(&all));
        }
        let alive: Vec<Own> = all.into_iter().map(own).collect();
        OWN.lock().unwrap_or_else(PoisonError::into_inner).retain(|own| alive.contains(own));
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::Own;
    use rustix::process::Pid;
    use std::io;
    use tokio::process::{Child, Command};

    /// Does nothing: only Linux hands orphans to another process than the first.
    pub fn adopt_orphans() {}

    pub(in super::super) fn spawn_recorded(command: &mut Command) -> io::Result<(Child, Option<Own>)> {
        let child = command.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok((child, pid.map(|pid| Own { pid, started: 0 })))
    }

    pub(in super::super) fn end_orphans(_: Own) -> usize {
        0
    }
}
