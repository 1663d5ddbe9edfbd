//! The use cases of `countersign qr`, one for each command. The rules and texts are in the qr door.

mod ask;
mod change;
mod context;
mod decompose;
mod guidance;
mod look;
mod reconcile;
mod verify;
mod whole_loop;

pub use change::{accept, fixed, record, reset};
pub use context::QrContext;
pub use decompose::{Items, items};
pub use guidance::fix;
pub use look::{execute, execute_failed, gate, init, status};
pub use reconcile::{reconcile, reconcile_prompts};
pub use verify::verify;
pub use whole_loop::{Loop, until_passed};

use crate::answer::v1::Answer;
use crate::answer::v1::qr::{Prompt, Question};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::items_input;
use countersign_engine::engine::Engine;
use serde::Serialize;

pub struct Answered<T> {
    pub answer: Answer<T>,
    /// In the document's form.
    pub text: String,
}

impl<T> Answered<T> {
    fn new(outcome: Outcome, text: String, own: T) -> Self {
        Self { answer: Answer::new(Some(outcome), own), text }
    }

    fn warn(self, warnings: Vec<String>) -> Self {
        Self { answer: self.answer.warned(warnings), ..self }
    }

    fn map<U>(self, with: impl FnOnce(T) -> U) -> Answered<U> {
        Answered { answer: self.answer.map(with), text: self.text }
    }
}

/// The answer of a command that can also show its prompt.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Preview<T> {
    Answer(T),
    Prompt(Prompt),
}

impl<T> Preview<T> {
    fn prompt((system_prompt, payload): (String, String), next: String) -> Answered<Self> {
        let text = format!("{system_prompt}\n{payload}\n\n{next}\n");
        let question = Question { system_prompt, payload };
        Answered::new(Outcome::Passed, text, Self::Prompt(Prompt { question, next, form: items_input::FORM }))
    }
}

pub trait Watch {
    /// Shows the progress of an engine during a future.
    fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> impl Future<Output = T>;
    fn note(&self, words: &str);
    fn warn(&self, warnings: &[String]);
}
