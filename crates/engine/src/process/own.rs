//! Our own children, and those of others that came to us.
//!
//! A program that kills its guards loses its parents, and comes to us if we adopt orphans: then it can still be ended.
//! To tell what came to us from what we started, everything we start is written down. Both happen under one lock, so
//! that nothing is taken for an orphan between its start and its entry.

use std::io;
use tokio::process::{Child, Command};

/// A child of ours, named for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub pid: rustix::process::Pid,
    /// When it began, in ticks of the kernel.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub started: u64,
}

/// Starts a program as a child of ours. Every program that a process which adopts orphans starts must be started by
/// this, or it may be taken for an orphan.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    linux_or_not::spawn(command).map(|(child, _)| child)
}

/// The same, with its name.
pub(super) fn spawn_named(command: &mut Command) -> io::Result<(Child, Option<Own>)> {
    linux_or_not::spawn(command)
}

/// Makes this process adopt what outlives its guards. For a process whose children are all started by [`spawn`]: a
/// library cannot know that of the program it is part of. Without it, whatever leaves its session and kills its guards is
/// out of reach.
pub fn adopt_orphans() {
    linux_or_not::adopt();
}

/// Ends orphans that began after a guard that was lost, with everything below them, and says how many there were. An
/// orphan of another program of ours, such as a hook of git, may be among them if it began meanwhile.
pub(super) fn end_orphans(lost: Own) -> usize {
    linux_or_not::end_orphans(lost)
}

#[cfg(target_os = "linux")]
mod linux_or_not {
    use super::super::tree::{self, Process};
    use super::Own;
    use rustix::process::{Pid, Signal, WaitOptions, getpid, waitpid};
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError, RwLock};
    use tokio::process::{Child, Command};

    /// After so many starts, those that have ended are forgotten, and orphans that have ended are taken away.
    const TIDY_EVERY: usize = 64;

    static ADOPTS: AtomicBool = AtomicBool::new(false);
    /// Read by those who start something, written by those who look for orphans.
    static STARTING: RwLock<()> = RwLock::new(());
    static OWN: Mutex<Vec<Own>> = Mutex::new(vec![]);

    pub(super) fn adopt() {
        let adopts = rustix::process::set_child_subreaper(Some(getpid())).is_ok();
        ADOPTS.store(adopts, Ordering::Relaxed);
    }

    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Option<Own>)> {
        let starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        // Nobody has asked how it ended, so its number is still its own.
        let own =
            pid.and_then(tree::process).map(|process| Own { pid: process.pid, started: process.started });
        let mut known = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(own);
        let is_due = known.len() >= TIDY_EVERY;
        drop((known, starting));
        if is_due {
            tidy();
        }
        Ok((child, own))
    }

    pub(super) fn end_orphans(lost: Own) -> usize {
        if !ADOPTS.load(Ordering::Relaxed) {
            return 0;
        }
        let _nobody_starts = STARTING.write().unwrap_or_else(PoisonError::into_inner);
        let all = tree::processes();
        let orphans = orphans(&all);
        let since = orphans.iter().filter(|orphan| orphan.started >= lost.started);
        let mut targets: Vec<Pid> = since.map(|orphan| orphan.pid).collect();
        targets.extend(tree::below(&all, targets.clone()));
        let ended = tree::signal_all(&all, &targets, Signal::KILL);
        take_away(&orphans);
        ended
    }

    /// Our children that we did not start.
    fn orphans(all: &[Process]) -> Vec<Process> {
        let known = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |process: &Process| known.contains(&Own { pid: process.pid, started: process.started });
        let ours = all.iter().filter(|process| process.parent == Some(getpid()));
        ours.filter(|process| !is_own(process)).cloned().collect()
    }

    /// Takes the dead among them away. Nobody else asks how they ended.
    fn take_away(orphans: &[Process]) {
        for orphan in orphans.iter().filter(|orphan| orphan.is_dead) {
            let _ = waitpid(Some(orphan.pid), WaitOptions::NOHANG);
        }
    }

    fn tidy() {
        let _nobody_starts = STARTING.write().unwrap_or_else(PoisonError::into_inner);
        let all = tree::processes();
        if ADOPTS.load(Ordering::Relaxed) {
            take_away(&orphans(&all));
        }
        let is_there =
            |own: &Own| all.iter().any(|process| process.pid == own.pid && process.started == own.started);
        OWN.lock().unwrap_or_else(PoisonError::into_inner).retain(is_there);
    }
}

#[cfg(not(target_os = "linux"))]
mod linux_or_not {
    use super::Own;
    use rustix::process::Pid;
    use std::io;
    use tokio::process::{Child, Command};

    pub(super) fn adopt() {}

    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Option<Own>)> {
        let child = command.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok((child, pid.map(|pid| Own { pid, started: 0 })))
    }

    pub(super) fn end_orphans(_: Own) -> usize {
        0
    }
}
