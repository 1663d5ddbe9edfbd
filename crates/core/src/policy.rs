//! Policy: how long a reviewer may take, what blocks in which round, and when a loop must end.

use crate::cost::Budget;
use crate::criterion::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod gate;

pub use gate::{
    DEFAULT_CEILING_ROUNDS, DEFAULT_ITEM_FAILURES_MAX, GateEnd, GateItem, GatePolicy, GateResult, ItemState,
    gate,
};

/// Up to this many files a question gets the base timeout.
pub const TIMEOUT_BASE_FILES: usize = 5;
pub const TIMEOUT_BASE_SECONDS: u64 = 240;
/// What each further file adds.
pub const TIMEOUT_FILE_SECONDS: u64 = 30;
/// Up to this many files a question carries their contents; above, it lists their paths.
pub const DEFAULT_MAX_INLINE_FILES: usize = 5;
/// Failing rounds before a review is stopped.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 3;
/// Rounds in a row with the very same findings before a review is stopped as not converging.
pub const DEFAULT_MAX_STALLED_ROUNDS: u32 = 3;
/// How long a ruling stands for unchanged bytes.
pub const DEFAULT_REUSE_DAYS: u32 = 30;
/// Rounds in a row without a verdict before a cool-off.
pub const MAX_EMPTY_ROUNDS: u32 = 3;
/// How long the cool-off lasts: no reviewer is asked.
pub const COOL_OFF_MS: i64 = 5 * 60 * 1000;
/// How often a self-review may be asked for before the review is stopped.
pub const MAX_SELF_REVIEW_CALLS: u32 = 5;
/// How often the session of an agent that was written to lets a stopped review go on, between decisions of people.
pub const MAX_SESSION_LIFTS: u32 = 3;

pub fn timeout_seconds(files: usize) -> u64 {
    TIMEOUT_BASE_SECONDS + TIMEOUT_FILE_SECONDS * files.saturating_sub(TIMEOUT_BASE_FILES) as u64
}

/// From which attempt on which severities block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocking {
    /// The first attempt this line holds for.
    pub from_round: u32,
    /// This severity and heavier ones block.
    pub severity: Severity,
}

/// A number of attempts that no review reaches: its door counts them.
pub const COUNTED_BY_DOOR: u32 = u32::MAX;

/// How often a review may come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempts {
    /// One round and no more: a person who looks at a verdict is not a loop.
    Once,
    /// The n-th failing round stops the review.
    AtMost(u32),
}

/// What becomes of an agent that stops, where there is no verdict on its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnNoVerdict {
    /// It is held, up to three times in a row, then people are told.
    #[default]
    Hold,
    /// It may stop, and people are told.
    Tell,
}

/// Who may override a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overrides {
    /// Agents too.
    Allow,
    /// People only.
    PeopleOnly,
    /// No override at all, by people neither.
    Forbid,
}

/// What becomes of a change to the gate itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateFiles {
    /// A person has the last word.
    #[default]
    Person,
    /// It is named, and judged like all other work.
    Tell,
}

/// What makes a decision one of a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decisions {
    /// A terminal without any sign of an agent, or a signature.
    #[default]
    Terminal,
    /// A signature by a key in the file of allowed signers.
    Signed,
}

/// What a review was opened under. It is in the ledger, so edits of the configuration cannot loosen a running loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub attempts: Attempts,
    pub blocking: Vec<Blocking>,
    /// Rounds in a row with the same findings before it stops.
    pub max_stalled_rounds: u32,
    /// Whether failed work that comes back unchanged stops it at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged_stops: bool,
    pub reuse_days: u32,
    /// Take "passed" without a ruling per criterion as a pass.
    pub accept_bare_verdicts: bool,
    pub overrides: Overrides,
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub budget: Budget,
    /// What becomes of changes to the gate itself.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub gate_files: GateFiles,
    /// What makes a decision one of a person.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub decisions: Decisions,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            attempts: Attempts::AtMost(DEFAULT_MAX_ATTEMPTS),
            blocking: vec![Blocking { from_round: 1, severity: Severity::Should }],
            max_stalled_rounds: DEFAULT_MAX_STALLED_ROUNDS,
            unchanged_stops: false,
            reuse_days: DEFAULT_REUSE_DAYS,
            accept_bare_verdicts: false,
            overrides: Overrides::PeopleOnly,
            budget: Budget::default(),
            gate_files: GateFiles::default(),
            decisions: Decisions::default(),
        }
    }
}

impl Policy {
    /// The lightest severity that blocks in this attempt; without a matching line `Must`: the gate is never off.
    pub fn threshold(&self, attempt: u32) -> Severity {
        threshold(&self.blocking, attempt)
    }

    /// How many failing rounds are left after this many; `None` where it is one round anyway, or the door counts them.
    pub fn attempts_left(&self, used: u32) -> Option<u32> {
        match self.attempts {
            Attempts::Once | Attempts::AtMost(COUNTED_BY_DOOR) => None,
            Attempts::AtMost(max) => Some(max.saturating_sub(used)),
        }
    }
}

/// The lightest severity that blocks in this round, by the last line that holds for it.
fn threshold(lines: &[Blocking], round: u32) -> Severity {
    lines
        .iter()
        .filter(|line| line.from_round <= round)
        .max_by_key(|line| line.from_round)
        .map_or(Severity::Must, |line| line.severity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn req_004_8_1_to_3_timeout_grows_beyond_five_files() {
        // 004.8.1 base, 004.8.2 up to five files, 004.8.3 thirty seconds for each file beyond.
        for (files, seconds) in [(0, 240), (1, 240), (5, 240), (6, 270), (7, 300), (25, 840)] {
            assert_eq!(timeout_seconds(files), seconds, "{files} files");
        }
    }

    #[test]
    fn thresholds_relax_by_attempt_and_never_below_must() {
        let policy = Policy {
            blocking: vec![
                Blocking { from_round: 5, severity: Severity::Must },
                Blocking { from_round: 1, severity: Severity::May },
                Blocking { from_round: 3, severity: Severity::Should },
            ],
            ..Policy::default()
        };
        let seen: Vec<_> = (1..=6).map(|attempt| policy.threshold(attempt)).collect();
        use Severity::{May, Must, Should};
        assert_eq!(seen, [May, May, Should, Should, Must, Must]);
        let silent = Policy { blocking: vec![], ..Policy::default() };
        assert_eq!(silent.threshold(1), Must);
    }
}
