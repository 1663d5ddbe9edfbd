//! `countersign serve`: reviews, tasks, decisions and events over HTTP.

use super::{Failure, Global};
use crate::output::Answer;
use crate::serve;
use clap::Args;
use countersign_app::Code;
use countersign_app::author;
use countersign_app::project::current_folder;
use tokio_util::sync::CancellationToken;

const SERVE_HELP: &str = "\
Examples:
  countersign serve              on port 7332; shows the token the first time
  countersign serve --port 0     on a free port, and says which
  curl http://127.0.0.1:7332/openapi.json      all requests

With the token, and without showing it in the list of processes:
  curl -H @<(printf 'Authorization: Bearer %s' \"$(cat .git/countersign/serve-token)\") \\
    http://127.0.0.1:7332/v1/status

On 127.0.0.1 only. Clients have the token in the file serve-token beside the ledger, which only you can read
(.git/countersign/serve-token; without git .countersign/serve-token); delete the file to get a new one. It decides nothing. If you start the server at a terminal, it shows
another token there, a new one each time: a program with that token decides about reviews in your
name, so give it to your own programs and to no agent.";

#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeOptions {
    /// The port on 127.0.0.1; 0 takes a free one and says which
    #[arg(long, value_name = "N", default_value_t = 7332)]
    pub port: u16,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
}

const OPEN_HELP: &str = "\
Starts a server on a free port, as `countersign serve --port 0 --open` does, and opens the page in a browser. Ctrl-C
ends it. Nothing that runs elsewhere depends on it.";

#[derive(Debug, Args)]
#[command(after_help = OPEN_HELP)]
pub struct OpenOptions {
    /// Start no browser, only show the link
    #[arg(long)]
    pub no_browser: bool,
}

pub async fn open(
    global: Global,
    options: OpenOptions,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    author::require_person(
        "only a person may open the page: decisions there are recorded as those of that person",
    )?;
    run(global, ServeOptions { port: 0, open: !options.no_browser }, cancel).await
}

pub async fn run(
    global: Global,
    options: ServeOptions,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    // A server of an agent would only look like one of a person.
    if author::is_agent() {
        let words = "only a person may start `serve`: programs decide there in the name of that person";
        return Err(Failure { code: Code::PeopleOnly, ..Failure::usage(words) }
            .hint("ask a person to start it; agents use `countersign mcp`"));
    }
    serve::serve(current_folder()?, global.config, options.port, options.open, cancel).await?;
    Ok(Answer::silent())
}
