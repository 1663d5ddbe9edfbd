//! The answer of `reconcile`, and the disagreements that `status` shows.

use schemars::JsonSchema;
use serde::Serialize;

/// A place where a file says something else than the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disagreement {
    /// Which part of Countersign it is about: `task`, `run` or `qr`.
    pub door: &'static str,
    /// The file.
    pub file: String,
    /// The task; null for a state file as a whole.
    pub id: Option<String>,
    /// What the file says.
    pub file_says: String,
    /// What the ledger says.
    pub ledger_says: String,
}

impl Disagreement {
    /// In one line.
    pub fn words(&self) -> String {
        let Self { file, file_says, ledger_says, .. } = self;
        match &self.id {
            Some(id) => format!("{file}: {id} is {file_says}, but the ledger says {ledger_says}"),
            None => format!("{file}: {file_says}"),
        }
    }
}

/// What was set right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reconciled {
    /// The files that said something else than the ledger.
    pub disagreements: Vec<Disagreement>,
    /// Whether nothing was written.
    pub dry_run: bool,
}
