//! The MCP server entry in an agent's settings: its members, and whether an entry is ours.

use super::edit::Members;
use countersign_engine::programs::ServerForm;
use serde_json::{Value, json};

/// As agents find it on the PATH.
const PROGRAM: &str = "countersign";
const SERVE: &str = "mcp";

pub fn arguments(external_runner: Option<&str>) -> Vec<String> {
    let runner = external_runner.map(|name| ["--external-runner".to_owned(), name.to_owned()]);
    std::iter::once(SERVE.to_owned()).chain(runner.into_iter().flatten()).collect()
}

pub fn members(form: ServerForm, arguments: &[String]) -> Members {
    let (name, command) = changing(form, arguments);
    match form {
        ServerForm::CommandAndArgs => vec![("command", json!(PROGRAM)), (name, command)],
        ServerForm::LocalCommand => vec![("type", json!("local")), (name, command), ("enabled", json!(true))],
    }
}

/// The member that has the arguments.
pub fn changing(form: ServerForm, arguments: &[String]) -> (&'static str, Value) {
    match form {
        ServerForm::CommandAndArgs => ("args", json!(arguments)),
        ServerForm::LocalCommand => ("command", [&[PROGRAM.to_owned()], arguments].concat().into()),
    }
}

/// The arguments of an entry that starts our server; none for another entry. Other members, such as a timeout, are the
/// user's and make no difference.
pub fn ours(form: ServerForm, entry: &Value) -> Option<Vec<String>> {
    let texts = |list: &Value| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let (program, arguments) = match form {
        ServerForm::CommandAndArgs => {
            (entry.get("command")?.as_str()?.to_owned(), texts(entry.get("args")?)?)
        }
        ServerForm::LocalCommand => {
            let mut words = texts(entry.get("command")?)?;
            if words.is_empty() || entry.get("type")? != "local" {
                return None;
            }
            (words.remove(0), words)
        }
    };
    (program == PROGRAM && arguments.first().is_some_and(|first| first == SERVE)).then_some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_starts_our_server_is_ours() {
        let words = |list: &[&str]| Some(list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let table = [
            (ServerForm::CommandAndArgs, json!({"command": "countersign", "args": ["mcp"]}), words(&["mcp"])),
            (
                ServerForm::CommandAndArgs,
                json!({"command": "countersign", "args": ["mcp", "x"], "timeout": 9}),
                words(&["mcp", "x"]),
            ),
            (ServerForm::CommandAndArgs, json!({"command": "countersign", "args": ["review"]}), None),
            (ServerForm::CommandAndArgs, json!({"command": "countersign", "args": ["mcp", 1]}), None),
            (ServerForm::CommandAndArgs, json!({"command": "/opt/countersign", "args": ["mcp"]}), None),
            (ServerForm::CommandAndArgs, json!({"command": "countersign"}), None),
            (ServerForm::CommandAndArgs, json!("countersign mcp"), None),
            (
                ServerForm::LocalCommand,
                json!({"type": "local", "command": ["countersign", "mcp"], "enabled": false}),
                words(&["mcp"]),
            ),
            (ServerForm::LocalCommand, json!({"type": "remote", "command": ["countersign", "mcp"]}), None),
            (ServerForm::LocalCommand, json!({"type": "local", "command": []}), None),
        ];
        for (form, entry, expect) in table {
            assert_eq!(ours(form, &entry), expect, "{entry}");
        }
    }

    #[test]
    fn what_we_write_is_ours() {
        for form in [ServerForm::CommandAndArgs, ServerForm::LocalCommand] {
            for runner in [None, Some("claude")] {
                let arguments = arguments(runner);
                let entry =
                    members(form, &arguments).into_iter().map(|(name, value)| (name.to_owned(), value));
                assert_eq!(ours(form, &Value::Object(entry.collect())), Some(arguments));
            }
        }
    }
}
