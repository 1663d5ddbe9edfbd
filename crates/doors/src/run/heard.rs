//! What an agent means by how it ended: done, not done and why, or in no state to do anything.

use super::attempt::{Failure, TROUBLE_BYTES};
use super::markers::{TaskWord, task_word};
use super::state::ErrorCode;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_engine::process::How;
use countersign_engine::programs::{Kind, Problem};
use countersign_engine::worker::Worked;

/// What an agent means.
pub(super) enum Heard {
    /// It is done.
    Complete,
    /// Nobody wants to know any more.
    Stopped,
    /// It did not go through.
    Failed(Failure),
}

/// What it said, as far as anything can be read.
pub(super) fn said(worked: &Worked) -> String {
    match &worked.said {
        Ok(text) => text.clone(),
        Err(_) => String::from_utf8_lossy(&worked.ended.stdout).into_owned(),
    }
}

/// What it means by that.
pub(super) fn word(worked: &Worked) -> Heard {
    if worked.ended.how == How::Cancelled {
        return Heard::Stopped;
    }
    let spoken = task_word(&said(worked));
    match (&worked.said, spoken) {
        (_, Some(TaskWord::Failed(why))) => Heard::Failed(Failure::of_work(ErrorCode::TaskFailed, why)),
        (_, Some(TaskWord::Blocked(why))) => {
            Heard::Failed(Failure::for_good(ErrorCode::TaskBlocked, why, Outcome::NeedsWork))
        }
        (Ok(_), Some(TaskWord::Complete)) => Heard::Complete,
        (Ok(_), None) => Heard::Failed(Failure::of_work(
            ErrorCode::Unknown,
            "the agent ended without saying TASK_COMPLETE on a line of its own",
        )),
        (Err(problem), _) => Heard::Failed(trouble(problem, worked)),
    }
}

/// Why an agent did not come to an end of its own.
fn trouble(problem: &Problem, worked: &Worked) -> Failure {
    let quoted = match problem.quoted.is_empty() {
        true => countersign_core::text::cut_front(worked.ended.stderr_tail.trim(), TROUBLE_BYTES).to_owned(),
        false => problem.quoted.clone(),
    };
    let unavailable = Outcome::NoVerdict(NoVerdict::Unavailable);
    let infrastructure =
        |words: &str| Failure::for_good(ErrorCode::Infrastructure, format!("{words}: {quoted}"), unavailable);
    match problem.kind {
        Kind::TimedOut => Failure::of_work(ErrorCode::Timeout, "the agent took too long"),
        Kind::RateLimited | Kind::Overloaded => {
            Failure::of_work(ErrorCode::RateLimit, format!("the agent's service is busy: {quoted}"))
        }
        Kind::NotInstalled => infrastructure("the agent is not installed, or not on the PATH"),
        Kind::NotStarted => infrastructure("the agent could not be started"),
        Kind::NotSignedIn => infrastructure("the agent is not signed in"),
        Kind::Rejected => infrastructure("the agent's service did not take the question"),
        Kind::BudgetUsedUp => Failure::for_good(
            ErrorCode::BudgetExceeded,
            "the agent has used up its budget",
            Outcome::BudgetReached,
        ),
        _ => Failure::of_work(ErrorCode::Unknown, format!("the agent broke off: {quoted}")),
    }
}
