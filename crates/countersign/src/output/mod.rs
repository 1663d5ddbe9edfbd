//! How answers look: text for people, one versioned object for programs. Answers go to standard output,
//! everything else to standard error. The typed answer of a use case ends in `Answer::of`, which makes both.

mod diagnostic;
mod excerpt;
mod progress;
mod style;
mod verdict;

pub use countersign_app::reader::Reader;
pub use countersign_app::time::{ago, local};
pub use countersign_core::text::counted;
pub use style::{bold, dim, paint_outcome};
pub use verdict::{outcome_words, verdict_text};

use countersign_app::Failure;
use countersign_app::answer::v1;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::text::{escaped_json, visible_line};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub json: v1::Answer<Value>,
    pub printed: bool,
}

impl Answer {
    /// An answer from its text and its keys: a type of [`countersign_app::answer::v1`].
    pub fn new(outcome: Outcome, text: impl Into<String>, own: impl Serialize) -> Self {
        Self::of(v1::Answer::new(Some(outcome), own), text)
    }

    pub fn of(answer: v1::Answer<impl Serialize>, text: impl Into<String>) -> Self {
        // A path that is not UTF-8 has no form in JSON.
        let keys = |own| serde_json::to_value(own).unwrap_or_else(|_| json!({}));
        Self { text: text.into(), json: answer.map(keys), printed: false }
    }

    /// The answer of a command that has written all of its output.
    pub fn silent() -> Self {
        Self { printed: true, ..Self::new(Outcome::Passed, "", json!({})) }
    }

    pub fn warned(self, warnings: Vec<String>) -> Self {
        Self { json: self.json.warned(warnings), ..self }
    }

    /// Work that still runs has not passed yet.
    pub fn exit_code(&self) -> u8 {
        self.json.exit_code.unwrap_or(Outcome::NoVerdict(NoVerdict::Unverified).exit_code())
    }
}

#[derive(Clone, Debug)]
pub struct Printer {
    pub json: bool,
    /// No progress, no hints.
    pub quiet: bool,
    /// Progress has a line for each answer.
    pub verbose: bool,
    pub command: &'static str,
}

impl Printer {
    /// Prints an answer. False if standard output is closed.
    pub fn print(&self, answer: &Answer) -> bool {
        self.warn(&answer.json.warnings);
        let text = match self.json {
            true => json_line(answer.json.clone().of(self.command)),
            false => answer.text.clone(),
        };
        write_out(&text)
    }

    /// Warnings for people, also with -q: they say what was ignored. Programs find them in the object.
    pub fn warn(&self, warnings: &[String]) {
        if !self.json {
            for warning in warnings {
                let _ =
                    writeln!(anstream::stderr(), "{}: {}", style::warning("warning"), visible_line(warning));
            }
        }
    }

    /// What a person is asked about, whatever -q and --json say: nobody agrees to what was not shown.
    pub fn show(&self, words: &str) {
        let _ = writeln!(anstream::stderr(), "{words}");
    }

    pub fn note(&self, words: &str) {
        if !self.json && !self.quiet {
            let _ = writeln!(anstream::stderr(), "{words}");
        }
    }

    /// Prints what is not printed yet, and gives the exit code.
    pub fn finish(&self, ended: Result<Answer, Failure>) -> ExitCode {
        ExitCode::from(match &ended {
            Ok(answer) => {
                if !answer.printed {
                    self.print(answer);
                }
                answer.exit_code()
            }
            Err(failure) => {
                self.fail(failure);
                failure.outcome.exit_code()
            }
        })
    }

    fn fail(&self, failure: &Failure) {
        if self.json {
            write_out(&json_line(v1::Failed::of(self.command, failure)));
            return;
        }
        let _ = write!(anstream::stderr(), "{}", diagnostic::failure_text(failure));
    }
}

/// A line of JSON for standard output, which may be a terminal.
pub fn json_line(value: impl Serialize) -> String {
    format!("{}\n", escaped_json(&json!(value).to_string()))
}

/// Writes to standard output. False if it is closed.
pub fn write_out(text: &str) -> bool {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}
