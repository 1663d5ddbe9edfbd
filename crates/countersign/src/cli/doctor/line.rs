//! One line of the diagnosis: what was looked at, how it is, and what to do.

use crate::output::{bold, dim, paint_outcome};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::text::{cut_noted, visible_line};
use serde_json::{Value, json};
use std::time::Duration;

/// Longer words of others are cut.
const MAX_WORDS_BYTES: usize = 400;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It works.
    Ok,
    /// It works, and there is something to know.
    Warn,
    /// It does not work; the command ends so.
    Fail(Outcome),
}

/// What was looked at, and how it is.
#[derive(Clone, Debug)]
pub struct Line {
    what: String,
    pub state: State,
    words: String,
    hint: Option<String>,
    elapsed: Option<Duration>,
}

impl Line {
    fn new(what: impl Into<String>, state: State, words: impl Into<String>) -> Self {
        let words = words.into();
        let words = cut_noted(&visible_line(&words), MAX_WORDS_BYTES).into_owned();
        Self { what: what.into(), state, words, hint: None, elapsed: None }
    }

    /// It works.
    pub fn ok(what: impl Into<String>, words: impl Into<String>) -> Self {
        Self::new(what, State::Ok, words)
    }

    /// It works, and there is something to know.
    pub fn warn(what: impl Into<String>, words: impl Into<String>) -> Self {
        Self::new(what, State::Warn, words)
    }

    /// It does not work.
    pub fn fail(what: impl Into<String>, outcome: Outcome, words: impl Into<String>) -> Self {
        Self::new(what, State::Fail(outcome), words)
    }

    /// A reviewer cannot be asked.
    pub fn unavailable(what: impl Into<String>, words: impl Into<String>) -> Self {
        Self::fail(what, Outcome::NoVerdict(NoVerdict::Unavailable), words)
    }

    /// The same with what to do.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same with how long it took.
    pub fn took(self, elapsed: Duration) -> Self {
        Self { elapsed: Some(elapsed), ..self }
    }

    fn word(&self) -> &'static str {
        match self.state {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail(_) => "fail",
        }
    }

    /// For people, with names padded to a width.
    pub fn text(&self, width: usize) -> String {
        let outcome = match self.state {
            State::Ok => Outcome::Passed,
            State::Warn => Outcome::NeedsWork,
            State::Fail(_) => Outcome::Internal,
        };
        let state = paint_outcome(Some(outcome), &format!("{:<4}", self.word()));
        let took =
            self.elapsed.map(|took| dim(&format!(" ({:.1} s)", took.as_secs_f64()))).unwrap_or_default();
        let mut out = format!("{state}  {:<width$}  {}{took}\n", visible_line(&self.what), self.words);
        if let Some(hint) = &self.hint {
            out.push_str(&format!("      {:<width$}  {} {}\n", "", bold("help:"), visible_line(hint)));
        }
        out
    }

    /// How wide the name is.
    pub fn width(&self) -> usize {
        self.what.chars().count()
    }

    /// For programs.
    pub fn json(&self) -> Value {
        json!({
            "what": self.what,
            "state": self.word(),
            "detail": self.words,
            "hint": self.hint,
            "elapsed_ms": self.elapsed.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        })
    }
}
