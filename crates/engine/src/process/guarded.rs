//! The caller's handle on a guard: ends the program from here where the guard fails to.

use super::guard::{KILL_AGAIN, KILL_AT_MOST};
use super::own::{self, Own};
use super::tree;
use rustix::process::{Pid, Signal, kill_process};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::process::Child;
use tokio::time::{Instant, sleep, timeout};

/// What a guard needs on top of the grace: KILL, reaping, reporting. After that, its tree is ended from here.
pub(super) const GUARD_MARGIN: Duration = Duration::from_secs(3);
/// How often, and in what steps, what a lost guard left behind is looked for.
const SWEEPS: usize = 250;
const SWEEP_EVERY: Duration = Duration::from_millis(20);
/// How long a process that was killed needs to be gone.
const DYING: Duration = Duration::from_secs(2);

/// How many calls were dropped whose trees are still being ended.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

pub(super) struct Guarded {
    child: Option<Child>,
    own: Option<Own>,
    grace: Duration,
}

impl Guarded {
    pub(super) fn new(child: Child, own: Option<Own>, grace: Duration) -> Self {
        Self { child: Some(child), own, grace }
    }

    /// Lets it go on, should it have been stopped.
    pub(super) fn resumer(&self) -> impl Fn() + use<> {
        let guard = self.child.as_ref().and_then(pid);
        move || resume(guard)
    }

    /// Waits for its end, which is about to come, and sees to it otherwise.
    pub(super) async fn end(mut self) {
        if let Some(mut child) = self.child.take() {
            resume(pid(&child));
            if timeout(GUARD_MARGIN, child.wait()).await.is_err() {
                end_from_here(&mut child, self.own).await;
            }
        }
    }

    /// Ends what a lost guard left behind.
    pub(super) async fn end_lost(&mut self) {
        if let Some(child) = &mut self.child {
            end_lost(child, self.own).await;
        }
    }

    /// Ends the guard and everything below it without its help.
    pub(super) async fn end_from_here(&mut self) {
        if let Some(child) = &mut self.child {
            end_from_here(child, self.own).await;
        }
    }
}

/// The call was dropped: its line is cut and the guard ends the tree, which a task of its own ensures.
impl Drop for Guarded {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (own, within) = (self.own, self.grace + GUARD_MARGIN);
        DROPPED.fetch_add(1, Ordering::Relaxed);
        let counted = Counted;
        runtime.spawn(async move {
            let _counted = counted;
            match timeout(within, child.wait()).await {
                Ok(Ok(status)) if status.success() => {}
                Ok(_) => end_lost(&mut child, own).await,
                Err(_) => end_from_here(&mut child, own).await,
            }
        });
    }
}

/// Counts a dropped call back when its tree is gone.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until nothing of any dropped call is left. For a process that is about to end.
pub async fn all_ended() {
    while DROPPED.load(Ordering::Relaxed) > 0 {
        sleep(Duration::from_millis(5)).await;
    }
}

fn resume(guard: Option<Pid>) {
    if let Some(guard) = guard {
        let _ = kill_process(guard, Signal::CONT);
    }
}

fn pid(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
}

async fn end_from_here(child: &mut Child, own: Option<Own>) {
    let give_up = Instant::now() + KILL_AT_MOST;
    // The guard stays till the end: as long as it is there, it adopts what loses its parent.
    while let Some(guard) = pid(child) {
        if tree::signal_below(guard, Signal::KILL) == 0 || Instant::now() > give_up {
            break;
        }
        sleep(KILL_AGAIN).await;
    }
    end_lost(child, own).await;
}

async fn end_lost(child: &mut Child, own: Option<Own>) {
    let _ = child.start_kill();
    // Its orphans get another parent before it is gone for good.
    let _ = timeout(DYING, child.wait()).await;
    let Some(own) = own else { return };
    for _ in 0..SWEEPS {
        if tree::kill_session(own.pid) + own::end_orphans(own) == 0 {
            return;
        }
        sleep(SWEEP_EVERY).await;
    }
}
