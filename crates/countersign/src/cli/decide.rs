//! `approve`, `reject`, `skip`, `fix`, `unblock`, `withdraw`: what people do with a review. Who, when, why and about
//! which bytes is recorded.

use super::arguments::{DecideOptions, WithdrawOptions};
use super::show::find;
use super::{Failure, Global};
use crate::author;
use crate::output::{Answer, Spent, next_steps, verdict_json, verdict_text};
use crate::project::Project;
use countersign_core::ids::ReviewId;
use countersign_core::outcome::Outcome;
use countersign_core::review::{Actor, Verb};
use countersign_engine::engine::Engine;
use countersign_engine::ledger::Stored;
use std::io::IsTerminal;

/// Lets a review pass.
pub async fn approve(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Verb::Approve).await
}

/// Stops a review for good.
pub async fn reject(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Verb::Reject).await
}

/// Lets a review pass without a verdict.
pub async fn skip(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Verb::Skip).await
}

/// Sends a review back with what was found.
pub async fn fix(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    decide(global, options, Verb::Fix).await
}

/// Lets a stopped review go on.
pub async fn unblock(global: &Global, options: DecideOptions) -> Result<Answer, Failure> {
    let (engine, id) = open(global, &options.id).await?;
    let stored = engine.lift(&id, actor(), reason(options.reason)?).await?;
    super::task::decided(global, &stored).await?;
    shown(&engine, stored).await
}

/// Takes a submission back.
pub async fn withdraw(global: &Global, options: WithdrawOptions) -> Result<Answer, Failure> {
    let (engine, id) = open(global, &options.id).await?;
    let stored = engine.withdraw(&id, actor()).await?;
    shown(&engine, stored).await
}

async fn decide(global: &Global, options: DecideOptions, verb: Verb) -> Result<Answer, Failure> {
    let (engine, id) = open(global, &options.id).await?;
    let stored = engine.decide(&id, verb, actor(), reason(options.reason)?).await?;
    super::task::decided(global, &stored).await?;
    shown(&engine, stored).await
}

async fn open(global: &Global, typed: &str) -> Result<(Engine, ReviewId), Failure> {
    let project = Project::find(global, None)?;
    if project.existing_ledger().await?.is_none() {
        return Err(super::show::no_ledger());
    }
    let engine = project.engine(project.planner(None)?).await?;
    let id = match super::task::review_of(&project, engine.ledger(), typed).await? {
        Some(id) => id,
        None => find(engine.ledger(), typed).await?,
    };
    Ok((engine, id))
}

fn reason(text: String) -> Result<String, Failure> {
    match text.trim() {
        "" => Err(Failure::usage("a decision needs a reason").hint("--reason TEXT")),
        _ => Ok(text),
    }
}

/// A person is a terminal on standard input and no mark of an agent in the environment.
pub fn actor() -> Actor {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let person = std::io::stdin().is_terminal() && !author::is_agent();
    Actor::new(name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned()), person)
}

async fn shown(engine: &Engine, stored: Stored) -> Result<Answer, Failure> {
    let next = next_steps(&stored.review, "hand it in again");
    // The decision was taken; that is this command's success, whatever it does to the review.
    let spent = Spent::of(engine.ledger(), &stored.review).await?;
    let text = verdict_text(&stored, &spent, &next);
    Ok(Answer::new(Outcome::Passed, text, verdict_json(&stored, &spent, &next)))
}
