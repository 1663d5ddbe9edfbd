//! `countersign ledger`: backup, export, import, pruning, and tables computed again.

use super::{Failure, Global};
use crate::ask::yes;
use crate::output::{Answer, Printer, counted};
use clap::{Args, Subcommand};
use countersign_app::answer::v1::ledger::{Backup, Exported, Imported, Pruned, Rebuilt};
use countersign_app::ledger;
use countersign_app::project::Project;
use countersign_app::time::since;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use std::fmt::Write;
use std::io::{BufWriter, stdout};
use std::path::{Path, PathBuf};

const LEDGER_HELP: &str = "\
Examples:
  countersign ledger backup                       a checked copy, beside the ledger
  countersign ledger backup /mnt/usb/ledger.db    the same, in a file of your choice
  countersign ledger export - | grep '\"settled\"'  every event and call, as lines of JSON
  countersign ledger import colleague.jsonl       show reviews of another ledger; no gate counts them
  countersign ledger prune --before 90d --dry-run say what would go
  countersign ledger rebuild                      compute the tables again, if `log --verify` says that they differ

Import, prune and rebuild are for a person at a terminal. `countersign help ledger` explains it.";

#[derive(Debug, Args)]
#[command(after_help = LEDGER_HELP)]
pub struct LedgerOptions {
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Debug, Subcommand)]
enum LedgerCommand {
    /// Copy the ledger into a new file, and check the copy
    Backup {
        /// The new file; without one, in the folder `backups` beside the ledger
        file: Option<PathBuf>,
    },
    /// Write every event and every call as lines of JSON
    Export {
        /// The new file; `-` is standard output
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// Show the reviews of an export; they count for nothing here (people only)
    Import {
        /// A file that `countersign ledger export` has written
        file: PathBuf,
    },
    /// Remove the events of old reviews that are over (people only)
    Prune {
        /// Reviews that ended before: a date, or how long ago, such as 90d
        #[arg(long, value_name = "DATE", value_parser = since)]
        before: i64,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Do not ask; still only for a person at a terminal
        #[arg(long, short, conflicts_with = "dry_run")]
        yes: bool,
    },
    /// Compute the tables again from the events (people only)
    Rebuild,
}

pub async fn run(global: &Global, options: LedgerOptions, printer: &Printer) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    match options.command {
        LedgerCommand::Backup { file } => {
            let done = ledger::backup(&project, file).await?;
            let Backup { file, events } = &done;
            let events = counted_events(*events);
            let text = format!("{}: {events}, all checked\n", visible_line(&file.display().to_string()));
            Ok(passed(text, done))
        }
        LedgerCommand::Export { file } if file == Path::new("-") => {
            if printer.json() {
                return Err(Failure::usage("an export to standard output is not one JSON object")
                    .hint("leave --json out, or name a file"));
            }
            let totals = ledger::export_to(&project, &mut BufWriter::new(stdout())).await?;
            printer.note(&format!("exported: {}, {} calls", counted_events(totals.events), totals.calls));
            Ok(Answer::silent())
        }
        LedgerCommand::Export { file } => {
            let done = ledger::export(&project, file).await?;
            let Exported { file, events, calls, .. } = &done;
            let file = file.display().to_string();
            let text = format!("{}: {}, {calls} calls\n", visible_line(&file), counted_events(*events));
            Ok(passed(text, done))
        }
        LedgerCommand::Import { file } => {
            let done = ledger::import(&project, &file).await?;
            Ok(passed(imported(&done), done))
        }
        LedgerCommand::Prune { before, dry_run: true, .. } => {
            let done = ledger::prune(&project, before, true).await?;
            Ok(passed(pruned(&done), done))
        }
        LedgerCommand::Prune { before, yes: agreed, .. } => prune(&project, before, agreed, printer).await,
        LedgerCommand::Rebuild => {
            let done = ledger::rebuild(&project).await?;
            Ok(passed(rebuilt(&done), done))
        }
    }
}

fn passed(text: String, own: impl serde::Serialize) -> Answer {
    Answer::new(Outcome::Passed, text, own)
}

fn counted_events(events: u64) -> String {
    counted(usize::try_from(events).unwrap_or(usize::MAX), "event", "events")
}

async fn prune(project: &Project, before: i64, agreed: bool, printer: &Printer) -> Result<Answer, Failure> {
    ledger::may_prune()?;
    if !agreed {
        let trial = ledger::prune(project, before, true).await?;
        if trial.reviews.is_empty() {
            return Ok(passed(pruned(&trial), trial));
        }
        printer.show(pruned(&trial).trim_end());
        let said = yes("Remove these events for good? A backup keeps them. [y/N] ");
        if !said.map_err(|error| Failure::internal(error.to_string()))? {
            return Ok(Answer::new(Outcome::AwaitingPerson, "nothing was removed\n", trial));
        }
    }
    let done = ledger::prune(project, before, false).await?;
    Ok(passed(pruned(&done), done))
}

fn imported(done: &Imported) -> String {
    let Imported { reviews, events, file, .. } = done;
    let reviews = counted(usize::try_from(*reviews).unwrap_or(usize::MAX), "review", "reviews");
    let (file, events) = (visible_line(file), counted_events(*events));
    format!(
        "{file}: {reviews} with {events}, shown by `countersign log --imported`; no gate counts them, and no ruling of \
         them is reused\n"
    )
}

fn pruned(done: &Pruned) -> String {
    let mut text = String::new();
    for id in &done.reviews {
        let _ = writeln!(text, "  {id}");
    }
    let (verb, reviews) = match done.dry_run {
        true => ("would remove", counted(done.reviews.len(), "review", "reviews")),
        false => ("removed", counted(done.reviews.len(), "review", "reviews")),
    };
    let _ = writeln!(text, "{verb} the contents of {} in {reviews}", counted_events(done.events));
    for (kept, why) in [
        (done.kept_for_failures, "failures still stand on their files"),
        (done.kept_for_stops, "they stop their subjects"),
    ] {
        if kept > 0 {
            let kept = counted(usize::try_from(kept).unwrap_or(usize::MAX), "old review", "old reviews");
            let _ = writeln!(text, "kept: {kept}, because {why}");
        }
    }
    text
}

fn rebuilt(done: &Rebuilt) -> String {
    if done.rows.is_empty() {
        return "the tables agree with the events; nothing was changed\n".to_owned();
    }
    let mut text: String = done.rows.iter().map(|row| format!("  {}\n", visible_line(row))).collect();
    let _ = writeln!(text, "{} computed again", counted(done.rows.len(), "row was", "rows were"));
    text
}
