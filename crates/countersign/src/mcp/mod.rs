//! The MCP server: tools for agents, over standard input and output or over HTTP on loopback.
//!
//! The protocol is the SDK's (`rmcp`, which nothing outside of this folder knows): `initialize` with versions
//! 2024-11-05 to 2025-11-25, and 2026-07-28, which has no handshake. Ours are the tools, the two ways in, and how
//! a failure is told.
//!
//! # How tools are added
//!
//! A tool is a [`tools::Tool`]: name, description, schemas, hints, and an async function from a [`tools::Call`] to a
//! [`tools::Reply`] or a [`Failure`]. A file in `tools/` has a table of them
//! (`pub const TOOLS: &[Tool]`), and [`tools::TABLES`] lists the tables. That is all: listing, calling, checking
//! names, schemas and bounds, progress, cancelling and errors are done here for every table.
//!
//! Within a tool:
//! - `call.arguments::<T>()` reads the arguments into a type that derives `Deserialize` (with
//!   `deny_unknown_fields`) and `JsonSchema`; what does not fit is a clear tool error. Strings that hold NUL or are
//!   longer than [`countersign_app::given::TEXT_LIMIT_BYTES`] are refused before.
//! - `call.project()` is the project with the configuration of this moment, `call.server.engine(&project)` the engine
//!   on it, opened at first use. `call.server.options()` are the flags.
//! - `call.server.perform(&engine, ticket)` has a review performed in the background. It goes on when the call is over
//!   and is stopped, resumable, when the server is.
//! - `call.progress` tells the client how far it is: [`progress::follow`] does so for a review until it has ended, a
//!   deadline has passed or the call is cancelled.
//! - `call.cancel` ends when the client cancels, hangs up, or the server stops.
//! - `Reply::new(&value)` is the answer, as structured content and as the same JSON in text. `.delivered(future)`
//!   runs once the answer was written and nobody had cancelled: for what must not be recorded before.
//! - A failure that is the caller's to mend is `Err(Failure)`: a tool error with kind, code, message and hint. Only
//!   calling a tool that does not exist is a protocol error.

mod failure;
#[cfg(debug_assertions)]
mod fixtures;
mod handler;
mod http;
mod options;
mod progress;
mod server;
mod stdio;
mod tools;

pub use http::HttpOptions;
pub use options::Options;

use countersign_app::Failure;
use server::Server;
use tokio_util::sync::CancellationToken;

/// How clients reach the server.
#[derive(Clone, Debug)]
pub enum Way {
    /// Standard input and output: one client.
    Stdio,
    /// Streamable HTTP on loopback: any number of clients.
    Http(HttpOptions),
}

/// Serves until the client hangs up or a signal comes. Reviews that run then are left resumable.
pub async fn serve(options: Options, way: Way, cancel: &CancellationToken) -> Result<(), Failure> {
    let server = Server::new(options, matches!(way, Way::Stdio), cancel.child_token());
    let served = match way {
        Way::Stdio => stdio::serve(&server).await,
        Way::Http(options) => http::serve(&server, &options).await,
    };
    server.stop().await;
    served
}
