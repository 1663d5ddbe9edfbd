//! What became of each entry, in words and for programs.

use super::on_path;
use crate::cli::arguments::InitOptions;
use crate::output::{Answer, bold};
use countersign_core::outcome::Outcome;
use countersign_core::text::visible;
use countersign_engine::programs::Program;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Written,
    AlreadyThere,
    Removed,
    NotThere,
}

impl State {
    /// After writing or removing, by whether anything changes.
    pub fn of(remove: bool, changes: bool) -> Self {
        match (remove, changes) {
            (false, true) => Self::Written,
            (false, false) => Self::AlreadyThere,
            (true, true) => Self::Removed,
            (true, false) => Self::NotThere,
        }
    }

    fn name(self, dry_run: bool) -> &'static str {
        match (self, dry_run) {
            (Self::Written, false) => "written",
            (Self::Written, true) => "would_write",
            (Self::AlreadyThere, _) => "already_there",
            (Self::Removed, false) => "removed",
            (Self::Removed, true) => "would_remove",
            (Self::NotThere, _) => "not_there",
        }
    }
}

/// One entry.
#[derive(Debug)]
pub struct Report {
    pub program: Program,
    /// What the entry is for.
    pub entry: &'static str,
    /// What a person does next.
    pub next: &'static str,
    pub file: PathBuf,
    pub state: State,
    pub diff: String,
}

impl Report {
    fn agent(&self) -> &'static str {
        self.program.facts().name
    }

    /// What is left for a person to do, where the entry is there.
    fn next(&self) -> Option<&'static str> {
        matches!(self.state, State::Written | State::AlreadyThere).then_some(self.next)
    }

    fn json(&self, dry_run: bool) -> Value {
        json!({
            "agent": self.agent(), "entry": self.entry, "file": self.file,
            "state": self.state.name(dry_run), "diff": self.diff, "next": self.next(),
        })
    }

    fn line(&self, dry_run: bool) -> String {
        let state = self.state.name(dry_run).replace('_', " ");
        format!("{} {state}: {}\n", bold(&format!("{:<8}", self.agent())), self.file.display())
    }
}

/// What the command answers.
pub fn answer(reports: Vec<Report>, options: &InitOptions, quiet: bool) -> Answer {
    let dry_run = options.dry_run;
    let text = match dry_run {
        true => preview(&reports),
        false => words(&reports, quiet),
    };
    let entries: Vec<Value> = reports.iter().map(|report| report.json(dry_run)).collect();
    let json = json!({ "dry_run": dry_run, "entries": entries });
    let mut answer = Answer::new(Outcome::Passed, text, json);
    if !options.remove && on_path("countersign").is_none() {
        answer.warnings.push("`countersign` is not on the PATH, where agents look for it".to_owned());
    }
    answer
}

/// The diffs, fit for `patch`; what does not change is said in a line that patch passes over.
fn preview(reports: &[Report]) -> String {
    let one = |report: &Report| match report.diff.is_empty() {
        true => report.line(true),
        false => visible(&report.diff).into_owned(),
    };
    reports.iter().map(one).collect()
}

fn words(reports: &[Report], quiet: bool) -> String {
    let mut out: String = reports.iter().map(|report| report.line(false)).collect();
    let next = reports.iter().filter_map(Report::next).filter(|_| !quiet);
    for (i, next) in next.enumerate() {
        let lead = if i == 0 { format!("\n{} ", bold("next:")) } else { "      ".to_owned() };
        out.push_str(&format!("{lead}{next}\n"));
    }
    out
}
