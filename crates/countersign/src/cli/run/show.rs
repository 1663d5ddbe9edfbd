//! The output of a run: a line for every event, and its results.

use crate::output::{Printer, Reader, bold, dim};
use countersign_app::answer::v1::run::{Results, TaskState};
use countersign_core::ids::ReviewId;
use countersign_core::progress::{ProgressEvent, Stage};
use countersign_core::text::visible_line;
use countersign_doors::run::human::issue_line;
use countersign_doors::run::task::in_a_line;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

/// Writes events to the progress file, and to standard error for people.
pub fn listener(
    printer: Printer,
    progress: PathBuf,
    in_lines: bool,
) -> impl Fn(&ProgressEvent) + Send + Sync {
    move |happening| {
        let Some(line) = words(happening) else { return };
        if in_lines {
            printer.note(&line);
        }
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&progress);
        // A failed write of progress must not stop the run.
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}

fn words(happening: &ProgressEvent) -> Option<String> {
    Some(match happening {
        ProgressEvent::Began { task, name, attempt, of } => {
            format!("{task}: {} (attempt {attempt} of {of})", visible_line(name))
        }
        ProgressEvent::Stage { task, stage } => format!("{task}: {}", stage_words(*stage)),
        ProgressEvent::Judged { task, verdict, issues } => {
            let count = match issues.len() {
                0 => String::new(),
                1 => ", 1 issue".to_owned(),
                n => format!(", {n} issues"),
            };
            let lines: String = issues.iter().map(|issue| format!("\n{}", issue_line(issue))).collect();
            format!("{task}: {}{count}{lines}", visible_line(verdict))
        }
        ProgressEvent::Awaits { task, review } => {
            let next = Reader::of_command().person_decides(review.as_str(), || {
                format!(
                    "waits for a person ({review}): countersign approve|reject|fix|skip {task} --reason TEXT"
                )
            });
            format!("{task}: {next}")
        }
        ProgressEvent::Failed { task, error, again } => {
            let again = if *again { "; next attempt" } else { "" };
            format!("{task}: {}{again}", visible_line(error))
        }
        ProgressEvent::Done { task, review, commit } => {
            format!("{task}: done, {} (review: {})", short(commit.as_deref()), visible_line(review))
        }
        ProgressEvent::Warning(words) => format!("warning: {}", visible_line(words)),
        // The review of a task is one line when it is judged.
        _ => return None,
    })
}

fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Agent => "the agent works",
        Stage::Tests => "tests",
        Stage::Lint => "lint",
        Stage::Review => "review",
        Stage::Person => "a person decides",
        Stage::Merge => "merge",
    }
}

fn short(commit: Option<&str>) -> &str {
    commit.and_then(|commit| commit.get(..12)).unwrap_or("not committed")
}

pub fn results(results: &Results) -> String {
    let mut out = String::new();
    for result in &results.tasks {
        let line = match result.state {
            TaskState::Success => {
                let review = visible_line(result.review_status.as_deref().unwrap_or_default());
                format!("done     {} (review: {review})", short(result.commit.as_deref()))
            }
            TaskState::Failed => {
                let code = result.error_code.as_deref().unwrap_or_default();
                format!("failed   {code}: {}", in_a_line(result.error.as_deref().unwrap_or_default()))
            }
            TaskState::AwaitingPerson => {
                let review = result.review.as_ref().map(ReviewId::as_str).unwrap_or_default();
                Reader::of_command().person_decides(review, || {
                    let task = &result.task;
                    format!(
                        "waits    for a person: countersign approve|reject|fix|skip {task} --reason TEXT  ({review})"
                    )
                })
            }
            TaskState::Stopped => "stopped  the next run continues from here".to_owned(),
        };
        let _ = writeln!(out, "{}  {line}", bold(&result.task));
    }
    for left in &results.not_run {
        let _ = writeln!(out, "{}  {}", bold(&left.task), dim(&format!("not run  {}", left.why)));
    }
    if let Some(why) = &results.stopped {
        let _ = writeln!(out, "stopped: {}", visible_line(why));
    }
    if let (Some(branch), false) = (&results.branch, results.tasks.is_empty()) {
        let _ = writeln!(out, "the work is on the branch {branch}: open a pull request from it");
    }
    if out.is_empty() {
        out.push_str("nothing to do: no task can run\n");
    }
    out
}
