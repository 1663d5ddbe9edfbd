//! `countersign log`: history.

use super::{Failure, Global};
use crate::output::{Answer, counted, dim, local, outcome_words, paint_outcome};
use clap::Args;
use clap::builder::PossibleValuesParser;
use countersign_app::answer::v1::ledger::Pruning;
use countersign_app::answer::v1::{Entry, ImportedRow, Log, Row};
use countersign_app::log::{LogQuery, log};
use countersign_app::project::Project;
use countersign_app::time::since;
use countersign_core::outcome::Outcome;
use countersign_core::review::Event;
use countersign_core::submission::Material;
use countersign_core::text::visible_line;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many files of a submission are named.
const NAMED: usize = 3;
/// Shorter ledgers are checked before a person wonders.
const LONG_EVENTS: u64 = 10_000;

#[derive(Debug, Args)]
pub struct LogOptions {
    /// The events of this review instead of a list of reviews
    pub id: Option<String>,
    /// How many rows at most
    #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// The next page: the number that the page before names
    #[arg(long, value_name = "N")]
    pub from: Option<u64>,
    /// Only reviews that changed since then: a length such as 2h or 3d, or a date
    #[arg(long, value_name = "WHEN", value_parser = since, conflicts_with = "id")]
    pub since: Option<i64>,
    /// Only reviews with this outcome, such as needs_work, or under_way
    #[arg(long, value_name = "NAME", value_parser = outcomes(), conflicts_with = "id")]
    pub outcome: Option<String>,
    /// Only reviews of this subject; with a / at its end, of all that begin so
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    pub subject: Option<String>,
    /// Only reviews for which this reviewer could be asked
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    pub reviewer: Option<String>,
    /// Check the whole ledger first: its chain, every verdict and every table
    #[arg(long)]
    pub verify: bool,
    /// Reviews of other ledgers, which were imported; no gate counts them
    #[arg(long, conflicts_with_all = ["id", "since", "outcome", "subject", "reviewer", "from"])]
    pub imported: bool,
}

/// The names of outcomes, as the JSON has them.
fn outcomes() -> PossibleValuesParser {
    PossibleValuesParser::new(Outcome::ALL.map(Outcome::name).into_iter().chain(["under_way"]))
}

pub async fn run(global: &Global, options: LogOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let LogOptions { id, limit, from, since, outcome, subject, reviewer, verify, imported } = options;
    let tell = (!global.quiet && !global.json).then_some(told as fn(u64, u64));
    let wanted = LogQuery {
        id,
        limit,
        from,
        since_ms: since,
        outcome,
        subject,
        reviewer,
        verify,
        imported,
        tell,
        words: None,
    };
    let answer = log(&project, &wanted).await?;
    let text = text(&answer.own);
    Ok(Answer::of(answer, text))
}

/// Says how far a long ledger is checked, at most once for each tenth of it.
fn told(done: u64, all: u64) {
    static TENTHS: AtomicU64 = AtomicU64::new(0);
    let tenths = done * 10 / all.max(1);
    if all >= LONG_EVENTS && TENTHS.fetch_max(tenths, Ordering::Relaxed) < tenths {
        let _ = writeln!(anstream::stderr(), "checked {done} of {all} events");
    }
}

fn text(log: &Log) -> String {
    let mut text: String = log.reviews.iter().flatten().map(review_line).collect();
    for ImportedRow { row, from } in log.imported.iter().flatten() {
        let line = review_line(row);
        let from = format!("imported from {}; no gate counts it", visible_line(from));
        text.push_str(&format!("{}  {}\n", line.trim_end(), dim(&from)));
    }
    if let Some(from) = &log.imported_from {
        text.push_str(&format!("imported from {}; no gate counts it\n", visible_line(from)));
    }
    text.extend(log.events.iter().flatten().map(event_line));
    if text.is_empty() {
        text.push_str("no review matches\n");
    }
    if let Some(next) = log.next {
        text.push_str(&dim(&format!("more: run the same command with --from {next}, or --limit N\n")));
    }
    for Pruning { at_ms, by, reviews, .. } in log.prunings.iter().flatten() {
        let reviews = counted(usize::try_from(*reviews).unwrap_or(usize::MAX), "review", "reviews");
        text.push_str(&format!("pruned on {} by {}: {reviews}\n", local(*at_ms), visible_line(by)));
    }
    if let Some(events) = log.events_verified {
        text.push_str(&format!("events checked: {events}; none was changed or removed\n"));
    }
    text
}

pub fn review_line(row: &Row) -> String {
    let standing = row.outcome.map(|outcome| outcome.0);
    let subject = visible_line(row.subject.as_str()).into_owned();
    let round = format!("round {}{}", row.round, if row.pruned { ", pruned" } else { "" });
    format!(
        "{}  {}  {}  {subject}  {}\n",
        dim(&local(row.changed_ms)),
        row.id,
        paint_outcome(standing, &outcome_words(standing)),
        dim(&round)
    )
}

fn event_line(entry: &Entry) -> String {
    format!(
        "{:>4}  {}  {:<17}  {}\n",
        entry.n,
        dim(&local(entry.at_ms)),
        entry.event.kind(),
        visible_line(&event_words(&entry.event))
    )
}

pub fn event_words(event: &Event) -> String {
    use Event as E;
    match event {
        E::Submitted { round, submission, assignments, .. } => {
            format!(
                "round {round}, {}, {}, {}",
                files(&submission.files),
                counted(assignments.len(), "question", "questions"),
                submission.digest.short()
            )
        }
        E::Asked { reviewer, call, .. } => format!("{reviewer} ({call})"),
        E::Answered { answer, .. } => answer.feedback.clone(),
        E::Reused { answers, .. } => counted(answers.len(), "answer from before", "answers from before"),
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

fn files(files: &[Material]) -> String {
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    match names.get(..NAMED) {
        Some(first) if names.len() > NAMED => {
            format!("{} and {} more", first.join(", "), names.len() - NAMED)
        }
        _ => names.join(", "),
    }
}
