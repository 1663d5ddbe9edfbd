//! What an agent means by how it ended: done, not done and why, or in no state to do anything.

use super::attempt::{Failure, Halt, TROUBLE_BYTES};
use super::markers::{TaskWord, task_word};
use super::state::ErrorCode;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_engine::process::How;
use countersign_engine::programs::{Kind, Problem};
use countersign_engine::worker::Worked;

/// What it said, as far as anything can be read.
pub(super) fn said(worked: &Worked) -> String {
    match &worked.said {
        Ok(text) => text.clone(),
        Err(_) => String::from_utf8_lossy(&worked.ended.stdout).into_owned(),
    }
}

/// Whether it means by that that it is done.
pub(super) fn word(worked: &Worked) -> Result<(), Halt> {
    if worked.ended.how == How::Cancelled {
        return Err(Halt::Stopped);
    }
    let failure = match (&worked.said, task_word(&said(worked))) {
        (_, Some(TaskWord::Failed(why))) => Failure::of_work(ErrorCode::TaskFailed, why),
        (_, Some(TaskWord::Blocked(why))) => {
            Failure::for_good(ErrorCode::TaskBlocked, why, Outcome::NeedsWork)
        }
        (Ok(_), Some(TaskWord::Complete)) => return Ok(()),
        (Ok(_), None) => Failure::of_work(
            ErrorCode::Unknown,
            "the agent ended without saying TASK_COMPLETE on a line of its own",
        ),
        (Err(problem), _) => trouble(problem, worked),
    };
    Err(failure.into())
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
