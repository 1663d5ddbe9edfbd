//! A question to a reviewer with everything it may see, and what comes back.

use crate::programs::{ReplyBody, Usage};
use crate::surroundings::{Line, Surroundings, Variables};
use countersign_core::answer::{self, Answer};
use countersign_core::criterion::Criterion;
use countersign_core::ids::CallId;
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::Target;
use countersign_core::prompt::{Shape, ShownFile};
use countersign_core::submission::{Form, Material};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Rulings, in this shape.
    Rulings(Shape),
    /// Something else, in this shape.
    Consultation(Shape),
}

#[derive(Clone, Debug)]
pub struct Brief {
    /// The question's own id.
    pub call: CallId,
    /// The rule's name; of a consultation its own.
    pub rule: String,
    /// What a reply must be like.
    pub asks: Asks,
    pub target: Target,
    pub criteria: Vec<Criterion>,
    /// The system prompt, with the defect of the first reply where this is the second try.
    pub system_prompt: String,
    pub payload: String,
    pub files: Vec<Material>,
    pub shown: Vec<ShownFile>,
    /// How many files there are whose contents are not in the payload, or not whole, and have to be read.
    pub unshown: usize,
    pub timeout: Duration,
    pub reply_bytes: usize,
    /// Whether the first reply could not be used: then missing keys have their defaults (004.9).
    pub is_repair: bool,
    /// Take "passed" without rulings as a pass.
    pub accept_bare: bool,
    /// Where the reviewer runs: a private folder, or the project where it may see that.
    pub folder: PathBuf,
    /// A folder for the reviewer's own things, beside the one it runs in. Gone with the question.
    pub private: Option<PathBuf>,
    pub root: PathBuf,
    /// What its programs find around them.
    pub surroundings: Arc<Surroundings>,
    /// The most the question may cost, for a reviewer that can be told so.
    pub most_microusd: Option<u64>,
}

impl Brief {
    pub fn file(&self) -> Option<&str> {
        match (&self.target, self.files.as_slice()) {
            (Target::File(path), _) => Some(path),
            (_, [only]) if only.form != Form::Summary => Some(&only.path),
            _ => None,
        }
    }

    /// The environment of a program that is started for this question, and whether that is all it gets.
    pub(crate) fn variables(&self, line: &Line) -> (Variables, bool) {
        let mark = ("COUNTERSIGN_CALL".into(), self.call.as_str().into());
        let own = line.variables.iter().cloned().chain([mark]).collect();
        self.surroundings.variables(&self.folder, own)
    }

    /// Whether there are files whose contents are not in the payload.
    pub fn has_files_to_read(&self) -> bool {
        self.shown.iter().any(|shown| shown.body.is_beside())
    }

    pub fn shape(&self) -> Shape {
        match self.asks {
            Asks::Rulings(shape) | Asks::Consultation(shape) => shape,
        }
    }

    /// What was said, held against the criteria.
    pub fn ruled(&self, said: &ReplyBody) -> Result<Answer, Failed> {
        let value = match said {
            ReplyBody::Structured(value) => Ok(Cow::Borrowed(value)),
            ReplyBody::Text(text) => answer::read_value(text.as_bytes()).map(Cow::Owned),
        };
        let ruled = value.and_then(|value| match answer::lacks(&value) {
            Some(defect) if !self.is_repair => Err(defect),
            _ => answer::rule(answer::interpret(&value)?, &self.asked(), self.accept_bare),
        });
        ruled.map_err(|defect| Failed::new(defect.why(), defect.to_string()))
    }

    /// The criteria by reference, as the core's functions want them.
    pub fn asked(&self) -> Vec<&Criterion> {
        self.criteria.iter().collect()
    }
}

/// What is said of a reply with bytes that are no text. Replaced by other characters they could say something else.
pub(super) const NOT_UTF_8: &str = "the reply is not valid UTF-8";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub why: NoVerdict,
    pub detail: String,
    /// What a reviewer found that changed the files itself, in its own words.
    pub fixed: Option<String>,
    /// Whether the question was not put to the reviewer, because it counts as down.
    pub not_put: bool,
}

impl Failed {
    pub fn new(why: NoVerdict, detail: impl Into<String>) -> Self {
        Self { why, detail: detail.into(), fixed: None, not_put: false }
    }
}

/// What came back from a reviewer: a checked answer, or its unchecked words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewerReply<T = Answer> {
    pub result: Result<T, Failed>,
    /// The reply as it came, for the ledger.
    pub reply: Option<String>,
    /// What it cost, where the reviewer says so.
    pub usage: Option<Usage>,
}

impl<T> ReviewerReply<T> {
    pub fn and_then<U>(self, made: impl FnOnce(T) -> Result<U, Failed>) -> ReviewerReply<U> {
        ReviewerReply { result: self.result.and_then(made), reply: self.reply, usage: self.usage }
    }

    /// Something came back that has neither a text nor a price.
    pub fn bare(result: Result<T, Failed>) -> Self {
        Self { result, reply: None, usage: None }
    }

    /// No reviewer was asked, so nothing was spent.
    pub fn not_asked(failed: Failed) -> Self {
        Self { result: Err(failed), reply: None, usage: Some(Usage::nothing()) }
    }

    /// Nothing came back, and the cost is unknown.
    pub fn failed(why: NoVerdict, detail: impl Into<String>) -> Self {
        Self::bare(Err(Failed::new(why, detail)))
    }
}
