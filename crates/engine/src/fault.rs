//! Lets a test kill the process before or after a chosen write: a commit of the ledger or a file that is replaced.
//! Release builds do not have it.

use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that says at which write this process dies: `N` before its N-th write stands, `N!` after it.
const VARIABLE: &str = "COUNTERSIGN_TEST_DIE_AT_WRITE";

static WRITES: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Before,
    After,
}

pub(crate) fn kill_if_chosen(moment: Moment) {
    if !cfg!(debug_assertions) {
        return;
    }
    let Ok(wanted) = std::env::var(VARIABLE) else { return };
    let here = match moment {
        Moment::Before => (WRITES.fetch_add(1, Ordering::SeqCst) + 1).to_string(),
        Moment::After => format!("{}!", WRITES.load(Ordering::SeqCst)),
    };
    if wanted == here {
        // As by kill -9: no destructor runs, nothing is flushed.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
