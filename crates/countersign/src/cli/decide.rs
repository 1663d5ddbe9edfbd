//! `approve`, `reject`, `skip`, `fix`, `unblock`, `withdraw`: the decisions about a review.

use super::Global;
use super::show::answer;
use crate::output::Answer;
use clap::Args;
use countersign_app::Failure;
use countersign_app::author::actor;
use countersign_app::decide::{Action, Decide, decide};
use countersign_app::find::{meant, no_ledger};
use countersign_app::project::Project;
use countersign_app::show::shown;

#[derive(Debug, Args)]
pub struct DecideOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow
    pub id: String,
    /// Why; it is kept with the decision
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct WithdrawOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow
    pub id: String,
}

pub async fn run(global: &Global, options: DecideOptions, action: Action) -> Result<Answer, Failure> {
    take(global, &options.id, action, Some(options.reason)).await
}

pub async fn withdraw(global: &Global, options: WithdrawOptions) -> Result<Answer, Failure> {
    take(global, &options.id, Action::Withdraw, None).await
}

async fn take(
    global: &Global,
    typed: &str,
    action: Action,
    reason: Option<String>,
) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    if project.existing_ledger().await?.is_none() {
        return Err(no_ledger());
    }
    let engine = project.engine(project.planner(None)?).await?;
    let id = meant(&project, engine.ledger(), typed).await?;
    let stored = decide(&project, &engine, &id, Decide { action, by: actor(), reason, about: None }).await?;
    // The decision is recorded: the command succeeded, whatever the outcome of the review.
    Ok(answer(shown(engine.ledger(), &stored).await?.done()))
}
