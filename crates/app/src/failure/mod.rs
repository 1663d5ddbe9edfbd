//! The failure of a use case: outcome, code, message, hint and places in files. Errors of the engine are classed here,
//! those of the doors in `doors`.

mod code;
mod doors;

pub use code::Code;

use crate::author;
use countersign_core::outcome::Outcome;
use countersign_core::review::Refused;
use countersign_engine::config::{Diagnostic, Problems};
use countersign_engine::engine::EngineError;
use countersign_engine::git::{BaseProblem, GitError};
use countersign_engine::ledger::LedgerError;
use countersign_engine::programs::PROGRAMS;
use countersign_engine::workspace::ChangeError;

#[derive(Debug)]
pub struct Failure {
    pub outcome: Outcome,
    pub code: Code,
    pub message: String,
    pub hint: Option<String>,
    pub diagnostics: Vec<Diagnostic>,
    pub left_out: usize,
}

/// The message and all mistakes, in lines.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places = self.diagnostics.iter().map(ToString::to_string);
        f.write_str(&[self.message.clone()].into_iter().chain(places).collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for Failure {}

impl Failure {
    pub fn new(outcome: Outcome, code: Code, message: impl Into<String>) -> Self {
        Self { outcome, code, message: message.into(), hint: None, diagnostics: vec![], left_out: 0 }
    }

    /// A wrong command or argument.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Outcome::Usage, Code::Usage, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self { code: Code::NotFound, ..Self::usage(message) }
    }

    /// A defect of Countersign or a fault of the machine.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Outcome::Internal, Code::Internal, message)
    }

    pub fn interrupted() -> Self {
        Self::new(Outcome::Interrupted, Code::Interrupted, "interrupted")
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub fn at(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, ..Self::new(Outcome::Usage, Code::Configuration, "") }
    }

    pub fn kind(&self) -> &'static str {
        match self.outcome {
            Outcome::Usage if self.diagnostics.is_empty() => "usage",
            Outcome::Usage => "configuration",
            Outcome::Integrity => "integrity",
            Outcome::Internal => "internal",
            Outcome::Interrupted => "interrupted",
            _ => "review",
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self { left_out: problems.left_out, ..Self::at(problems.listed) }
    }
}

/// What an agent is told of a ledger that is not the latest.
const WAITS: &str = "this waits for a person, who has to put the latest ledger back or accept this one";

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let hint = match &error {
            // An agent gets no command that is for people.
            LedgerError::NotTheLatest(_) if author::is_agent() => WAITS,
            error => error.hint(),
        };
        let hint = Some(hint.to_owned()).filter(|hint| !hint.is_empty());
        Self { hint, ..Self::new(error.outcome(), Code::Ledger, error.to_string()) }
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<BaseProblem> for Failure {
    fn from(problem: BaseProblem) -> Self {
        let failure = Self::new(Outcome::Usage, Code::Base, problem.to_string());
        match problem {
            BaseProblem::Git(GitError::Failed { words, .. }) if words.contains("not a git repository") => {
                let message = "--change works only in a git repository, and this folder is not in one";
                Self { message: message.to_owned(), ..failure }
                    .hint("run `git init`, or name files: `countersign review PATHS`")
            }
            BaseProblem::Git(_) => failure,
            _ => failure.hint("name what to compare with: --base REF"),
        }
    }
}

/// A hint that names the flag for a reviewer.
pub fn name_a_reviewer() -> String {
    format!("name one with --reviewer {} or command:PROGRAM", PROGRAMS.reviewer_names())
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let outcome = error.outcome();
        match error {
            EngineError::Ledger(error) => error.into(),
            EngineError::Change(problem) => Self::new(outcome, Code::Change, problem.to_string()),
            EngineError::Path(problem) => Self::new(outcome, Code::Path, problem.to_string()),
            EngineError::Plan(problem) => {
                let failure = Self::new(outcome, Code::Plan, problem.to_string());
                match problem {
                    countersign_core::plan::PlanError::NoReviewer { .. } => failure
                        .hint(format!("{}, or under `reviewers:` in countersign.yml", name_a_reviewer())),
                    _ => failure,
                }
            }
            EngineError::NotFound(_) => Self::new(outcome, Code::NotFound, error.to_string())
                .hint("`countersign log` lists all reviews"),
            EngineError::Refused(Refused::CoolingOff { until_ms }) => {
                let until = crate::time::rfc3339(until_ms).unwrap_or_default();
                Self::new(outcome, Code::CoolingOff, format!("{error} (until {until})"))
                    .hint("see `countersign show` for the reasons; a person can unblock it at once")
            }
            EngineError::Refused(_) => Self::new(outcome, Code::Refused, error.to_string()),
            EngineError::Results(_) => Self::new(outcome, Code::Results, error.to_string())
                .hint("the instructions file of the self-review shows the form; nothing was recorded"),
            EngineError::HeldUp { .. } => Self::new(outcome, Code::HeldUp, error.to_string())
                .hint("then run the same command again; finished rulings are kept"),
            EngineError::Interrupted => Self::new(outcome, Code::Interrupted, error.to_string())
                .hint("run the same command again to continue where this one stopped"),
            EngineError::Io { .. } | EngineError::Internal(_) => {
                Self::new(outcome, Code::Internal, error.to_string())
            }
        }
    }
}
