//! The notes of a phase in the ledger: who did what, on which content. The gate goes by the state file alone; these
//! facts are shown beside it, so that a claim or an edit does not look like a review.

use super::item::{Item, Status};
use super::state::State;
use countersign_core::digest::Digest;
use countersign_core::review::Actor;
use countersign_core::text;
use countersign_engine::ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

const NAMED_MAX: usize = 10;

/// One event of a phase. Field names are the ledger's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    Decomposed {
        items: usize,
        round: u32,
        by: Actor,
    },
    Recorded {
        item: String,
        status: String,
        round: u32,
        /// The file that the scope names, as it was when the item passed.
        scope_digest: Option<Digest>,
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
    /// The file was not as the last note left it; `found` is none where it was gone.
    ChangedElsewhere {
        found: Option<Digest>,
    },
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
            Ok(Note::Fixed { .. }) | Err(_) => {}
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnRecord {
    items: HashMap<String, Latest>,
    /// The file after the last note; none where there is no note, or no file was left.
    file: Option<Digest>,
    /// How often the file was not as the note before left it, since a person began the phase again.
    unrecorded_changes: usize,
}

impl OnRecord {
    pub(super) fn of(notes: &[ledger::Note]) -> Self {
        let mut on = Self { file: notes.last().and_then(Note::file_after), ..Self::default() };
        for note in notes.iter().filter_map(|note| serde_json::from_str::<Note>(&note.body).ok()) {
            match note {
                Note::Recorded { item, status, review, by, .. } => {
                    let passed = status == Status::Pass.name();
                    let latest =
                        if passed { Latest::Passed { by_review: review, by } } else { Latest::Failed };
                    on.items.insert(item, latest);
                }
                Note::Accepted { item, .. } => drop(on.items.insert(item, Latest::Accepted)),
                Note::Fixed { reopened, .. } => reopened.iter().for_each(|id| drop(on.items.remove(id))),
                Note::Decomposed { .. } => on.items.clear(),
                Note::Reset { by } => {
                    on.items.clear();
                    // An actor that may not reset after a failure cannot clear this count either.
                    on.unrecorded_changes *= usize::from(!by.may_decide());
                }
                Note::ChangedElsewhere { .. } => on.unrecorded_changes += 1,
            }
        }
        on
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
