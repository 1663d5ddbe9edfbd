//! Notices that the reader of standard output is gone, also while there is nothing to print.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::stdout;
use tokio_util::sync::CancellationToken;

pub fn gone() -> CancellationToken {
    let gone = CancellationToken::new();
    let told = gone.clone();
    // It waits as long as the process lives, without cost.
    std::thread::spawn(move || {
        if is_closed_at_last() {
            told.cancel();
        }
    });
    gone
}

/// Waits until the other end is closed. False if it cannot wait; then a failing write shows it.
fn is_closed_at_last() -> bool {
    let out = stdout();
    // No events are requested: poll reports errors and hang-ups anyway.
    let mut ends = [PollFd::new(&out, PollFlags::empty())];
    loop {
        match poll(&mut ends, None) {
            Err(Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP),
        }
    }
}
