//! The page: what waits, what was found beside the code, and decisions, in a browser on this machine.
//!
//! It is drawn here from what `app::page` gives, as HTML that needs no script, and served by `countersign serve` and
//! `countersign open` under a name of its own (`cs-….localhost`): the API refuses that name, and the page refuses every other.
//! The person who opens the link that was shown at the terminal gets a session; the judged work, reviewers and agents are data here.

mod assets;
mod decision;
mod errors;
mod form;
mod history;
mod inbox;
mod insights;
mod layout;
mod plot;
mod review;
mod review_files;
mod router;
mod sign_in;
mod tasks;

pub use router::router;

use sign_in::SignIn;

use crate::loopback::Listener;
use countersign_app::Failure;
use countersign_app::author::Account;
use countersign_app::server_state::ServerState;
use countersign_core::review::{Actor, ActorKind, Channel, Evidence};
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The page of a server.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

struct Inner {
    resident: ServerState,
    sign_in: SignIn,
    terminal: Option<String>,
    server: &'static str,
    /// The slots of event streams.
    streams: Arc<Semaphore>,
}

impl Web {
    /// A page for the person at a terminal.
    pub fn new(
        server: &'static str,
        resident: &ServerState,
        listener: &Listener,
        terminal: Option<String>,
        streams: Arc<Semaphore>,
    ) -> Result<Self, Failure> {
        let sign_in = SignIn::new(listener.port)?;
        Ok(Self(Arc::new(Inner { resident: resident.clone(), sign_in, terminal, server, streams })))
    }

    /// Makes a new link and shows it at the terminal that controls this process. The one before is no longer good.
    pub fn show_link(&self) -> Result<String, Failure> {
        let link = self.0.sign_in.new_link()?;
        let server = self.0.server;
        let shown = OpenOptions::new().write(true).open("/dev/tty").and_then(|mut tty| {
            writeln!(tty, "{server}: the page, for you alone, once and for 2 minutes: {link}")
        });
        shown.map_err(|error| {
            Failure::internal(format!("the link cannot be shown at the terminal: {error}"))
        })?;
        Ok(link)
    }

    fn resident(&self) -> &ServerState {
        &self.0.resident
    }

    /// The person who has a session: the one at the terminal where the link was shown.
    fn person(&self) -> Actor {
        let evidence = Evidence { terminal: self.0.terminal.clone(), token: None, signature: None };
        Actor { evidence, ..Actor::new(Account::own().words(), ActorKind::Person, Channel::Page) }
    }
}
