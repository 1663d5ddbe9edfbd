//! What the ledger says about a state file: who ruled on what, and what happened to the file without a record.
//!
//! The gate goes by the file alone. This is said beside it, so that nobody takes a word, or an edit, for a review.

use super::item::{Item, Status};
use super::note::Note;
use super::state::State;
use countersign_core::digest::Digest;
use countersign_core::review::Actor;
use countersign_core::text;
use countersign_engine::ledger;
use std::collections::HashMap;

/// How many items a warning names.
const NAMED_MAX: usize = 10;

/// Who said last how an item stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// That it passed; whether after a review, and who.
    Passed(bool, Actor),
    /// That it failed.
    Failed,
    /// That it is taken as it is.
    Accepted,
}

/// What is on record about a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnRecord {
    words: HashMap<String, Word>,
    /// The file as it was left; none where nothing is known, or nothing was left.
    file: Option<Digest>,
    /// How often the file was not as it was left, since people began the phase again.
    unrecorded_changes: usize,
}

impl OnRecord {
    /// What these notes say.
    pub fn of(notes: &[ledger::Note]) -> Self {
        let mut on = Self { file: notes.last().and_then(Note::file_after), ..Self::default() };
        for note in notes.iter().filter_map(|note| serde_json::from_str::<Note>(&note.body).ok()) {
            match note {
                Note::Recorded { item, status, review, by, .. } => {
                    let passed = status == Status::Pass.name();
                    let word = if passed { Word::Passed(review, by) } else { Word::Failed };
                    on.words.insert(item, word);
                }
                Note::Accepted { item, .. } => drop(on.words.insert(item, Word::Accepted)),
                Note::Fixed { reopened, .. } => reopened.iter().for_each(|id| drop(on.words.remove(id))),
                Note::Decomposed { .. } => on.words.clear(),
                Note::Reset { by } => {
                    on.words.clear();
                    // Whoever may not begin again after a failure cannot have it forgotten either.
                    on.unrecorded_changes *= usize::from(!by.may_decide());
                }
                Note::ChangedElsewhere { .. } => on.unrecorded_changes += 1,
            }
        }
        on
    }

    /// What passed on somebody's word rather than after a review, with whose it is. In the order of the items.
    pub fn by_word<'s>(&self, state: &'s State) -> Vec<(&'s str, String)> {
        let who = |item: &'s Item| match self.words.get(&item.id) {
            _ if item.status != Status::Pass => None,
            Some(Word::Passed(true, _)) => None,
            Some(Word::Passed(false, by)) => Some((item.id.as_str(), by.words())),
            _ => Some((item.id.as_str(), "nobody is on record".to_owned())),
        };
        state.items.iter().filter_map(who).collect()
    }

    /// What somebody should know who relies on this state, a line each; `changed` are files that are not what they
    /// were when something about them passed.
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
        let word = |item: &Item| self.words.get(&item.id);
        let passed =
            |item: &Item| item.status == Status::Pass && !matches!(word(item), Some(Word::Passed(..)));
        let accepted =
            |item: &Item| item.accepted && item.status != Status::Pass && word(item) != Some(&Word::Accepted);
        let contradicts = |item: &Item| item.status == Status::Pass && item.finding.is_some();
        doubts.extend(named("no record says who let these pass", ids(&passed)));
        doubts.extend(named("no record says who accepted these", ids(&accepted)));
        doubts.extend(named("these are PASS and have a finding all the same", ids(&contradicts)));
        let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
        doubts.extend(named("these files changed since something about them passed", changed));
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
