//! Deterministic checks, as data. The `checks` reviewer of the engine carries them out.

use serde::{Deserialize, Serialize};

/// How long a `run` check may take unless it says otherwise.
pub const DEFAULT_RUN_TIMEOUT_SECONDS: u64 = 120;

/// A question our own code can answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// No `<<<<<<<`, `=======`, `>>>>>>>` left from a merge.
    NoConflictMarkers,
    /// No TODO, TBD, FIXME, "lorem ipsum", `<placeholder>` or the like.
    NoPlaceholders,
    /// More than white space.
    NotEmpty,
    /// Parses as JSON.
    ValidJson,
    /// Parses as YAML.
    ValidYaml,
    /// Parses as TOML.
    ValidToml,
    /// Every one of these Markdown headings is there.
    RequiredHeadings(Vec<String>),
    /// The regular expression is found.
    RequiredPattern(String),
    /// The regular expression is not found.
    ForbiddenPattern(String),
    /// Every relative Markdown link leads to a file of the project.
    LinksResolve,
    /// A shell command ends with the expected exit code. The files of the assignment are its arguments.
    Run(RunCheck),
}

/// A command as a check.
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
    /// Whether the answer depends on nothing but the bytes of the judged file.
    ///
    /// Only such answers stand for unchanged bytes; a command or a link looks further.
    pub fn is_pure(&self) -> bool {
        !matches!(self, Self::LinksResolve | Self::Run(_))
    }
}
