//! The errors of the doors as failures: outcome, code and hint of each.

use super::{Code, Failure};
use crate::reader::Reader;
use countersign_core::outcome::{NoVerdict, Outcome, Stop};
use countersign_doors::jobs::Refusal;
use countersign_doors::qr::asking::AskError;
use countersign_doors::qr::transition::Refused;
use countersign_doors::qr::{FileError, Phase, QrError, shell_word};
use countersign_doors::run::run::RunError;
use countersign_doors::run::state::StateError;
use countersign_doors::run::task_file::TaskFileError;
use countersign_doors::service::error::ServiceError;
use std::path::Path;

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        let nothing = Outcome::NoVerdict(NoVerdict::EmptyChange);
        let (outcome, code, hint) = match error {
            FileError::Bad(problem) => return Self::at(vec![*problem]),
            FileError::NoFolder(dir) => {
                let dir = shell_word(&dir.to_string_lossy());
                (nothing, Code::NoStateDir, format!("`countersign qr init --state-dir {dir}` creates it"))
            }
            FileError::Missing(path) => {
                (nothing, Code::NoState, format!("`{}` creates it with its items", decompose(&path)))
            }
            FileError::Two(..) => {
                (Outcome::Usage, Code::TwoFiles, "keep the correct file and remove the other".to_owned())
            }
            FileError::Locked(_) => {
                let hint = "wait for the process that locks it, or end that process; nothing was changed";
                (Outcome::Internal, Code::Locked, hint.to_owned())
            }
            FileError::Io { .. } => {
                let hint = "check that it is a file, and that you can read and write it and its folder";
                (Outcome::Internal, Code::Io, hint.to_owned())
            }
        };
        Self::new(outcome, code, message).hint(hint)
    }
}

/// The command that creates a state file.
fn decompose(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let dir = shell_word(&path.parent().unwrap_or(path).to_string_lossy());
    let phase = Phase::of_file_name(&name).map_or("PHASE", Phase::name);
    format!("countersign qr decompose --state-dir {dir} --phase {phase}")
}

impl From<QrError> for Failure {
    fn from(error: QrError) -> Self {
        let message = error.to_string();
        match error {
            QrError::File(error) => error.into(),
            QrError::Refused(refused) => refused.into(),
            QrError::Unread(error) => error.into(),
            QrError::Ledger(error) => Self {
                message,
                hint: Some("run the same command again to record it".to_owned()),
                ..error.into()
            },
            QrError::Decomposed(_) => Self::new(Outcome::Usage, Code::Decomposed, message)
                .hint("`countersign qr verify` continues with them; --again replaces them"),
            QrError::PeopleOnly(_) => Self::new(Outcome::Usage, Code::PeopleOnly, message)
                .hint("a person must run it in a terminal, outside any agent"),
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let message = refused.to_string();
        let person = match Reader::of_command() {
            Reader::Person => "a person can accept items: countersign qr accept ID --reason TEXT",
            Reader::Agent => "this phase waits for a person",
        };
        let (outcome, code, hint) = match refused {
            Refused::Ceiling { .. } => (Outcome::Stopped(Stop::AttemptsUsedUp), Code::Ceiling, person),
            Refused::ItemCap { .. } => (Outcome::Stopped(Stop::NotConverging), Code::ItemCap, person),
            Refused::NoReason => (Outcome::Usage, Code::Refused, "add --reason TEXT"),
            _ => (Outcome::Usage, Code::Refused, "nothing was changed"),
        };
        Self::new(outcome, code, message).hint(hint)
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let message = error.to_string();
        match error {
            AskError::Material(_) => Self::usage(message).hint("no reviewer was asked; nothing was changed"),
            AskError::NoAnswer(failed) => Self {
                outcome: failed.why.outcome(),
                code: Code::NoAnswer,
                ..Self::usage(format!("no usable answer ({}): {message}", failed.why.name()))
                    .hint("nothing was changed; run the same command to ask again; --print-prompt shows the question")
            },
            AskError::Qr(error) => error.into(),
            AskError::Engine(error) => error.into(),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::NotTaken(_) => {
                Self::new(Outcome::Usage, Code::NotTaken, words).hint("nothing was changed")
            }
            Refusal::NoVerdict(_) => {
                Self::new(Outcome::NoVerdict(NoVerdict::Unavailable), Code::NoVerdict, words)
            }
            Refusal::Blocked(_) => Self::new(Outcome::Stopped(Stop::AttemptsUsedUp), Code::Blocked, words),
            Refusal::CoolingOff { until_ms, .. } => {
                let until = crate::time::rfc3339(until_ms).unwrap_or_default();
                let outcome = Outcome::NoVerdict(NoVerdict::Unavailable);
                Self::new(outcome, Code::CoolingOff, format!("{words} (until {until})"))
            }
            Refusal::Cancelled => Self::interrupted(),
            Refusal::Engine(error) => error.into(),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let (outcome, words) = (error.outcome(), error.to_string());
        match error {
            RunError::Engine(error) => error.into(),
            RunError::Person(error) => match error.downcast::<Self>() {
                Ok(failure) => *failure,
                Err(_) => Self::new(outcome, Code::Run, words),
            },
            RunError::Tasks(TaskFileError::Mistakes(problems)) => problems.into(),
            RunError::State(error) => Self::new(outcome, Code::State, words).hint(error.hint()),
            RunError::Dirty(_) => Self::new(outcome, Code::Dirty, words).hint(
                "commit them, or put them aside: git stash push -u -m 'before countersign run'; git stash pop brings them back",
            ),
            RunError::NoTask(_) => {
                Self::new(outcome, Code::NoTask, words).hint("`countersign status` lists the tasks")
            }
            _ => Self::new(outcome, Code::Run, words),
        }
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::internal(error.to_string()).hint(error.hint())
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let words = error.to_string();
        match error {
            ServiceError::Plan(problems) => problems.into(),
            ServiceError::Edit(_) => {
                Self::usage(words).hint("`countersign validate` says what is wrong with the plan")
            }
            ServiceError::Usage { message, hint } => Self::usage(message).hint(hint),
            ServiceError::NoTask { .. } => {
                Self::not_found(words).hint("`countersign task list` lists all tasks")
            }
            ServiceError::Taken { .. } => {
                Self { code: Code::Taken, ..Self::usage(words) }.hint("choose another id with --id")
            }
            ServiceError::Blocked { review, .. } => {
                Self::new(Outcome::Stopped(Stop::AttemptsUsedUp), Code::Blocked, words).hint(
                    Reader::of_command().person_decides(&review, || {
                        format!("a person can unblock it: countersign unblock {review} --reason TEXT")
                    }),
                )
            }
            ServiceError::Io { .. } => Self::internal(words),
            ServiceError::Engine(error) => error.into(),
        }
    }
}
