//! The oldest form of the state, one JSON file, read and checked. It imports nothing.

use super::{Attempt, StateError, Summary, TaskState};
use crate::run::status::issues_in;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

pub(super) const MAX_LEGACY_BYTES: usize = 64 * 1024 * 1024;

const COUNTERS: [&str; 3] = ["consecutive_failures", "total_completed", "total_failed"];

#[derive(Debug, Deserialize)]
pub(super) struct Legacy {
    #[serde(default)]
    pub tasks: BTreeMap<String, LegacyTask>,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LegacyTask {
    #[serde(default = "pending")]
    pub status: TaskState,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    #[serde(default)]
    pub attempts: Vec<Attempt>,
}

fn pending() -> TaskState {
    TaskState::Pending
}

impl Legacy {
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, StateError> {
        let wrong = |line, column, why| StateError::Legacy(path.to_owned(), line, column, why);
        if bytes.len() > MAX_LEGACY_BYTES {
            return Err(wrong(1, 1, format!("it is larger than {MAX_LEGACY_BYTES} bytes")));
        }
        serde_json::from_slice(bytes).map_err(|error| {
            let why = error.to_string();
            let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
            wrong(error.line(), error.column(), why.to_owned())
        })
    }

    pub fn summaries(&self) -> Vec<Summary> {
        let summary = |(id, task): (&String, &LegacyTask)| {
            let last = task.attempts.last();
            let costs = task.attempts.iter().filter_map(|one| one.cost_usd);
            Summary {
                task_id: id.clone(),
                state: task.status.clone(),
                attempts: task.attempts.len() as u64,
                cost_usd: costs.fold(None, |sum, cost| Some(sum.unwrap_or(0.0) + cost)),
                error_code: last.and_then(|one| one.error_code.clone()),
                review_status: last.and_then(|one| one.review_status.clone()),
                issues: last.and_then(|one| one.review_findings.as_deref()).map_or(0, issues_in),
                review_id: None,
                started_at: task.started_at.clone(),
            }
        };
        self.tasks.iter().map(summary).collect()
    }

    pub fn counters(&self) -> impl Iterator<Item = (&'static str, String)> {
        COUNTERS.into_iter().filter_map(|key| {
            let value = self.rest.get(key)?;
            Some((key, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        })
    }
}
