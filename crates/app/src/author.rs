//! Detects whether an agent started this process, and which vendor's model: by marks in the environment of this process
//! and its ancestors, and by the names of the ancestor programs.

use countersign_core::review::{Actor, ActorKind, Channel};
use countersign_core::text::visible_line;
use countersign_engine::process::{Ancestor, ancestors};
use countersign_engine::programs::{PROGRAMS, Programs, Vendor};
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

/// The mark of every process that countersign starts.
pub const OWN_CALL: &str = "COUNTERSIGN_CALL";
/// Programs that run a script named as an argument.
const INTERPRETERS: [&str; 5] = ["node", "bun", "deno", "python", "python3"];

pub fn is_agent() -> bool {
    mark().is_some()
}

/// The evidence that an agent started this process: a variable, here or in an ancestor, or an ancestor program.
pub fn mark() -> Option<String> {
    let own = std::env::vars_os().collect::<Vec<_>>();
    let own = marked(PROGRAMS, &own).map(|words| format!("{words} is set"));
    own.or_else(|| above().iter().find_map(|ancestor| mark_of(PROGRAMS, ancestor)))
}

/// The ancestor processes. A test that acts as a person may itself be started by an agent.
fn above() -> Vec<Ancestor> {
    let hidden = cfg!(debug_assertions) && std::env::var_os("COUNTERSIGN_TEST_NO_ANCESTORS").is_some();
    if hidden { vec![] } else { ancestors() }
}

/// The mark of an agent among variables, in words.
fn marked(programs: Programs, variables: &[(OsString, OsString)]) -> Option<String> {
    let ours = || variables.iter().any(|(name, _)| name == OWN_CALL);
    match programs.marked(variables).next() {
        Some((mark, program)) => Some(format!(
            "{} (a variable that {} sets)",
            mark.name,
            program.map_or("an agent", |program| program.name)
        )),
        None => {
            ours().then(|| format!("{OWN_CALL} (a variable that countersign sets for programs it starts)"))
        }
    }
}

/// The evidence that an ancestor is an agent, or was started by one.
fn mark_of(programs: Programs, ancestor: &Ancestor) -> Option<String> {
    let pid = ancestor.pid;
    if let Some(name) = program_name(programs, &ancestor.args) {
        return Some(format!("process {pid}, an ancestor of this one, is {}", visible_line(name)));
    }
    let words = marked(programs, ancestor.variables.as_deref().unwrap_or_default())?;
    Some(format!("{words} is set in process {pid}, an ancestor of this one"))
}

/// The agent program of a command line, by the name of its file.
fn program_name(programs: Programs, args: &[OsString]) -> Option<&'static str> {
    let name = |word: &OsString| Path::new(word).file_name().and_then(OsStr::to_str).map(str::to_owned);
    let known = |name: String| {
        let name = name.strip_suffix(".js").unwrap_or(&name);
        programs.named(name).map(|program| program.name)
    };
    let first = args.first().and_then(name)?;
    if INTERPRETERS.contains(&first.as_str()) {
        let script = args.iter().skip(1).find(|word| !word.to_string_lossy().starts_with('-'));
        return script.and_then(name).and_then(known);
    }
    known(first)
}

/// Who gives this command. A person has a terminal on standard input and no evidence of an agent.
pub fn actor() -> Actor {
    let (kind, channel) = match (std::io::stdin().is_terminal(), is_agent()) {
        (true, false) => (ActorKind::Person, Channel::Terminal),
        (false, false) => (ActorKind::Unknown, Channel::Command),
        (true, true) => (ActorKind::Agent, Channel::Terminal),
        (false, true) => (ActorKind::Agent, Channel::Command),
    };
    Actor::new(user_name(), kind, channel)
}

/// The hint where a command does not count as a person's.
pub fn way_out() -> String {
    match mark() {
        Some(mark) => {
            format!(
                "{mark}, so this looks like a command of an agent: a person must run it in a terminal that was not opened by an agent"
            )
        }
        None => "standard input is not a terminal: a person must type this command in a terminal".to_owned(),
    }
}

pub fn user_name() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
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

    fn variables(all: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        all.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    /// Each as measured in the shell of the real program; a single one is enough.
    #[test]
    fn every_measured_mark_of_an_agent_is_one() {
        for name in [
            "CLAUDECODE",
            "AI_AGENT",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CODEX_THREAD_ID",
            "CODEX_SESSION_ID",
            "CODEX_CI",
            "CODEX_TOOL_CALL_ID",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "CODEX_SANDBOX",
            "GEMINI_CLI",
            "QWEN_CODE",
            "OPENCODE",
            "OPENCODE_PID",
            "AGENT",
            "COPILOT_CLI",
            "COPILOT_AGENT_SESSION_ID",
            "COUNTERSIGN_CALL",
        ] {
            let found = marked(PROGRAMS, &variables(&[("HOME", "/h"), (name, "1")]));
            assert!(found.is_some_and(|words| words.starts_with(name)), "{name}");
        }
        for (name, value) in
            [("AGENT", "ssh"), ("GIT_CONFIG_COUNT", "1"), ("CODEX_HOME", "/h"), ("PATH", "/codex")]
        {
            assert_eq!(marked(PROGRAMS, &variables(&[(name, value)])), None, "{name}");
        }
    }

    #[test]
    fn agent_programs_are_known_by_their_files() {
        let of =
            |line: &str| program_name(PROGRAMS, &line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for (line, program) in [
            ("claude -p", Some("claude")),
            ("/opt/npm/bin/codex exec -", Some("codex")),
            ("node /opt/npm/bin/gemini -p x", Some("gemini")),
            ("node --no-warnings /opt/npm/bin/qwen", Some("qwen")),
            ("node /opt/copilot", Some("copilot")),
            ("bun /opt/opencode.js", Some("opencode")),
            ("vim claude", None),
            ("ssh codex", None),
            ("bash -c codex", None),
            ("node server.js claude", None),
            ("", None),
        ] {
            assert_eq!(of(line), program, "{line}");
        }
    }

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

    #[test]
    fn issue_15_8_a_made_up_program_is_an_agent_by_its_row() {
        let programs = crate::made_up::WITH_MADE_UP;
        let found = marked(programs, &variables(&[("MADE_UP_SESSION", "7")]));
        assert_eq!(found.as_deref(), Some("MADE_UP_SESSION (a variable that made-up sets)"));
        let line = ["node", "/opt/made-up.js"].map(OsString::from);
        assert_eq!(program_name(programs, &line), Some("made-up"));
        assert!(programs.authors().any(|author| author == ("made-up", Vendor::Google)));
        assert_eq!(marked(PROGRAMS, &variables(&[("MADE_UP_SESSION", "7")])), None);
    }
}
