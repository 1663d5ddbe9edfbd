//! `countersign qr`: a decomposed review in a state file, command by command.

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use clap::{Args, Subcommand};
use countersign_app::qr::{self, Answered, Items, Loop, QrContext, Watch};
use countersign_doors::qr::Phase;
use countersign_doors::qr::state::phase_problem;
use countersign_engine::engine::Engine;
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

const QR_HELP: &str = "\
One phase, from its work to its gate (with STATE_DIR set, --state-dir can be left out):
  countersign qr init --state-dir plan-state
  countersign qr execute --phase plan-structure
  countersign qr decompose --phase plan-structure --items items.json
  countersign qr record plan-001 PASS --phase plan-structure
  countersign qr record plan-002 FAIL --finding 'M1 has no acceptance criteria' --phase plan-structure
  countersign qr gate --phase plan-structure
  countersign qr fix --phase plan-structure
  countersign qr fixed --files plan.md --phase plan-structure

Every answer ends with a NEXT line that names the next command. `countersign help qr` explains the whole loop.";

#[derive(Debug, Args)]
#[command(after_help = QR_HELP)]
pub struct QrOptions {
    /// The folder with the state files
    #[arg(long, value_name = "DIR", global = true, env = "STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// plan-structure, plan-code, plan-docs, impl-code or impl-docs
    #[arg(long, value_name = "PHASE", global = true, value_parser = phase)]
    pub phase: Option<Phase>,
    #[command(subcommand)]
    pub command: QrCommand,
}

fn phase(name: &str) -> Result<Phase, String> {
    Phase::named(name).ok_or_else(|| phase_problem(name))
}

#[derive(Debug, Subcommand)]
pub enum QrCommand {
    /// Make the state directory
    Init,
    /// Print the task of the phase; with --qr-fail, the failures of its review
    Execute {
        /// The review of this phase failed: show the overview and every blocking failure
        #[arg(long)]
        qr_fail: bool,
    },
    /// Break the work of the phase into items to verify
    Decompose {
        /// The items, as JSON: {"items": [{"scope", "check", "id"?, "severity"?}]} or the list; - for standard input
        #[arg(long, value_name = "FILE", conflicts_with_all = ["reviewer", "print_prompt"])]
        items: Option<PathBuf>,
        /// Replace the present items; the round stays
        #[arg(long)]
        again: bool,
        #[command(flatten)]
        ask: AskOptions,
        /// Print the prompt for the items, and ask no reviewer
        #[arg(long)]
        print_prompt: bool,
    },
    /// Record the result of a verifier for an item
    Record {
        /// The item
        id: String,
        /// PASS or FAIL, exactly
        ruling: String,
        /// With FAIL: what is wrong
        #[arg(long, value_name = "TEXT")]
        finding: Option<String>,
        /// The round in which the verifier was started; a result of another round is refused
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        round: Option<u32>,
    },
    /// Print PASS or FAIL, from the state file alone
    Gate,
    /// Let reviewers verify the open items and the blocking failures
    Verify {
        #[command(flatten)]
        ask: AskOptions,
        /// Only these items
        #[arg(long, value_name = "ID", num_args = 1..)]
        item: Vec<String>,
        /// Print the prompt for this item, and ask no reviewer
        #[arg(long, value_name = "ID")]
        print_prompt: Option<String>,
    },
    /// Print instructions for the blocking failures
    Fix {
        #[command(flatten)]
        ask: AskOptions,
        /// Print the prompt for the instructions, and ask no reviewer
        #[arg(long)]
        print_prompt: bool,
    },
    /// Begin the next round, after the failures were fixed
    Fixed {
        /// The files the fix touched; what passed on them is verified again
        #[arg(long, value_name = "FILE", num_args = 1..)]
        files: Vec<PathBuf>,
    },
    /// Accept an item as it is (people only, recorded)
    Accept {
        /// The item
        id: String,
        /// Why; it is kept with the item and listed in every report
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Show the state of the phase
    Status,
    /// Begin the phase again; after a failure people only
    Reset,
    /// Compare a plan with what was built, milestone by milestone
    Reconcile {
        /// The plan
        #[arg(long, value_name = "FILE")]
        plan: PathBuf,
        /// What was built; without any, the files each milestone names
        #[arg(long, visible_alias = "artifact", value_name = "FILE", num_args = 1..)]
        files: Vec<PathBuf>,
        /// The reviewer
        #[arg(long, value_name = "NAME")]
        reviewer: Option<String>,
        /// Print the questions, and ask no reviewer
        #[arg(long)]
        print_prompt: bool,
    },
    /// Decompose, verify, fix and again, until the gate passes or the loop ends
    Loop {
        #[command(flatten)]
        ask: AskOptions,
        /// The program that fixes the failures; it reads FIX GUIDANCE and runs in the project
        #[arg(long, value_name = "COMMAND")]
        fixer: String,
        /// How long the fixer may take, each time
        #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u32).range(1..=86_400))]
        fixer_timeout_seconds: u32,
    },
}

impl QrCommand {
    fn reviewer(&self) -> Option<String> {
        match self {
            Self::Decompose { ask, .. }
            | Self::Verify { ask, .. }
            | Self::Fix { ask, .. }
            | Self::Loop { ask, .. } => ask.reviewer.clone(),
            Self::Reconcile { reviewer, .. } => reviewer.clone(),
            _ => None,
        }
    }

    /// Whether it decides about work, so that only the trusted configuration counts.
    fn judges(&self) -> bool {
        !matches!(self, Self::Init | Self::Execute { .. } | Self::Status | Self::Reset)
    }

    /// The default phase, and the artifacts for the default state directory, of a command that has these.
    fn defaults(&self) -> Option<(Phase, &[PathBuf])> {
        match self {
            Self::Reconcile { .. } => Some((Phase::ImplDocs, &[])),
            Self::Loop { ask, .. } => Some((Phase::PlanStructure, &ask.artifact)),
            _ => None,
        }
    }
}

/// What commands need that ask reviewers.
#[derive(Debug, Default, Args)]
pub struct AskOptions {
    /// The work to review: the plan, or the files of the change; later commands use the same
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub artifact: Vec<PathBuf>,
    /// The reviewer: a configured name, {programs}, command:PROGRAM or replay:FILE
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}

const ITEMS_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub async fn run(
    global: &Global,
    options: QrOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let QrOptions { state_dir, phase, command } = options;
    let (default_phase, own) = command.defaults().unzip();
    let (config, phase) = (global.config.as_deref(), phase.or(default_phase));
    let place = match command.judges() {
        true => QrContext::find_for_gate(config, state_dir, phase, command.reviewer(), own).await?,
        false => QrContext::find(config, state_dir, phase)?,
    };
    let notices = place.project.notices();
    match perform(&place, command, printer, cancel).await {
        Ok(mut answer) => {
            answer.json.warnings.extend(notices);
            Ok(answer)
        }
        Err(failure) => Err(place.with_next(failure).await),
    }
}

async fn perform(
    place: &QrContext,
    command: QrCommand,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    Ok(match command {
        QrCommand::Init => answer_of(qr::init(place).await?),
        QrCommand::Execute { qr_fail: true } => answer_of(qr::execute_failed(place).await?),
        QrCommand::Execute { qr_fail: false } => answer_of(qr::execute(place).await?),
        QrCommand::Gate => answer_of(qr::gate(place).await?),
        QrCommand::Status => answer_of(qr::status(place).await?),
        QrCommand::Record { id, ruling, finding, round } => {
            answer_of(qr::record(place, &id, &ruling, finding.as_deref(), round).await?)
        }
        QrCommand::Fixed { files } => answer_of(qr::fixed(place, &files).await?),
        QrCommand::Accept { id, reason } => answer_of(qr::accept(place, &id, &reason).await?),
        QrCommand::Reset => answer_of(qr::reset(place).await?),
        QrCommand::Decompose { items, again, ask, print_prompt: prompt } => {
            place.phase()?;
            let given = items.map(|items| read_items(place, &items)).transpose()?;
            let wanted = Items { artifacts: ask.artifact, given, again, prompt };
            answer_of(qr::items(place, &wanted, printer, cancel).await?)
        }
        QrCommand::Verify { ask, item, print_prompt } => {
            let prompt = print_prompt.as_deref();
            answer_of(qr::verify(place, &ask.artifact, &item, prompt, printer, cancel).await?)
        }
        QrCommand::Fix { ask, print_prompt } => {
            answer_of(qr::fix(place, &ask.artifact, print_prompt, printer, cancel).await?)
        }
        QrCommand::Reconcile { plan, files, print_prompt: true, .. } => {
            answer_of(qr::reconcile_prompts(place, &plan, &files).await?)
        }
        QrCommand::Reconcile { plan, files, .. } => {
            answer_of(qr::reconcile(place, &plan, &files, printer, cancel).await?)
        }
        QrCommand::Loop { ask, fixer, fixer_timeout_seconds } => {
            let wanted = Loop { artifacts: ask.artifact, fixer, fixer_timeout_seconds };
            answer_of(qr::until_passed(place, &wanted, printer, cancel).await?)
        }
    })
}

fn answer_of(answered: Answered<impl Serialize>) -> Answer {
    Answer::of(answered.answer, answered.text)
}

impl Watch for Printer {
    async fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> T {
        Self::during(self, engine, work).await
    }

    fn note(&self, words: &str) {
        Self::note(self, words);
    }

    fn warn(&self, warnings: &[String]) {
        Self::warn(self, warnings);
    }
}

fn read_items(place: &QrContext, typed: &Path) -> Result<(PathBuf, String), Failure> {
    let mut bytes = vec![];
    let limited =
        |from: Box<dyn Read>, bytes: &mut Vec<u8>| from.take(ITEMS_BYTES_MAX + 1).read_to_end(bytes);
    let (path, read) = match typed == Path::new("-") {
        true => ("standard input".into(), limited(Box::new(std::io::stdin().lock()), &mut bytes)),
        false => {
            let path = place.project.here.join(typed);
            let read = File::open(&path).and_then(|file| limited(Box::new(file), &mut bytes));
            (path, read)
        }
    };
    let shown = path.display();
    read.map_err(|error| Failure::usage(format!("the items in `{shown}` cannot be read: {error}")))?;
    if bytes.len() as u64 > ITEMS_BYTES_MAX {
        return Err(Failure::usage(format!("the items in `{shown}` are more than {ITEMS_BYTES_MAX} bytes")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((path, text)),
        Err(_) => Err(Failure::usage(format!("the items in `{shown}` are not UTF-8"))),
    }
}
