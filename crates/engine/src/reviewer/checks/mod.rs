//! Deterministic checks on the text of one file. `Check::Run` is not among them: a command runs under the process guard.
//!
//! A reviewed file is hostile: no input panics, time is linear in its size, quotes are short and free of control characters.
//! What cannot be judged is a defect, never a pass: a binary file, a text beyond [`MAX_TEXT_BYTES`], a check that cannot
//! work.

mod defect;
mod headings;
mod links;
mod pattern;
mod placeholders;
mod quote;
mod syntax;

pub use defect::{Defect, MAX_DEFECTS, feedback};

use countersign_core::check::{Check, RunCheck};

/// A longer text is not looked at, and therefore does not pass.
pub const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// One file as the checks see it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Path from the project root, with `/`.
    pub path: &'a str,
    /// The whole content; `None` when it is not text.
    pub text: Option<&'a str>,
    /// How many bytes the file has, also when it is not text.
    pub size_bytes: u64,
}

/// The defects of a file under one check; none is a pass. At most [`MAX_DEFECTS`] are listed, one more counts the rest.
/// `links` says whether a path exists; it only gets paths inside the project root.
pub fn look(check: &Check, file: &Subject<'_>, links: &dyn Fn(&str) -> bool) -> Vec<Defect> {
    if let Some(problem) = problem(check) {
        return vec![Defect::of_file(format!("the check cannot run: {problem}"))];
    }
    let text = |look: &dyn Fn(&str) -> Vec<Defect>| match text_of(file) {
        Ok(text) => look(text),
        Err(defect) => vec![defect],
    };
    match check {
        Check::NotEmpty => not_empty(file),
        Check::NoConflictMarkers => text(&placeholders::look_for_conflicts),
        Check::NoPlaceholders => text(&placeholders::look),
        Check::ValidJson => text(&syntax::json),
        Check::ValidYaml => text(&syntax::yaml),
        Check::ValidToml => text(&syntax::toml),
        Check::RequiredHeadings(wanted) => text(&|text| headings::look(wanted, text)),
        Check::RequiredPattern(wanted) => text(&|text| pattern::look_required(wanted, text)),
        Check::ForbiddenPattern(unwanted) => text(&|text| pattern::look_forbidden(unwanted, text)),
        Check::LinksResolve => text(&|text| links::look(file.path, text, links)),
        Check::Run(_) => vec![Defect::of_file("a command cannot be judged from the text of a file".into())],
    }
}

/// The text to look at, or why there is none.
fn text_of<'a>(file: &Subject<'a>) -> Result<&'a str, Defect> {
    match file.text {
        None => Err(Defect::of_file("is not text, so it cannot be checked".into())),
        Some(text) if text.len() > MAX_TEXT_BYTES => Err(Defect::of_file(format!(
            "has {} bytes of text; checks look at no more than {MAX_TEXT_BYTES}",
            text.len()
        ))),
        Some(text) => Ok(text),
    }
}

/// Why a check can never work, whatever it is given: an error of its configuration.
pub fn problem(check: &Check) -> Option<String> {
    match check {
        Check::RequiredHeadings(wanted) => headings::problem(wanted),
        Check::RequiredPattern(pattern) => pattern::problem(pattern, "so it can never fail"),
        Check::ForbiddenPattern(pattern) => pattern::problem(pattern, "so it can never pass"),
        Check::Run(run) => run_problem(run),
        Check::NoConflictMarkers
        | Check::NoPlaceholders
        | Check::NotEmpty
        | Check::ValidJson
        | Check::ValidYaml
        | Check::ValidToml
        | Check::LinksResolve => None,
    }
}

fn run_problem(run: &RunCheck) -> Option<String> {
    if run.command.trim().is_empty() {
        return Some("the command is empty".into());
    }
    (run.timeout_seconds == 0).then(|| "a command with a timeout of 0 seconds can never end in time".into())
}

/// Marks that show nothing (a byte order mark, a zero-width space) do not fill a file.
fn not_empty(file: &Subject<'_>) -> Vec<Defect> {
    let filled = match file.text {
        Some(text) => text.chars().any(|c| !c.is_whitespace() && !countersign_core::text::hides(c)),
        None => file.size_bytes > 0,
    };
    if filled { Vec::new() } else { vec![Defect::of_file("is empty".into())] }
}

#[cfg(test)]
mod tests;
