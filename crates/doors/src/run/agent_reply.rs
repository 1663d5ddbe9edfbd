//! The reply of an agent: the marker it ends with, and the failure it reports. It does not run the agent.

use super::attempt::{Failure, Halt};
use super::checks::ERROR_BYTES;
use super::state::ErrorCode;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_engine::process::ProcessEnd;
use countersign_engine::programs::{Kind, Problem};
use countersign_engine::worker::WorkResult;

/// What an agent reports at the end, on a line of its own; with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Marker {
    Complete,
    Failed(String),
    Blocked(String),
}

const WRAPPERS: [&str; 6] = ["**", "__", "*", "_", "`", "\""];

/// The last marker of a text. A text without one does not report the task as done.
fn marker(text: &str) -> Option<Marker> {
    text.lines().rev().find_map(marker_in)
}

fn marker_in(line: &str) -> Option<Marker> {
    let line = line.trim();
    let inner = |wrapper: &&str| line.strip_prefix(*wrapper)?.strip_suffix(*wrapper);
    let line = WRAPPERS.iter().find_map(inner).unwrap_or(line).trim();
    let why = |name: &str| -> Option<String> {
        let rest = line.strip_prefix(name)?.trim();
        if rest.is_empty() {
            return Some("the agent gave no reason".to_owned());
        }
        Some(rest.strip_prefix(':')?.trim().to_owned())
    };
    match line {
        "TASK_COMPLETE" => Some(Marker::Complete),
        _ => why("TASK_FAILED").map(Marker::Failed).or_else(|| why("TASK_BLOCKED").map(Marker::Blocked)),
    }
}

/// The reply as text; the raw output where the reply cannot be read.
pub(super) fn reply(worked: &WorkResult) -> String {
    match &worked.said {
        Ok(text) => text.clone(),
        Err(_) => String::from_utf8_lossy(&worked.ended.stdout).into_owned(),
    }
}

/// Whether the agent reports the task as done.
pub(super) fn check(worked: &WorkResult) -> Result<(), Halt> {
    if worked.ended.how == ProcessEnd::Cancelled {
        return Err(Halt::Stopped);
    }
    let failure = match (&worked.said, marker(&reply(worked))) {
        (_, Some(Marker::Failed(why))) => Failure::of_work(ErrorCode::TaskFailed, why),
        (_, Some(Marker::Blocked(why))) => Failure::for_good(ErrorCode::TaskBlocked, why, Outcome::NeedsWork),
        (Ok(_), Some(Marker::Complete)) => return Ok(()),
        (Ok(_), None) => Failure::of_work(
            ErrorCode::Unknown,
            "the agent ended without saying TASK_COMPLETE on a line of its own",
        ),
        (Err(problem), _) => failure_of(problem, worked),
    };
    Err(failure.into())
}

fn failure_of(problem: &Problem, worked: &WorkResult) -> Failure {
    let quoted = match problem.quoted.is_empty() {
        true => countersign_core::text::cut_front(worked.ended.stderr_tail.trim(), ERROR_BYTES).to_owned(),
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
        Kind::Rejected => infrastructure("the agent's service rejected the request"),
        Kind::BudgetUsedUp => Failure::for_good(
            ErrorCode::BudgetExceeded,
            "the agent has used up its budget",
            Outcome::BudgetReached,
        ),
        _ => Failure::of_work(ErrorCode::Unknown, format!("the agent failed: {quoted}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_a_line_of_its_own_counts() {
        let failed = |why: &str| Some(Marker::Failed(why.to_owned()));
        let blocked = |why: &str| Some(Marker::Blocked(why.to_owned()));
        let table = [
            ("done\nTASK_COMPLETE", Some(Marker::Complete)),
            ("TASK_COMPLETE\nanything after it\n", Some(Marker::Complete)),
            ("**TASK_COMPLETE**", Some(Marker::Complete)),
            ("`TASK_COMPLETE`", Some(Marker::Complete)),
            ("TASK_FAILED: no compiler", failed("no compiler")),
            ("TASK_FAILED", failed("the agent gave no reason")),
            ("TASK_BLOCKED: which database?", blocked("which database?")),
            ("TASK_COMPLETE\nTASK_FAILED: after all", failed("after all")),
            ("TASK_FAILED: at first\nTASK_COMPLETE", Some(Marker::Complete)),
            ("I will print TASK_COMPLETE when done", None),
            ("TASK_COMPLETED", None),
            ("task_complete", None),
            ("TASK_FAILED because", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(marker(text), expected, "{text:?}");
        }
    }
}
