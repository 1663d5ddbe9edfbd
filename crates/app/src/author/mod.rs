//! Detects whether an agent started this process, and which vendor's model: by marks in the environment of this process
//! and its ancestors, and by the files that the ancestors execute.

mod account;
mod ancestor;
mod person;

pub use account::{Account, home};
pub use person::{NotAPerson, actor, require_person, terminal, way_out};

use ancestor::{mark_of, marked};
use countersign_engine::process::{Ancestor, ancestors};
use countersign_engine::programs::{Hook, PROGRAMS, Vendor};

/// The mark of every process that countersign starts.
pub const OWN_CALL: &str = "COUNTERSIGN_CALL";

pub fn is_agent() -> bool {
    mark().is_some()
}

/// The evidence that an agent started this process: a variable, here or in an ancestor, or an ancestor program.
pub fn mark() -> Option<String> {
    let own = std::env::vars_os().collect::<Vec<_>>();
    let own = marked(PROGRAMS, &own).map(|words| format!("{words} is set"));
    own.or_else(|| above().iter().find_map(|ancestor| mark_of(PROGRAMS, ancestor)))
}

/// The evidence that a shell of an agent called this hook, and not the program of the agent.
pub fn shell_mark(hook: Hook) -> Option<String> {
    let own = std::env::vars_os().collect::<Vec<_>>();
    ancestor::shell_mark(PROGRAMS, hook.shell_marks, &own, &above())
}

/// The evidence that an agent started this server, and not the program of the agent by its settings. Programs set their
/// marks for servers too, but start them themselves: what an agent starts is a child of its shell.
pub fn server_mark() -> Option<String> {
    let is_of_program = above().first().is_some_and(|parent| ancestor::is_agent(PROGRAMS, parent));
    mark().filter(|_| !is_of_program)
}

/// The ancestor processes. A test that acts as a person may itself be started by an agent, so it names itself as the end.
fn above() -> Vec<Ancestor> {
    let end = test_process();
    ancestors().into_iter().take_while(|ancestor| Some(ancestor.pid) != end).collect()
}

/// Whether this process has a parent that cannot be looked at.
fn is_hidden() -> bool {
    rustix::process::getppid().is_some() && ancestors().is_empty()
}

fn test_process() -> Option<u32> {
    let pid = std::env::var("COUNTERSIGN_TEST_PROCESS").ok().filter(|_| cfg!(debug_assertions))?;
    pid.parse().ok()
}

pub fn vendor() -> Option<Vendor> {
    let own = std::env::vars_os().collect::<Vec<_>>();
    PROGRAMS.marked(&own).find_map(|(_, program)| program?.vendor)
}

pub fn named(name: &str) -> Result<Vendor, String> {
    let known = PROGRAMS.authors().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, vendor)| vendor).ok_or_else(|| {
        let names: Vec<&str> = PROGRAMS.authors().map(|(name, _)| name).collect();
        format!("known: {}", names.join(", "))
    })
}

/// The vendor of a client's model, by the name that the client gives.
pub fn of_client(name: &str) -> Option<Vendor> {
    let name = name.to_ascii_lowercase();
    PROGRAMS.authors().find(|(known, _)| name.contains(known)).map(|(_, vendor)| vendor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_known_by_their_names() {
        for (client, vendor) in [
            ("claude-code", Some(Vendor::Anthropic)),
            ("codex-mcp-client", Some(Vendor::OpenAi)),
            ("gemini-cli-mcp-client", Some(Vendor::Google)),
            ("opencode", None),
            ("", None),
        ] {
            assert_eq!(of_client(client), vendor, "{client}");
        }
    }
}
