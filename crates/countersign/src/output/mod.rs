//! How answers look: text for people, one versioned object for programs. Answers go to standard output,
//! everything else to standard error.

mod diagnostic;
mod progress;
mod spent;
mod style;
mod verdict;

pub use countersign_app::SCHEMA;
pub use countersign_app::reader::Reader;
pub use countersign_app::time::{ago, rfc3339};
pub use diagnostic::failure_json;
pub use progress::Progress;
pub use spent::Spent;
pub use style::{bold, dim, paint_outcome};
pub use verdict::{
    assignment_json, next_steps, outcome_words, verdict_json, verdict_text, verdict_text_with_names,
};

use crate::cli::Global;
use countersign_app::Failure;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::text::visible_line;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::ExitCode;

/// What a command has to say.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub outcome: Outcome,
    /// For people.
    pub text: String,
    /// For programs: the command's own keys.
    pub json: Map<String, Value>,
    /// What people should know beside the answer.
    pub warnings: Vec<String>,
    /// Whether it is on standard output already.
    pub printed: bool,
    /// Whether it is not known yet how it ends: programs are told no outcome.
    pub pending: bool,
    /// Whether the command did what it was asked, whatever the outcome is that it shows.
    pub done: bool,
}

impl Answer {
    /// An answer from its text and its keys: a type of [`countersign_app::answer::v1`].
    pub fn new(outcome: Outcome, text: impl Into<String>, own: impl Serialize) -> Self {
        let json = match serde_json::to_value(own) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let (warnings, printed, pending, done) = (vec![], false, false, false);
        Self { outcome, text: text.into(), json, warnings, printed, pending, done }
    }

    /// An answer about what is still under way: no pass, and nothing else yet.
    pub fn pending(text: impl Into<String>, own: impl Serialize) -> Self {
        Self { pending: true, ..Self::new(Outcome::NoVerdict(NoVerdict::Unverified), text, own) }
    }

    /// The same where the command has done its work, whatever it shows.
    pub fn done(self) -> Self {
        Self { done: true, ..self }
    }

    /// The exit code of the command.
    pub fn exit_code(&self) -> u8 {
        if self.done { Outcome::Passed.exit_code() } else { self.outcome.exit_code() }
    }

    /// The object for programs.
    pub fn envelope(&self, printer: &Printer) -> Value {
        let mut object = printer.envelope(self.outcome, &Value::Null, &self.warnings, &self.json);
        object["exit_code"] = json!(self.exit_code());
        if self.pending {
            object["outcome"] = Value::Null;
            object["reason"] = Value::Null;
            // Over HTTP no process ends: what is under way has no exit code either.
            object["exit_code"] = if self.done { object["exit_code"].take() } else { Value::Null };
        }
        object
    }
}

/// Where and how a command prints.
#[derive(Clone, Debug)]
pub struct Printer {
    json: bool,
    /// No progress, no hints.
    pub quiet: bool,
    command: &'static str,
}

impl Printer {
    /// The printer a command was asked for.
    pub fn new(global: &Global, command: &'static str) -> Self {
        Self { json: global.json, quiet: global.quiet, command }
    }

    /// A printer for programs.
    pub fn json(command: &'static str) -> Self {
        Self { json: true, quiet: true, command }
    }

    /// Whether a program reads along.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Progress, unless nobody wants it.
    pub fn progress(&self) -> Progress {
        Progress::new(self.quiet)
    }

    /// Prints an answer. False if nobody was there to read it.
    pub fn print(&self, answer: &Answer) -> bool {
        if !self.quiet || self.json {
            self.warn(&answer.warnings);
        }
        let text = match self.json {
            true => {
                format!("{}\n", answer.envelope(self))
            }
            false => answer.text.clone(),
        };
        write_out(&text)
    }

    /// Warnings for people; programs find them in the object.
    pub fn warn(&self, warnings: &[String]) {
        if !self.json && !self.quiet {
            for warning in warnings {
                let _ =
                    writeln!(anstream::stderr(), "{}: {}", style::warning("warning"), visible_line(warning));
            }
        }
    }

    /// Something beside the answer, for people.
    pub fn note(&self, words: &str) {
        if !self.json && !self.quiet {
            let _ = writeln!(anstream::stderr(), "{words}");
        }
    }

    /// The object for programs.
    pub fn envelope(
        &self,
        outcome: Outcome,
        error: &Value,
        warnings: &[String],
        own: &Map<String, Value>,
    ) -> Value {
        let mut object = Map::new();
        object.insert("schema".into(), json!(SCHEMA));
        object.insert("command".into(), json!(self.command));
        object.insert("outcome".into(), json!(outcome.name()));
        object.insert("reason".into(), json!(outcome.reason()));
        object.insert("exit_code".into(), json!(outcome.exit_code()));
        object.insert("error".into(), error.clone());
        object.insert("warnings".into(), json!(warnings));
        for (key, value) in own {
            object.insert(key.clone(), value.clone());
        }
        Value::Object(object)
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
            let error = diagnostic::failure_json(failure);
            let object = self.envelope(failure.outcome, &error, &[], &Map::new());
            write_out(&format!("{object}\n"));
            return;
        }
        let _ = write!(anstream::stderr(), "{}", diagnostic::failure_text(failure));
    }
}

/// Writes to standard output. False if nobody was there to read it.
pub fn write_out(text: &str) -> bool {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}
