//! Futures that run at the same time and end together.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

enum Slot<F: Future> {
    Running(Pin<Box<F>>),
    Ended(F::Output),
}

/// Runs all of them at once, within the caller's task, and gives their outputs in order. They are not tasks of
/// their own, so that dropping this drops them at once: nothing goes on behind the caller's back.
pub(super) async fn all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut slots: Vec<Slot<F>> = futures.into_iter().map(|future| Slot::Running(Box::pin(future))).collect();
    poll_fn(|context| {
        let mut running = false;
        for slot in &mut slots {
            if let Slot::Running(future) = slot {
                match future.as_mut().poll(context) {
                    Poll::Ready(output) => *slot = Slot::Ended(output),
                    Poll::Pending => running = true,
                }
            }
        }
        if running { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    let output = |slot| match slot {
        Slot::Ended(output) => Some(output),
        Slot::Running(_) => None,
    };
    slots.into_iter().filter_map(output).collect()
}
