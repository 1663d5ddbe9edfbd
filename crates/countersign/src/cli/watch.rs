//! `countersign watch`: the events of this project, live, of all processes.

mod event_line;
mod reader;

use super::{Failure, Global};
use crate::output::{Answer, Printer, json_line, write_out};
use clap::Args;
use countersign_app::Code;
use countersign_app::answer::v1;
use countersign_app::feed::{self, Feed};
use countersign_app::project::Project;
use countersign_engine::ledger::{Ledger, LedgerError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const WATCH_HELP: &str = "\
Examples:
  countersign watch                       a line for every event from now on, in all processes
  countersign watch --json --after 1042   one JSON object a line, beginning after event 1042
  countersign watch --subject service/    the reviews of tasks only

It runs until it is stopped (exit code 0) or its output is closed. In a project without reviews it waits.";

#[derive(Debug, Args)]
#[command(after_help = WATCH_HELP)]
pub struct WatchOptions {
    /// Begin after the event with this id; without it, only new events are printed
    #[arg(long, value_name = "ID")]
    pub after: Option<u64>,
    /// Only events of this subject; with a `/` at its end, of all subjects that begin so
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
}

/// How often to look for a ledger that does not exist yet.
const LOOK_MS: u64 = 200;

pub async fn run(
    global: &Global,
    options: WatchOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let gone = reader::gone();
    // Both are the normal end of watching.
    let stopped = async {
        tokio::select! {
            () = cancel.cancelled() => {}
            () = gone.cancelled() => {}
        }
    };
    tokio::pin!(stopped);
    let (ledger, after) = tokio::select! {
        there = there(&project, options.after, printer) => there?,
        () = &mut stopped => return Ok(Answer::silent()),
    };
    let watched = tokio::select! {
        watched = follow(&ledger, after, &options, printer) => watched,
        () = &mut stopped => Ok(()),
    };
    ledger.close().await;
    watched.map(|()| Answer::silent())
}

async fn follow(
    ledger: &Ledger,
    after: Option<u64>,
    options: &WatchOptions,
    printer: &Printer,
) -> Result<(), Failure> {
    let mut feed = Feed::after(ledger.clone(), after).await?;
    let mut last = after;
    loop {
        let event = feed.next().await.map_err(|error| lost(error, last))?;
        last = Some(event.seq);
        if !options.subject.as_deref().is_none_or(|subject| event_line::is_about(&event, subject)) {
            continue;
        }
        let line = match printer.json() {
            true => json_line(v1::Event::from(&event)),
            false => event_line::line(&event),
        };
        if !write_out(&line) {
            return Ok(());
        }
    }
}

/// Waits for the ledger, without creating it, and returns the event to begin after.
async fn there(
    project: &Project,
    after: Option<u64>,
    printer: &Printer,
) -> Result<(Ledger, Option<u64>), Failure> {
    let (mut from, mut waits) = (after, false);
    let ledger = loop {
        if let Some(ledger) = project.existing_ledger().await? {
            break ledger;
        }
        if !waits {
            printer.note("no events in this project yet; waiting");
            waits = true;
        }
        // Every event of a new ledger is new.
        from = after.or(Some(0));
        tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
    };
    feed::known(&ledger, from).await?;
    Ok((ledger, from))
}

fn lost(error: LedgerError, last: Option<u64>) -> Failure {
    match error {
        LedgerError::Replaced => {
            let seen = last.map_or_else(String::new, |last| format!(" after event {last}"));
            let words = format!("the ledger was moved, removed or replaced{seen}");
            Failure::new(error.outcome(), Code::Ledger, words)
                .hint("put the file of the ledger back, or watch again from the beginning of the new one: --after 0")
        }
        other => other.into(),
    }
}
