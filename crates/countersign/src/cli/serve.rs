//! `countersign serve`: reviews, tasks, decisions and events over HTTP.

use super::arguments::ServeOptions;
use super::{Failure, Global};
use crate::output::Answer;
use crate::serve;
use countersign_app::Code;
use countersign_app::author;
use countersign_app::project::current_folder;
use countersign_core::outcome::Outcome;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Serves until a signal comes.
pub async fn run(
    global: Global,
    options: ServeOptions,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    // Its token stands for a person; an agent that could start it would have one.
    if author::is_agent() {
        let words = "`serve` is for people: whoever has its token decides like a person";
        return Err(Failure { code: Code::PeopleOnly, ..Failure::usage(words) }
            .hint("have a person start it; agents have `countersign mcp`"));
    }
    serve::serve(current_folder()?, global.config, options.port, cancel).await?;
    let mut answer = Answer::new(Outcome::Passed, "", json!({}));
    answer.printed = true;
    Ok(answer)
}
