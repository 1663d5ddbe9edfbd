//! A decomposed review in a state file, command by command. The text of an answer is the document's own form.

mod ask;
mod change;
mod decompose;
mod guidance;
mod look;
mod place;
mod reconcile;
mod verify;
mod whole_loop;

pub use change::{accept, fixed, record, reset};
pub use decompose::{Items, items};
pub use guidance::fix;
pub use look::{execute, execute_failed, gate, init, status};
pub use place::{Place, Where};
pub use reconcile::{Compared, reconcile, reconcile_prompts};
pub use verify::{Verify, verify};
pub use whole_loop::{Loop, until_passed};

use crate::answer::v1::qr::Prompt;
use countersign_core::outcome::Outcome;
use countersign_engine::engine::Engine;

/// What a command answers.
pub struct Answered<T> {
    /// How it ended.
    pub outcome: Outcome,
    /// In the document's form.
    pub text: String,
    /// For programs.
    pub answer: T,
    /// What people should know beside it.
    pub warnings: Vec<String>,
}

impl<T> Answered<T> {
    fn new(outcome: Outcome, text: String, answer: T) -> Self {
        Self { outcome, text, answer, warnings: vec![] }
    }

    fn warn(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }

    fn map<U>(self, with: impl FnOnce(T) -> U) -> Answered<U> {
        let Self { outcome, text, answer, warnings } = self;
        Answered { outcome, text, answer: with(answer), warnings }
    }
}

/// What a command answers that can also say what a reviewer would be told.
pub enum Preview<T> {
    /// Its answer.
    Answer(Answered<T>),
    /// What a reviewer would be told.
    Prompt(Answered<Prompt>),
}

impl<T> Preview<T> {
    fn prompt(words: (String, String), next: String) -> Self {
        let text = format!("{}\n{}\n\n{next}\n", words.0, words.1);
        Self::Prompt(Answered::new(Outcome::Passed, text, Prompt::new(words, next)))
    }
}

/// Shows what happens while reviewers are asked.
pub trait Watch {
    /// Shows the progress of an engine while something is done.
    fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> impl Future<Output = T>;
    /// Something beside the answer, for people.
    fn note(&self, words: &str);
    /// What people should know.
    fn warn(&self, warnings: &[String]);
}
