//! The answer of `countersign trust`: what decides how work is judged.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// What decides how work is judged here.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Trust {
    /// The root of the project.
    pub root: PathBuf,
    /// Whether a person has said yes to this.
    pub trusted: bool,
    /// Whether a person had said yes to an earlier state.
    pub trusted_before: bool,
    /// Where gates take their configuration from, in words.
    pub source: Option<String>,
    /// The commit whose files gates use.
    pub commit: Option<String>,
    /// The remote whose branch counts.
    pub remote: Option<Remote>,
    /// Whether the files of the folder count rather than those of the remote.
    pub vouched: bool,
    /// The names of the rules.
    pub rules: Vec<String>,
    /// The reviewers, with the programs that are started.
    pub reviewers: Vec<Judge>,
    /// The commands of `run` checks.
    pub commands: Vec<String>,
    /// The files that decide how work is judged.
    pub files: Vec<GateFile>,
    /// The user's own configuration file.
    pub user_file: Option<PathBuf>,
    /// The folders of trusted programs, beside those of the system.
    pub folders: Vec<PathBuf>,
    /// The variables whose values are trusted: those that steer programs, and those that the person named.
    pub variables: Vec<Variable>,
    /// What a person should know.
    pub notes: Vec<String>,
    /// How the files differ from what is trusted.
    pub diff: String,
}

/// A branch of a remote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Remote {
    /// Its name here.
    pub name: String,
    /// Its address, which is pinned.
    pub url: String,
    /// The branch.
    pub branch: String,
    /// Its commit.
    pub commit: String,
}

/// A reviewer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TrustedReviewer")]
pub struct Judge {
    /// Its name.
    pub name: String,
    /// What is asked: a program, a command or an address.
    pub asks: String,
    /// The programs that are started.
    pub programs: Vec<Program>,
    /// Why gates do not ask it, where what gates use now is shown.
    pub problem: Option<String>,
}

/// A program of a reviewer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TrustedProgram")]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Why gates do not start it.
    pub problem: Option<String>,
}

/// A variable that steers reviewers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TrustedVariable")]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value; none where it has a password, and where it is not set any more.
    pub value: Option<String>,
    /// Against what is trusted: `same`, `new`, `changed` or `removed`.
    pub change: String,
}

/// A file that decides how work is judged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GateFile {
    /// Its path.
    pub path: String,
    /// Against what is trusted: `same`, `new`, `changed` or `removed`.
    pub change: String,
}
