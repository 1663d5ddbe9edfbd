//! Dying at a chosen write, for tests: what is recorded must be enough to go on from, wherever a process ends.
//! Release builds do not have it.

use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that says at which write this process dies: `N` before its N-th commit, `N!` after it.
const VARIABLE: &str = "COUNTERSIGN_TEST_DIE_AT_WRITE";

static WRITES: AtomicU64 = AtomicU64::new(0);

/// When a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Nothing of the transaction is there yet.
    BeforeCommit,
    /// All of it is, and nobody was told.
    AfterCommit,
}

/// Dies, if this is the moment.
pub(super) fn perhaps_die(moment: Moment) {
    if !cfg!(debug_assertions) {
        return;
    }
    let Ok(wanted) = std::env::var(VARIABLE) else { return };
    let writes = match moment {
        Moment::BeforeCommit => WRITES.fetch_add(1, Ordering::SeqCst) + 1,
        Moment::AfterCommit => WRITES.load(Ordering::SeqCst),
    };
    let here = match moment {
        Moment::BeforeCommit => writes.to_string(),
        Moment::AfterCommit => format!("{writes}!"),
    };
    if wanted == here {
        // As by kill -9: no destructor runs, nothing is flushed.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
