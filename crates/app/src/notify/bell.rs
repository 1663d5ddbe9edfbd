//! The bell of the user's terminal. It is never written into a pipe or a file.

use super::ways::Sent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::write;
use rustix::termios::{LocalModes, isatty, tcgetattr};
use std::io::stderr;
use std::os::fd::AsFd;

const BELL: &[u8] = b"\x07";

/// Rings the bell without waiting: a terminal may be stopped.
pub fn ring() -> Sent {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match open("/dev/tty", flags, Mode::empty()) {
        Ok(terminal) => ring_at(terminal),
        Err(_) if isatty(stderr()) => ring_at(stderr()),
        Err(_) => Sent::not_there("no terminal"),
    }
}

fn ring_at(terminal: impl AsFd) -> Sent {
    // Such a terminal stops a background process that writes.
    if tcgetattr(&terminal).is_ok_and(|modes| modes.local_modes.contains(LocalModes::TOSTOP)) {
        return Sent::not_there("the terminal stops background programs that write to it (stty tostop)");
    }
    let mut ready = [PollFd::new(&terminal, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if !poll(&mut ready, Some(&now)).is_ok_and(|count| count > 0) {
        return Sent::failed("the terminal accepts no output now");
    }
    match write(&terminal, BELL) {
        Ok(_) => Sent::done(),
        Err(error) => Sent::failed(format!("the terminal: {error}")),
    }
}
