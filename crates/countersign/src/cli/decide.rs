//! `approve`, `reject`, `skip`, `fix`, `unblock`, `withdraw`: the decisions about a review.

use super::Global;
use super::show::answer;
use super::signing::{SignOptions, Signed};
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
    #[command(flatten)]
    pub signing: SignOptions,
}

#[derive(Debug, Args)]
pub struct WithdrawOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow
    pub id: String,
    #[command(flatten)]
    pub signing: SignOptions,
}

pub async fn run(global: &Global, options: DecideOptions, action: Action) -> Result<Answer, Failure> {
    take(global, &options.id, action, Some(options.reason), options.signing).await
}

pub async fn withdraw(global: &Global, options: WithdrawOptions) -> Result<Answer, Failure> {
    take(global, &options.id, Action::Withdraw, None, options.signing).await
}

async fn take(
    global: &Global,
    typed: &str,
    action: Action,
    reason: Option<String>,
    signing: SignOptions,
) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    if project.existing_ledger().await?.is_none() {
        return Err(no_ledger());
    }
    let engine = project.engine(project.planner(None)?).await?;
    let id = meant(&project, engine.ledger(), typed).await?;
    let (by, about) = match signing.is_wanted() {
        false => (actor(), None),
        true => {
            let review = engine.get(&id).await?.review;
            // What is recorded has no secrets, so what is signed has none either.
            let said = engine.hide(reason.as_deref().unwrap_or_default());
            match signing.signed(&project, &review, action.name(), &said).await? {
                Signed::By(by) => (by, review.digest().cloned()),
                Signed::WrittenOut(answer) => return Ok(answer),
            }
        }
    };
    let stored = decide(&project, &engine, &id, Decide { action, by, reason, about }).await?;
    // The decision is recorded: the command succeeded, whatever the outcome of the review.
    Ok(answer(shown(&project, engine.ledger(), &stored).await?.done()))
}
