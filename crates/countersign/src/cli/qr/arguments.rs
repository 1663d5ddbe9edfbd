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
    /// What to do about the failures that block
    Fix,
    /// Say that the failures are fixed: the next round begins
    Fixed(FixedOptions),
    /// Take an item as it is (people only, recorded)
    Accept(AcceptOptions),
    /// Where the phase is, worked out now
    Status,
    /// Begin the phase again; after a failure people only
    Reset,
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
            Self::Fix => "qr fix",
            Self::Fixed(_) => "qr fixed",
            Self::Accept(_) => "qr accept",
            Self::Status => "qr status",
            Self::Reset => "qr reset",
        }
    }
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
    #[arg(long, value_name = "FILE")]
    pub items: PathBuf,
    /// Put these items in the place of those there are; the round stays
    #[arg(long)]
    pub again: bool,
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
