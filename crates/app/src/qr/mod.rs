//! The use cases of `countersign qr`, one for each command. The rules and texts are in the qr door.

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

pub struct Answered<T> {
    pub outcome: Outcome,
    /// The text, in the document's form.
    pub text: String,
    pub answer: T,
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

/// The answer of a command that can also show its prompt.
pub enum Preview<T> {
    Answer(Answered<T>),
    Prompt(Answered<Prompt>),
}

impl<T> Preview<T> {
    fn prompt(words: (String, String), next: String) -> Self {
        let text = format!("{}\n{}\n\n{next}\n", words.0, words.1);
        Self::Prompt(Answered::new(Outcome::Passed, text, Prompt::new(words, next)))
    }
}

pub trait Watch {
    /// Shows the progress of an engine during a future.
    fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> impl Future<Output = T>;
    fn note(&self, words: &str);
    fn warn(&self, warnings: &[String]);
}
