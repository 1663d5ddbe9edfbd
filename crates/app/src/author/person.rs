//! Whether a person gives this command: a terminal that is this process's own, and no evidence of an agent.

use super::{Account, is_hidden, mark};
use crate::{Code, Failure};
use countersign_core::outcome::Outcome;
use countersign_core::review::{Actor, ActorKind, Channel, Evidence};
use rustix::fs::{fstat, major, minor};
use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::{tcgetpgrp, ttyname};
use std::fs::OpenOptions;
use std::io::IsTerminal;

/// The device of the end of a terminal that a program holds, on Linux.
const PTMX: (u32, u32) = (5, 2);

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

/// Refuses what is only for people, and says why this is none.
pub fn require_person(words: &str) -> Result<(), Failure> {
    match actor().is_person() {
        true => Ok(()),
        false => Err(Failure::new(Outcome::AwaitingPerson, Code::PeopleOnly, words).hint(way_out())),
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
    let device = fstat(stdin()).map_or((0, 0), |found| (major(found.st_rdev), minor(found.st_rdev)));
    let is_own = is_own(tcgetpgrp(stdin()).err(), device);
    if !is_own || OpenOptions::new().read(true).write(true).open("/dev/tty").is_err() {
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

/// Whether a terminal controls this process, by what the system says of its foreground processes: it answers only for the
/// terminal of the process itself, not for one that was merely opened.
fn is_own(refused: Option<Errno>, device: (u32, u32)) -> bool {
    // The other end of a terminal, which a program holds, gets an answer too.
    let is_other_end = cfg!(target_os = "linux") && device == PTMX;
    // In a container the processes may be outside of its process ids: the answer is then 0, which is no error.
    !is_other_end && matches!(refused, None | Some(Errno::OPNOTSUPP))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_terminal_that_controls_the_process_counts() {
        let pts = (136, 0);
        for (refused, device, own) in [
            (None, pts, true),
            // A process of a container, at a terminal that was opened outside.
            (Some(Errno::OPNOTSUPP), pts, true),
            (Some(Errno::NOTTY), pts, false),
            (Some(Errno::BADF), (0, 0), false),
            (None, PTMX, cfg!(not(target_os = "linux"))),
        ] {
            assert_eq!(is_own(refused, device), own, "{refused:?} {device:?}");
        }
    }
}
