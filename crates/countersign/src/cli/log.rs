//! `countersign log`: history.

use super::arguments::LogOptions;
use super::{Failure, Global};
use crate::output::{Answer, dim, outcome_words, paint_outcome, rfc3339};
use countersign_app::find::{meant, no_ledger};
use countersign_app::project::Project;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::Outcome;
use countersign_core::review::Event;
use countersign_core::text::visible_line;
use countersign_engine::ledger::{Entry, Filter, Ledger, Row};
use serde_json::{Value, json};

/// Lists reviews, newest first, or the events of one, in order.
pub async fn run(global: &Global, options: LogOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let Some(ledger) = project.existing_ledger().await? else { return Err(no_ledger()) };
    let verified = match options.verify {
        true => Some(ledger.verify().await?),
        false => None,
    };
    let (mut text, mut json) = match &options.id {
        Some(typed) => events(&project, &ledger, typed, options.limit).await?,
        None => reviews(&ledger, options.limit).await?,
    };
    if let Some(events) = verified {
        text.push_str(&format!("{events} events, chain intact\n"));
    }
    json["events_verified"] = json!(verified);
    ledger.close().await;
    Ok(Answer::new(Outcome::Passed, text, json))
}

async fn reviews(ledger: &Ledger, limit: u32) -> Result<(String, Value), Failure> {
    let (rows, more) = page(ledger, None, Filter { open_only: false, before: None, limit }).await?;
    let mut text: String = rows.iter().map(review_line).collect();
    if more {
        text.push_str(&dim("there are more: --limit N\n"));
    }
    let rows: Vec<Value> = rows.iter().map(review_json).collect();
    Ok((text, json!({ "reviews": rows, "events": null, "more": more })))
}

/// A page of reviews, newest first, and whether there are more.
pub async fn page(
    ledger: &Ledger,
    subject: Option<&Subject>,
    filter: Filter,
) -> Result<(Vec<Row>, bool), Failure> {
    let limit = filter.limit;
    // One more than asked for shows whether there are more.
    let filter = Filter { limit: limit.saturating_add(1), ..filter };
    let mut rows = match subject {
        Some(subject) => ledger.list_for(subject, filter).await?,
        None => ledger.list(filter).await?,
    };
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    Ok((rows, more))
}

/// A review on one line.
pub fn review_line(row: &Row) -> String {
    let at = rfc3339(row.changed_ms).unwrap_or_default();
    let outcome = outcome_words(row.standing);
    let subject = visible_line(row.subject.as_str()).into_owned();
    format!(
        "{}  {}  {}  {subject}  {}\n",
        dim(at.get(..19).unwrap_or(&at)),
        row.id,
        paint_outcome(row.standing, &outcome),
        dim(&format!("round {}", row.round))
    )
}

/// A review as a row for programs.
pub fn review_json(row: &Row) -> Value {
    json!({
        "id": row.id,
        "subject": row.subject,
        "outcome": row.standing.map(Outcome::name),
        "reason": row.standing.and_then(Outcome::reason),
        "round": row.round,
        "attempts": row.attempts,
        "digest": row.digest,
        "opened_at": rfc3339(row.opened_ms),
        "changed_at": rfc3339(row.changed_ms),
    })
}

async fn events(
    project: &Project,
    ledger: &Ledger,
    typed: &str,
    limit: u32,
) -> Result<(String, Value), Failure> {
    let id = meant(project, ledger, typed).await?;
    let (entries, more) = event_page(ledger, &id, 0, limit).await?;
    let mut text: String = entries.iter().map(event_line).collect();
    if more {
        text.push_str(&dim("there are more: --limit N\n"));
    }
    let rows: Vec<Value> = entries.iter().map(event_json).collect();
    Ok((text, json!({ "reviews": null, "events": rows, "more": more })))
}

/// A page of the events of a review, oldest first, and whether there are more.
pub async fn event_page(
    ledger: &Ledger,
    id: &ReviewId,
    after_n: u64,
    limit: u32,
) -> Result<(Vec<Entry>, bool), Failure> {
    let mut entries = ledger.events(id, after_n, limit.saturating_add(1)).await?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    Ok((entries, more))
}

/// An event for programs.
pub fn event_json(entry: &Entry) -> Value {
    json!({ "n": entry.n, "at": rfc3339(entry.at_ms), "event": entry.event })
}

fn event_line(entry: &Entry) -> String {
    let at = rfc3339(entry.at_ms).unwrap_or_default();
    format!(
        "{:>4}  {}  {:<17}  {}\n",
        entry.n,
        dim(at.get(..19).unwrap_or(&at)),
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
