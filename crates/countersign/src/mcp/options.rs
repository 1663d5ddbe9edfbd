//! What `countersign mcp` was started with.

use countersign_app::jobs::Judging;
use std::path::PathBuf;

/// The options of a server. They hold for its whole life; the configuration is read anew for each call.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder whose project is served; paths that clients send are relative to it.
    pub folder: PathBuf,
    /// The configuration file instead of the project's.
    pub config: Option<PathBuf>,
    /// For workflows: how steps are judged.
    pub judging: Judging,
    /// For workflows: how long a call waits for reviewers before it answers that they are still at work.
    pub wait_seconds: u64,
}
