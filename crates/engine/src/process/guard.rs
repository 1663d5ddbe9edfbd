//! The guard process: synchronous and small, without an async runtime.
//!
//! Its standard input is a socket to the process that wants the program. On it come the length of the program's input and
//! the input; then it stays open as a lifeline. Its end, also by the death of that process, ends the program.

use super::{ProcessEnd, tree};
use rustix::process::{Signal, WaitOptions, WaitStatus, getpid, wait};
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// How often, and how long in between, a program is tried that is open for writing.
const BUSY_TRIES: u32 = 50;
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// Between two rounds of KILL. A process that forks as fast as it is killed needs more than one.
pub(super) const KILL_AGAIN: Duration = Duration::from_millis(20);
/// After this long a process that does not die of KILL (it hangs in the kernel) is left to the kernel.
pub(super) const KILL_AT_MOST: Duration = Duration::from_secs(5);

/// Stands for the pid of a watcher where there is none.
const NO_WATCHER: u64 = 0;

pub(super) enum GuardEvent {
    /// The lifeline has ended, or the watcher.
    Cut,
    Ended(WaitStatus),
    /// Nothing is below the guard any more.
    Alone,
}

/// Runs as a guard: `__guard GRACE_MS SCRATCH PROGRAM ARGS…`. Returns when the whole tree is gone, and with it the scratch
/// folder if it has a name and the line was cut. On Linux this process becomes the watcher of its copy.
pub fn guard_main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(2).collect();
    let [grace, scratch, program, args @ ..] = words.as_slice() else { return not_for_people() };
    let Some(grace) = grace.to_str().and_then(|word| word.parse().ok()) else { return not_for_people() };
    let guard = |watcher| guard_program(watcher, Duration::from_millis(grace), scratch, program, args);
    #[cfg(target_os = "linux")]
    {
        super::watcher::watch(guard, scratch)
    }
    #[cfg(not(target_os = "linux"))]
    {
        guard(NO_WATCHER)
    }
}

fn guard_program(
    watcher: u64,
    grace: Duration,
    scratch: &OsStr,
    program: &OsStr,
    args: &[OsString],
) -> ExitCode {
    let Ok(line) = std::io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let mut line = UnixStream::from(line);
    let report = guard(&mut line, watcher, grace, program, args);
    // The copies in it are private work, and the process that made them may be gone. Otherwise that process reads them
    // again before it removes them.
    if report == ProcessEnd::GuardLost {
        remove_scratch(scratch);
    }
    // The process that cut the line may be gone; then the report is not needed.
    let _ = line.write_all(report.report().as_bytes());
    ExitCode::SUCCESS
}

fn not_for_people() -> ExitCode {
    eprintln!("countersign: this is for countersign's own use");
    ExitCode::from(2)
}

pub(super) fn remove_scratch(scratch: &OsStr) {
    if !scratch.is_empty() {
        let _ = std::fs::remove_dir_all(scratch);
    }
}

fn guard(
    line: &mut UnixStream,
    watcher: u64,
    grace: Duration,
    program: &OsStr,
    args: &[OsString],
) -> ProcessEnd {
    // The guard must outlive an interrupt from the terminal to clean up. A watched guard is in its watcher's session.
    if watcher == NO_WATCHER {
        let _ = rustix::process::setsid();
    }
    // Without this, a process that loses its parent would escape: do not start.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        return ProcessEnd::NotStarted {
            reason: format!(
                "Countersign cannot control the child processes of this program, so it was not started: {error}"
            ),
        };
    }
    let (sender, events) = mpsc::channel();
    #[cfg(target_os = "linux")]
    if super::watcher::until_gone(watcher, sender.clone()).is_err() {
        return ProcessEnd::NotStarted {
            reason: "Countersign cannot monitor this program, so it was not started".to_owned(),
        };
    }
    let Some(input) = read_input(line) else { return ProcessEnd::GuardLost };
    let mut child = match start(program, args) {
        Ok(child) => child,
        Err(error) => return ProcessEnd::NotStarted { reason: reason(&error) },
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A program need not read its input, so an error says nothing.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    watch_lifeline(line, sender.clone());
    reap(child.id(), sender);
    let ended = match events.recv() {
        Ok(GuardEvent::Ended(status)) => how(status),
        _ => ProcessEnd::GuardLost,
    };
    end_tree(&events, grace);
    ended
}

/// The whole input of the program: from then on the line is only a lifeline, whether or not the program ever reads.
fn read_input(line: &mut UnixStream) -> Option<Vec<u8>> {
    let mut length = [0; 8];
    line.read_exact(&mut length).ok()?;
    let mut input = vec![];
    line.take(u64::from_le_bytes(length)).read_to_end(&mut input).ok()?;
    (input.len() as u64 == u64::from_le_bytes(length)).then_some(input)
}

fn start(program: &OsStr, args: &[OsString]) -> std::io::Result<Child> {
    // A group of its own: a program that signals its group must not reach the guard.
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).process_group(0);
    // A program that was just written may still be open for writing, in a process that is about to start another.
    for _ in 0..BUSY_TRIES {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(BUSY_WAIT);
            }
            started => return started,
        }
    }
    command.spawn()
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such program".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it may not be executed".to_owned(),
        _ => error.to_string(),
    }
}

fn watch_lifeline(line: &UnixStream, events: Sender<GuardEvent>) {
    let Ok(mut line) = line.try_clone() else { return };
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(line.read(&mut byte), Ok(1..)) {}
        events.send(GuardEvent::Cut)
    });
}

/// Waits for every child, own or adopted. No child left means no descendant left.
fn reap(program: u32, events: Sender<GuardEvent>) {
    std::thread::spawn(move || {
        loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get().cast_unsigned() == program => {
                    let _ = events.send(GuardEvent::Ended(status));
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        events.send(GuardEvent::Alone)
    });
}

/// TERM, a while, then KILL until nothing is left.
fn end_tree(events: &Receiver<GuardEvent>, grace: Duration) {
    // Often there is nothing to end: the program was the last to go.
    if is_alone(events, Duration::from_millis(1)) {
        return;
    }
    tree::signal_below(getpid(), Signal::TERM);
    if is_alone(events, grace) {
        return;
    }
    let give_up = Instant::now() + KILL_AT_MOST;
    while Instant::now() < give_up {
        tree::signal_below(getpid(), Signal::KILL);
        if is_alone(events, KILL_AGAIN) {
            return;
        }
    }
}

/// Whether the guard is alone within this time.
fn is_alone(events: &Receiver<GuardEvent>, within: Duration) -> bool {
    let deadline = Instant::now() + within;
    loop {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(GuardEvent::Alone) => return true,
            Ok(GuardEvent::Ended(_) | GuardEvent::Cut) => {}
            Err(_) => return false,
        }
    }
}

fn how(status: WaitStatus) -> ProcessEnd {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ProcessEnd::Exited(code),
        (None, Some(signal)) => ProcessEnd::Signalled(signal),
        (None, None) => ProcessEnd::GuardLost,
    }
}
