//! Runs an agent program for as long as its output says that waiting is of use. Some programs ask a service that fails again
//! and again, or wait for as long as it says, and no setting limits that.

use crate::process::{self, Call, Ended, GuardProgram, Tap};
use crate::programs::Patience;
use std::io;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A longer line says nothing about waiting.
const LINE_BYTES: usize = 1024 * 1024;

/// What a line says, with a count over the lines.
type Says = fn(&mut usize, &str) -> Option<Patience>;

/// Runs it. One that is ended here ends as [`process::ProcessEnd::Cancelled`].
pub(super) async fn run(
    guard: &GuardProgram,
    mut call: Call,
    cancel: &CancellationToken,
    says: Option<Says>,
) -> io::Result<Ended> {
    let Some(says) = says else { return process::run(guard, call, cancel).await };
    let enough = cancel.child_token();
    let (tell, mut told) = watch::channel(None);
    let lines = Mutex::new(Lines::default());
    call.tap = Some(Tap::new(move |piece| {
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(patience) = lines.push(piece, says) {
            tell.send_replace(match patience {
                Patience::Whole => None,
                Patience::AtMost(wait) => Some(Instant::now() + wait),
            });
        }
    }));
    let impatient = async {
        loop {
            let until: Option<Instant> = *told.borrow_and_update();
            let over = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = over => enough.cancel(),
                changed = told.changed() => if changed.is_ok() { continue },
            }
            // It is being ended, or has closed its output.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        ended = process::run(guard, call, &enough) => ended,
        () = impatient => Err(io::Error::other("it was not waited for")),
    }
}

/// Output as it comes, in pieces.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
    count: usize,
}

impl Lines {
    /// What the last of the lines that are whole now says.
    fn push(&mut self, piece: &[u8], says: Says) -> Option<Patience> {
        self.begun.extend_from_slice(piece);
        let end = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = self.begun.split_off(end);
        let whole = std::mem::replace(&mut self.begun, rest);
        if self.begun.len() > LINE_BYTES {
            self.begun.clear();
        }
        let whole = String::from_utf8_lossy(&whole);
        whole.lines().filter_map(|line| says(&mut self.count, line)).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::opencode;
    use std::time::Duration;

    #[test]
    fn issue_23_what_is_of_no_use_is_counted_over_pieces_of_lines() {
        let says = opencode::FACTS.patience.unwrap();
        let error = "timestamp=1 level=ERROR run=1 message=\"stream error\" error.error=\"x\"\n";
        let step = "{\"type\":\"step_finish\",\"part\":{\"reason\":\"unknown\"}}\n";
        let mut lines = Lines::default();
        assert!(
            matches!(lines.push(error.as_bytes(), says), Some(Patience::AtMost(wait)) if wait > Duration::ZERO)
        );
        assert_eq!(lines.push(b"t level=INFO message=stream x=1\n", says), Some(Patience::Whole));
        assert_eq!(lines.push(&step.as_bytes()[..20], says), None);
        assert!(matches!(lines.push(&step.as_bytes()[20..], says), Some(Patience::AtMost(_))));
        let last = "{\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\"}}\n";
        assert_eq!(lines.push(last.as_bytes(), says), None);
        assert_eq!(lines.push(error.as_bytes(), says), Some(Patience::AtMost(Duration::ZERO)));
    }
}
