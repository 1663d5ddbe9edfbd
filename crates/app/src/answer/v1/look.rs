//! The answers of commands that look at a project or at this program: `config`, `validate`, `doctor`, `help` and others.

use super::Verdict;
use countersign_core::outcome::Outcome;
use countersign_core::text::counted;
pub use countersign_engine::config::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What `config` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Config {
    /// The project root.
    pub root: PathBuf,
    /// The configuration file, or null.
    pub file: Option<PathBuf>,
    /// The settings in force.
    pub settings: Vec<Setting>,
    /// What gates use, in words; null where no person has trusted the configuration yet.
    pub gate: Option<String>,
}

/// What `config --schema` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigSchema {
    /// The JSON schema of countersign.yml.
    pub json_schema: Value,
}

/// What `validate` answers.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Valid {
    /// The configuration file; null in a project with jobs, tasks or state files alone.
    pub file: Option<PathBuf>,
    /// How many rules there are.
    pub rules: usize,
    /// How many criteria.
    pub criteria: usize,
    /// How many reviewers.
    pub reviewers: usize,
    /// The files of the doors.
    #[serde(flatten)]
    pub files: DoorFiles,
    #[serde(skip)]
    pub lines: Vec<String>,
    /// Files that could not be read.
    #[serde(skip)]
    pub left_out: Vec<String>,
}

impl Valid {
    /// The configuration in a line, for people; none without a file.
    pub fn words(&self) -> Option<String> {
        let Self { file, rules, criteria, reviewers, .. } = self;
        let file = file.as_ref()?.display();
        let (rules, criteria) =
            (counted(*rules, "rule", "rules"), counted(*criteria, "criterion", "criteria"));
        let reviewers = counted(*reviewers, "reviewer", "reviewers");
        Some(format!("{file}: {rules}, {criteria}, {reviewers}: valid"))
    }
}

/// The files of the doors that `validate` looked at.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DoorFiles {
    /// How many jobs.
    pub jobs: usize,
    /// How many tasks of runs.
    pub tasks: usize,
    /// The file with the settings of runs, or null.
    pub run_settings: Option<PathBuf>,
    /// The state files that were checked.
    pub state_files: Vec<PathBuf>,
    /// How many tasks `PLAN.md` has.
    pub plan_tasks: usize,
    /// The keys of other doors.
    #[serde(flatten)]
    #[schemars(skip)]
    pub others: Map<String, Value>,
}

/// What `doctor` and `notify --test` answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Checks {
    /// The checks, in order.
    pub lines: Vec<Check>,
}

/// A check and its result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Check {
    /// `guard`, `git`, `configuration`, `ledger`, `reviewers`, `hook PROGRAM`, `mcp PROGRAM`, `settings PROGRAM`,
    /// `reviewer NAME`, with `--ask` `answers NAME`; of
    /// `notify --test` the way.
    pub what: String,
    /// The result.
    pub state: CheckState,
    /// The result in words.
    pub detail: String,
    /// What to do, or null.
    pub hint: Option<String>,
    /// How long the answer took, or null.
    pub elapsed_ms: Option<u64>,
    #[serde(skip)]
    pub outcome: Option<Outcome>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CheckState {
    /// It works.
    Ok,
    /// It works, with a warning.
    Warn,
    /// It does not work; the command fails.
    Fail,
}

/// What `completions` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Completions {
    /// The shell.
    pub shell: String,
    /// The script.
    pub script: String,
}

/// What `demo` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Demo {
    /// The verdict of each round.
    pub rounds: Vec<Verdict>,
    /// What to do next, in words.
    pub next: Vec<String>,
}

/// The health of the server.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Health {
    /// The version of the program.
    pub version: &'static str,
}

/// What `countersign` alone answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Start {
    /// At most three commands to run next.
    pub next: Vec<Step>,
}

/// A command to run next.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Step {
    /// The command.
    pub command: String,
    /// Why.
    pub why: String,
}

impl Step {
    pub fn new(command: &str, why: &str) -> Self {
        Self { command: command.to_owned(), why: why.to_owned() }
    }
}

/// What `help` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Help {
    /// The topic or command; null for the list.
    pub topic: Option<String>,
    /// Its text.
    pub text: String,
}
