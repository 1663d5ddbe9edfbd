//! The notes of a phase in the ledger: who did what, on which content. The items themselves are in the state file.

use countersign_core::digest::Digest;
use countersign_core::review::Actor;
use countersign_engine::ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

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
