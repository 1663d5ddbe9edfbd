//! The rules of the items of a phase: what a ruling, a fix and an acceptance do. Pure.

use super::item::{Item, Status};
use super::state::State;
use countersign_core::policy::{self, GateEnd, GateItem, GatePolicy, GateResult, ItemState};
use countersign_core::text;
use thiserror::Error;

pub(super) const FINDING_BYTES_MAX: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    Pass,
    Fail(String),
}

impl Ruling {
    /// The ruling in a verifier's words: exactly PASS or FAIL. A failure needs a finding and a pass has none.
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

    pub(super) fn status(&self) -> Status {
        match self {
            Self::Pass => Status::Pass,
            Self::Fail(_) => Status::Fail,
        }
    }
}

/// Why a transition is refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    #[error("{0}")]
    UnknownItem(String),
    #[error("a ruling is exactly PASS or FAIL, not `{0}`")]
    NoRuling(String),
    #[error("FAIL needs a finding: --finding TEXT says what is wrong")]
    NoFinding,
    #[error("PASS takes no finding: use FAIL to report a problem")]
    FindingOnPass,
    #[error("the finding is longer than {FINDING_BYTES_MAX} bytes")]
    FindingTooLong,
    /// A passed item is settled until a fix touches it.
    #[error("{0} has already passed; `countersign qr fixed --files …` reopens the items of changed files")]
    AlreadyPassed(String),
    #[error("{0} was accepted by a person")]
    AlreadyAccepted(String),
    #[error("the ruling is about round {given}, but the phase is in round {now}")]
    OtherRound { given: u32, now: u32 },
    #[error("an acceptance needs a reason")]
    NoReason,
    #[error("round {round} of {ceiling} was the last one")]
    Ceiling { round: u32, ceiling: u32 },
    #[error("{item} has failed {failures} times, as often as an item may")]
    ItemCap { item: String, failures: u32 },
}

pub fn gate<'s>(state: &'s State, policy: &GatePolicy) -> GateResult<'s> {
    policy::gate(state.items.iter().map(gate_item), state.iteration, policy)
}

fn gate_item(item: &Item) -> GateItem<'_> {
    let standing = match item.status {
        Status::Pass => ItemState::Passed,
        _ if item.accepted => ItemState::Accepted,
        Status::Todo => ItemState::Open,
        Status::Fail => ItemState::Failed,
    };
    GateItem { id: &item.id, severity: item.severity, standing, failures: item.fail_count }
}

/// Records a ruling. `round` is the one in which its verifier was started, where it is known.
pub(super) fn record(
    state: &mut State,
    id: &str,
    ruling: &Ruling,
    round: Option<u32>,
) -> Result<(), Refused> {
    if let Some(given) = round.filter(|given| *given != state.iteration) {
        return Err(Refused::OtherRound { given, now: state.iteration });
    }
    let item = state.find_mut(id)?;
    if item.accepted && item.status != Status::Pass {
        return Err(Refused::AlreadyAccepted(id.to_owned()));
    }
    match (item.status, ruling) {
        (Status::Pass, Ruling::Pass) => {}
        (Status::Pass, Ruling::Fail(_)) => return Err(Refused::AlreadyPassed(id.to_owned())),
        (Status::Todo | Status::Fail, Ruling::Pass) => {
            item.status = Status::Pass;
            item.finding = None;
        }
        (from, Ruling::Fail(finding)) => {
            // A second failure in the same round is another finding, not another failure.
            item.fail_count = item.fail_count.saturating_add(u32::from(from == Status::Todo));
            item.status = Status::Fail;
            item.finding = Some(finding.clone());
        }
    }
    Ok(())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    pub next_round: bool,
    pub reopened: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    Yes,
    No,
    Unknown,
}

/// Takes a fix: failed items are verified again, and so are passed items unless their file is known to be unchanged.
///
/// A round begins only if a failure blocked, so that reporting a fix twice counts once. Without one and without a
/// known change (`changed`) there was no fix, and nothing happens. A failure that no longer blocks in the new round
/// keeps its finding: it is not verified again, and stays on the list of waived items.
pub(super) fn fixed(
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
        refuse_stopped(state, policy)?;
        state.iteration = state.iteration.saturating_add(1);
    }
    let threshold = policy.threshold(state.iteration);
    let reopened = open_again(state, |item| match (item.status, item.accepted) {
        (Status::Fail, false) => item.severity >= threshold,
        (Status::Pass, _) => touched(item) != Touched::No,
        (_, true) => touched(item) == Touched::Yes,
        (Status::Todo, false) => false,
    });
    Ok(Fixed { next_round, reopened })
}

/// Opens settled items again whose content changed. No round begins: no fix was recorded.
pub(super) fn reopen(state: &mut State, is_changed: impl Fn(&Item) -> bool) -> Vec<String> {
    open_again(state, |item| (item.status == Status::Pass || item.accepted) && is_changed(item))
}

fn open_again(state: &mut State, again: impl Fn(&Item) -> bool) -> Vec<String> {
    let mut reopened = vec![];
    for item in state.items.iter_mut().filter(|item| again(item)) {
        item.status = Status::Todo;
        item.finding = None;
        item.accepted = false;
        item.acceptance_reason = None;
        reopened.push(item.id.clone());
    }
    reopened
}

fn refuse_stopped(state: &State, policy: &GatePolicy) -> Result<(), Refused> {
    let gated = gate(state, policy);
    match (gated.end, gated.capped.first().and_then(|id| state.item(id))) {
        (GateEnd::Ceiling, _) => {
            Err(Refused::Ceiling { round: state.iteration, ceiling: policy.ceiling_rounds })
        }
        (GateEnd::ItemCap, Some(item)) => {
            Err(Refused::ItemCap { item: item.id.clone(), failures: item.fail_count })
        }
        _ => Ok(()),
    }
}

pub(super) fn accept(state: &mut State, id: &str, reason: &str) -> Result<(), Refused> {
    let item = state.find_mut(id)?;
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Refused::NoReason);
    }
    if reason.len() > FINDING_BYTES_MAX {
        return Err(Refused::FindingTooLong);
    }
    if item.status == Status::Pass {
        return Err(Refused::AlreadyPassed(id.to_owned()));
    }
    item.accepted = true;
    item.acceptance_reason = Some(reason.to_owned());
    Ok(())
}

/// Replaces the items. The round stays: other items do not begin the loop again.
pub(super) fn replace_items(state: &mut State, items: Vec<Item>) {
    state.items = items;
}

/// Where a phase is in its loop. It follows from the state and is stored nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopState {
    /// The first round, without a blocking failure.
    Initial,
    /// A fix is under way, or was made.
    Retry,
    Complete,
}

impl LoopState {
    pub fn of(state: &State, policy: &GatePolicy) -> Self {
        let gated = gate(state, policy);
        match gated.end {
            GateEnd::Pass => Self::Complete,
            _ if state.iteration == 1 && gated.failed.is_empty() => Self::Initial,
            _ => Self::Retry,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "INITIAL",
            Self::Retry => "RETRY",
            Self::Complete => "COMPLETE",
        }
    }
}

#[cfg(test)]
mod tests;
