//! What the ledger records of the tasks of a list: those that were done when the list was first seen, every merge, and
//! every task that is done. The list and the state database are files that an agent can write.

use super::layout::Layout;
use super::tasks::{Status, TaskList};
use countersign_core::ids::Subject;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::{Ledger, LedgerError, Note};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// One event of a list. Field names are the ledger's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// Done when the list was first seen.
    RunGiven {
        done: Vec<String>,
    },
    /// The state that the change of a task without a branch is against.
    RunBase {
        task: String,
        base: String,
    },
    /// This commit is about to become the tip of the main branch.
    RunMerging {
        task: String,
        commit: String,
        review: Option<String>,
    },
    RunDone {
        task: String,
        commit: Option<String>,
        review: Option<String>,
    },
    /// It runs again.
    RunReopened {
        task: String,
    },
}

#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    is_seen: bool,
    done: HashSet<String>,
    bases: HashMap<String, String>,
    merges: HashMap<String, HashSet<String>>,
}

fn stream(layout: &Layout) -> String {
    Subject::new("run-tasks", [layout.list().as_str()]).as_str().to_owned()
}

impl RunRecord {
    pub async fn load(ledger: &Ledger, layout: &Layout) -> Result<Self, LedgerError> {
        Ok(Self::of(&ledger.notes(&stream(layout)).await?))
    }

    fn of(notes: &[Note]) -> Self {
        let entries = notes.iter().filter_map(|note| serde_json::from_str(&note.body).ok());
        entries.fold(Self::default(), Self::with)
    }

    fn with(mut self, entry: Entry) -> Self {
        match entry {
            Entry::RunGiven { done } => {
                self.is_seen = true;
                self.done.extend(done);
            }
            Entry::RunBase { task, base } => {
                self.bases.insert(task, base);
            }
            Entry::RunMerging { task, commit, .. } => {
                self.merges.entry(task).or_default().insert(commit);
            }
            Entry::RunDone { task, .. } => {
                self.done.insert(task);
            }
            Entry::RunReopened { task } => {
                self.done.remove(&task);
            }
        }
        self
    }

    /// Records an entry, in the ledger first.
    pub(super) async fn add(
        &mut self,
        ledger: &Ledger,
        layout: &Layout,
        entry: Entry,
    ) -> Result<(), LedgerError> {
        let body = serde_json::to_value(&entry).unwrap_or_default();
        let kind = body["kind"].as_str().unwrap_or_default().to_owned();
        let stream = stream(layout);
        let mut transaction = ledger.transaction().await?;
        let seen = transaction.last_note(&stream).await?.map_or(0, |note| note.n);
        transaction.note(&stream, seen, &[(kind.as_str(), body.to_string())], now_ms()).await?;
        transaction.commit().await?;
        *self = std::mem::take(self).with(entry);
        Ok(())
    }

    pub fn is_seen(&self) -> bool {
        self.is_seen
    }

    pub fn is_done(&self, task: &str) -> bool {
        self.done.contains(task)
    }

    pub(super) fn base(&self, task: &str) -> Option<&str> {
        self.bases.get(task).map(String::as_str)
    }

    pub(super) fn has_merge(&self, task: &str, commit: &str) -> bool {
        self.merges.get(task).is_some_and(|merges| merges.contains(commit))
    }

    pub(super) fn is_own_merge(&self, commit: &str) -> bool {
        self.merges.values().any(|merges| merges.contains(commit))
    }

    /// The tasks that the list calls done, and that nothing else does. None in a list that was never seen.
    pub fn claimed(&self, list: &TaskList, trusted: &HashSet<String>) -> HashSet<String> {
        let is_claimed = |id: &String| self.is_seen && !self.is_done(id) && !trusted.contains(id);
        done_in(list).into_iter().filter(is_claimed).collect()
    }
}

/// The list without what it alone calls done.
pub fn without(list: TaskList, claimed: &HashSet<String>) -> TaskList {
    claimed.iter().fold(list, |list, id| list.with_status(id, Status::Todo))
}

pub fn done_in(list: &TaskList) -> HashSet<String> {
    let done = list.tasks().iter().filter(|task| task.status == Status::Done);
    done.map(|task| task.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tasks::parse;
    use countersign_engine::yaml::Source;

    #[test]
    fn attack_17_a_list_alone_makes_no_task_done() {
        let text: String = (1..=4).map(|n| format!("### TASK-00{n}: n\nP0 | DONE\n")).collect();
        let list = parse(&Source::new("t", &text)).list;
        let claimed = |record: &RunRecord| {
            let mut ids: Vec<_> =
                record.claimed(&list, &HashSet::from(["TASK-004".to_owned()])).into_iter().collect();
            ids.sort();
            ids
        };
        assert!(claimed(&RunRecord::default()).is_empty(), "what is there first is given");
        let record = RunRecord::default().with(Entry::RunGiven { done: vec!["TASK-001".to_owned()] });
        assert_eq!(claimed(&record), ["TASK-002", "TASK-003"]);
        let (commit, review) = (Some("c".to_owned()), None);
        let record = record.with(Entry::RunDone { task: "TASK-002".to_owned(), commit, review });
        assert_eq!(claimed(&record), ["TASK-003"]);
        let record = record.with(Entry::RunReopened { task: "TASK-001".to_owned() });
        assert_eq!(claimed(&record), ["TASK-001", "TASK-003"]);
    }
}
