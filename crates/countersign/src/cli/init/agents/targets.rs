//! The agents, as data: which file, where in it, and in which words each one is told to start the server.

use super::edit::{Format, Members};
use super::json_scan::Dialect;
use countersign_engine::programs::Program;
use serde_json::{Value, json};

/// The name of this program, as agents find it on the PATH.
const PROGRAM: &str = "countersign";
const SERVE: &str = "mcp";

/// One entry in one file of one agent.
#[derive(Debug)]
pub struct Target {
    pub program: Program,
    /// What the entry is for.
    pub entry: &'static str,
    /// Files it may be in, relative to the root, the one that counts more first; the last is made if none is there.
    pub files: &'static [&'static str],
    pub format: Format,
    /// Where in the file.
    pub path: &'static [&'static str],
    /// What a new file has beside the entry.
    pub new_file: Option<&'static str>,
    pub form: Form,
    /// What a person does next.
    pub next: &'static str,
}

/// In which words a server is described.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// `command` is the program, `args` the rest.
    CommandAndArgs,
    /// `command` is all of it.
    LocalCommand,
}

/// Every entry there is.
pub const TARGETS: [Target; 4] = [
    Target {
        program: Program::Claude,
        entry: "mcp",
        files: &[".mcp.json"],
        format: Format::Json(Dialect { comments: false, trailing_commas: false }),
        path: &["mcpServers", PROGRAM],
        new_file: None,
        form: Form::CommandAndArgs,
        next: "start `claude` here once and approve the server",
    },
    Target {
        program: Program::Codex,
        entry: "mcp",
        files: &[".codex/config.toml"],
        format: Format::Toml,
        path: &["mcp_servers", PROGRAM],
        new_file: None,
        form: Form::CommandAndArgs,
        next: "start `codex` here once and trust the project: it reads this file only then",
    },
    Target {
        program: Program::Gemini,
        entry: "mcp",
        files: &[".gemini/settings.json"],
        format: Format::Json(Dialect { comments: true, trailing_commas: false }),
        path: &["mcpServers", PROGRAM],
        new_file: None,
        form: Form::CommandAndArgs,
        next: "start `gemini` here once and trust the folder: it starts no server before",
    },
    Target {
        program: Program::Opencode,
        entry: "mcp",
        files: &["opencode.jsonc", "opencode.json"],
        format: Format::Json(Dialect { comments: true, trailing_commas: true }),
        path: &["mcp", PROGRAM],
        // opencode itself adds this line to a file that lacks it.
        new_file: Some("{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n"),
        form: Form::LocalCommand,
        next: "`opencode mcp list` shows the server",
    },
];

/// The arguments after the program: serving, and who is asked to review.
pub fn arguments(external_runner: Option<&str>) -> Vec<String> {
    let runner = external_runner.map(|name| ["--external-runner".to_owned(), name.to_owned()]);
    std::iter::once(SERVE.to_owned()).chain(runner.into_iter().flatten()).collect()
}

impl Form {
    /// The entry as we write it.
    pub fn members(self, arguments: &[String]) -> Members {
        let (name, command) = self.changing(arguments);
        match self {
            Self::CommandAndArgs => vec![("command", json!(PROGRAM)), (name, command)],
            Self::LocalCommand => vec![("type", json!("local")), (name, command), ("enabled", json!(true))],
        }
    }

    /// The one member that differs between entries of ours.
    pub fn changing(self, arguments: &[String]) -> (&'static str, Value) {
        match self {
            Self::CommandAndArgs => ("args", json!(arguments)),
            Self::LocalCommand => {
                let words: Vec<&str> =
                    std::iter::once(PROGRAM).chain(arguments.iter().map(String::as_str)).collect();
                ("command", json!(words))
            }
        }
    }

    /// The arguments of an entry that starts our server; none if it does something else. What people set
    /// beside the command, such as a timeout, is theirs and makes no difference.
    pub fn ours(self, entry: &Value) -> Option<Vec<String>> {
        let texts = |list: &Value| -> Option<Vec<String>> {
            list.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let (program, arguments) = match self {
            Self::CommandAndArgs => (entry.get("command")?.as_str()?.to_owned(), texts(entry.get("args")?)?),
            Self::LocalCommand => {
                let mut words = texts(entry.get("command")?)?;
                if words.is_empty() || entry.get("type")? != "local" {
                    return None;
                }
                (words.remove(0), words)
            }
        };
        (program == PROGRAM && arguments.first().is_some_and(|first| first == SERVE)).then_some(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_starts_our_server_is_ours() {
        let words = |list: &[&str]| Some(list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let table = [
            (Form::CommandAndArgs, json!({"command": "countersign", "args": ["mcp"]}), words(&["mcp"])),
            (
                Form::CommandAndArgs,
                json!({"command": "countersign", "args": ["mcp", "x"], "timeout": 9}),
                words(&["mcp", "x"]),
            ),
            (Form::CommandAndArgs, json!({"command": "countersign", "args": ["review"]}), None),
            (Form::CommandAndArgs, json!({"command": "countersign", "args": ["mcp", 1]}), None),
            (Form::CommandAndArgs, json!({"command": "/opt/countersign", "args": ["mcp"]}), None),
            (Form::CommandAndArgs, json!({"command": "countersign"}), None),
            (Form::CommandAndArgs, json!("countersign mcp"), None),
            (
                Form::LocalCommand,
                json!({"type": "local", "command": ["countersign", "mcp"], "enabled": false}),
                words(&["mcp"]),
            ),
            (Form::LocalCommand, json!({"type": "remote", "command": ["countersign", "mcp"]}), None),
            (Form::LocalCommand, json!({"type": "local", "command": []}), None),
        ];
        for (form, entry, expect) in table {
            assert_eq!(form.ours(&entry), expect, "{entry}");
        }
    }

    #[test]
    fn what_we_write_is_ours() {
        for target in &TARGETS {
            for runner in [None, Some("claude")] {
                let arguments = arguments(runner);
                let entry =
                    target.form.members(&arguments).into_iter().map(|(name, value)| (name.to_owned(), value));
                assert_eq!(target.form.ours(&Value::Object(entry.collect())), Some(arguments));
            }
        }
    }
}
