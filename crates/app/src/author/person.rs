//! Whether a person gives this command: a terminal that is this process's own, and no evidence of an agent.

use super::{Account, is_hidden, mark};
use countersign_core::review::{Actor, ActorKind, Channel, Evidence};
use rustix::stdio::stdin;
use rustix::termios::{tcgetsid, ttyname};
use std::fs::OpenOptions;
use std::io::IsTerminal;

/// Why a command does not count as a person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAPerson {
    /// The evidence of an agent, in words.
    Agent(String),
    /// What is wrong with the terminal, in words.
    NoTerminal(&'static str),
}

impl NotAPerson {
    /// What is wrong, and what a person does instead.
    pub fn words(&self) -> String {
        match self {
            Self::Agent(mark) => format!(
                "{mark}, so this looks like a command of an agent: a person must run it in a terminal that was not opened by an agent"
            ),
            Self::NoTerminal(why) => format!("{why}: a person must type this command in a terminal"),
        }
    }
}

/// The terminal at which a person gave this command, by its name where it has one.
pub fn terminal() -> Result<Option<String>, NotAPerson> {
    if let Some(mark) = mark() {
        return Err(NotAPerson::Agent(mark));
    }
    if !std::io::stdin().is_terminal() {
        return Err(NotAPerson::NoTerminal("standard input is not a terminal"));
    }
    // Only the terminal that controls this process has a session for it: one that was merely opened does not count.
    if tcgetsid(stdin()).is_err() || OpenOptions::new().read(true).write(true).open("/dev/tty").is_err() {
        return Err(NotAPerson::NoTerminal(
            "standard input is a terminal, but it does not control this process",
        ));
    }
    if is_hidden() {
        return Err(NotAPerson::NoTerminal("the process that started this one cannot be looked at"));
    }
    let name = ttyname(stdin(), vec![]).ok();
    Ok(name.map(|name| name.to_string_lossy().into_owned()))
}

/// Who gives this command.
pub fn actor() -> Actor {
    let (kind, channel, terminal) = match (terminal(), std::io::stdin().is_terminal()) {
        (Ok(terminal), _) => (ActorKind::Person, Channel::Terminal, terminal),
        (Err(NotAPerson::Agent(_)), true) => (ActorKind::Agent, Channel::Terminal, None),
        (Err(NotAPerson::Agent(_)), false) => (ActorKind::Agent, Channel::Command, None),
        (Err(NotAPerson::NoTerminal(_)), _) => (ActorKind::Unknown, Channel::Command, None),
    };
    let evidence = Evidence { terminal, ..Evidence::default() };
    Actor { evidence, ..Actor::new(Account::own().words(), kind, channel) }
}

/// The hint where a command does not count as a person's.
pub fn way_out() -> String {
    terminal().err().map_or_else(String::new, |why| why.words())
}
