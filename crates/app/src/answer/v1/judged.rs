//! What was judged, beside what was found: lines of a file, and a whole file.

use countersign_core::answer::Flaw;
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use schemars::JsonSchema;
use serde::Serialize;

/// One thing that is wrong, with the lines it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownFlaw {
    /// What is wrong.
    #[serde(flatten)]
    pub flaw: Flaw,
    /// The lines as they were judged; null if no line is known, or if the contents are no longer kept.
    pub excerpt: Option<Excerpt>,
    /// What is to be known about the lines, in words.
    #[serde(skip)]
    pub note: Option<String>,
}

impl From<Flaw> for ShownFlaw {
    fn from(flaw: Flaw) -> Self {
        Self { flaw, excerpt: None, note: None }
    }
}

/// Some lines of a file as they were judged, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Excerpt {
    /// The number of the first line, from 1.
    pub first_line: u64,
    /// The lines, with a few before and after those of the location. A long line is cut, with a note.
    pub lines: Vec<String>,
    /// Whether the file still is what was judged.
    pub is_current: bool,
}

/// A file as it was judged, without secrets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JudgedFile {
    /// The review.
    pub review: ReviewId,
    /// The last round that had the file.
    pub round: u32,
    /// Its path from the project root.
    pub path: String,
    /// The digest of its bytes as they were judged.
    pub digest: Digest,
    /// The text as it was judged: of the file, or with `--diff` of its diff. Secrets are replaced.
    pub text: String,
    /// Whether `text` is exactly the bytes of this digest: then nothing in it was replaced or edited.
    pub is_exact: bool,
    /// Whether the file still is what was judged; null for a diff.
    pub is_current: Option<bool>,
}
