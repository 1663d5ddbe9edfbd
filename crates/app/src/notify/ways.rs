//! All ways at once, each within its time.

use super::message::Message;
use super::{bell, command, desktop, sound, webhook};
use crate::project::{Project, guard_program};
use countersign_core::notify::Way;
use countersign_engine::process::{self, Call, GuardProgram, How};
use std::future::Future;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long telling may take, by whichever way: a command that ends must not be kept.
const LIMIT: Duration = Duration::from_secs(10);
/// How long a program of a way may take. Then there is still time to end it in order.
const PROGRAM: Duration = Duration::from_secs(8);
const GRACE: Duration = Duration::from_millis(500);
/// How much of the end of its error output is repeated.
const WORDS_BYTES: usize = 300;

/// What came of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    /// Whether it worked.
    pub state: State,
    /// Why not, or what was done instead; empty where there is nothing to say.
    pub why: String,
}

/// Whether a way worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It did.
    Done,
    /// There is no such way here: no desktop, no terminal.
    NotThere,
    /// It did not.
    Failed,
}

impl State {
    /// As it is recorded.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::NotThere => "not_there",
            Self::Failed => "failed",
        }
    }
}

impl Came {
    /// It worked.
    pub fn done() -> Self {
        Self { state: State::Done, why: String::new() }
    }

    /// There is no such way here.
    pub fn not_there(why: impl Into<String>) -> Self {
        Self { state: State::NotThere, why: why.into() }
    }

    /// It did not work.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { state: State::Failed, why: why.into() }
    }
}

/// Tells by these ways, and comes back with what came of each, in their order.
pub async fn by(ways: &[Way], project: &Project, message: &Message) -> Vec<(Way, Came)> {
    let guard = match guard_program() {
        Ok(guard) => guard,
        Err(failure) => return ways.iter().map(|way| (*way, Came::failed(&failure.message))).collect(),
    };
    // The bell stands in for a sound, and rings once.
    let rings = ways.contains(&Way::Bell);
    let (desktop, bell, sound, webhook, command) = tokio::join!(
        within(ways, Way::Desktop, desktop::show(&guard, message)),
        within(ways, Way::Bell, async { bell::ring() }),
        within(ways, Way::Sound, sound::play(&guard, &message.sound, rings)),
        within(ways, Way::Webhook, webhook::post(project, message, LIMIT)),
        within(ways, Way::Command, command::run(&guard, project, message)),
    );
    [desktop, bell, sound, webhook, command].into_iter().flatten().collect()
}

async fn within(ways: &[Way], way: Way, take: impl Future<Output = Came>) -> Option<(Way, Came)> {
    if !ways.contains(&way) {
        return None;
    }
    let came = tokio::time::timeout(LIMIT, take).await;
    Some((way, came.unwrap_or_else(|_| Came::failed(format!("it took longer than {} s", LIMIT.as_secs())))))
}

/// Runs a program of a way under a guard. `name` is how messages call it.
pub async fn run(guard: &GuardProgram, name: &str, mut call: Call) -> Came {
    (call.timeout, call.grace) = (PROGRAM, GRACE);
    call.surplus = process::Surplus::Forgets;
    call.stdout_limit_bytes = WORDS_BYTES;
    call.stderr_tail_bytes = WORDS_BYTES;
    let ended = match process::run(guard, call, &CancellationToken::new()).await {
        Ok(ended) => ended,
        Err(error) => return Came::failed(format!("`{name}` could not be run: {error}")),
    };
    let said = match ended.stderr_tail.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    };
    match ended.how {
        How::Exited(0) => Came::done(),
        How::Exited(code) => Came::failed(format!("`{name}` ended with exit code {code}{said}")),
        How::Signalled(signal) => Came::failed(format!("`{name}` was ended by signal {signal}{said}")),
        How::NotStarted { reason } => Came::failed(format!("`{name}` could not be started: {reason}")),
        How::TimedOut => Came::failed(format!("`{name}` took longer than {} s", PROGRAM.as_secs())),
        How::TooMuchOutput { .. } | How::Cancelled | How::GuardLost => {
            Came::failed(format!("`{name}` was lost"))
        }
    }
}
