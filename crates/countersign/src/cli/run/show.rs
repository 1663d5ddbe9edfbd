//! What a run says: a line for everything that happens, and its results.

use crate::output::{Printer, Reader, bold, dim};
use countersign_core::text::visible_line;
use countersign_doors::run::happening::{Happening, Stage};
use countersign_doors::run::human::issue_line;
use countersign_doors::run::schedule::{Left, Results};
use countersign_doors::run::task::{TaskEnd, in_a_line};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

/// Tells people and the progress file what happens.
pub fn teller(printer: Printer, progress: PathBuf, on_screen: bool) -> impl Fn(Happening) + Send + Sync {
    move |happening| {
        let line = words(&happening);
        if on_screen {
            printer.note(&line);
        }
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&progress);
        // Progress that cannot be written holds nothing up.
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}

fn words(happening: &Happening) -> String {
    match happening {
        Happening::Began { task, name, attempt, of } => {
            format!("{task}: {} (attempt {attempt} of {of})", visible_line(name))
        }
        Happening::Stage { task, stage } => format!("{task}: {}", stage_words(*stage)),
        Happening::Judged { task, verdict, issues } => {
            let count = match issues.len() {
                0 => String::new(),
                1 => ", 1 issue".to_owned(),
                n => format!(", {n} issues"),
            };
            let lines: String = issues.iter().map(|issue| format!("\n{}", issue_line(issue))).collect();
            format!("{task}: {}{count}{lines}", visible_line(verdict))
        }
        Happening::Awaits { task, review } => {
            let next = Reader::of_command().person_decides(review.as_str(), || {
                format!(
                    "waits for a person ({review}): countersign approve|reject|fix|skip {task} --reason TEXT"
                )
            });
            format!("{task}: {next}")
        }
        Happening::Failed { task, error, again } => {
            let again = if *again { "; next attempt" } else { "" };
            format!("{task}: {}{again}", visible_line(error))
        }
        Happening::Done { task, review, commit } => {
            let commit = commit.as_deref().and_then(|commit| commit.get(..12)).unwrap_or("not committed");
            format!("{task}: done, {commit} (review: {})", visible_line(review))
        }
        Happening::Warning(words) => format!("warning: {}", visible_line(words)),
    }
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

/// The results for people.
pub fn results_text(results: &Results) -> String {
    let mut out = String::new();
    for (task, end) in &results.ends {
        let line = match end {
            TaskEnd::Done { commit, review, .. } => {
                let commit = commit.as_deref().and_then(|commit| commit.get(..12)).unwrap_or("not committed");
                format!("done     {commit} (review: {})", visible_line(review))
            }
            TaskEnd::Failed { code, error, .. } => {
                format!("failed   {}: {}", code.word(), in_a_line(error))
            }
            TaskEnd::Awaits { review } => Reader::of_command().person_decides(review.as_str(), || {
                format!(
                    "waits    for a person: countersign approve|reject|fix|skip {task} --reason TEXT  ({review})"
                )
            }),
            TaskEnd::Stopped => "stopped  the next run goes on from here".to_owned(),
        };
        let _ = writeln!(out, "{}  {line}", bold(task));
    }
    for (task, left) in &results.left {
        let _ = writeln!(out, "{}  {}", bold(task), dim(&format!("not run  {}", left.why)));
    }
    if let Some(why) = &results.stopped {
        let _ = writeln!(out, "stopped: {}", visible_line(why));
    }
    if out.is_empty() {
        out.push_str("nothing to do: no task can run\n");
    }
    out
}

/// The results for programs.
pub fn results_json(results: &Results) -> Value {
    let end = |(task, end): (&String, &TaskEnd)| {
        let (state, commit, review, review_id, code, error) = match end {
            TaskEnd::Done { commit, review, review_id } => {
                ("success", commit.clone(), Some(review.clone()), review_id.clone(), None, None)
            }
            TaskEnd::Failed { code, error, .. } => {
                ("failed", None, None, None, Some(code.word().to_owned()), Some(error.clone()))
            }
            TaskEnd::Awaits { review } => ("awaiting_person", None, None, Some(review.clone()), None, None),
            TaskEnd::Stopped => ("stopped", None, None, None, None, None),
        };
        json!({
            "task": task, "state": state, "outcome": end.outcome().name(), "commit": commit, "review_status": review,
            "review": review_id, "error_code": code, "error": error,
        })
    };
    let left = |(task, left): (&String, &Left)| json!({ "task": task, "why": left.why, "outcome": left.outcome.name() });
    json!({
        "tasks": results.ends.iter().map(end).collect::<Vec<_>>(),
        "not_run": results.left.iter().map(left).collect::<Vec<_>>(),
        "stopped": results.stopped,
    })
}
