//! `countersign mcp`: a server for agents.

use super::{Failure, Global};
use crate::mcp::{self, HttpOptions, Options};
use crate::output::Answer;
use clap::Args;
use countersign_app::author;
use countersign_app::jobs::Judging;
use countersign_app::project::current_folder;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

const MCP_HELP: &str = "\
Examples:
  countersign mcp                                      over standard input and output, for this project
  countersign mcp --path ../shop                       for another project
  countersign mcp --transport http --port 7331         over HTTP on loopback, with a token
  countersign init --agent claude                      tells an agent to start it in this project

Only the protocol is written to standard output. `countersign help mcp` explains the tools, `help agents` the agents.";

#[derive(Debug, Args)]
#[command(after_help = MCP_HELP)]
pub struct McpOptions {
    /// The folder whose project is served, instead of this one
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// How clients reach the server
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Transport::Stdio)]
    pub transport: Transport,
    /// With --transport http: the port on 127.0.0.1; 0 takes a free one and says which
    #[arg(long, value_name = "N", required_if_eq("transport", "http"))]
    pub port: Option<u16>,
    /// With --transport http: need no token, for tools that cannot send one; every program on this machine gets in
    #[arg(long, requires = "port")]
    pub no_token: bool,
    /// For workflows: the reviewer of the outputs of steps: {programs}, a configured name, auto
    /// (the configured one) or command:PROGRAM. Without it the agent reviews its own work
    #[arg(long, value_name = "NAME")]
    pub external_runner: Option<String>,
    /// For workflows: finish steps without a review of their outputs
    #[arg(long)]
    pub no_quality_gate: bool,
    /// For workflows: stop a step after this many failed attempts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_quality_attempts: Option<u32>,
    /// For workflows: how long a call waits for reviewers before it answers "still running"
    #[arg(long, value_name = "SECONDS", default_value_t = 45, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub wait_seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Transport {
    /// Standard input and output: one client
    Stdio,
    /// Streamable HTTP on 127.0.0.1: any number of clients
    Http,
}

pub async fn run(global: Global, options: McpOptions, cancel: &CancellationToken) -> Result<Answer, Failure> {
    let here = current_folder()?;
    let folder = options.path.as_ref().map_or(here.clone(), |path| here.join(path));
    if !folder.is_dir() {
        return Err(Failure::usage(format!("--path: `{}` is not a folder", folder.display())));
    }
    let http = match (options.transport, options.port) {
        (Transport::Http, Some(port)) => Some(HttpOptions { port, token: !options.no_token }),
        (Transport::Stdio, None) => None,
        _ => {
            return Err(Failure::usage("--port and --no-token need --transport http, and http needs --port"));
        }
    };
    // The path of a configuration file is relative to the current folder, not to the served one.
    let config = global.config.map(|file| here.join(file));
    let judging = Judging {
        runner: options.external_runner,
        quality_gate: !options.no_quality_gate,
        max_attempts: options.max_quality_attempts,
    };
    let (config, judging) = believed(config, judging, author::server_mark());
    for warning in judging.check_runner(&folder, config.as_deref()).await? {
        eprintln!("countersign mcp: {warning}");
    }
    let options = Options { folder, config, judging, wait_seconds: options.wait_seconds };
    mcp::serve(options, http, cancel).await?;
    // Standard output is only for the protocol.
    Ok(Answer::silent())
}

/// The flags that count. Those in the settings of an agent program do; those that an agent gives to a server of its own do
/// not, and are named.
fn believed(config: Option<PathBuf>, judging: Judging, mark: Option<String>) -> (Option<PathBuf>, Judging) {
    let Some(mark) = mark else { return (config, judging) };
    let given = [
        (config.is_some(), "--config"),
        (judging.runner.is_some(), "--external-runner"),
        (!judging.quality_gate, "--no-quality-gate"),
        (judging.max_attempts.is_some(), "--max-quality-attempts"),
    ];
    for (_, name) in given.iter().filter(|(is_given, _)| *is_given) {
        eprintln!("countersign mcp: {name} is ignored: {mark}, and an agent does not choose its judge");
    }
    eprintln!(
        "countersign mcp: no agent program started this server itself, so the configured reviewers judge steps"
    );
    (None, Judging::without_flags())
}
