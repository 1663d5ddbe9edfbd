//! Configuration: `countersign.yml` to typed values, once, at the edge.
//!
//! ```text
//! find ──► written ──► layer (rules, reviewers) ──► resolve ──► Config
//! bytes    as typed    as meant, per file           merged
//! ```
//!
//! What is YAML about it is in `yaml`. Only `find` does I/O. A file that is not YAML has one problem; otherwise all problems of all files are
//! reported together, each with its place. Nothing that is written wrongly is read as a default.

mod commands;
mod find;
mod layer;
mod notify;
mod resolve;
mod reviewers;
mod rules;
mod service;
mod settings;
mod written;
mod written_use;

pub use crate::yaml::{
    Diagnostic, FileBytes, MAX_FILE_BYTES, MAX_PROBLEMS, Place, Problems, Related, Source,
};
pub use commands::{CommandsConfig, TestsIn};
pub use find::{Environment, FILE_NAME, Flags, Gathered, find_root, gather, gather_readable, user_file};
pub use notify::{DEFAULT_WEBHOOK_SECONDS, NotifyConfig, WebhookConfig};
pub use resolve::{Config, UNKNOWN_REVIEWER, resolve};
pub use reviewers::{
    AUTO, AskSettings, CommandReviewer, KeySource, PROGRAM_CONCURRENCY, ProgramReviewer, ReviewerConfig,
    ReviewerKind, SERVICE_CONCURRENCY, Sees, ServiceReviewer, is_short_form, short_service,
};
pub use rules::{CheckProblem, RuleSource};
pub use service::{
    ContextConfig, DEFAULT_MAX_REVISIONS, DEFAULT_REVIEW_COMMAND, Pipeline, ServiceConfig, Trigger,
};
pub(crate) use settings::DEFAULT_BYTES;
pub use settings::{JobsConfig, Limits, Origin, QrConfig, RedactionConfig, Setting};
pub use written::schema;

use std::path::Path;

/// Finds, reads and understands the configuration of the project around `start` (an absolute path).
pub fn load(
    start: &Path,
    flags: &Flags,
    environment: &Environment,
    check_problem: CheckProblem<'_>,
) -> Result<Config, Problems> {
    resolve(&gather(start, flags, environment)?, flags, environment, check_problem)
}
