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
pub use verdict::{accepted_why, gate_words, listed, outcome_words, reasons, totals, verdict_text};

use crate::formats::{Format, Outputs, Report, failed_text, harmless, in_log, of_failure, without_commands};

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
    /// The same for formats of others; none where nothing was judged.
    pub report: Option<Report>,
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
        Self { text: text.into(), json: answer.map(keys), report: None, printed: false }
    }

    /// The answer of a command that has written all of its output.
    pub fn silent() -> Self {
        Self { printed: true, ..Self::new(Outcome::Passed, "", json!({})) }
    }

    /// The answer with what formats of others show of it.
    pub fn reporting(self, report: Report) -> Self {
        Self { report: Some(report), ..self }
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
    pub outputs: Outputs,
    /// No progress, no hints.
    pub quiet: bool,
    /// Progress has a line for each answer.
    pub verbose: bool,
    pub command: &'static str,
}

impl Printer {
    /// Whether the answer is the object for programs.
    pub fn json(&self) -> bool {
        self.outputs.stdout == Format::Json
    }

    /// Whether a tool of others gets the answer.
    pub fn has_other_formats(&self) -> bool {
        let files = self.outputs.files.iter().map(|target| target.format);
        let mut all = files.chain([self.outputs.stdout]);
        all.any(|format| !matches!(format, Format::Text | Format::Json))
    }

    /// Prints an answer. False if standard output is closed.
    pub fn print(&self, answer: &Answer) -> bool {
        self.warn(&answer.json.warnings);
        let text = self.text(self.outputs.stdout, answer);
        // A reader of the log sees the words, the runner the commands.
        let words = match self.outputs.stdout {
            Format::Github => without_commands(&answer.text),
            _ => "".into(),
        };
        write_out(&format!("{words}{}", in_log(self.outputs.stdout, &text)))
    }

    /// An answer in a format.
    fn text(&self, format: Format, answer: &Answer) -> String {
        let report = || {
            let report = answer.report.clone();
            let report = report.unwrap_or_else(|| Report::of_other(&answer.json, &plain(&answer.text)));
            format.render(&report).unwrap_or_default()
        };
        match format {
            Format::Text => harmless(&answer.text).into_owned(),
            Format::Json => json_line(answer.json.clone().of(self.command)),
            _ => report(),
        }
    }

    /// A failure in a format.
    fn failed(&self, format: Format, failure: &Failure) -> String {
        match format {
            Format::Text | Format::Json => failed_text(format, self.command, failure),
            format => format.render(&of_failure(self.command, failure)).unwrap_or_default(),
        }
    }

    /// Warnings for people, also with -q: they say what was ignored. Programs find them in the object.
    pub fn warn(&self, warnings: &[String]) {
        if !self.json() {
            for warning in warnings {
                let _ = writeln!(
                    anstream::stderr(),
                    "{}: {}",
                    style::warning("warning"),
                    harmless(&visible_line(warning))
                );
            }
        }
    }

    /// What a person is asked about, whatever -q and --json say: nobody agrees to what was not shown.
    pub fn show(&self, words: &str) {
        let _ = writeln!(anstream::stderr(), "{words}");
    }

    pub fn note(&self, words: &str) {
        if !self.json() && !self.quiet {
            let _ = writeln!(anstream::stderr(), "{}", harmless(words));
        }
    }

    /// Prints what is not printed yet, writes the files, and gives the exit code.
    pub fn finish(&self, ended: Result<Answer, Failure>) -> ExitCode {
        let (code, is_written) = match &ended {
            Ok(answer) => {
                if !answer.printed {
                    self.print(answer);
                }
                let plain = |format| plain(&self.text(format, answer));
                (answer.exit_code(), self.outputs.write(plain))
            }
            Err(failure) => {
                self.fail(failure);
                let text = |format| self.failed(format, failure);
                (failure.outcome.exit_code(), self.outputs.write(text))
            }
        };
        // A reader of the file must not take an older one for this answer.
        ExitCode::from(if is_written { code } else { Outcome::Internal.exit_code() })
    }

    fn fail(&self, failure: &Failure) {
        if self.outputs.stdout != Format::Text {
            write_out(&in_log(self.outputs.stdout, &self.failed(self.outputs.stdout, failure)));
        }
        if !self.json() {
            let _ = write!(anstream::stderr(), "{}", harmless(&diagnostic::failure_text(failure)));
        }
    }
}

/// A line of JSON for standard output, which may be a terminal.
pub fn json_line(value: impl Serialize) -> String {
    format!("{}\n", escaped_json(&json!(value).to_string()))
}

/// Text without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Writes to standard output. False if it is closed.
pub fn write_out(text: &str) -> bool {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}
