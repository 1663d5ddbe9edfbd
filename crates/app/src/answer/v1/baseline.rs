//! What is accepted although it fails: in every verdict, and the answer of `baseline`.

use super::review::Finding;
use crate::baseline::Entry;
use countersign_core::accepting::{AcceptedBy, Debt};
use countersign_core::answer::{Fingerprint, Flaw};
use countersign_core::review;
use schemars::JsonSchema;
use serde::Serialize;

/// What `baseline` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Baseline {
    /// The file.
    pub file: String,
    /// How many findings it has now.
    pub findings: usize,
    /// Those that are new in it.
    pub added: Vec<BaselineFinding>,
    /// Those that are fixed, and were taken out.
    pub fixed: Vec<BaselineFinding>,
    /// Those that were found and not added, with `--prune`: they block.
    pub left: Vec<BaselineFinding>,
    /// What to do next, in words.
    pub next: Vec<String>,
}

/// A finding of the baseline.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BaselineFinding {
    /// The file, if it is about one.
    pub file: Option<String>,
    /// The rule.
    pub rule: String,
    /// The criterion.
    pub criterion: String,
    /// What is wrong; null where only the fingerprint is known.
    pub message: Option<String>,
    /// Names it by what stands there.
    pub fingerprint: Fingerprint,
}

impl From<Entry> for BaselineFinding {
    fn from(entry: Entry) -> Self {
        let Entry { file, rule, criterion, message, fingerprint, .. } = entry;
        Self { file, rule, criterion, message: Some(message), fingerprint: Fingerprint::new(&fingerprint) }
    }
}

impl From<&Debt> for BaselineFinding {
    fn from(debt: &Debt) -> Self {
        let Debt { rule, criterion, file, fingerprint, .. } = debt.clone();
        Self { file, rule, criterion, message: None, fingerprint }
    }
}

/// Why a finding does not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AcceptedKind {
    /// Its reviewer says that the change did not cause it, and the change did not touch its lines.
    AlreadyThere,
    /// The baseline has it.
    Baseline,
    /// A comment in the file lets it be, with a reason.
    Exception,
}

/// Something that is wrong and does not block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Accepted {
    /// Why it does not block.
    pub by: AcceptedKind,
    /// The failed ruling it is of.
    pub finding: Finding,
    /// What is wrong, and where.
    pub flaw: Flaw,
    /// The exception; null for other reasons.
    pub exception: Option<Excepted>,
}

/// A comment that lets a finding be.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Excepted {
    /// The file.
    pub file: String,
    /// The line of the comment.
    pub line: u64,
    /// The reason it gives.
    pub reason: String,
    /// Whether the base has it too. If not, a person has the last word.
    pub is_given: bool,
}

impl From<review::Accepted<'_>> for Accepted {
    fn from(accepted: review::Accepted<'_>) -> Self {
        let review::Accepted { finding, flaw, by, exception } = accepted;
        let by = match by {
            AcceptedBy::AlreadyThere => AcceptedKind::AlreadyThere,
            AcceptedBy::Baseline => AcceptedKind::Baseline,
            AcceptedBy::Exception(_) => AcceptedKind::Exception,
        };
        let exception = exception.map(|exception| Excepted {
            file: exception.file.clone(),
            line: exception.line,
            reason: exception.reason.clone(),
            is_given: exception.is_given,
        });
        Self { by, finding: finding.into(), flaw, exception }
    }
}
