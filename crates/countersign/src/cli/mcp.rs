//! `countersign mcp`: a server for agents.

use super::arguments::{McpOptions, Transport};
use super::{Failure, Global};
use crate::mcp::{self, HttpOptions, Options, Way};
use crate::output::Answer;
use countersign_app::jobs::Judging;
use countersign_app::project::current_folder;
use countersign_core::outcome::Outcome;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Serves until the client hangs up, or a signal comes.
pub async fn run(global: Global, options: McpOptions, cancel: &CancellationToken) -> Result<Answer, Failure> {
    let here = current_folder()?;
    let folder = options.path.as_ref().map_or(here.clone(), |path| here.join(path));
    if !folder.is_dir() {
        return Err(Failure::usage(format!("--path: `{}` is no folder", folder.display())));
    }
    let way = match (options.transport, options.port) {
        (Transport::Http, Some(port)) => Way::Http(HttpOptions { port, token: !options.no_token }),
        (Transport::Stdio, None) => Way::Stdio,
        _ => {
            return Err(Failure::usage(
                "--port and --no-token go with --transport http, and http needs a --port",
            ));
        }
    };
    // A configuration file is named from where the command was typed, whatever folder is served.
    let config = global.config.map(|file| here.join(file));
    let options = Options {
        folder,
        config,
        judging: Judging {
            runner: options.external_runner,
            quality_gate: !options.no_quality_gate,
            max_attempts: options.max_quality_attempts,
        },
        wait_seconds: options.wait_seconds,
    };
    mcp::serve(options, way, cancel).await?;
    let mut answer = Answer::new(Outcome::Passed, "", json!({}));
    // Standard output belongs to the protocol.
    answer.printed = true;
    Ok(answer)
}
