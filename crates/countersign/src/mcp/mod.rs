//! The MCP server: tools for agents, over standard input and output or over HTTP on loopback.
//!
//! The protocol is the SDK's (`rmcp`, which nothing outside of this folder uses): `initialize` with versions
//! 2024-11-05 to 2025-11-25, and 2026-07-28, which has no handshake. This folder has the tools, the two transports and
//! the form of errors.
//!
//! To add a tool, put a [`tools::Tool`] into the table `TOOLS` of a file in `tools/`; [`tools::TABLES`] lists the tables.
//! Listing, calling, schemas, bounds, progress, cancelling and errors work for every table. In the function of a tool:
//! - `call.arguments::<T>()` reads the arguments into a type with `deny_unknown_fields` and `JsonSchema`. Strings with a
//!   NUL or longer than [`countersign_app::arguments::TEXT_LIMIT_BYTES`] are refused.
//! - `call.project()` reads the configuration anew; `call.server.engine(&project)` opens the engine at first use.
//! - `call.server.perform(&engine, ticket)` runs a review in the background. It outlives the call; when the server stops,
//!   it stops and can be resumed.
//! - [`progress::follow`] waits for a review and sends progress notifications.
//! - `Reply::delivered(future)` runs once the answer was written and the call was not cancelled: for records that must
//!   not be made before.
//! - An error that the caller can fix is `Err(Failure)`: a tool error. Only an unknown tool is a protocol error.

#[cfg(debug_assertions)]
mod fixtures;
mod handler;
mod http;
mod progress;
mod server;
mod stdio;
mod tools;

pub use http::HttpOptions;

use countersign_app::Failure;
use countersign_app::jobs::Judging;
use server::Server;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// The options of a server. They hold until it stops; the configuration is read anew for each call.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder whose project is served; paths that clients send are relative to it.
    pub folder: PathBuf,
    /// Instead of the project's configuration file.
    pub config: Option<PathBuf>,
    /// For workflows: how steps are judged.
    pub judging: Judging,
    /// For workflows: how long a call waits for reviewers before it answers that they are still at work.
    pub wait_seconds: u64,
}

/// Serves over HTTP, else over standard input and output, until the client hangs up or a signal comes. Reviews that
/// still run can be resumed.
pub async fn serve(
    options: Options,
    http: Option<HttpOptions>,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let server = Server::new(options, http.is_none(), cancel.child_token());
    let served = match http {
        None => stdio::serve(&server).await,
        Some(options) => http::serve(&server, &options).await,
    };
    server.stop().await;
    served
}
