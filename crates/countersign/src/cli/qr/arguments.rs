//! What can be typed after `qr`.

use clap::{Args, Subcommand};
use countersign_doors::qr::Phase;
use countersign_doors::qr::state::phase_problem;
use std::path::PathBuf;

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

Every answer ends with a NEXT line that names the next command. docs/qr.md has the whole loop.";

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
    /// The task of the phase; with --qr-fail, what failed in its review
    Execute(ExecuteOptions),
    /// Break the work of the phase into items to verify
    Decompose(DecomposeOptions),
    /// Record what a verifier says about an item
    Record(RecordOptions),
    /// PASS or FAIL, from the state file alone
    Gate,
    /// Have reviewers verify what is open or failed and blocks
    Verify(VerifyOptions),
    /// What to do about the failures that block
    Fix(FixOptions),
    /// Say that the failures are fixed: the next round begins
    Fixed(FixedOptions),
    /// Take an item as it is (people only, recorded)
    Accept(AcceptOptions),
    /// Where the phase is, worked out now
    Status,
    /// Begin the phase again; after a failure people only
    Reset,
    /// Compare a plan with what was built, milestone by milestone
    Reconcile(ReconcileOptions),
    /// Decompose, verify, fix and again, until the gate passes or the loop ends
    Loop(LoopOptions),
}

impl QrCommand {
    /// The command's name, as the answer in JSON has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init => "qr init",
            Self::Execute(_) => "qr execute",
            Self::Decompose(_) => "qr decompose",
            Self::Record(_) => "qr record",
            Self::Gate => "qr gate",
            Self::Verify(_) => "qr verify",
            Self::Fix(_) => "qr fix",
            Self::Fixed(_) => "qr fixed",
            Self::Accept(_) => "qr accept",
            Self::Status => "qr status",
            Self::Reset => "qr reset",
            Self::Reconcile(_) => "qr reconcile",
            Self::Loop(_) => "qr loop",
        }
    }

    /// Whom to ask, where somebody is named.
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

    /// The phase: the one that is named, or the one a command is about where none is.
    pub fn phase(&self, named: Option<Phase>) -> Option<Phase> {
        named.or(match self {
            Self::Reconcile(_) => Some(Phase::ImplDocs),
            Self::Loop(_) => Some(Phase::PlanStructure),
            _ => None,
        })
    }

    /// What is looked at, where that is said.
    pub fn artifacts(&self) -> &[PathBuf] {
        match self {
            Self::Loop(options) => &options.ask.artifact,
            _ => &[],
        }
    }

    /// Whether it can keep its state where it likes.
    pub fn has_own_state_dir(&self) -> bool {
        matches!(self, Self::Loop(_) | Self::Reconcile(_))
    }
}

/// What commands need that ask reviewers.
#[derive(Debug, Default, Args)]
pub struct AskOptions {
    /// What is looked at: the plan, the files of the change; kept in mind for the commands after this one
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub artifact: Vec<PathBuf>,
    /// Who is asked: a configured name, {programs}, command:PROGRAM or replay:FILE
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
    /// Ask nobody: print what a verifier of this item is told
    #[arg(long, value_name = "ID")]
    pub print_prompt: Option<String>,
}

#[derive(Debug, Args)]
pub struct FixOptions {
    #[command(flatten)]
    pub ask: AskOptions,
    /// Ask nobody: print what whoever words the instructions is told
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
    /// Who is asked
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// Ask nobody: print the questions
    #[arg(long)]
    pub print_prompt: bool,
}

#[derive(Debug, Args)]
pub struct LoopOptions {
    #[command(flatten)]
    pub ask: AskOptions,
    /// The program that mends what failed; it reads FIX GUIDANCE and runs in the project
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
    /// Put these items in the place of those there are; the round stays
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub ask: AskOptions,
    /// Ask nobody: print what whoever decomposes is told
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
