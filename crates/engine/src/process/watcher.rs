//! The watcher: the small process above a guard. A program runs as the same user as its guard and may stop or kill it.
//!
//! The watcher resumes a stopped guard and ends what a killed one left. The guard ends its program if the watcher is gone,
//! and the kernel resumes both if they are stopped when the process above them dies.

use super::guard::{GuardEvent, KILL_AGAIN, KILL_AT_MOST, remove_scratch};
use super::tree;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setpgid, setsid, wait,
};
use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;
use std::sync::mpsc::Sender;
use std::time::Instant;

/// A guard that is stopped more often is taken for lost.
const STOPS_MAX: u32 = 16;

/// Runs as the watcher of a guard, which is a copy of this process. Returns when the guard and everything below it is gone.
pub(super) fn watch(guard: impl FnOnce(u64) -> ExitCode, scratch: &OsStr) -> ExitCode {
    let _ = setsid();
    let _ = set_child_subreaper(Some(getpid()));
    let _ = set_parent_process_death_signal(Some(Signal::CONT));
    let watcher = u64::from(std::process::id());
    // This process has one thread, so the copy is whole.
    let guard = match fork::fork() {
        Ok(fork::Fork::Child) => {
            // A group of its own, but our session: by that, everything is found as long as it does not leave it.
            let _ = setpgid(None, None);
            return guard(watcher);
        }
        Ok(fork::Fork::Parent(guard)) => guard,
        Err(_) => return ExitCode::FAILURE,
    };
    let Some(guard) = Pid::from_raw(guard) else { return ExitCode::FAILURE };
    if ended(guard).is_some_and(|status| status.exit_status() == Some(0)) && is_alone() {
        return ExitCode::SUCCESS;
    }
    end_all();
    remove_scratch(scratch);
    // Without a report, the caller knows that the guard was lost.
    ExitCode::FAILURE
}

/// Waits for the end of the guard, and lets it go on whenever it is stopped.
fn ended(guard: Pid) -> Option<WaitStatus> {
    let mut stops = 0;
    loop {
        match wait(WaitOptions::UNTRACED) {
            Ok(Some((pid, status))) if pid == guard => {
                if !status.stopped() {
                    return Some(status);
                }
                stops += 1;
                if stops > STOPS_MAX {
                    let _ = kill_process(guard, Signal::KILL);
                } else {
                    let _ = kill_process(guard, Signal::CONT);
                }
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Whether nothing is below us. The dead are taken away.
fn is_alone() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// KILL until nothing is left.
fn end_all() {
    let give_up = Instant::now() + KILL_AT_MOST;
    while !is_alone() && Instant::now() < give_up {
        tree::signal_below(getpid(), Signal::KILL);
        std::thread::sleep(KILL_AGAIN);
    }
}

/// Tells a guard when its watcher is gone: without it a stopped guard is never resumed, so it ends its program.
pub(super) fn until_gone(watcher: u64, events: Sender<GuardEvent>) -> io::Result<()> {
    let _ = set_parent_process_death_signal(Some(Signal::CONT));
    let parent = || getppid().filter(|pid| u64::try_from(pid.as_raw_nonzero().get()) == Ok(watcher));
    let watcher = pidfd_open(parent().ok_or(io::ErrorKind::NotFound)?, PidfdFlags::empty())?;
    // It is still our parent after we opened it, so the number was not reused.
    parent().ok_or(io::ErrorKind::NotFound)?;
    std::thread::spawn(move || {
        while poll(&mut [PollFd::new(&watcher, PollFlags::IN)], None) == Err(rustix::io::Errno::INTR) {}
        events.send(GuardEvent::Cut)
    });
    Ok(())
}
