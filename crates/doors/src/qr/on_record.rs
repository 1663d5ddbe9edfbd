//! The notes of a phase in the ledger: who did what, on which content. The gate goes by the state file alone; these
//! facts are shown beside it, so that a claim or an edit does not look like a review.

use super::item::{Item, Status};
use super::scope::Scope;
use super::severity;
use super::state::State;
use countersign_core::digest::Digest;
use countersign_core::review::Actor;
use countersign_core::text;
use countersign_engine::ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

const NAMED_MAX: usize = 10;
const FAILED_ON_RECORD: &str = "it failed, and no review or person passed the same content after that";

/// One event of a phase. Field names are the ledger's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    Decomposed {
        items: usize,
        round: u32,
        by: Actor,
        #[serde(default)]
        list: Vec<KnownItem>,
    },
    /// The items of a file that was there before the first note.
    Given {
        list: Vec<KnownItem>,
    },
    Recorded {
        item: String,
        status: String,
        round: u32,
        /// The file that the scope names, as it was when the item passed.
        scope_digest: Option<Digest>,
        /// The same file, as it was when the item failed.
        #[serde(default)]
        failed_digest: Option<Digest>,
        /// Whether a review ruled, and not the caller.
        #[serde(default)]
        review: bool,
        by: Actor,
    },
    Fixed {
        round: u32,
        reopened: Vec<String>,
        files: Vec<String>,
        by: Actor,
    },
    Accepted {
        item: String,
        reason: String,
        round: u32,
        scope_digest: Option<Digest>,
        by: Actor,
    },
    Reset {
        by: Actor,
    },
    /// The file was set right from these notes.
    Reconciled {
        by: Actor,
    },
    /// The file was not as the last note left it; `found` is none where it was gone.
    ChangedElsewhere {
        found: Option<Digest>,
    },
}

/// What an item asks for, as it was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownItem {
    pub id: String,
    pub scope: String,
    pub check: String,
    pub severity: String,
}

impl KnownItem {
    pub fn all(items: &[Item]) -> Vec<Self> {
        let known = |item: &Item| Self {
            id: item.id.clone(),
            scope: item.scope.as_str().to_owned(),
            check: item.check.clone(),
            severity: severity::word(item.severity).to_owned(),
        };
        items.iter().map(known).collect()
    }
}

impl Note {
    /// Its kind in the ledger, and its body with the digest of the file after it.
    pub fn row(&self, file: Option<&Digest>) -> (String, String) {
        let mut body = serde_json::to_value(self).unwrap_or_default();
        body["file"] = serde_json::to_value(file).unwrap_or_default();
        (format!("qr_{}", body["kind"].as_str().unwrap_or_default()), body.to_string())
    }

    pub fn file_after(note: &ledger::Note) -> Option<Digest> {
        let body: Value = serde_json::from_str(&note.body).ok()?;
        serde_json::from_value(body.get("file")?.clone()).ok()
    }
}

/// The digests of the files that items were about when they passed or were accepted, by the latest note on each.
pub fn passed_digests(notes: &[ledger::Note]) -> HashMap<String, Digest> {
    let mut digests = HashMap::new();
    for note in notes {
        match serde_json::from_str::<Note>(&note.body) {
            Ok(Note::Recorded { item, scope_digest, .. } | Note::Accepted { item, scope_digest, .. }) => {
                match scope_digest {
                    Some(digest) => digests.insert(item, digest),
                    None => digests.remove(&item),
                };
            }
            // Items with the same ids may be other items now.
            Ok(Note::Decomposed { .. } | Note::Reset { .. } | Note::ChangedElsewhere { .. }) => {
                digests.clear()
            }
            Ok(Note::Fixed { .. } | Note::Given { .. } | Note::Reconciled { .. }) | Err(_) => {}
        }
    }
    digests
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Latest {
    Passed { by_review: bool, by: Actor },
    Failed,
    Accepted,
}

/// What a failure of a review is about: known content, or content that a fix may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    digest: Option<Digest>,
    is_fixed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnRecord {
    items: HashMap<String, Latest>,
    /// The file after the last note; none where there is no note, or no file was left.
    file: Option<Digest>,
    /// How often the file was not as the note before left it, since a person began the phase again.
    unrecorded_changes: usize,
    /// The items as they were taken, since a person began the phase again.
    list: Vec<KnownItem>,
    /// The round that follows from the recorded fixes; none where the items were not taken by a command.
    round: Option<u32>,
    /// Whether an item failed, or was fixed or accepted. From then on only a person begins again.
    is_touched: bool,
    /// Whether the file was removed, or the items were replaced, when only a person could have done so.
    is_removed: bool,
    /// The failures that reviews found, by item.
    failures: HashMap<String, Failure>,
}

impl OnRecord {
    pub(super) fn of(notes: &[ledger::Note]) -> Self {
        let mut on = Self { file: notes.last().and_then(Note::file_after), ..Self::default() };
        for note in notes.iter().filter_map(|note| serde_json::from_str::<Note>(&note.body).ok()) {
            on.take(note);
        }
        on
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Recorded { item, status, scope_digest, failed_digest, review, by, .. } => {
                let ruling = match status == Status::Pass.name() {
                    true => Ok((scope_digest, Latest::Passed { by_review: review, by })),
                    false => Err((failed_digest, review)),
                };
                self.ruled(item, ruling);
            }
            Note::Accepted { item, by, .. } => {
                self.is_touched = true;
                if by.may_decide() {
                    self.items.insert(item, Latest::Accepted);
                }
            }
            Note::Fixed { reopened, round, .. } => {
                self.is_touched = true;
                self.round = self.round.map(|known| round.clamp(known, known + 1));
                for id in &reopened {
                    self.items.remove(id);
                    self.failures.entry(id.clone()).and_modify(|failure| failure.is_fixed = true);
                }
            }
            Note::Given { list } => self.list = list,
            Note::Reconciled { .. } => self.is_removed = false,
            Note::Decomposed { list, round, by, .. } => {
                if self.begins_again(&by) {
                    (self.list, self.round) = (list, Some(round));
                }
            }
            Note::Reset { by } => {
                // An actor that may not reset after a failure cannot clear this count either.
                self.unrecorded_changes *= usize::from(!by.may_decide());
                self.begins_again(&by);
            }
            Note::ChangedElsewhere { found } => {
                self.unrecorded_changes += 1;
                self.is_removed |= found.is_none() && self.is_touched;
            }
        }
    }

    /// Takes a ruling. A pass by word does not replace the failure that a review found on the same content.
    fn ruled(&mut self, item: String, ruling: Result<(Option<Digest>, Latest), (Option<Digest>, bool)>) {
        match ruling {
            Err((digest, by_review)) => {
                self.is_touched = true;
                if by_review {
                    self.failures.insert(item.clone(), Failure { digest, is_fixed: false });
                }
                self.items.insert(item, Latest::Failed);
            }
            Ok((digest, passed)) => {
                let may =
                    matches!(&passed, Latest::Passed { by_review, by } if *by_review || by.may_decide());
                let stands =
                    self.failures.get(&item).is_some_and(|failure| match (&failure.digest, &digest) {
                        (Some(then), Some(now)) => then == now,
                        _ => !failure.is_fixed,
                    });
                if stands && !may {
                    self.items.insert(item, Latest::Failed);
                } else {
                    self.failures.remove(&item);
                    self.items.insert(item, passed);
                }
            }
        }
    }

    /// Forgets the items, where this actor may begin again; otherwise they still count.
    fn begins_again(&mut self, by: &Actor) -> bool {
        let may = by.may_decide() || !self.is_touched;
        if may {
            self.items.clear();
            self.failures.clear();
            self.list.clear();
            (self.round, self.is_touched) = (None, false);
            self.is_removed &= !by.may_decide();
        } else {
            self.is_removed = true;
        }
        may
    }

    /// The state as far as the record does not contradict it: what failed on record has failed, and only a recorded
    /// person accepts.
    pub fn corrected(&self, state: &State) -> State {
        let mut state = state.clone();
        for item in &mut state.items {
            let latest = self.items.get(&item.id);
            if item.accepted && latest != Some(&Latest::Accepted) {
                (item.accepted, item.acceptance_reason) = (false, None);
            }
            if item.status == Status::Pass && latest == Some(&Latest::Failed) {
                item.status = Status::Fail;
                item.finding.get_or_insert_with(|| FAILED_ON_RECORD.to_owned());
            }
        }
        state
    }

    pub(super) fn has_items(&self) -> bool {
        !self.list.is_empty()
    }

    /// The contradictions, and acceptances that no person is on record for.
    pub fn disagreements(&self, state: &State) -> Vec<String> {
        let accepted = |item: &&Item| item.accepted && self.items.get(&item.id) != Some(&Latest::Accepted);
        let ids: Vec<&str> = state.items.iter().filter(accepted).map(|item| item.id.as_str()).collect();
        let accepted =
            (!ids.is_empty()).then(|| format!("no person is on record who accepted: {}", some(&ids)));
        self.contradictions(state).into_iter().chain(accepted).collect()
    }

    /// The state with the items as they were taken, the rulings on record, and the round that follows from the fixes.
    pub(super) fn restored(&self, state: &State) -> State {
        let mut restored = self.corrected(state);
        for known in &self.list {
            let severity = severity::parse(&known.severity).unwrap_or(severity::DEFAULT);
            let Ok(scope) = Scope::parse(&known.scope) else { continue };
            let taken = Item::new(&known.id, scope, &known.check, severity);
            match restored.items.iter_mut().find(|item| item.id == known.id) {
                Some(item) => {
                    let is_other = (&item.scope, &item.check) != (&taken.scope, &taken.check);
                    item.severity = item.severity.max(severity);
                    (item.scope, item.check) = (taken.scope, taken.check);
                    if is_other && item.status == Status::Pass {
                        item.status = Status::Todo;
                    }
                }
                None => restored.items.push(self.ruled_item(taken)),
            }
        }
        restored.iteration = self.round.unwrap_or(restored.iteration);
        restored
    }

    /// An item that the file lost, with its ruling on record.
    fn ruled_item(&self, item: Item) -> Item {
        match self.items.get(&item.id) {
            Some(Latest::Passed { .. }) => Item { status: Status::Pass, ..item },
            Some(Latest::Failed) => {
                let finding = Some(FAILED_ON_RECORD.to_owned());
                Item { status: Status::Fail, finding, fail_count: 1, ..item }
            }
            Some(Latest::Accepted) | None => item,
        }
    }

    /// What the record contradicts in a state, a line each. Such a state does not pass.
    pub fn contradictions(&self, state: &State) -> Vec<String> {
        let named = |what: &str, ids: Vec<&str>| (!ids.is_empty()).then(|| format!("{what}: {}", some(&ids)));
        let mut found = vec![];
        if self.is_removed {
            let words = "the state file or its items were removed after an item failed, and not by a person";
            found.push(words.to_owned());
        }
        let by_id = state.by_id();
        let ids = |is: &dyn Fn(&KnownItem) -> bool| -> Vec<&str> {
            self.list.iter().filter(|known| is(known)).map(|known| known.id.as_str()).collect()
        };
        found.extend(named("these items are gone", ids(&|known| !by_id.contains_key(known.id.as_str()))));
        let is_lower = |known: &KnownItem| {
            let then = severity::parse(&known.severity).ok();
            then.zip(by_id.get(known.id.as_str())).is_some_and(|(then, item)| item.severity < then)
        };
        found.extend(named("these items have a lower severity than they had", ids(&is_lower)));
        let is_other = |known: &KnownItem| {
            by_id.get(known.id.as_str()).is_some_and(|item| {
                (item.scope.as_str(), item.check.as_str()) != (known.scope.as_str(), known.check.as_str())
            })
        };
        found.extend(named("these items check something else than they did", ids(&is_other)));
        let failed: Vec<&str> = state
            .items
            .iter()
            .filter(|item| item.status == Status::Pass && self.items.get(&item.id) == Some(&Latest::Failed))
            .map(|item| item.id.as_str())
            .collect();
        found.extend(named("these items are PASS, but they failed on record", failed));
        if let Some(round) = self.round.filter(|round| *round != state.iteration) {
            found.push(format!("the file says round {}, but the record says round {round}", state.iteration));
        }
        found
    }

    /// The items that passed without a review, and who said so. In the order of the items.
    pub fn by_word<'s>(&self, state: &'s State) -> Vec<(&'s str, String)> {
        let who = |item: &'s Item| match self.items.get(&item.id) {
            _ if item.status != Status::Pass => None,
            Some(Latest::Passed { by_review: true, .. }) => None,
            Some(Latest::Passed { by, .. }) => Some((item.id.as_str(), by.words())),
            _ => Some((item.id.as_str(), "not recorded".to_owned())),
        };
        state.items.iter().filter_map(who).collect()
    }

    /// Reasons to doubt this state, a line each; `changed` are files that changed since an item about them passed.
    pub fn doubts(&self, state: &State, digest: &Digest, changed: &[String]) -> Vec<String> {
        let mut doubts = vec![];
        let unrecorded = self.unrecorded_changes + usize::from(self.file.as_ref() != Some(digest));
        if unrecorded > 0 {
            let times = if unrecorded == 1 { "once".to_owned() } else { format!("{unrecorded} times") };
            doubts.push(format!("the state file was changed or removed without a record, {times}"));
        }
        let named = |what: &str, ids: Vec<&str>| (!ids.is_empty()).then(|| format!("{what}: {}", some(&ids)));
        let ids = |is: &dyn Fn(&Item) -> bool| -> Vec<&str> {
            state.items.iter().filter(|item| is(item)).map(|item| item.id.as_str()).collect()
        };
        let latest = |item: &Item| self.items.get(&item.id);
        let passed =
            |item: &Item| item.status == Status::Pass && !matches!(latest(item), Some(Latest::Passed { .. }));
        let accepted = |item: &Item| {
            item.accepted && item.status != Status::Pass && latest(item) != Some(&Latest::Accepted)
        };
        let contradicts = |item: &Item| item.status == Status::Pass && item.finding.is_some();
        doubts.extend(named("no record says who passed these items", ids(&passed)));
        doubts.extend(named("no record says who accepted these items", ids(&accepted)));
        doubts.extend(named("these items are PASS but have a finding", ids(&contradicts)));
        let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
        doubts.extend(named("these files changed after an item about them passed", changed));
        doubts
    }
}

fn some(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(NAMED_MAX).map(|name| text::visible_line(name)).collect();
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests;
