//! The checkpoint of a task: how far it is, kept in the state database so that the next run goes on from there.

use super::repo::WorkLocation;
use super::state::{ReviewStatus, State, StateError};
use countersign_core::ids::ReviewId;
use countersign_core::progress::Stage;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    #[serde(serialize_with = "write_stage", deserialize_with = "read_stage")]
    pub stage: Stage,
    /// The commit the work is against.
    pub base: String,
    #[serde(flatten)]
    pub place: WorkLocation,
    pub attempt: u32,
    /// Attempts that do not count: those before a retry, and those that conflicts with the main branch cost.
    #[serde(default)]
    pub allowance: u32,
    pub previous_error: Option<String>,
    pub tests: Option<String>,
    pub lint: Option<String>,
    /// The tree that passed tests and lint.
    #[serde(default)]
    pub tested: Option<String>,
    #[serde(rename = "said")]
    pub reply: Option<String>,
    pub cost_microusd: Option<u64>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// Whether the reviewer changed files itself.
    pub fixed: bool,
    #[serde(default, rename = "merge")]
    pub merging: Option<Merging>,
    /// How many conflicts with the main branch cost no attempt.
    #[serde(default)]
    pub conflicts: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merging {
    pub commit: String,
    #[serde(flatten)]
    pub review: ReviewRecord,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRecord {
    pub status: ReviewStatus,
    pub findings: Option<String>,
    /// Its id; none where no review was made.
    #[serde(rename = "review")]
    pub id: Option<ReviewId>,
}

fn write_stage<S: Serializer>(stage: &Stage, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(stage.name())
}

fn read_stage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Stage, D::Error> {
    let name = String::deserialize(deserializer)?;
    Stage::named(&name).ok_or_else(|| de::Error::custom("unknown stage"))
}

fn key(task: &str) -> String {
    format!("countersign.course.{task}")
}

impl Checkpoint {
    pub fn new(base: String, place: WorkLocation) -> Self {
        Self {
            stage: Stage::Agent,
            base,
            place,
            attempt: 1,
            allowance: 0,
            previous_error: None,
            tests: None,
            lint: None,
            tested: None,
            reply: None,
            cost_microusd: None,
            tokens_in: None,
            tokens_out: None,
            fixed: false,
            merging: None,
            conflicts: 0,
        }
    }

    pub fn next(&self, error: String) -> Self {
        Self {
            attempt: self.attempt + 1,
            allowance: self.allowance,
            previous_error: Some(error),
            conflicts: self.conflicts,
            ..Self::new(self.base.clone(), self.place.clone())
        }
    }

    /// Which attempt it is of those that count.
    pub fn counted(&self) -> u32 {
        self.attempt.saturating_sub(self.allowance)
    }

    /// The same with all attempts left.
    pub fn with_all_attempts(self) -> Self {
        Self { allowance: self.attempt.saturating_sub(1), ..self }
    }

    /// A conflict with what other tasks merged costs no attempt, up to `most` times.
    pub fn forgive_conflict(&mut self, most: u32) {
        if self.conflicts < most {
            self.conflicts += 1;
            self.allowance += 1;
        }
    }

    /// Reads the checkpoint of a task; none where there is none, or where it cannot be read.
    pub async fn load(state: &State, task: &str) -> Result<Option<Self>, StateError> {
        let text = state.meta(&key(task)).await?.unwrap_or_default();
        Ok(serde_json::from_str(&text).ok())
    }

    pub async fn keep(&self, state: &State, task: &str) -> Result<(), StateError> {
        let text = serde_json::to_string(self).unwrap_or_default();
        state.set_meta(&key(task), &text).await
    }

    pub async fn forget(state: &State, task: &str) -> Result<(), StateError> {
        state.set_meta(&key(task), "").await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_comes_back() {
        let places = [
            WorkLocation::Here,
            WorkLocation::Branch { branch: "task/a".into() },
            WorkLocation::Worktree { branch: "task/a".into(), folder: "/w/a".into() },
        ];
        for place in places {
            let checkpoint = Checkpoint {
                stage: Stage::Review,
                attempt: 3,
                tests: Some("ok".into()),
                tested: Some("tree".into()),
                tokens_in: Some(1),
                fixed: true,
                conflicts: 2,
                merging: Some(Merging {
                    commit: "c".into(),
                    review: ReviewRecord {
                        status: ReviewStatus::Fixed,
                        findings: Some("f".into()),
                        id: None,
                    },
                }),
                ..Checkpoint::new("base".into(), place)
            };
            let text = serde_json::to_string(&checkpoint).unwrap();
            let merge = r#""merge":{"commit":"c","status":"fixed","findings":"f","review":null}"#;
            assert!(text.contains(merge), "{text}");
            assert_eq!(serde_json::from_str::<Checkpoint>(&text).unwrap(), checkpoint);
            // Earlier versions wrote null where there is no branch or no worktree.
            let mut earlier = serde_json::to_value(&checkpoint).unwrap();
            for key in ["branch", "worktree"] {
                earlier.as_object_mut().unwrap().entry(key).or_insert(serde_json::Value::Null);
            }
            assert_eq!(serde_json::from_value::<Checkpoint>(earlier).unwrap(), checkpoint);
        }
    }
}
