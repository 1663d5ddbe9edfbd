//! Decisions about a review: decide in place of its verdict, unblock it, withdraw it. One function for every caller
//! (command, screen, MCP, HTTP): it records the decision, and moves a task that depends on the review.

use crate::decision_mark::DecisionMark;
use crate::doors::DOORS;
use crate::project::Project;
use crate::{Failure, author};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::review::{Actor, Refused, Verb};
use countersign_engine::engine::{Engine, EngineError};
use countersign_engine::ledger::Stored;
use schemars::JsonSchema;
use serde::Deserialize;

pub const REASON_BYTES_MAX: usize = 4 * 1024;

/// What to do with a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Verb")]
pub enum Action {
    /// Let it pass, whatever the verdict.
    Approve,
    /// Stop it for good.
    Reject,
    /// Let it pass without a review.
    Skip,
    /// Send it back with its findings.
    Fix,
    /// Let a stopped review continue.
    Unblock,
    /// Take the submission back.
    Withdraw,
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Self::Unblock => "unblock",
            Self::Withdraw => "withdraw",
            Self::Approve => Verb::Approve.name(),
            Self::Reject => Verb::Reject.name(),
            Self::Skip => Verb::Skip.name(),
            Self::Fix => Verb::Fix.name(),
        }
    }

    /// The decision that stands in place of the verdict; none where the review continues or is withdrawn.
    fn verb(self) -> Option<Verb> {
        match self {
            Self::Approve => Some(Verb::Approve),
            Self::Reject => Some(Verb::Reject),
            Self::Skip => Some(Verb::Skip),
            Self::Fix => Some(Verb::Fix),
            Self::Unblock | Self::Withdraw => None,
        }
    }
}

impl From<Verb> for Action {
    fn from(verb: Verb) -> Self {
        match verb {
            Verb::Approve => Self::Approve,
            Verb::Reject => Self::Reject,
            Verb::Skip => Self::Skip,
            Verb::Fix => Self::Fix,
        }
    }
}

/// A decision: who does what, why, and about which work; without a digest about the current work.
#[derive(Clone, Debug)]
pub struct Decide {
    pub action: Action,
    pub by: Actor,
    /// Why. Taking back needs no reason.
    pub reason: Option<String>,
    pub about: Option<Digest>,
}

pub async fn decide(
    project: &Project,
    engine: &Engine,
    id: &ReviewId,
    decide: Decide,
) -> Result<Stored, Failure> {
    let Decide { action, by, reason, about } = decide;
    let person = by.may_decide();
    let reason = if action == Action::Withdraw { String::new() } else { filled(reason)? };
    let mark = DecisionMark::set(engine.ledger(), id)?;
    let stored = match (action.verb(), about) {
        (Some(verb), None) => engine.decide(id, verb, by, reason).await,
        (Some(verb), Some(digest)) => engine.decide_about(id, digest, verb, by, reason).await,
        (None, about) if action == Action::Unblock => engine.lift_about(id, about.as_ref(), by, reason).await,
        (None, about) => engine.withdraw_about(id, about.as_ref(), by).await,
    };
    let done = |mark: Option<DecisionMark>| mark.map_or((), DecisionMark::remove);
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => {
            done(mark);
            return Err(refused(error, person));
        }
    };
    if action != Action::Withdraw {
        // Where this fails the mark stays, and the next command tries again.
        DOORS.decided(project, engine.ledger(), &stored).await?;
    }
    done(mark);
    Ok(stored)
}

fn refused(error: EngineError, person: bool) -> Failure {
    let hint = match &error {
        EngineError::Refused(Refused::Forbidden(_)) if !person => Some(author::way_out()),
        EngineError::Refused(Refused::Unsigned) if person => {
            Some("sign it: give the command again with --sign, or with --out FILE to sign it elsewhere".to_owned())
        }
        EngineError::Refused(Refused::Decided(_)) if person => Some(
            "the first decision about the same bytes counts; `countersign unblock` lets a rejected review continue, and then \
             it can be decided again"
                .to_owned(),
        ),
        _ => None,
    };
    let failure = Failure::from(error);
    Failure { hint: hint.or(failure.hint), ..failure }
}

fn filled(reason: Option<String>) -> Result<String, Failure> {
    reason
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| Failure::usage("a decision needs a reason").hint("add --reason TEXT"))
}
