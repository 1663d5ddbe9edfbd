//! Sends a message by all ways in parallel, each within a time limit. The webhook and the command are here; the bell,
//! the desktop and the sound have modules of their own.

use super::message::Message;
use super::{bell, desktop, sound};
use crate::project::{Project, guard_program};
use countersign_core::notify::Way;
use countersign_engine::process::{self, Call, GuardProgram, ProcessEnd};
use countersign_engine::reviewer::Command;
use countersign_engine::webhook::Webhook;
use serde::Serialize;
use std::future::Future;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// For every way: a command that ends must not be delayed.
const LIMIT: Duration = Duration::from_secs(10);
/// For the program of a way, so that there is time to end it.
const PROGRAM: Duration = Duration::from_secs(8);
const GRACE: Duration = Duration::from_millis(500);
const WORDS_BYTES: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub state: State,
    /// The reason, or what was done instead; may be empty.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Done,
    /// There is no such way here: no desktop, no terminal.
    NotThere,
    Failed,
}

impl Sent {
    pub fn done() -> Self {
        Self { state: State::Done, why: String::new() }
    }

    pub fn not_there(why: impl Into<String>) -> Self {
        Self { state: State::NotThere, why: why.into() }
    }

    pub fn failed(why: impl Into<String>) -> Self {
        Self { state: State::Failed, why: why.into() }
    }
}

/// Sends a message by these ways; the results have the order of [`Way`].
pub async fn by(ways: &[Way], project: &Project, message: &Message) -> Vec<(Way, Sent)> {
    let guard = match guard_program() {
        Ok(guard) => guard,
        Err(failure) => return ways.iter().map(|way| (*way, Sent::failed(&failure.message))).collect(),
    };
    // The bell replaces a sound that cannot be played, and rings once.
    let rings = ways.contains(&Way::Bell);
    let (desktop, bell, sound, webhook, command) = tokio::join!(
        within(ways, Way::Desktop, desktop::show(&guard, message)),
        within(ways, Way::Bell, async { bell::ring() }),
        within(ways, Way::Sound, sound::play(&guard, &message.sound, rings)),
        within(ways, Way::Webhook, post(project, message)),
        within(ways, Way::Command, command(&guard, project, message)),
    );
    [desktop, bell, sound, webhook, command].into_iter().flatten().collect()
}

async fn within(ways: &[Way], way: Way, take: impl Future<Output = Sent>) -> Option<(Way, Sent)> {
    if !ways.contains(&way) {
        return None;
    }
    let sent = tokio::time::timeout(LIMIT, take).await;
    Some((way, sent.unwrap_or_else(|_| Sent::failed(format!("it took longer than {} s", LIMIT.as_secs())))))
}

async fn post(project: &Project, message: &Message) -> Sent {
    let Some(config) = &project.config.notify.webhook else { return Sent::not_there("no webhook") };
    let token = match &config.token_env {
        None => None,
        Some(name) => match std::env::var(name) {
            Ok(token) if !token.trim().is_empty() => Some(token.trim().to_owned()),
            _ => return Sent::failed(format!("the variable `{name}` holds no token")),
        },
    };
    let timeout = Duration::from_secs(config.timeout_seconds.into());
    let webhook = Webhook { url: config.url.clone(), token, timeout };
    match webhook.post(&message.json().to_string(), &message.id, LIMIT).await {
        Ok(()) => Sent::done(),
        Err(why) => Sent::failed(why),
    }
}

/// Runs the user's command with the message on its standard input and in its environment.
async fn command(guard: &GuardProgram, project: &Project, message: &Message) -> Sent {
    let Some(argv) = &project.config.notify.command else { return Sent::not_there("no command") };
    // Files of the project keep their paths, as for a reviewer that is a command.
    let command = Command { argv: argv.clone(), model: None }.from_anywhere(project.root.path());
    let mut words = command.argv.into_iter();
    let Some(program) = words.next() else { return Sent::not_there("no command") };
    let mut call = Call::new(&program);
    call.args = words.map(Into::into).collect();
    call.cwd = project.root.path().to_owned();
    call.env = message.environment();
    call.stdin = format!("{}\n", message.json()).into_bytes();
    run(guard, &program, call).await
}

/// Runs a program under a guard. `name` is its name in messages.
pub async fn run(guard: &GuardProgram, name: &str, mut call: Call) -> Sent {
    (call.timeout, call.grace) = (PROGRAM, GRACE);
    call.surplus = process::Surplus::Forgets;
    call.stdout_limit_bytes = WORDS_BYTES;
    call.stderr_tail_bytes = WORDS_BYTES;
    let ended = match process::run(guard, call, &CancellationToken::new()).await {
        Ok(ended) => ended,
        Err(error) => return Sent::failed(format!("`{name}` could not be run: {error}")),
    };
    let said = match ended.stderr_tail.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    };
    match ended.how {
        ProcessEnd::Exited(0) => Sent::done(),
        ProcessEnd::Exited(code) => Sent::failed(format!("`{name}` ended with exit code {code}{said}")),
        ProcessEnd::Signalled(signal) => Sent::failed(format!("`{name}` was ended by signal {signal}{said}")),
        ProcessEnd::NotStarted { reason } => Sent::failed(format!("`{name}` could not be started: {reason}")),
        ProcessEnd::TimedOut => Sent::failed(format!("`{name}` took longer than {} s", PROGRAM.as_secs())),
        ProcessEnd::TooMuchOutput { .. } | ProcessEnd::Cancelled | ProcessEnd::GuardLost => {
            Sent::failed(format!("`{name}` was lost"))
        }
    }
}
