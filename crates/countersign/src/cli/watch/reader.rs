//! Notices that the reader of standard output is gone, also while there is nothing to print.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::stdout;
use tokio_util::sync::CancellationToken;

/// Cancelled when the reader of standard output is gone.
pub fn gone() -> CancellationToken {
    let gone = CancellationToken::new();
    let told = gone.clone();
    // It waits for as long as the process lives, and costs nothing meanwhile.
    std::thread::spawn(move || {
        if is_closed_at_last() {
            told.cancel();
        }
    });
    gone
}

/// Waits for the other end to be closed. False where that cannot be waited for; then a failing write tells.
fn is_closed_at_last() -> bool {
    let out = stdout();
    // Nothing is asked for: errors and hang-ups are told all the same.
    let mut ends = [PollFd::new(&out, PollFlags::empty())];
    loop {
        match poll(&mut ends, None) {
            Err(Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP),
        }
    }
}
