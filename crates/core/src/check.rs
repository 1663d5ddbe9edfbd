//! Deterministic checks, as data. The `checks` reviewer of the engine carries them out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a `run` check may take unless it says otherwise.
pub const DEFAULT_RUN_TIMEOUT_SECONDS: u64 = 120;

/// A question that Countersign answers itself. The parameters carry positions while a check is read from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Check", description = "A question that Countersign answers itself.")]
#[serde(rename_all = "snake_case")]
pub enum Check<Text = String, List = Vec<String>, Run = RunCheck> {
    /// No `<<<<<<<`, `=======`, `>>>>>>>` left from a merge.
    NoConflictMarkers,
    /// No TODO, TBD, FIXME, "lorem ipsum" or the like.
    NoPlaceholders,
    /// More than white space.
    NotEmpty,
    /// Parses as JSON.
    ValidJson,
    /// Parses as YAML.
    ValidYaml,
    /// Parses as TOML.
    ValidToml,
    /// Every relative Markdown link leads to a file of the project.
    LinksResolve,
    /// Every one of these Markdown headings is there.
    RequiredHeadings(#[schemars(length(min = 1))] List),
    /// The regular expression is found.
    RequiredPattern(#[schemars(length(min = 1))] Text),
    /// The regular expression is not found.
    ForbiddenPattern(#[schemars(length(min = 1))] Text),
    /// A shell command ends with the expected exit code.
    Run(Run),
}

/// A command as a check. The files of the assignment are its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCheck {
    /// Given to `sh -c`, in the project root.
    pub command: String,
    /// The exit code that means "passes".
    pub exit_code: i32,
    /// After this many seconds the command is ended and there is no verdict.
    pub timeout_seconds: u64,
}

impl Check {
    /// Whether the answer depends on the bytes of the judged file alone. Only such answers are reused.
    pub fn is_pure(&self) -> bool {
        !matches!(self, Self::LinksResolve | Self::Run(_))
    }
}

impl<Text, List, Run> Check<Text, List, Run> {
    /// The same check as it is carried out; none where a part of it cannot be read.
    pub fn read(
        &self,
        text: impl Fn(&Text) -> Option<String>,
        list: impl Fn(&List) -> Option<Vec<String>>,
        run: impl Fn(&Run) -> Option<RunCheck>,
    ) -> Option<Check> {
        Some(match self {
            Self::NoConflictMarkers => Check::NoConflictMarkers,
            Self::NoPlaceholders => Check::NoPlaceholders,
            Self::NotEmpty => Check::NotEmpty,
            Self::ValidJson => Check::ValidJson,
            Self::ValidYaml => Check::ValidYaml,
            Self::ValidToml => Check::ValidToml,
            Self::LinksResolve => Check::LinksResolve,
            Self::RequiredHeadings(headings) => Check::RequiredHeadings(list(headings)?),
            Self::RequiredPattern(pattern) => Check::RequiredPattern(text(pattern)?),
            Self::ForbiddenPattern(pattern) => Check::ForbiddenPattern(text(pattern)?),
            Self::Run(command) => Check::Run(run(command)?),
        })
    }
}
