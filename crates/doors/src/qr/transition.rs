//! What may happen to the items of a phase. Pure: a state in, a state or a refusal out.

use super::item::{Item, Status};
use super::state::State;
use countersign_core::policy::{self, GateEnd, GateItem, GatePolicy, Gated, Standing};
use countersign_core::text;
use thiserror::Error;

/// How long a finding or a reason may be.
pub const FINDING_BYTES_MAX: usize = 64 * 1024;

/// What somebody found out about an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It passes.
    Pass,
    /// It fails, and why.
    Fail(String),
}

impl Ruling {
    /// The ruling that a verifier's words are. The word is PASS or FAIL and nothing else; a failure needs a
    /// finding and a pass has none.
    pub fn of(word: &str, finding: Option<&str>) -> Result<Self, Refused> {
        let finding = finding.map(str::trim).filter(|finding| !finding.is_empty());
        match (Status::named(word), finding) {
            (Some(Status::Pass), None) => Ok(Self::Pass),
            (Some(Status::Pass), Some(_)) => Err(Refused::FindingOnPass),
            (Some(Status::Fail), None) => Err(Refused::NoFinding),
            (Some(Status::Fail), Some(finding)) if finding.len() > FINDING_BYTES_MAX => {
                Err(Refused::FindingTooLong)
            }
            (Some(Status::Fail), Some(finding)) => Ok(Self::Fail(finding.to_owned())),
            _ => Err(Refused::NoRuling(text::visible_line(text::cut(word, 80)).into_owned())),
        }
    }

    /// The status it gives an item.
    pub fn status(&self) -> Status {
        match self {
            Self::Pass => Status::Pass,
            Self::Fail(_) => Status::Fail,
        }
    }
}

/// Why something may not happen. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// No item has this id.
    #[error("{0}")]
    UnknownItem(String),
    /// The verdict word was another one.
    #[error("a ruling is exactly PASS or FAIL, not `{0}`")]
    NoRuling(String),
    /// A failure without a reason.
    #[error("FAIL needs a finding: --finding TEXT says what is wrong")]
    NoFinding,
    /// A pass with a reason to fail.
    #[error("PASS has no finding: what is worth saying is a reason to FAIL")]
    FindingOnPass,
    /// More than anybody reads.
    #[error("the finding is longer than {FINDING_BYTES_MAX} bytes")]
    FindingTooLong,
    /// A passed item is settled until a fix touches it.
    #[error("{0} has passed already; `countersign qr fixed --files …` opens again what a change touched")]
    AlreadyPassed(String),
    /// A person has decided about the item.
    #[error("{0} was accepted by a person")]
    AlreadyAccepted(String),
    /// An acceptance without a reason.
    #[error("an acceptance needs a reason")]
    NoReason,
    /// No further round.
    #[error("round {round} of {ceiling} was the last one")]
    Ceiling {
        /// The round that failed.
        round: u32,
        /// The last round there is.
        ceiling: u32,
    },
    /// An item failed too often.
    #[error("{item} has failed {failures} times, as often as an item may")]
    ItemCap {
        /// The item.
        item: String,
        /// How often it failed.
        failures: u32,
    },
}

/// What the gate says about a state.
pub fn gate<'s>(state: &'s State, policy: &GatePolicy) -> Gated<'s> {
    policy::gate(state.items.iter().map(gate_item), state.iteration, policy)
}

fn gate_item(item: &Item) -> GateItem<'_> {
    let standing = match item.status {
        Status::Pass => Standing::Passed,
        _ if item.accepted => Standing::Accepted,
        Status::Todo => Standing::Open,
        Status::Fail => Standing::Failed,
    };
    GateItem { id: &item.id, severity: item.severity, standing, failures: item.fail_count }
}

/// Records a ruling. Says whether anything is different now: the same word twice is said once.
pub fn record(state: &mut State, id: &str, ruling: &Ruling) -> Result<bool, Refused> {
    state.find(id).map_err(Refused::UnknownItem)?;
    let Some(item) = state.item_mut(id) else { return Ok(false) };
    if item.accepted && item.status != Status::Pass {
        return Err(Refused::AlreadyAccepted(id.to_owned()));
    }
    let before = item.clone();
    match (item.status, ruling) {
        (Status::Pass, Ruling::Pass) => {}
        (Status::Pass, Ruling::Fail(_)) => return Err(Refused::AlreadyPassed(id.to_owned())),
        (Status::Todo | Status::Fail, Ruling::Pass) => {
            item.status = Status::Pass;
            item.finding = None;
        }
        (from, Ruling::Fail(finding)) => {
            // Failing again in the same round is another finding, not another failure.
            item.fail_count = item.fail_count.saturating_add(u32::from(from == Status::Todo));
            item.status = Status::Fail;
            item.finding = Some(finding.clone());
        }
    }
    Ok(*item != before)
}

/// What a fix did to the items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// Whether a new round has begun.
    pub next_round: bool,
    /// What is to be verified again, in the order of the items.
    pub reopened: Vec<String>,
}

/// What a fix means for an item that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// It is about something the fix changed.
    Yes,
    /// It is about something that is as it was.
    No,
    /// Nobody can tell.
    Unknown,
}

/// Takes a fix: failed items are verified again, and so is what passed and cannot be shown to be as it was.
///
/// A round begins only if a failure blocked, so that saying it twice counts once. Without one and without a known
/// change (`changed`) there was no fix, and nothing happens. A failure that no longer blocks in the new round
/// keeps its finding: nobody is asked about it any more, and it stays on the list of what is waived.
pub fn fixed(
    state: &mut State,
    policy: &GatePolicy,
    changed: bool,
    touched: impl Fn(&Item) -> Touched,
) -> Result<Fixed, Refused> {
    let next_round = !gate(state, policy).failed.is_empty();
    if !next_round && !changed {
        return Ok(Fixed::default());
    }
    if next_round {
        stopped(state, policy)?;
        state.iteration = state.iteration.saturating_add(1);
    }
    let threshold = policy.threshold(state.iteration);
    let mut reopened = vec![];
    for item in &mut state.items {
        let again = match (item.status, item.accepted) {
            (Status::Fail, false) => item.severity >= threshold,
            (Status::Pass, _) => touched(item) != Touched::No,
            (_, true) => touched(item) == Touched::Yes,
            (Status::Todo, false) => false,
        };
        if again {
            reopen(item);
            reopened.push(item.id.clone());
        }
    }
    Ok(Fixed { next_round, reopened })
}

/// Why there is no further round, where there is none.
fn stopped(state: &State, policy: &GatePolicy) -> Result<(), Refused> {
    let gated = gate(state, policy);
    let ceiling = Refused::Ceiling { round: state.iteration, ceiling: policy.ceiling_rounds };
    match (gated.end, gated.capped.first().and_then(|id| state.item(id))) {
        (GateEnd::Ceiling, _) => Err(ceiling),
        (GateEnd::ItemCap, Some(item)) => {
            Err(Refused::ItemCap { item: item.id.clone(), failures: item.fail_count })
        }
        _ => Ok(()),
    }
}

fn reopen(item: &mut Item) {
    item.status = Status::Todo;
    item.finding = None;
    item.accepted = false;
    item.acceptance_reason = None;
}

/// Takes an item as it is, by a person's word.
pub fn accept(state: &mut State, id: &str, reason: &str) -> Result<bool, Refused> {
    state.find(id).map_err(Refused::UnknownItem)?;
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Refused::NoReason);
    }
    if reason.len() > FINDING_BYTES_MAX {
        return Err(Refused::FindingTooLong);
    }
    let Some(item) = state.item_mut(id) else { return Ok(false) };
    if item.status == Status::Pass {
        return Err(Refused::AlreadyPassed(id.to_owned()));
    }
    let before = item.clone();
    item.accepted = true;
    item.acceptance_reason = Some(reason.to_owned());
    Ok(*item != before)
}

/// Puts other items in the place of those there are. The round stays: a loop does not begin again by asking
/// something else.
pub fn again(state: &mut State, items: Vec<Item>) {
    state.items = items;
}

#[cfg(test)]
mod tests;
