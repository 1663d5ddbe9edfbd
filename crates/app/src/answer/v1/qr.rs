//! The answers of `qr`.

use countersign_core::policy::{GateEnd, GatePolicy};
use countersign_doors::qr::texts::{blocking_failures, short};
use countersign_doors::qr::transition::gate;
use countersign_doors::qr::{self as door, Here, LoopState, State, asking, replies, severity};
use schemars::JsonSchema;
use serde::Serialize;

/// A phase as of now: the same keys in every answer about it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Phase {
    /// Its name.
    pub phase: &'static str,
    /// The state directory, as it was named.
    pub state_dir: String,
    /// Which round it is in.
    pub round: u32,
    /// The round in which a loop ends.
    pub ceiling_rounds: u32,
    /// Where it is in its loop.
    pub loop_state: &'static str,
    /// `PASS` or `FAIL`.
    pub status: &'static str,
    /// What the gate says.
    pub gate: GateEnd,
    /// Items of this severity and above block in this round.
    pub blocks_from: &'static str,
    /// How many items there are.
    pub items: Counts,
    /// Items that failed and block.
    pub failed: Vec<Item>,
    /// Items that have no ruling and block.
    pub open: Vec<Item>,
    /// Items that failed and do not block in this round.
    pub waived: Vec<Item>,
    /// Items that a person accepted.
    pub accepted: Vec<Item>,
    /// What the ledger contradicts in the state file. Such a phase does not pass.
    pub contradictions: Vec<String>,
    /// Whether the answer rests on the state file and the word of its authors, so that no other gate counts it.
    pub advisory: bool,
    /// What to do now.
    pub next: String,
}

/// How many items there are, by status.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Counts {
    /// All.
    pub total: usize,
    /// Those that passed.
    pub pass: usize,
    /// Those that failed.
    pub fail: usize,
    /// Those without a ruling.
    pub todo: usize,
}

/// An item in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Item {
    /// Its id.
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// Its severity.
    pub severity: &'static str,
    /// Its status.
    pub status: &'static str,
    /// What is wrong, in short.
    pub finding: Option<String>,
    /// Why a person accepted it.
    pub acceptance_reason: Option<String>,
}

impl Phase {
    pub fn new(state: &State, policy: &GatePolicy, here: &Here) -> Self {
        let gated = gate(state, policy);
        let by_id = state.by_id();
        let rows = |ids: &[&str]| -> Vec<Item> {
            let items = ids.iter().filter_map(|id| by_id.get(id));
            let row = |item: &&door::Item| Item {
                id: item.id.clone(),
                scope: item.scope.as_str().to_owned(),
                severity: severity::word(item.severity),
                status: item.status.name(),
                finding: item.finding.as_deref().map(short),
                acceptance_reason: item.acceptance_reason.clone(),
            };
            items.map(row).collect()
        };
        Self {
            phase: state.phase.name(),
            state_dir: here.state_dir.clone(),
            round: state.iteration,
            ceiling_rounds: policy.ceiling_rounds,
            loop_state: LoopState::of(state, policy).name(),
            status: if gated.end == GateEnd::Pass { "PASS" } else { "FAIL" },
            gate: gated.end,
            blocks_from: severity::word(gated.threshold),
            items: Counts {
                total: state.items.len(),
                pass: state.count(door::Status::Pass),
                fail: state.count(door::Status::Fail),
                todo: state.count(door::Status::Todo),
            },
            failed: rows(&gated.failed),
            open: rows(&gated.open),
            waived: rows(&gated.waived),
            accepted: rows(&gated.accepted),
            contradictions: vec![],
            advisory: true,
            next: here.after_gate(state, &gated, policy),
        }
    }

    pub fn contradicted(self, contradictions: &[String], here: &Here) -> Self {
        if contradictions.is_empty() {
            return self;
        }
        Self { status: "FAIL", contradictions: contradictions.to_vec(), next: here.contradicted(), ..self }
    }
}

/// A blocking failure in full, for a fixer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailedItem {
    /// Its id.
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// Its severity.
    pub severity: &'static str,
    /// What is asked about it.
    pub check: String,
    /// What is wrong.
    pub finding: Option<String>,
    /// What to do about it.
    pub fix: String,
}

impl FailedItem {
    pub fn all(state: &State, policy: &GatePolicy, fix: impl Fn(&door::Item) -> String) -> Vec<Self> {
        let full = |item: &&door::Item| Self {
            id: item.id.clone(),
            scope: item.scope.as_str().to_owned(),
            severity: severity::word(item.severity),
            check: item.check.clone(),
            finding: item.finding.clone(),
            fix: fix(item),
        };
        blocking_failures(state, policy).iter().map(full).collect()
    }
}

/// The state directory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Init {
    /// Where it is.
    pub state_dir: String,
    /// Whether it was made now.
    pub created: bool,
    /// What to do now.
    pub next: String,
}

/// The task of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Execute {
    /// The phase.
    pub phase: &'static str,
    /// What to do in it.
    pub task: &'static str,
    /// What to do then.
    pub next: String,
}

/// A phase that failed, for its fixer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExecuteFailed {
    /// The phase.
    #[serde(flatten)]
    pub phase: Phase,
    /// What blocks.
    pub failures: Vec<FailedItem>,
}

/// A phase, and who vouches for its rulings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Status {
    /// The phase.
    #[serde(flatten)]
    pub phase: Phase,
    /// Items that passed without the ruling of a reviewer.
    pub by_word: Vec<ByWord>,
}

/// An item that passed without the ruling of a reviewer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ByWord {
    /// The item.
    pub id: String,
    /// Who recorded the ruling.
    pub by: String,
}

/// The result of verifying.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verified {
    /// The phase.
    #[serde(flatten)]
    pub phase: Phase,
    /// How many items got a ruling.
    pub verified: usize,
    /// Items that were verified and got no ruling.
    pub unruled: Vec<Unruled>,
    /// How often a loop ran its fixer. Left out if there is no loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixes: Option<u32>,
}

/// An item that was verified and got no ruling.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unruled {
    /// The item.
    pub id: String,
    /// How its review ended.
    pub outcome: &'static str,
    /// Why.
    pub reason: Option<&'static str>,
    /// In words.
    pub detail: String,
}

impl From<&asking::Unruled> for Unruled {
    fn from(unruled: &asking::Unruled) -> Self {
        let asking::Unruled { id, outcome, detail } = unruled;
        Self { id: id.clone(), outcome: outcome.name(), reason: outcome.reason(), detail: detail.clone() }
    }
}

/// Instructions for the failures that block.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fix {
    /// The phase.
    #[serde(flatten)]
    pub phase: Phase,
    /// What to do.
    pub fixes: Vec<FailedItem>,
}

/// A fix that was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fixed {
    /// The phase.
    #[serde(flatten)]
    pub phase: Phase,
    /// Whether another round begins.
    pub next_round: bool,
    /// Items that are to be verified again.
    pub reopened: Vec<String>,
}

/// A phase that begins again.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reset {
    /// The phase.
    pub phase: &'static str,
    /// Whether there was a state.
    pub removed: bool,
    /// What to do now.
    pub next: String,
}

/// The prompt of a reviewer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Prompt {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// What to do with the answer.
    pub next: String,
    /// The form of items.
    pub form: &'static str,
}

/// The prompts of reviewers, milestone by milestone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Prompts {
    /// A question each.
    pub prompts: Vec<Question>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Question {
    /// Who it is and how it answers.
    pub system_prompt: String,
    /// The question itself.
    pub payload: String,
}

/// Whether the plan is implemented.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reconciled {
    /// Milestone by milestone.
    pub milestones: Vec<Milestone>,
    /// What to do now.
    pub next: String,
}

/// A milestone of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Milestone {
    /// Its id.
    pub id: String,
    /// How far it is satisfied; null without a verdict.
    pub status: Option<&'static str>,
    /// Criterion by criterion.
    pub criteria: Vec<Criterion>,
    /// Why there is no verdict.
    pub reason: Option<&'static str>,
    /// The same in words.
    pub detail: Option<String>,
}

/// A criterion of a milestone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Criterion {
    /// What is asked.
    pub criterion: String,
    /// `MET` or `NOT_MET`.
    pub status: &'static str,
    /// The file that shows it.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// A note.
    pub note: Option<String>,
}

impl From<&asking::Milestone> for Milestone {
    fn from(milestone: &asking::Milestone) -> Self {
        let criterion = |one: &replies::Reconciled| {
            let replies::Reconciled { criterion, met, evidence, note } = one.clone();
            let status = if met { "MET" } else { "NOT_MET" };
            let (file, line) = evidence.unzip();
            Criterion { criterion, status, file, line, note }
        };
        let mut answer = Self { id: milestone.id.clone(), ..Self::default() };
        match &milestone.found {
            Ok((satisfied, criteria)) => {
                answer.status = Some(satisfied.word());
                answer.criteria = criteria.iter().map(criterion).collect();
            }
            Err(failed) => {
                answer.reason = Some(failed.why.name());
                answer.detail = Some(failed.detail.clone());
            }
        }
        answer
    }
}
