//! Formats for the tools of others: code hosts, test reports, reviewers of diffs. Each is a function of a [`Report`], which
//! is made of the typed answer; the table here is all that the rest of the program knows of them.
//!
//! No format can show less than the verdict: what is not a pass is an item of its own in every one of them.

mod github;
mod gitlab;
mod junit;
mod log_lines;
mod markdown;
mod outputs;
mod rdjson;
mod report;
mod sarif;
mod sources;
mod text;
mod wanted;

pub use log_lines::{harmless, in_log, without_commands};
pub use report::Report;
pub use wanted::{Outputs, Target, Wanted, failed_text, of_failure, typed};

/// A way to print an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Github,
    Sarif,
    Junit,
    Gitlab,
    Rdjson,
    Markdown,
    /// Lines for `$GITHUB_OUTPUT`.
    Outputs,
}

/// How the format of a name is made.
struct Row {
    name: &'static str,
    format: Format,
    /// None for the two that every command prints itself.
    render: Option<fn(&Report) -> String>,
}

const TABLE: [Row; 9] = [
    Row { name: "text", format: Format::Text, render: None },
    Row { name: "json", format: Format::Json, render: None },
    Row { name: "github", format: Format::Github, render: Some(github::render) },
    Row { name: "sarif", format: Format::Sarif, render: Some(sarif::render) },
    Row { name: "junit", format: Format::Junit, render: Some(junit::render) },
    Row { name: "gitlab", format: Format::Gitlab, render: Some(gitlab::render) },
    Row { name: "rdjson", format: Format::Rdjson, render: Some(rdjson::render) },
    Row { name: "markdown", format: Format::Markdown, render: Some(markdown::render) },
    Row { name: "outputs", format: Format::Outputs, render: Some(outputs::render) },
];

impl Format {
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.format)
    }

    /// All names, for messages.
    pub fn names() -> String {
        TABLE.map(|row| row.name).join(", ")
    }

    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// The answer in this format; none for text and JSON.
    pub fn render(self, report: &Report) -> Option<String> {
        self.row().and_then(|row| row.render).map(|render| render(report))
    }

    fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.format == self)
    }
}
