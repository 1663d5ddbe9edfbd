//! `countersign qr`: a decomposed review in a state file, command by command.

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use clap::{Args, Subcommand};
use countersign_app::qr::{self, Answered, Compared, Items, Loop, Place, Preview, Verify, Watch, Where};
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
    Execute(ExecuteOptions),
    /// Break the work of the phase into items to verify
    Decompose(DecomposeOptions),
    /// Record the result of a verifier for an item
    Record(RecordOptions),
    /// Print PASS or FAIL, from the state file alone
    Gate,
    /// Let reviewers verify the open items and the blocking failures
    Verify(VerifyOptions),
    /// Print instructions for the blocking failures
    Fix(FixOptions),
    /// Begin the next round, after the failures were fixed
    Fixed(FixedOptions),
    /// Accept an item as it is (people only, recorded)
    Accept(AcceptOptions),
    /// Show the state of the phase
    Status,
    /// Begin the phase again; after a failure people only
    Reset,
    /// Compare a plan with what was built, milestone by milestone
    Reconcile(ReconcileOptions),
    /// Decompose, verify, fix and again, until the gate passes or the loop ends
    Loop(LoopOptions),
}

impl QrCommand {
    pub fn reviewer(&self) -> Option<&String> {
        match self {
            Self::Decompose(options) => options.ask.reviewer.as_ref(),
            Self::Verify(options) => options.ask.reviewer.as_ref(),
            Self::Fix(options) => options.ask.reviewer.as_ref(),
            Self::Reconcile(options) => options.reviewer.as_ref(),
            Self::Loop(options) => options.ask.reviewer.as_ref(),
            _ => None,
        }
    }

    /// The named phase, else the default phase of the command.
    pub fn phase(&self, named: Option<Phase>) -> Option<Phase> {
        named.or(match self {
            Self::Reconcile(_) => Some(Phase::ImplDocs),
            Self::Loop(_) => Some(Phase::PlanStructure),
            _ => None,
        })
    }

    /// The artifacts, if the command names any.
    pub fn artifacts(&self) -> &[PathBuf] {
        match self {
            Self::Loop(options) => &options.ask.artifact,
            _ => &[],
        }
    }

    /// Whether it has a default state directory.
    pub fn has_own_state_dir(&self) -> bool {
        matches!(self, Self::Loop(_) | Self::Reconcile(_))
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

#[derive(Debug, Args)]
pub struct VerifyOptions {
    #[command(flatten)]
    pub ask: AskOptions,
    /// Only these items
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub item: Vec<String>,
    /// Print the prompt for this item, and ask no reviewer
    #[arg(long, value_name = "ID")]
    pub print_prompt: Option<String>,
}

#[derive(Debug, Args)]
pub struct FixOptions {
    #[command(flatten)]
    pub ask: AskOptions,
    /// Print the prompt for the instructions, and ask no reviewer
    #[arg(long)]
    pub print_prompt: bool,
}

#[derive(Debug, Args)]
pub struct ReconcileOptions {
    /// The plan
    #[arg(long, value_name = "FILE")]
    pub plan: PathBuf,
    /// What was built; without any, the files each milestone names
    #[arg(long, visible_alias = "artifact", value_name = "FILE", num_args = 1..)]
    pub files: Vec<PathBuf>,
    /// The reviewer
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// Print the questions, and ask no reviewer
    #[arg(long)]
    pub print_prompt: bool,
}

#[derive(Debug, Args)]
pub struct LoopOptions {
    #[command(flatten)]
    pub ask: AskOptions,
    /// The program that fixes the failures; it reads FIX GUIDANCE and runs in the project
    #[arg(long, value_name = "COMMAND")]
    pub fixer: String,
    /// How long the fixer may take, each time
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub fixer_timeout_seconds: u32,
}

#[derive(Debug, Args)]
pub struct ExecuteOptions {
    /// The review of this phase failed: show the overview and every blocking failure
    #[arg(long)]
    pub qr_fail: bool,
}

#[derive(Debug, Args)]
pub struct DecomposeOptions {
    /// The items, as JSON: {"items": [{"scope", "check", "id"?, "severity"?}]} or the list; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reviewer", "print_prompt"])]
    pub items: Option<PathBuf>,
    /// Replace the present items; the round stays
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub ask: AskOptions,
    /// Print the prompt for the items, and ask no reviewer
    #[arg(long)]
    pub print_prompt: bool,
}

#[derive(Debug, Args)]
pub struct RecordOptions {
    /// The item
    pub id: String,
    /// PASS or FAIL, exactly
    pub ruling: String,
    /// With FAIL: what is wrong
    #[arg(long, value_name = "TEXT")]
    pub finding: Option<String>,
}

#[derive(Debug, Args)]
pub struct FixedOptions {
    /// The files the fix touched; what passed on them is verified again
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct AcceptOptions {
    /// The item
    pub id: String,
    /// Why; it is kept with the item and listed in every report
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

const ITEMS_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub async fn run(
    global: &Global,
    options: QrOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let QrOptions { state_dir, phase, command } = options;
    let given = Where {
        state_dir,
        phase: command.phase(phase),
        reviewer: command.reviewer().cloned(),
        own: command.has_own_state_dir().then(|| command.artifacts().to_vec()),
    };
    let place = Place::find(global.config.as_deref(), given)?;
    Ok(match command {
        QrCommand::Init => answer(qr::init(&place)?),
        QrCommand::Execute(options) if options.qr_fail => answer(qr::execute_failed(&place)?),
        QrCommand::Execute(_) => answer(qr::execute(&place)?),
        QrCommand::Gate => answer(qr::gate(&place).await?),
        QrCommand::Status => answer(qr::status(&place).await?),
        QrCommand::Record(options) => {
            answer(qr::record(&place, &options.id, &options.ruling, options.finding.as_deref()).await?)
        }
        QrCommand::Fixed(options) => answer(qr::fixed(&place, &options.files).await?),
        QrCommand::Accept(options) => answer(qr::accept(&place, &options.id, &options.reason).await?),
        QrCommand::Reset => answer(qr::reset(&place).await?),
        QrCommand::Decompose(options) => {
            place.phase()?;
            let given = options.items.as_deref().map(|items| read_items(&place, items)).transpose()?;
            let (artifacts, again) = (options.ask.artifact, options.again);
            let wanted = Items { artifacts, given, again, prompt: options.print_prompt };
            previewed(qr::items(&place, &wanted, printer, cancel).await?)
        }
        QrCommand::Verify(options) => {
            let (artifacts, items) = (options.ask.artifact, options.item);
            let wanted = Verify { artifacts, items, prompt: options.print_prompt };
            previewed(qr::verify(&place, &wanted, printer, cancel).await?)
        }
        QrCommand::Fix(options) => {
            let artifacts = &options.ask.artifact;
            previewed(qr::fix(&place, artifacts, options.print_prompt, printer, cancel).await?)
        }
        QrCommand::Reconcile(options) => {
            let compared = Compared { plan: options.plan, files: options.files };
            match options.print_prompt {
                true => answer(qr::reconcile_prompts(&place, &compared).await?),
                false => answer(qr::reconcile(&place, &compared, printer, cancel).await?),
            }
        }
        QrCommand::Loop(options) => {
            let wanted = Loop {
                artifacts: options.ask.artifact,
                fixer: options.fixer,
                fixer_timeout_seconds: options.fixer_timeout_seconds,
            };
            answer(qr::until_passed(&place, &wanted, printer, cancel).await?)
        }
    })
}

fn answer(answered: Answered<impl Serialize>) -> Answer {
    let Answered { outcome, text, answer, warnings } = answered;
    Answer { warnings, ..Answer::new(outcome, text, answer) }
}

fn previewed(preview: Preview<impl Serialize>) -> Answer {
    match preview {
        Preview::Answer(answered) => answer(answered),
        Preview::Prompt(prompt) => answer(prompt),
    }
}

impl Watch for Printer {
    async fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> T {
        self.progress().during(engine, work).await
    }

    fn note(&self, words: &str) {
        Self::note(self, words);
    }

    fn warn(&self, warnings: &[String]) {
        Self::warn(self, warnings);
    }
}

fn read_items(place: &Place, typed: &Path) -> Result<(PathBuf, String), Failure> {
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
