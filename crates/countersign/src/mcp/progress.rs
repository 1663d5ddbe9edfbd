//! Progress notifications: clients keep a call open for as long as they get some.

use super::tools::Call;
use countersign_app::Failure;
use countersign_app::answer::v1::{self, State};
use countersign_app::server_state::{LOOK, ReadAgain, ReviewState, is_performed};
use countersign_core::ids::ReviewId;
use countersign_core::progress::ProgressEvent;
use countersign_core::text::visible_line;
use countersign_engine::ledger::{Ledger, Stored};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How often a client gets a notification while a review runs.
const BEAT: Duration = Duration::from_secs(5);

pub struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    last: Mutex<LastSent>,
}

/// The last notification. The number must grow with every notification, so between two answers it grows by
/// ever less than one.
#[derive(Default)]
struct LastSent {
    done: usize,
    beats: u32,
}

impl Progress {
    pub fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self { to: token.map(|token| (peer, token)), last: Mutex::default() }
    }

    /// Sends a notification: `done` of `total`, and what happens now.
    pub async fn tell(&self, done: usize, total: usize, message: &str) {
        let Some((peer, token)) = &self.to else { return };
        let value = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if done > last.done {
                *last = LastSent { done, beats: 0 };
            } else {
                last.beats += 1;
            }
            last.done as f64 + f64::from(last.beats) / f64::from(last.beats + 1)
        };
        // It exceeds the total only where the total was not known yet.
        let mut progress =
            ProgressNotificationParam::new(token.clone(), value).with_message(visible_line(message));
        if total > 0 {
            progress = progress.with_total((total as f64).max(value.ceil()));
        }
        // The transport notices a client that is gone.
        let _ = peer.notify_progress(progress).await;
    }
}

/// Follows a review until it has an outcome, at most for `longest`, and notifies the client. A cancelled call is an error.
pub async fn follow(
    call: &Call,
    ledger: &Ledger,
    review: &ReviewId,
    longest: Duration,
) -> Result<ReviewState, Failure> {
    let mut again = ReadAgain::new(&call.server, ledger).await?;
    let mut news = News { events: call.server.events().await, asked: BTreeSet::new(), done: 0 };
    let deadline = Instant::now() + longest;
    let mut look = tokio::time::interval(LOOK);
    // The first notification is sent at once.
    let mut next_beat = Instant::now();
    loop {
        let before = Instant::now();
        let Some(stored) = ledger.review(review).await? else {
            return Err(Failure::internal(format!("review `{review}` no longer exists")));
        };
        again.took(before);
        if stored.review.standing().is_some() {
            return Ok(ReviewState { state: State::Done, stored });
        }
        let v1::Progress { answered: done, questions: total } = (&stored).into();
        loop {
            tokio::select! {
                biased;
                () = call.cancel.cancelled() => return Err(Failure::interrupted()),
                happening = news.next() => {
                    if let Some(words) = news.words(&happening, &stored) {
                        next_beat = Instant::now() + BEAT;
                        call.progress.tell(done.max(news.done), total, &words).await;
                    }
                }
                () = tokio::time::sleep_until(deadline) => return ReviewState::of(&call.server, ledger, stored).await,
                () = again.due(&call.server, review) => break,
                _ = look.tick() => {
                    if !is_performed(&call.server, ledger, &stored).await {
                        return ReviewState::of(&call.server, ledger, stored).await;
                    }
                    if Instant::now() >= next_beat {
                        next_beat = Instant::now() + BEAT;
                        call.progress.tell(done.max(news.done), total, &news.waiting(&stored)).await;
                    }
                }
            }
        }
    }
}

struct News {
    events: Option<tokio::sync::broadcast::Receiver<ProgressEvent>>,
    /// The assignments that were asked and not answered yet.
    asked: BTreeSet<usize>,
    done: usize,
}

impl News {
    /// The next happening; never returns where only other processes perform reviews.
    async fn next(&mut self) -> ProgressEvent {
        use tokio::sync::broadcast::error::RecvError;
        loop {
            let Some(events) = &mut self.events else { return std::future::pending().await };
            match events.recv().await {
                Ok(happening) => return happening,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => self.events = None,
            }
        }
    }

    fn words(&mut self, happening: &ProgressEvent, of: &Stored) -> Option<String> {
        let wanted = &of.review.id;
        match happening {
            ProgressEvent::Round { review, round, assignments, answered } if review == wanted => {
                self.done = *answered;
                Some(format!("round {round}: {answered} of {assignments} answered already"))
            }
            ProgressEvent::Asked { review, assignment, label, reviewer, again } if review == wanted => {
                self.asked.insert(*assignment);
                let again = if *again { " again" } else { "" };
                Some(format!("asking {reviewer}{again}: {label}"))
            }
            ProgressEvent::Answered { review, assignment, failed } if review == wanted => {
                self.done += 1;
                self.asked.remove(assignment);
                let said = if *failed == 0 { "ok" } else { "findings" };
                Some(format!("{}: {said}", label(of, *assignment)))
            }
            ProgressEvent::AskFailed { review, assignment, why, .. } if review == wanted => {
                self.asked.remove(assignment);
                Some(format!("{}: no answer ({})", label(of, *assignment), why.name()))
            }
            _ => None,
        }
    }

    fn waiting(&self, of: &Stored) -> String {
        match self.asked.first() {
            Some(first) if self.asked.len() == 1 => format!("waiting for {}", label(of, *first)),
            Some(first) => format!("waiting for {} and {} more", label(of, *first), self.asked.len() - 1),
            None => "waiting for the reviewers".to_owned(),
        }
    }
}

fn label(of: &Stored, assignment: usize) -> String {
    let assignment = of.review.round().and_then(|round| round.assignments.get(assignment));
    let Some(assignment) = assignment else { return "a question".to_owned() };
    let rule = of.review.rules.get(assignment.rule).map_or("", |rule| rule.name.as_str());
    format!("{rule}: {}", assignment.target_words())
}
