//! What `countersign mcp` was started with.

use std::path::PathBuf;

/// The options of a server. They hold for its whole life; the configuration is read anew for each call.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder whose project is served; paths that clients send are relative to it.
    pub folder: PathBuf,
    /// The configuration file instead of the project's.
    pub config: Option<PathBuf>,
    /// For workflows: who reviews, instead of whoever is configured. A configured name or a short form.
    pub external_runner: Option<String>,
    /// For workflows: whether the outputs of a step are judged before it counts as finished.
    pub quality_gate: bool,
    /// For workflows: the failing call of a step that stops it, instead of the configured one.
    pub max_quality_attempts: Option<u32>,
    /// For workflows: how long a call waits for reviewers before it answers that they are still at work.
    pub wait_seconds: u64,
}
