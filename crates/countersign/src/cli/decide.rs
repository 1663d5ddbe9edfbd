//! `approve`, `reject`, `skip`, `fix`, `unblock`, `withdraw`: what people do with a review. Who, when, why and about
//! which bytes is recorded.

use super::arguments::{DecideOptions, WithdrawOptions};
use super::show::{meant, shown};
use super::{Failure, Global};
use crate::author::{self, actor};
use crate::output::Answer;
use crate::project::Project;
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::review::{Actor, Refused, Verb};
use countersign_engine::engine::{Engine, EngineError};

/// Lets a review pass.
pub async fn approve(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Deed::Decide(Verb::Approve)).await
}

/// Stops a review for good.
pub async fn reject(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Deed::Decide(Verb::Reject)).await
}

/// Lets a review pass without a verdict.
pub async fn skip(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Deed::Decide(Verb::Skip)).await
}

/// Sends a review back with what was found.
pub async fn fix(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Deed::Decide(Verb::Fix)).await
}

/// Lets a stopped review go on.
pub async fn unblock(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Deed::Unblock).await
}

/// Takes a submission back.
pub async fn withdraw(global: &Global, options: WithdrawOptions) -> Result<Answer, Failure> {
    let (project, engine, id) = open(global, &options.id).await?;
    take(&project, &engine, &id, Decided { deed: Deed::Withdraw, by: actor(), reason: None, about: None })
        .await
}

async fn decide(global: &Global, options: DecideOptions, deed: Deed) -> Result<Answer, Failure> {
    let (project, engine, id) = open(global, &options.id).await?;
    let decided = Decided { deed, by: actor(), reason: Some(options.reason), about: None };
    take(&project, &engine, &id, decided).await
}

/// What somebody does with a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Decides in place of its verdict.
    Decide(Verb),
    /// Lets it go on after it was stopped.
    Unblock,
    /// Takes it back.
    Withdraw,
}

/// The same with who, why, and about which work; without a digest about the work that stands now.
pub struct Decided {
    pub deed: Deed,
    pub by: Actor,
    pub reason: Option<String>,
    pub about: Option<Digest>,
}

/// Records it, moves a task that hangs on it, and shows the review.
pub async fn take(
    project: &Project,
    engine: &Engine,
    id: &ReviewId,
    decided: Decided,
) -> Result<Answer, Failure> {
    let Decided { deed, by, reason, about } = decided;
    let person = by.may_decide();
    let stored = match (deed, about) {
        (Deed::Decide(verb), None) => engine.decide(id, verb, by, filled(reason)?).await,
        (Deed::Decide(verb), Some(digest)) => {
            engine.decide_about(id, digest, verb, by, filled(reason)?).await
        }
        (Deed::Unblock, about) => engine.lift_about(id, about.as_ref(), by, filled(reason)?).await,
        (Deed::Withdraw, about) => engine.withdraw_about(id, about.as_ref(), by).await,
    };
    let stored = stored.map_err(|error| refused(error, person))?;
    if deed != Deed::Withdraw {
        super::task::decided(project, engine.ledger(), &stored).await?;
    }
    // The decision was taken; that is this command's success, whatever it does to the review.
    Ok(shown(engine.ledger(), &stored).await?.done())
}

/// Why it was refused, and the way out.
fn refused(error: EngineError, person: bool) -> Failure {
    let hint = match &error {
        EngineError::Refused(Refused::Forbidden(_)) if !person => Some(author::way_out()),
        EngineError::Refused(Refused::Decided(_)) if person => Some(
            "the first decision about the same bytes counts; what was rejected goes on with `countersign unblock`, and then \
             it can be decided again"
                .to_owned(),
        ),
        _ => None,
    };
    let failure = Failure::from(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

async fn open(global: &Global, typed: &str) -> Result<(Project, Engine, ReviewId), Failure> {
    let project = Project::find(global, None)?;
    if project.existing_ledger().await?.is_none() {
        return Err(super::show::no_ledger());
    }
    let engine = project.engine(project.planner(None)?).await?;
    let id = meant(&project, engine.ledger(), typed).await?;
    Ok((project, engine, id))
}

fn filled(reason: Option<String>) -> Result<String, Failure> {
    reason
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| Failure::usage("a decision needs a reason").hint("--reason TEXT"))
}
