//! The gate of a decomposed review: items and a round in, one of six ends out. What blocks relaxes by round.

use super::{Blocking, threshold};
use crate::criterion::Severity;
use crate::outcome::{NoVerdict, Outcome, Stop};
use schemars::JsonSchema;
use serde::Serialize;

/// The last round there is unless a setting says otherwise.
pub const DEFAULT_CEILING_ROUNDS: u32 = 5;
/// The failure of one item that ends the loop unless a setting says otherwise.
pub const DEFAULT_ITEM_FAILURES_MAX: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemState {
    /// There is no ruling on it in this round.
    Open,
    Passed,
    Failed,
    /// A person took it as it is.
    Accepted,
}

/// What the gate needs to know about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateItem<'i> {
    pub id: &'i str,
    pub severity: Severity,
    pub standing: ItemState,
    pub failures: u32,
}

/// What blocks when, and where a loop ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatePolicy {
    /// What blocks, by round. Before the first line `Must` does.
    pub blocking: Vec<Blocking>,
    pub ceiling_rounds: u32,
    /// The failure of one item that ends the loop.
    pub item_failures_max: u32,
}

impl Default for GatePolicy {
    /// All severities in rounds 1 and 2, `Must` and `Should` in 3 and 4, `Must` from 5 on.
    fn default() -> Self {
        let line = |from_round, severity| Blocking { from_round, severity };
        Self {
            blocking: vec![line(1, Severity::May), line(3, Severity::Should), line(5, Severity::Must)],
            ceiling_rounds: DEFAULT_CEILING_ROUNDS,
            item_failures_max: DEFAULT_ITEM_FAILURES_MAX,
        }
    }
}

impl GatePolicy {
    pub fn threshold(&self, round: u32) -> Severity {
        threshold(&self.blocking, round)
    }
}

/// How the gate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum GateEnd {
    /// Everything that blocks passed or was accepted.
    Pass,
    /// Something that blocks failed.
    Fail,
    /// There is no ruling yet on something that blocks.
    Todo,
    /// There is no item.
    Empty,
    /// Something that blocks failed in the last round, or is open after it.
    Ceiling,
    /// An item that blocks failed as often as an item may.
    ItemCap,
}

impl GateEnd {
    /// How a command ends that asked.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Pass => Outcome::Passed,
            Self::Fail => Outcome::NeedsWork,
            Self::Todo => Outcome::NoVerdict(NoVerdict::Unverified),
            Self::Empty => Outcome::NoVerdict(NoVerdict::EmptyChange),
            Self::Ceiling => Outcome::Stopped(Stop::AttemptsUsedUp),
            Self::ItemCap => Outcome::Stopped(Stop::NotConverging),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateResult<'i> {
    pub end: GateEnd,
    pub threshold: Severity,
    pub failed: Vec<&'i str>,
    pub open: Vec<&'i str>,
    /// What failed or is open and does not block in this round.
    pub waived: Vec<&'i str>,
    pub accepted: Vec<&'i str>,
    /// What blocks and failed as often as an item may.
    pub capped: Vec<&'i str>,
}

/// Decides. A failure weighs more than an open item; a limit is only reached by something that blocks.
pub fn gate<'i>(
    items: impl IntoIterator<Item = GateItem<'i>>,
    round: u32,
    policy: &GatePolicy,
) -> GateResult<'i> {
    let threshold = policy.threshold(round);
    let mut gated = GateResult {
        end: GateEnd::Empty,
        threshold,
        failed: vec![],
        open: vec![],
        waived: vec![],
        accepted: vec![],
        capped: vec![],
    };
    let mut any = false;
    for item in items {
        any = true;
        let blocks = item.severity >= threshold;
        match item.standing {
            ItemState::Passed => {}
            ItemState::Accepted => gated.accepted.push(item.id),
            ItemState::Open | ItemState::Failed if !blocks => gated.waived.push(item.id),
            ItemState::Open => gated.open.push(item.id),
            ItemState::Failed => {
                gated.failed.push(item.id);
                if item.failures >= policy.item_failures_max {
                    gated.capped.push(item.id);
                }
            }
        }
    }
    gated.end = match (gated.failed.is_empty(), gated.open.is_empty()) {
        _ if !any => GateEnd::Empty,
        (true, true) => GateEnd::Pass,
        (false, _) if round >= policy.ceiling_rounds => GateEnd::Ceiling,
        (true, false) if round > policy.ceiling_rounds => GateEnd::Ceiling,
        (false, _) if !gated.capped.is_empty() => GateEnd::ItemCap,
        (false, _) => GateEnd::Fail,
        (true, false) => GateEnd::Todo,
    };
    gated
}

#[cfg(test)]
mod tests {
    use super::*;
    use ItemState::{Accepted, Failed, Open, Passed};
    use Severity::{May, Must, Should};

    fn end(items: &[(Severity, ItemState)], round: u32) -> GateEnd {
        let items =
            items.iter().map(|&(severity, standing)| GateItem { id: "x", severity, standing, failures: 1 });
        gate(items, round, &GatePolicy { ceiling_rounds: 9, ..GatePolicy::default() }).end
    }

    /// QR-12.
    #[test]
    fn qr_12_every_cell_of_the_threshold_table() {
        let blocks = [(1, [true; 3]), (2, [true; 3]), (3, [true, true, false]), (4, [true, true, false])];
        let later = [(5, [true, false, false]), (6, [true, false, false]), (8, [true, false, false])];
        for (round, cells) in blocks.into_iter().chain(later) {
            for (severity, blocks) in [Must, Should, May].into_iter().zip(cells) {
                let (failed, open) = match blocks {
                    true => (GateEnd::Fail, GateEnd::Todo),
                    false => (GateEnd::Pass, GateEnd::Pass),
                };
                assert_eq!(end(&[(severity, Failed)], round), failed, "{severity} failed in round {round}");
                assert_eq!(end(&[(severity, Open)], round), open, "{severity} open in round {round}");
                assert_eq!(end(&[(severity, Passed)], round), GateEnd::Pass);
                assert_eq!(end(&[(severity, Accepted)], round), GateEnd::Pass);
            }
        }
    }

    /// QR-14.
    #[test]
    fn qr_14_a_failure_weighs_more_than_an_open_item_and_nothing_is_no_pass() {
        assert_eq!(end(&[], 1), GateEnd::Empty);
        assert_eq!(end(&[(Must, Passed), (Must, Open), (May, Failed)], 1), GateEnd::Fail);
        assert_eq!(end(&[(Must, Passed), (Must, Open), (May, Failed)], 3), GateEnd::Todo);
        assert_eq!(end(&[(Must, Passed), (Must, Accepted)], 1), GateEnd::Pass);
    }

    #[test]
    fn a_loop_ends_at_its_ceiling_or_at_an_item_that_keeps_failing() {
        let policy = GatePolicy { item_failures_max: 3, ..GatePolicy::default() };
        let rows = [
            (Failed, 1, 1, GateEnd::Fail),
            (Failed, 3, 3, GateEnd::ItemCap),
            (Failed, 1, 5, GateEnd::Ceiling),
            (Failed, 3, 5, GateEnd::Ceiling),
            (Failed, 1, 50, GateEnd::Ceiling),
            (Open, 4, 5, GateEnd::Todo),
            (Open, 4, 6, GateEnd::Ceiling),
            (Passed, 9, 50, GateEnd::Pass),
            (Accepted, 9, 50, GateEnd::Pass),
        ];
        for (standing, failures, round, end) in rows {
            let item = GateItem { id: "x", severity: Must, standing, failures };
            assert_eq!(gate([item], round, &policy).end, end, "{standing:?} {failures} {round}");
        }
    }

    #[test]
    fn what_does_not_block_is_listed() {
        let item = |id, severity, standing| GateItem { id, severity, standing, failures: 0 };
        let items = [
            item("a", May, Failed),
            item("b", May, Open),
            item("c", Must, Accepted),
            item("d", Should, Failed),
            item("e", Must, Open),
        ];
        let gated = gate(items, 3, &GatePolicy::default());
        assert_eq!(gated.waived, ["a", "b"]);
        assert_eq!(gated.accepted, ["c"]);
        assert_eq!((gated.failed, gated.open), (vec!["d"], vec!["e"]));
    }

    #[test]
    fn without_a_line_must_blocks() {
        let policy = GatePolicy { blocking: vec![], ..GatePolicy::default() };
        assert_eq!(policy.threshold(1), Must);
    }
}
