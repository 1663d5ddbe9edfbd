//! The entries in the settings of agent programs that start this program, as they are, for the diagnosis.

use super::file::Settings;
use super::{edit, hooks};
use countersign_engine::config::Diagnostic;
use countersign_engine::programs::{PROGRAMS, ServerEntry};
use countersign_engine::workspace::Root;
use serde_json::Value;

/// An entry that is there.
pub struct Entry {
    pub agent: &'static str,
    /// The file, from the root.
    pub file: &'static str,
    pub kind: EntryKind,
    /// The command line, by words.
    pub command: Vec<String>,
}

pub enum EntryKind {
    Hook,
    /// The server, with the row and the value of its entry.
    Server(&'static ServerEntry, Value),
}

/// Every entry of every program, or why its file says nothing.
pub fn entries(root: &Root) -> Vec<(&'static str, Result<Entry, Diagnostic>)> {
    let mut all = vec![];
    for program in PROGRAMS.agents() {
        if let Some(row) = &program.server {
            let found = row.files.iter().find_map(|file| server(root, program.name, row, file).transpose());
            all.extend(found.map(|found| (program.name, found)));
        }
        if let Some(hook) = program.hook {
            let command = Settings::read(root, hook.file).and_then(|settings| {
                let Some(text) = &settings.text else { return Ok(None) };
                hooks::command_line(hook, text).map_err(|fault| super::placed(&settings, text, fault))
            });
            let entry =
                |command| Entry { agent: program.name, file: hook.file, kind: EntryKind::Hook, command };
            all.extend(
                command.map(|command| command.map(entry)).transpose().map(|found| (program.name, found)),
            );
        }
    }
    all
}

fn server(
    root: &Root,
    agent: &'static str,
    row: &'static ServerEntry,
    file: &'static str,
) -> Result<Option<Entry>, Diagnostic> {
    let settings = Settings::read(root, file)?;
    let Some(text) = &settings.text else { return Ok(None) };
    let found =
        edit::look(row.format, text, row.path).map_err(|fault| super::placed(&settings, text, fault))?;
    Ok(found.map(|found| Entry {
        agent,
        file,
        command: words(&found.value),
        kind: EntryKind::Server(row, found.value),
    }))
}

/// The command line of a server: `command` is the program, or all of it.
fn words(entry: &Value) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let program = entry["command"].as_str().map(str::to_owned);
    program.into_iter().chain(texts(&entry["command"])).chain(texts(&entry["args"])).collect()
}
