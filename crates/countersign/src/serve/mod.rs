//! `countersign serve`: reviews, tasks, decisions and events over HTTP on loopback, for clients with the token.
//!
//! Every answer is the object that the same command prints with `--json`. A route is a row in a table of `routes/`;
//! the description at `/openapi.json` is made from the same rows, so a route that is not described does not exist.
//!
//! Two tokens: the one in the file is for clients, and decides nothing. The other is made where a person starts the server
//! at a terminal, and shown there: a decision with it is a decision of that person.

mod answer;
mod call;
mod openapi;
mod parameter;
mod refusal;
mod route;
mod routes;

use crate::loopback::{self, Gate, Listener, PersonToken};
use countersign_app::Failure;
use countersign_app::author;
use countersign_app::server_state::ServerState;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const NAME: &str = "countersign serve";
const TOKEN_FILE: &str = "serve-token";
/// How many event streams there can be at once. Each keeps its connection, so there must be fewer than connections.
const STREAMS_MAX: usize = 256;

/// Serves until a signal comes. Reviews that run then are left resumable.
pub async fn serve(
    folder: PathBuf,
    config: Option<PathBuf>,
    port: u16,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let resident = ServerState::new(NAME, folder, config, cancel.child_token());
    let served = listen(&resident, port).await;
    resident.stop().await;
    served
}

async fn listen(resident: &ServerState, port: u16) -> Result<(), Failure> {
    let project = resident.project()?;
    let listener = Listener::bind(NAME, port).await?;
    let token = loopback::provide_token(NAME, &project.ledger_dir(), TOKEN_FILE)?;
    let (person, no_person) = match author::terminal() {
        Ok(terminal) => (Some(PersonToken::make(NAME, terminal)?), None),
        Err(why) => (None, Some(why)),
    };
    eprintln!("{NAME}: http://127.0.0.1:{}", listener.port);
    let gate = Arc::new(Gate::new(listener.port, Some(token)).with_person(person));
    let streams = Arc::new(Semaphore::new(STREAMS_MAX));
    let router = answer::router(&answer::Served { resident: resident.clone(), gate, no_person, streams });
    listener.serve(resident.tasks(), resident.stopping(), router).await;
    Ok(())
}
