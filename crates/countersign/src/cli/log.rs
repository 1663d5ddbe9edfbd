//! `countersign log`: history.

use super::arguments::LogOptions;
use super::{Failure, Global};
use crate::output::{Answer, dim, outcome_words, paint_outcome};
use countersign_app::answer::v1::{Entry, Log, Row};
use countersign_app::log::log;
use countersign_app::project::Project;
use countersign_core::outcome::Outcome;
use countersign_core::review::Event;
use countersign_core::text::visible_line;

/// Lists reviews, newest first, or the events of one, in order.
pub async fn run(global: &Global, options: LogOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let answer = log(&project, options.id.as_deref(), options.limit, options.verify).await?;
    let text = text(&answer.own);
    Ok(Answer::of(answer, text))
}

fn text(log: &Log) -> String {
    let mut text: String = log.reviews.iter().flatten().map(review_line).collect();
    text.extend(log.events.iter().flatten().map(event_line));
    if log.more {
        text.push_str(&dim("there are more: --limit N\n"));
    }
    if let Some(events) = log.events_verified {
        text.push_str(&format!("{events} events, chain intact\n"));
    }
    text
}

/// A review on one line.
pub fn review_line(row: &Row) -> String {
    let at = row.changed_at.as_deref().unwrap_or_default();
    let standing = row.outcome.map(|outcome| outcome.0);
    let subject = visible_line(row.subject.as_str()).into_owned();
    format!(
        "{}  {}  {}  {subject}  {}\n",
        dim(at.get(..19).unwrap_or(at)),
        row.id,
        paint_outcome(standing, &outcome_words(standing)),
        dim(&format!("round {}", row.round))
    )
}

fn event_line(entry: &Entry) -> String {
    let at = entry.at.as_deref().unwrap_or_default();
    format!(
        "{:>4}  {}  {:<17}  {}\n",
        entry.n,
        dim(at.get(..19).unwrap_or(at)),
        entry.event.kind(),
        visible_line(&event_words(&entry.event))
    )
}

/// What happened in a review, beside its kind.
pub fn event_words(event: &Event) -> String {
    use Event as E;
    match event {
        E::Submitted { round, submission, assignments, .. } => {
            format!(
                "round {round}, {} files, {} assignments, {}",
                submission.files.len(),
                assignments.len(),
                submission.digest.short()
            )
        }
        E::Asked { reviewer, call, .. } => format!("{reviewer} ({call})"),
        E::Answered { answer, .. } => answer.feedback.clone(),
        E::AskFailed { why, detail, .. } => format!("{}: {detail}", why.name()),
        E::RoundJudged { round, end, .. } => format!("round {round}: {}", end.words()),
        E::Decided { decision } => decision.words(),
        E::Disputed { dispute } => dispute.words(),
        E::Lifted { by, reason } => format!("by {}: {reason}", by.words()),
        E::Settled { outcome } => Outcome::from(*outcome).to_string(),
        E::ReviewOpened { subject, .. } => subject.to_string(),
        E::PersonAsked { round } => format!("round {round}"),
        E::SelfReviewAsked { .. } | E::Notified { .. } => String::new(),
    }
}
