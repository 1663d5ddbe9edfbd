//! Tasks that wait for a person: somebody is told, while the run goes on.

use crate::notify::{self, About, Told};
use crate::project::Project;
use countersign_core::happening::Happening;
use countersign_core::ids::ReviewId;
use countersign_doors::service::task::person_needed;
use countersign_engine::engine::Listener;
use countersign_engine::ledger::Ledger;
use std::collections::HashSet;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// The tasks of a run that wait, as they begin to.
pub(super) struct Waiting(UnboundedReceiver<(String, ReviewId)>);

impl Waiting {
    /// With the listener that hears of them. Whoever stopped the run knows what waits.
    pub(super) fn listen(stopped: CancellationToken) -> (Self, Listener) {
        let (sender, receiver) = unbounded_channel();
        let listener = move |happening: &Happening| {
            if let (Happening::Awaits { task, review }, false) = (happening, stopped.is_cancelled()) {
                // Nobody listens any more where the run is over.
                let _ = sender.send((task.clone(), review.clone()));
            }
        };
        (Self(receiver), Box::new(listener))
    }

    /// Tells people during a run; the run does not wait for that, but its end does.
    pub(super) async fn told_during<T>(
        mut self,
        project: &Project,
        ledger: &Ledger,
        run: impl Future<Output = T>,
    ) -> T {
        let over = CancellationToken::new();
        let run = async {
            let _over = over.clone().drop_guard();
            run.await
        };
        let telling = async {
            let mut known = HashSet::new();
            while let Some((task, review)) = self.next(&over).await {
                // A run that is stopped says it again.
                if known.insert(review.clone()) {
                    tell(project, ledger, &task, &review).await;
                }
            }
        };
        tokio::join!(run, telling).0
    }

    /// The next one; none when the run is over and all were seen.
    async fn next(&mut self, over: &CancellationToken) -> Option<(String, ReviewId)> {
        tokio::select! {
            biased;
            waits = self.0.recv() => waits,
            () = over.cancelled() => None,
        }
    }
}

async fn tell(project: &Project, ledger: &Ledger, task: &str, review: &ReviewId) {
    let stored = ledger.review(review).await.ok().flatten();
    let subject = stored.map(|stored| stored.review.subject.to_string());
    let told = Told {
        about: About::PersonNeeded,
        subject: subject.unwrap_or_default(),
        review: Some(review.to_string()),
        notification: person_needed(task, task),
    };
    notify::tell(project, ledger, told).await;
}
