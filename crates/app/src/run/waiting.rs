//! Notifications of tasks that wait for a person, sent during the run.

use crate::notify::{self, About, Notice};
use crate::project::Project;
use countersign_core::ids::ReviewId;
use countersign_core::progress::ProgressEvent;
use countersign_doors::service::task::person_needed;
use countersign_engine::engine::Listener;
use countersign_engine::ledger::Ledger;
use std::collections::HashSet;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// The tasks of a run that begin to wait.
pub(super) struct Waiting(UnboundedReceiver<(String, ReviewId)>);

impl Waiting {
    /// With the listener that adds them, until the run is stopped.
    pub(super) fn listen(stopped: CancellationToken) -> (Self, Listener) {
        let (sender, receiver) = unbounded_channel();
        let listener = move |happening: &ProgressEvent| {
            if let (ProgressEvent::Awaits { task, review }, false) = (happening, stopped.is_cancelled()) {
                // Fails after the end of the run.
                let _ = sender.send((task.clone(), review.clone()));
            }
        };
        (Self(receiver), Box::new(listener))
    }

    /// Notifies people during a run; only the end of the run waits for that.
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
                // A stopped run reports it twice.
                if known.insert(review.clone()) {
                    tell(project, ledger, &task, &review).await;
                }
            }
        };
        tokio::join!(run, telling).0
    }

    /// The next one; none after the end of the run.
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
    let told = Notice {
        about: About::PersonNeeded,
        subject: subject.unwrap_or_default(),
        review: Some(review.to_string()),
        notification: person_needed(task, task),
    };
    notify::tell(project, ledger, told).await;
}
