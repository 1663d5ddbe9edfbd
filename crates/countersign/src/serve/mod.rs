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
use crate::web::Web;
use countersign_app::Failure;
use countersign_app::author;
use countersign_app::server_state::ServerState;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const NAME: &str = "countersign serve";
const TOKEN_FILE: &str = "serve-token";
/// How many event streams there can be at once. Each keeps its connection, so there must be fewer than connections.
const STREAMS_MAX: usize = 256;

/// Serves until a signal comes; `browser` opens the page in one. Reviews that run then are left resumable.
pub async fn serve(
    folder: PathBuf,
    config: Option<PathBuf>,
    port: u16,
    browser: bool,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let resident = ServerState::new(NAME, folder, config, cancel.child_token());
    let served = listen(&resident, port, browser).await;
    resident.stop().await;
    served
}

async fn listen(resident: &ServerState, port: u16, browser: bool) -> Result<(), Failure> {
    let project = resident.project()?;
    let listener = Listener::bind(NAME, port).await?;
    let token = loopback::provide_token(NAME, &project.ledger_dir(), TOKEN_FILE)?;
    let streams = Arc::new(Semaphore::new(STREAMS_MAX));
    let (person, page, no_person) = match author::terminal() {
        Ok(terminal) => {
            let page = Web::new(NAME, resident, &listener, terminal.clone(), streams.clone())?;
            (Some(PersonToken::make(NAME, terminal)?), Some(page), None)
        }
        Err(why) => (None, None, Some(why)),
    };
    if let Some(page) = &page {
        let link = page.show_link()?;
        if browser {
            open_browser(&link);
        }
        renew_links(page.clone());
    }
    eprintln!("{NAME}: http://127.0.0.1:{}", listener.port);
    let gate = Arc::new(Gate::new(listener.port, Some(token)).with_person(person));
    let router =
        answer::router(&answer::Served { resident: resident.clone(), gate, no_person, page, streams });
    listener.serve(resident.tasks(), resident.stopping(), router).await;
    Ok(())
}

/// How often a server in the background looks whether it is in the foreground again.
const BACKGROUND: Duration = Duration::from_secs(1);

/// Shows a new link for each line that is typed in the terminal, as long as that terminal belongs to this process: in the
/// background reading would stop it.
fn renew_links(page: Web) {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return;
    }
    // A wait for a terminal cannot be cancelled: the thread ends with the process.
    std::thread::spawn(move || {
        let mut line = String::new();
        loop {
            let mut waited = [PollFd::new(&stdin, PollFlags::IN)];
            if rustix::event::poll(&mut waited, None).is_err_and(|error| error != Errno::INTR) {
                return;
            }
            let in_front =
                rustix::termios::tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp());
            if !in_front {
                std::thread::sleep(BACKGROUND);
                continue;
            }
            line.clear();
            match stdin.read_line(&mut line) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
            if let Err(failure) = page.show_link() {
                eprintln!("{NAME}: {failure}");
            }
        }
    });
}

/// Asks the desktop to open a link. Where that does not work, the link stands in the terminal.
fn open_browser(link: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    let started = command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match started {
        Ok(mut child) => {
            std::thread::spawn(move || {
                // It only hands the link on.
                let _ = child.wait();
            });
        }
        Err(_) => eprintln!("{NAME}: no browser could be started with {program}: open the link above"),
    }
}
