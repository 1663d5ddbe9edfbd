//! How far a task is, as it is kept between runs: what was done need not be done again after a stop, a crash or a
//! person who took their time.

use super::attempt::Reviewed;
use super::repo::Place;
use super::state::{ReviewStatus, State, StateError};
use countersign_core::happening::Stage;
use countersign_core::ids::ReviewId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How far a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// What comes next.
    pub stage: Stage,
    /// The commit the work is against.
    pub base: String,
    /// Where it is worked on.
    pub place: Place,
    /// Which attempt it is.
    pub attempt: u32,
    /// How many attempts were made before somebody gave it all of them anew.
    pub allowance: u32,
    /// Why the attempt before did not go through.
    pub previous_error: Option<String>,
    /// What the tests said.
    pub tests: Option<String>,
    /// What lint said.
    pub lint: Option<String>,
    /// What the agent said.
    pub said: Option<String>,
    /// What the agent cost so far in this attempt.
    pub cost_microusd: Option<u64>,
    /// Tokens the agent read and wrote.
    pub tokens: (Option<u64>, Option<u64>),
    /// Whether the reviewer changed something itself.
    pub fixed: bool,
    /// The merge that is being made.
    pub merging: Option<Merging>,
    /// How many conflicts with the main branch cost it no attempt.
    pub conflicts: u32,
}

/// A merge that is being made: its commit, and the review it follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merging {
    /// The commit that joins the task and the main branch.
    pub commit: String,
    status: String,
    findings: Option<String>,
    review: Option<String>,
}

impl Merging {
    /// A merge that follows from a review.
    pub fn of(commit: &str, review: &Reviewed) -> Self {
        Self {
            commit: commit.to_owned(),
            status: review.status.word().to_owned(),
            findings: review.findings.clone(),
            review: review.id.as_ref().map(ToString::to_string),
        }
    }

    /// The review it follows from.
    pub fn reviewed(&self) -> Reviewed {
        Reviewed {
            status: ReviewStatus::from(self.status.as_str()),
            findings: self.findings.clone(),
            id: self.review.as_deref().map(ReviewId::from_text),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    stage: String,
    base: String,
    branch: Option<String>,
    worktree: Option<PathBuf>,
    attempt: u32,
    #[serde(default)]
    allowance: u32,
    previous_error: Option<String>,
    tests: Option<String>,
    lint: Option<String>,
    said: Option<String>,
    cost_microusd: Option<u64>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    fixed: bool,
    #[serde(default)]
    merge: Option<Merging>,
    #[serde(default)]
    conflicts: u32,
}

fn key(task: &str) -> String {
    format!("countersign.course.{task}")
}

impl Course {
    /// A task that begins.
    pub fn new(base: String, place: Place) -> Self {
        Self {
            stage: Stage::Agent,
            base,
            place,
            attempt: 1,
            allowance: 0,
            previous_error: None,
            tests: None,
            lint: None,
            said: None,
            cost_microusd: None,
            tokens: (None, None),
            fixed: false,
            merging: None,
            conflicts: 0,
        }
    }

    /// The next attempt, at the same place.
    pub fn next(&self, error: String) -> Self {
        Self {
            attempt: self.attempt + 1,
            allowance: self.allowance,
            previous_error: Some(error),
            conflicts: self.conflicts,
            ..Self::new(self.base.clone(), self.place.clone())
        }
    }

    /// A conflict with what others merged meanwhile is no fault of the work: it costs no attempt, up to so many.
    pub fn forgive_conflict(&mut self, most: u32) {
        if self.conflicts < most {
            self.conflicts += 1;
            self.allowance += 1;
        }
    }

    /// How far a task was; none where it was nowhere, or where that cannot be read.
    pub async fn load(state: &State, task: &str) -> Result<Option<Self>, StateError> {
        let text = state.meta(&key(task)).await?.unwrap_or_default();
        Ok(serde_json::from_str::<Written>(&text).ok().and_then(Self::read))
    }

    /// Keeps how far a task is.
    pub async fn keep(&self, state: &State, task: &str) -> Result<(), StateError> {
        let text = serde_json::to_string(&self.written()).unwrap_or_default();
        state.set_meta(&key(task), &text).await
    }

    /// Forgets it: the task is over.
    pub async fn forget(state: &State, task: &str) -> Result<(), StateError> {
        state.set_meta(&key(task), "").await
    }

    fn read(written: Written) -> Option<Self> {
        let place = match (written.branch, written.worktree) {
            (Some(branch), Some(folder)) => Place::Worktree { branch, folder },
            (Some(branch), None) => Place::Branch { branch },
            (None, _) => Place::Here,
        };
        Some(Self {
            stage: Stage::named(&written.stage)?,
            base: written.base,
            place,
            attempt: written.attempt,
            allowance: written.allowance,
            previous_error: written.previous_error,
            tests: written.tests,
            lint: written.lint,
            said: written.said,
            cost_microusd: written.cost_microusd,
            tokens: (written.tokens_in, written.tokens_out),
            fixed: written.fixed,
            merging: written.merge,
            conflicts: written.conflicts,
        })
    }

    fn written(&self) -> Written {
        let (branch, worktree) = match &self.place {
            Place::Worktree { branch, folder } => (Some(branch.clone()), Some(folder.clone())),
            Place::Branch { branch } => (Some(branch.clone()), None),
            Place::Here => (None, None),
        };
        Written {
            stage: self.stage.name().to_owned(),
            base: self.base.clone(),
            branch,
            worktree,
            attempt: self.attempt,
            allowance: self.allowance,
            previous_error: self.previous_error.clone(),
            tests: self.tests.clone(),
            lint: self.lint.clone(),
            said: self.said.clone(),
            cost_microusd: self.cost_microusd,
            tokens_in: self.tokens.0,
            tokens_out: self.tokens.1,
            fixed: self.fixed,
            merge: self.merging.clone(),
            conflicts: self.conflicts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_comes_back() {
        let places = [
            Place::Here,
            Place::Branch { branch: "task/a".into() },
            Place::Worktree { branch: "task/a".into(), folder: "/w/a".into() },
        ];
        for place in places {
            let course = Course {
                stage: Stage::Review,
                attempt: 3,
                tests: Some("ok".into()),
                tokens: (Some(1), None),
                fixed: true,
                conflicts: 2,
                merging: Some(Merging {
                    commit: "c".into(),
                    status: "fixed".into(),
                    findings: Some("f".into()),
                    review: None,
                }),
                ..Course::new("base".into(), place)
            };
            let text = serde_json::to_string(&course.written()).unwrap();
            assert_eq!(Course::read(serde_json::from_str(&text).unwrap()), Some(course));
        }
    }
}
