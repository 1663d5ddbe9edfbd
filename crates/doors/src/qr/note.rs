//! What the ledger keeps about a phase beside its file: who did what, and on which content.

use countersign_core::digest::Digest;
use countersign_core::review::Actor;
use countersign_engine::ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// Items were made.
    Decomposed {
        /// How many.
        items: usize,
        /// In which round.
        round: u32,
        /// By whom.
        by: Actor,
    },
    /// Somebody ruled on an item.
    Recorded {
        /// The item.
        item: String,
        /// PASS or FAIL.
        status: String,
        /// In which round.
        round: u32,
        /// What the scope named when the item passed.
        scope_digest: Option<Digest>,
        /// Whether a review came to it, rather than somebody's word.
        #[serde(default)]
        review: bool,
        /// By whom.
        by: Actor,
    },
    /// A fix was made.
    Fixed {
        /// The round it began, or the one it was made in.
        round: u32,
        /// What is verified again.
        reopened: Vec<String>,
        /// What it touched, as far as somebody said so.
        files: Vec<String>,
        /// By whom.
        by: Actor,
    },
    /// An item was taken as it is.
    Accepted {
        /// The item.
        item: String,
        /// Why.
        reason: String,
        /// In which round.
        round: u32,
        /// What the scope named then.
        scope_digest: Option<Digest>,
        /// By whom.
        by: Actor,
    },
    /// The phase began again.
    Reset {
        /// By whom.
        by: Actor,
    },
    /// The file was not as we had left it.
    ChangedElsewhere {
        /// What it was; none where it was gone.
        found: Option<Digest>,
    },
}

impl Note {
    /// Its kind, as the ledger has it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Decomposed { .. } => "qr_decomposed",
            Self::Recorded { .. } => "qr_recorded",
            Self::Fixed { .. } => "qr_fixed",
            Self::Accepted { .. } => "qr_accepted",
            Self::Reset { .. } => "qr_reset",
            Self::ChangedElsewhere { .. } => "qr_changed_elsewhere",
        }
    }

    /// Its body, with the digest of the file after it.
    pub(super) fn body(&self, file: Option<&Digest>) -> String {
        let mut body = serde_json::to_value(self).unwrap_or_default();
        body["file"] = serde_json::to_value(file).unwrap_or_default();
        body.to_string()
    }

    /// The digest of the file after an event.
    pub(super) fn file_after(note: &ledger::Note) -> Option<Digest> {
        let body: Value = serde_json::from_str(&note.body).ok()?;
        serde_json::from_value(body.get("file")?.clone()).ok()
    }
}

/// What the scopes of items named when they passed or were accepted, by the latest word on each.
pub(super) fn passed_digests(notes: &[ledger::Note]) -> HashMap<String, Digest> {
    let mut digests = HashMap::new();
    for note in notes {
        match serde_json::from_str::<Note>(&note.body) {
            Ok(Note::Recorded { item, scope_digest, .. } | Note::Accepted { item, scope_digest, .. }) => {
                match scope_digest {
                    Some(digest) => digests.insert(item, digest),
                    None => digests.remove(&item),
                };
            }
            // Items of the same name may be others now.
            Ok(Note::Decomposed { .. } | Note::Reset { .. } | Note::ChangedElsewhere { .. }) => {
                digests.clear()
            }
            Ok(Note::Fixed { .. }) | Err(_) => {}
        }
    }
    digests
}
