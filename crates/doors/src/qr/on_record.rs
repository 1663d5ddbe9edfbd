//! What the ledger knows about a state file: who ruled on each item, and changes of the file without a record.
//!
//! The gate goes by the file alone. These facts are shown beside it, so that a claim or an edit does not look like a
//! review.

use super::item::{Item, Status};
use super::note::Note;
use super::state::State;
use countersign_core::digest::Digest;
use countersign_core::review::Actor;
use countersign_core::text;
use countersign_engine::ledger;
use std::collections::HashMap;

const NAMED_MAX: usize = 10;

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
