//! Slots: how many questions a reviewer gets at once, in turn between reviews.
//! A review with thousands of questions must not delay another that has one. So the next slot goes to the next review,
//! not to the next question.

use countersign_core::ids::ReviewId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

#[derive(Clone, Debug)]
pub(super) struct Slots(Arc<Mutex<Queue>>);

/// A slot that is taken, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Option<Slots>);

#[derive(Debug)]
struct Queue {
    free: usize,
    /// The reviews that wait, in the order of their turns, with their questions.
    waiting: VecDeque<(ReviewId, VecDeque<oneshot::Sender<Slot>>)>,
}

impl Slots {
    pub fn new(slots: usize) -> Self {
        Self(Arc::new(Mutex::new(Queue { free: slots.max(1), waiting: VecDeque::new() })))
    }

    pub async fn acquire(&self, review: &ReviewId) -> Slot {
        let turn = {
            let mut queue = self.queue();
            if queue.free > 0 {
                queue.free -= 1;
                return Slot(Some(self.clone()));
            }
            let (sender, turn) = oneshot::channel();
            match queue.waiting.iter_mut().find(|(waiting, _)| waiting == review) {
                Some((_, questions)) => questions.push_back(sender),
                None => queue.waiting.push_back((review.clone(), [sender].into())),
            }
            turn
        };
        // A sender is never dropped without giving a slot, so this is always one.
        turn.await.unwrap_or(Slot(None))
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a free slot to the next question of the next review.
    fn pass_on(&self) {
        let mut queue = self.queue();
        while let Some(next) = queue.next() {
            match next.send(Slot(Some(self.clone()))) {
                Ok(()) => return,
                // The receiver is gone. The returned slot must not be passed on by its own drop: this loop does that.
                Err(mut slot) => slot.0 = None,
            }
        }
        queue.free += 1;
    }
}

impl Queue {
    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        let (review, mut questions) = self.waiting.pop_front()?;
        let next = questions.pop_front();
        if !questions.is_empty() {
            self.waiting.push_back((review, questions));
        }
        next
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(slots) = self.0.take() {
            slots.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(name: &str) -> ReviewId {
        ReviewId::from_text(format!("rv-{name}"))
    }

    /// Lets all tasks that can go on do so.
    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_small_review_does_not_wait_for_a_large_one() {
        let slots = Slots::new(1);
        let first = slots.acquire(&review("large")).await;
        let order = Arc::new(Mutex::new(vec![]));
        let ask = |name: &'static str| {
            let (slots, order) = (slots.clone(), order.clone());
            tokio::spawn(async move {
                let _slot = slots.acquire(&review(name)).await;
                order.lock().unwrap().push(name);
                tokio::task::yield_now().await;
            })
        };
        let mut all = vec![];
        for name in ["large", "large", "large", "small", "third", "small"] {
            all.push(ask(name));
            settle().await;
        }
        drop(first);
        for one in all {
            one.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["large", "small", "third", "large", "small", "large"]);
        assert_eq!(slots.queue().free, 1);
    }

    #[tokio::test]
    async fn who_does_not_wait_any_more_takes_no_slot_along() {
        let slots = Slots::new(2);
        let held = [slots.acquire(&review("a")).await, slots.acquire(&review("a")).await];
        let gone = tokio::spawn({
            let slots = slots.clone();
            async move { slots.acquire(&review("b")).await }
        });
        let waits = tokio::spawn({
            let slots = slots.clone();
            async move { drop(slots.acquire(&review("b")).await) }
        });
        settle().await;
        gone.abort();
        settle().await;
        drop(held);
        waits.await.unwrap();
        assert_eq!(slots.queue().free, 2);
    }
}
