//! `countersign reconcile`: sets files right that say something else than the ledger.

use super::{Failure, Global};
use crate::output::{Answer, dim};
use clap::Args;
use countersign_app::answer::v1::Reconciled;
use countersign_app::project::Project;
use countersign_app::reconcile::reconcile;
use countersign_core::text::{counted, visible_line};

const RECONCILE_HELP: &str = "\
Examples:
  countersign reconcile --dry-run    list where PLAN.md, spec/tasks.md or a qr state file disagree with the ledger
  countersign reconcile              write what the ledger says into these files

The ledger never follows a file. Exit codes: 0 the files agree now, 1 they do not (--dry-run).";

#[derive(Debug, Args)]
#[command(after_help = RECONCILE_HELP)]
pub struct ReconcileOptions {
    /// Only list what would be written
    #[arg(long)]
    pub dry_run: bool,
}

pub async fn run(global: &Global, options: ReconcileOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let answer = reconcile(&project, options.dry_run).await?;
    let text = text(&answer.own);
    Ok(Answer::of(answer, text))
}

fn text(answer: &Reconciled) -> String {
    let mut text: String =
        answer.disagreements.iter().map(|one| format!("{}\n", visible_line(&one.words()))).collect();
    let count = counted(answer.disagreements.len(), "disagreement", "disagreements");
    text.push_str(&match (answer.disagreements.len(), answer.dry_run) {
        (0, _) => "the files agree with the ledger\n".to_owned(),
        (_, true) => format!("{count}\n{}\n", dim("next: countersign reconcile")),
        (_, false) => format!("{count}: the files are set right\n"),
    });
    text
}
