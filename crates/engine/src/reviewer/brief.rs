//! A question, with everything a reviewer may see of it, and what comes back.

use crate::programs::Usage;
use countersign_core::answer::Answer;
use countersign_core::criterion::Criterion;
use countersign_core::ids::CallId;
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::Target;
use countersign_core::prompt::Shown;
use countersign_core::submission::{Form, Material};
use std::path::PathBuf;
use std::time::Duration;

/// One question to one reviewer.
#[derive(Clone, Debug)]
pub struct Brief {
    /// The question's own id.
    pub call: CallId,
    /// The rule's name.
    pub rule: String,
    /// What is looked at.
    pub target: Target,
    /// What is asked.
    pub criteria: Vec<Criterion>,
    /// The system prompt, with the defect of the first reply where this is the second try.
    pub system_prompt: String,
    /// The outputs and notes.
    pub payload: String,
    /// The files, as gathered.
    pub files: Vec<Material>,
    /// What is shown of them.
    pub shown: Vec<Shown>,
    /// How long the reviewer may take.
    pub timeout: Duration,
    /// The longest reply that is read.
    pub reply_bytes: usize,
    /// Take "passed" without rulings as a pass.
    pub accept_bare: bool,
    /// Where the reviewer runs: a private folder, or the project where it may see that.
    pub folder: PathBuf,
    /// A folder for the reviewer's own things, beside the one it runs in. Gone with the question.
    pub private: Option<PathBuf>,
    /// The project root.
    pub root: PathBuf,
    /// The most the question may cost, for a reviewer that can be told so.
    pub most_microusd: Option<u64>,
}

impl Brief {
    /// The file this is about, where it is about one.
    pub fn file(&self) -> Option<&str> {
        match (&self.target, self.files.as_slice()) {
            (Target::File(path), _) => Some(path),
            (_, [only]) if only.form != Form::Summary => Some(&only.path),
            _ => None,
        }
    }

    /// Whether there are files whose contents are not in the payload.
    pub fn has_files_to_read(&self) -> bool {
        self.shown.iter().any(|shown| shown.body.is_beside())
    }

    /// The criteria by reference, as the core's functions want them.
    pub fn asked(&self) -> Vec<&Criterion> {
        self.criteria.iter().collect()
    }
}

/// Why a question got no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The kind.
    pub why: NoVerdict,
    /// In words, with what to do.
    pub detail: String,
}

impl Failed {
    /// A failure with its words.
    pub fn new(why: NoVerdict, detail: impl Into<String>) -> Self {
        Self { why, detail: detail.into() }
    }
}

/// What came back from a reviewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// A valid answer, or why there is none.
    pub result: Result<Answer, Failed>,
    /// The reply as it came, for the ledger.
    pub reply: Option<String>,
    /// What it cost, where the reviewer says so.
    pub usage: Option<Usage>,
}

impl Told {
    /// Something came back that has neither a text nor a price.
    pub fn bare(result: Result<Answer, Failed>) -> Self {
        Self { result, reply: None, usage: None }
    }

    /// Nobody was asked, so nothing was spent.
    pub fn not_asked(failed: Failed) -> Self {
        Self { result: Err(failed), reply: None, usage: Some(Usage::nothing()) }
    }

    /// Nothing came back, and nobody knows what that cost.
    pub fn failed(why: NoVerdict, detail: impl Into<String>) -> Self {
        Self::bare(Err(Failed::new(why, detail)))
    }
}
