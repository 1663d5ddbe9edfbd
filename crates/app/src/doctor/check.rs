//! Constructors of the lines of the diagnosis.

use crate::answer::v1::{Answer, Check, CheckState, Checks};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::text::{cut_noted, visible_line};
use std::time::Duration;

const MAX_WORDS_BYTES: usize = 400;

impl Check {
    fn new(what: impl Into<String>, state: CheckState, words: impl Into<String>) -> Self {
        let detail = cut_noted(&visible_line(&words.into()), MAX_WORDS_BYTES).into_owned();
        Self { what: what.into(), state, detail, hint: None, elapsed_ms: None, outcome: None }
    }

    pub fn ok(what: impl Into<String>, words: impl Into<String>) -> Self {
        Self::new(what, CheckState::Ok, words)
    }

    pub fn warn(what: impl Into<String>, words: impl Into<String>) -> Self {
        Self::new(what, CheckState::Warn, words)
    }

    pub fn fail(what: impl Into<String>, outcome: Outcome, words: impl Into<String>) -> Self {
        Self { outcome: Some(outcome), ..Self::new(what, CheckState::Fail, words) }
    }

    pub fn unavailable(what: impl Into<String>, words: impl Into<String>) -> Self {
        Self::fail(what, Outcome::NoVerdict(NoVerdict::Unavailable), words)
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub fn took(self, elapsed: Duration) -> Self {
        Self { elapsed_ms: Some(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)), ..self }
    }
}

pub fn answer(lines: Vec<Check>) -> Answer<Checks> {
    let outcome = Outcome::worst(lines.iter().filter_map(|line| line.outcome)).unwrap_or(Outcome::Passed);
    Answer::new(Some(outcome), Checks { lines })
}
