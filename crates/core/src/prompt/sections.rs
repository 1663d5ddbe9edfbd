//! A question about a change: sections with the caller's headings, the diff between them. A line of foreign text that
//! reads like a heading or like one of our markers gets a leading `\`; fences are longer than any run of signs inside.

use super::payload::{harmless, notice, section};
use crate::digest::{Digest, Parts};
use crate::text::{self, Changes};

/// The most of a diff that stands in one question.
pub const DIFF_BYTES_MAX: usize = 30 * 1024;
/// The most that is shown of the description of a task.
pub const DESCRIPTION_BYTES_MAX: usize = 8 * 1024;
/// The most that is shown of test results.
pub const TEST_BYTES_MAX: usize = 2 * 1024;
/// The most that is shown of lint results.
pub const LINT_CHARS_MAX: usize = 200;
/// The most that is shown of what went wrong before.
pub const ERROR_BYTES_MAX: usize = 1024;

const PREVIOUS_ERRORS: &str = "## Previous Errors";
const SESSION_LOG: &str = "## Session Log";
const TASK: &str = "# Task ";

/// A part of a question, under its own heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The whole line, with its signs: `## Test Results`.
    pub heading: String,
    pub text: String,
    pub is_fenced: bool,
}

impl Section {
    pub fn plain(heading: impl Into<String>, text: impl Into<String>) -> Self {
        Self { heading: heading.into(), text: text.into(), is_fenced: false }
    }

    /// A section of output, in a fence.
    pub fn fenced(heading: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_fenced: true, ..Self::plain(heading, text) }
    }
}

/// What stands around the diff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    pub before: Vec<Section>,
    /// The heading of the diff; without one it is not shown.
    pub heading: String,
    pub after: Vec<Section>,
}

/// What a task run knows beside the change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunContext<'a> {
    /// What the task says beside its checklist.
    pub description: &'a str,
    /// The task's checklist, a line each.
    pub checklist: &'a str,
    /// What the tests said; none where they did not run.
    pub test_results: Option<&'a str>,
    /// What lint said; nothing said is clean. None where it did not run.
    pub lint_status: Option<&'a str>,
    /// What went wrong in the attempt before.
    pub previous_errors: Option<&'a str>,
}

/// What is known of a task beside the change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskContext<'a> {
    /// Id and title; none where the task is not to be shown.
    pub task: Option<(&'a str, &'a str)>,
    pub scope: Option<&'a str>,
    pub acceptance: Option<&'a str>,
    pub test_results: Option<&'a str>,
    pub lint_results: Option<&'a str>,
    /// The end of what was said while the work was done.
    pub session_log: Option<&'a str>,
}

impl Sections {
    /// Nothing but the diff.
    pub fn bare() -> Self {
        Self { heading: "## Git Diff".to_owned(), ..Self::default() }
    }

    pub fn of_run(context: &RunContext<'_>) -> Self {
        let lint = |said: &str| if said.trim().is_empty() { "Clean".to_owned() } else { lint_cut(said) };
        let errors = context.previous_errors.filter(|said| !said.trim().is_empty());
        let after = [
            context.test_results.map(|said| Section::fenced("## Test Results", tests_cut(said))),
            context.lint_status.map(|said| Section::plain("## Lint Status", lint(said))),
            errors.map(|said| Section::fenced(PREVIOUS_ERRORS, errors_cut(said))),
        ];
        let description = text::cut_noted(context.description.trim(), DESCRIPTION_BYTES_MAX);
        let described = (!description.is_empty()).then(|| Section::plain("## Task Description", description));
        let checklist = Section::plain("## Task Checklist", context.checklist);
        Self {
            before: described.into_iter().chain([checklist]).collect(),
            heading: "## Code Changes (git diff)".to_owned(),
            after: after.into_iter().flatten().collect(),
        }
    }

    pub fn of_task(context: &TaskContext<'_>) -> Self {
        let said = |text: Option<&'_ str>| text.filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let mut before = vec![];
        if let Some((id, title)) = context.task {
            before.push(Section::plain(format!("{TASK}{id}: {title}"), ""));
            before.extend(said(context.scope).map(|text| Section::plain("## Scope", text)));
            before
                .extend(said(context.acceptance).map(|text| Section::plain("## Acceptance Criteria", text)));
        }
        let mut after = vec![];
        after.extend(
            said(context.test_results).map(|text| Section::fenced("## Test Results", tests_cut(&text))),
        );
        after.extend(
            said(context.lint_results).map(|text| Section::fenced("## Lint Results", lint_cut(&text))),
        );
        let log = said(context.session_log);
        after.extend(log.map(|text| Section::fenced(SESSION_LOG, end_of(&text, DIFF_BYTES_MAX))));
        Self { before, heading: "## Git Diff".to_owned(), after }
    }

    /// Names these sections without previous errors: our own answer in them would make every failure a new question.
    pub fn digest(&self) -> Digest {
        let mut parts = Parts::new("sections/1");
        parts.text(&self.heading);
        for sections in [&self.before, &self.after] {
            let named: Vec<_> =
                sections.iter().filter(|section| section.heading != PREVIOUS_ERRORS).collect();
            parts.count(named.len());
            for section in named {
                parts.text(&section.heading).text(&section.text).count(usize::from(section.is_fenced));
            }
        }
        parts.digest()
    }

    /// Names what failures stand on beside the files: what a task asks for and what the gate's own commands say. Not a
    /// title, a session or previous errors. None where there is nothing of that kind.
    pub fn evidence(&self) -> Option<Digest> {
        let mut parts = Parts::new("evidence/1");
        let mut found = false;
        for section in self.before.iter().chain(&self.after) {
            let Section { heading, text, .. } = section;
            let heading = match heading.strip_prefix(TASK) {
                Some(task) => task.split(':').next().unwrap_or_default(),
                None if [PREVIOUS_ERRORS, SESSION_LOG].contains(&heading.as_str()) => continue,
                None => heading,
            };
            parts.text(heading).text(text.trim());
            found = true;
        }
        found.then(|| parts.digest())
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Section> {
        self.before.iter_mut().chain(&mut self.after)
    }
}

/// Test results as they are shown: what failed is mostly at the end.
pub fn tests_cut(said: &str) -> String {
    text::cut_middle(said, TEST_BYTES_MAX).into_owned()
}

/// What went wrong before, as it is shown.
pub fn errors_cut(said: &str) -> String {
    text::cut_middle(said, ERROR_BYTES_MAX).into_owned()
}

/// Lint results as they are shown; counted in characters.
pub fn lint_cut(said: &str) -> String {
    match said.char_indices().nth(LINT_CHARS_MAX) {
        None => said.to_owned(),
        Some((end, _)) => {
            format!("{}\n[cut: {LINT_CHARS_MAX} of {} characters shown]", &said[..end], said.chars().count())
        }
    }
}

fn end_of(said: &str, bytes_max: usize) -> String {
    if said.len() <= bytes_max {
        return said.to_owned();
    }
    let kept = text::cut_front_words(said, bytes_max);
    format!("[cut: the last {} of {} bytes shown]\n{kept}", kept.len(), said.len())
}

/// Builds the payload of a question about a change: `texts` are the patches, or the summary of all.
pub fn change_payload(sections: &Sections, texts: &[&str], notes: Option<&str>) -> String {
    let headings = Headings::of(sections);
    let mut changes = Changes::default();
    let mut parts = vec![section("BEGIN OUTPUTS")];
    parts.extend(sections.before.iter().map(|section| headings.word(section, "", &mut changes)));
    let diff = Section::fenced(&sections.heading, texts.concat());
    if !sections.heading.is_empty() {
        parts.push(headings.word(&diff, "diff", &mut changes));
    }
    parts.extend(sections.after.iter().map(|section| headings.word(section, "", &mut changes)));
    parts.push(section("END OUTPUTS"));
    if let Some(notes) = notes.filter(|notes| !notes.trim().is_empty()) {
        let notes = headings.harmless(notes, &mut changes);
        parts.push(format!("{}\n{notes}\n{}", section("AUTHOR NOTES"), section("END AUTHOR NOTES")));
    }
    if changes != Changes::default() {
        parts.insert(0, notice(changes));
    }
    parts.join("\n\n")
}

/// The headings of a question, as a reader takes them in.
struct Headings(Vec<String>);

impl Headings {
    fn of(sections: &Sections) -> Self {
        let all = sections.before.iter().chain(&sections.after).map(|section| section.heading.as_str());
        let known = all.chain([sections.heading.as_str()]).chain(KNOWN).filter_map(heading_words);
        Self(known.collect())
    }

    /// Whether a reader could take this line for one of the headings.
    fn has(&self, line: &str) -> bool {
        line.contains('#')
            && heading_words(line).is_some_and(|words| self.0.iter().any(|own| words.starts_with(own)))
    }

    fn harmless(&self, foreign: &str, changes: &mut Changes) -> String {
        let shown = harmless(foreign, changes);
        text::escape_lines(shown.into(), |line| self.has(line), changes).into_owned()
    }

    fn word(&self, section: &Section, info: &str, changes: &mut Changes) -> String {
        let (heading, changed) = text::neutralise_name(&section.heading);
        changes.add(changed);
        let text = self.harmless(section.text.trim_end_matches('\n'), changes);
        if section.is_fenced {
            let fence = fence(&text);
            return format!("{heading}\n{fence}{info}\n{text}\n{fence}");
        }
        match close_fences(text, changes).as_str() {
            "" => heading.into_owned(),
            text => format!("{heading}\n{text}"),
        }
    }
}

/// Headings that have no business in foreign text, whether or not this question has them.
const KNOWN: [&str; 9] = [
    "## Task Description",
    "## Task Checklist",
    "## Code Changes",
    "## Git Diff",
    "## Test Results",
    "## Lint Status",
    "## Lint Results",
    "## Previous Errors",
    "## Acceptance Criteria",
];

/// The words of a line that reads like a heading, whatever its case and the signs of a diff or list before it.
fn heading_words(line: &str) -> Option<String> {
    let line =
        line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\\' | '+' | '-' | '>' | '*'));
    let inner = line.strip_prefix('#')?.trim_matches('#');
    let inner: String = inner.chars().filter(|c| !text::hides(*c)).collect();
    let words = inner.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    (!words.is_empty()).then_some(words)
}

/// A fence that plain text opens and does not close would swallow every section after it.
fn close_fences(text: String, changes: &mut Changes) -> String {
    let opens = |line: &str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let fences = text.split('\n').filter(|line| opens(line)).count();
    match fences % 2 {
        0 => text,
        _ => text::escape_lines(text.into(), opens, changes).into_owned(),
    }
}

/// A fence longer than any run of its sign inside.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
mod tests;
