//! The screen of a run (`countersign tui`): the states of its tasks, and decisions about those that wait.
//!
//! ```text
//! disk ──► gather ──► Board ──┐
//!                             ├──► screen ──► terminal
//! keys ──► View ──────────────┘
//!            └──► Act: a decision ──► engine
//! ```

mod board;
mod gather;
mod screen;
#[cfg(test)]
mod tests;
mod view;

use crate::terminal::keys::Key;
use crate::terminal::{self, Input, Screen};
use board::Board;
use countersign_app::Failure;
use countersign_app::project::Project;
use countersign_doors::run::layout::Layout;
use countersign_engine::engine::Engine;
use gather::Gatherer;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use view::{Act, View};

const LOOK_MILLISECONDS: u64 = 250;

pub struct Source<'s> {
    pub project: &'s Project,
    pub layout: &'s Layout,
    /// The engine of a run in this process; otherwise one is made at the first decision.
    pub engine: Option<Engine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Quit,
    Closed,
    Cancelled,
}

/// Shows a run until a key quits it or the token is cancelled. It reads the disk alone, whichever process runs the tasks.
pub async fn show(source: Source<'_>, cancel: CancellationToken) -> Result<Left, Failure> {
    if !terminal::is_there() {
        return Err(Failure::usage("this screen needs a terminal")
            .hint("`countersign status` shows the tasks without one"));
    }
    let failed = |error: io::Error| Failure::internal(format!("the terminal cannot be used: {error}"));
    let mut input = Input::new().map_err(failed)?;
    let mut resized = signal(SignalKind::window_change()).map_err(failed)?;
    let mut shown = Shown::open(&source).await.map_err(failed)?;
    let mut look = tokio::time::interval(Duration::from_millis(LOOK_MILLISECONDS));
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        if let Err(error) = shown.draw() {
            return if terminal::is_closed(&error) { Ok(Left::Closed) } else { Err(failed(error)) };
        }
        tokio::select! {
            () = cancel.cancelled() => return Ok(Left::Cancelled),
            _ = resized.recv() => {}
            _ = look.tick() => shown.look().await,
            key = input.key() => match key.map_err(failed)? {
                None => return Ok(Left::Closed),
                Some(key) => if shown.key(key).await { return Ok(Left::Quit) },
            },
        }
    }
}

struct Shown<'s> {
    gatherer: Gatherer<'s>,
    board: Board,
    view: View,
    screen: Screen,
}

impl<'s> Shown<'s> {
    async fn open(source: &'s Source<'s>) -> io::Result<Self> {
        let view = View { coloured: terminal::is_coloured(), ..View::default() };
        let gatherer = Gatherer::new(source);
        let mut shown = Self { gatherer, board: Board::default(), view, screen: Screen::open()? };
        shown.look().await;
        Ok(shown)
    }

    async fn look(&mut self) {
        let mut now = self.gatherer.board(self.view.selected.as_deref()).await;
        self.view.take(&self.board, &mut now);
        self.board = now;
    }

    fn draw(&mut self) -> io::Result<()> {
        let size = self.screen.size()?;
        if size != self.view.size {
            self.view.resize(&self.board, size);
        }
        self.screen.draw(|frame| screen::draw(frame, &self.board, &self.view))
    }

    /// Handles a key. True where it quits.
    async fn key(&mut self, key: Key) -> bool {
        match self.view.key(&self.board, key) {
            Act::Quit => return true,
            Act::Draw => {}
            Act::Select => self.look().await,
            Act::Decide(asked) => {
                let decided = self.gatherer.decide(&asked.review, asked.digest, asked.verb).await;
                self.view.note = Some(match decided {
                    Ok(()) => format!("{}: {} is recorded.", asked.task, asked.verb.name()),
                    Err(failure) => format!("Nothing was decided: {}", failure.message),
                });
                self.look().await;
            }
        }
        false
    }
}
