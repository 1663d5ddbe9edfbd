//! The hooks of agents, as data, and one put into a settings file or taken out.

use super::edit::Fault;
use super::json_list::{self, Element};
use super::json_scan::Dialect;
use countersign_engine::programs::Program;
use serde_json::{Value, json};
use std::path::Path;

/// A program that calls us when its agent stops.
#[derive(Debug)]
pub struct HookTarget {
    pub program: Program,
    /// The file, relative to the root.
    pub file: &'static str,
    pub dialect: Dialect,
    /// The list in it.
    pub path: [&'static str; 2],
    /// What the program calls the timeout of an hour: seconds or milliseconds.
    pub timeout: u64,
    /// What a person does next.
    pub next: &'static str,
}

/// A review may take long; a program that ends the hook lets its agent go.
const TIMEOUT_SECONDS: u64 = 3600;
const STRICT: Dialect = Dialect { comments: false, trailing_commas: false };

/// Every hook there is.
pub const HOOKS: [HookTarget; 3] = [
    HookTarget {
        program: Program::Claude,
        file: ".claude/settings.json",
        dialect: STRICT,
        path: ["hooks", "Stop"],
        timeout: TIMEOUT_SECONDS,
        next: "`/hooks` in `claude` shows the hook; it runs in projects that are trusted",
    },
    HookTarget {
        program: Program::Codex,
        file: ".codex/hooks.json",
        dialect: STRICT,
        path: ["hooks", "Stop"],
        timeout: TIMEOUT_SECONDS,
        next: "start `codex` here once, trust the project, and trust the hook with `/hooks`: until then it is passed over \
               without a word",
    },
    HookTarget {
        program: Program::Gemini,
        file: ".gemini/settings.json",
        dialect: Dialect { comments: true, trailing_commas: false },
        path: ["hooks", "AfterAgent"],
        timeout: TIMEOUT_SECONDS * 1000,
        next: "start `gemini` here once and trust the folder: it runs no hook before",
    },
];

/// Whether settings in a folder name a hook of ours, also where they are broken.
pub fn names_hook(folder: &Path) -> bool {
    let named = |target: &HookTarget| {
        let text = std::fs::read(folder.join(target.file)).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(&target.command())
    };
    HOOKS.iter().any(named)
}

impl HookTarget {
    /// The command as we write it.
    fn command(&self) -> String {
        format!("countersign hook {}", self.name())
    }

    fn name(&self) -> &'static str {
        self.program.facts().name
    }

    /// The entry as we write it.
    fn entry(&self) -> Value {
        json!({ "hooks": [{ "type": "command", "command": self.command(), "timeout": self.timeout }] })
    }

    /// Where our entry stands in a text.
    fn find(&self, text: &str) -> Result<Option<(usize, Element)>, Fault> {
        let all = json_list::elements(text, self.dialect, &self.path)?;
        Ok(all.into_iter().enumerate().find(|(_, element)| self.commands(&element.value).any(|ours| ours)))
    }

    /// For each hook of a group: whether it calls us.
    fn commands<'v>(&'v self, group: &'v Value) -> impl Iterator<Item = bool> + 'v {
        let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
        hooks.map(|hook| hook.get("command").and_then(Value::as_str).is_some_and(|line| self.is_ours(line)))
    }

    /// Whether a command line calls us, by name or from wherever we are.
    fn is_ours(&self, line: &str) -> bool {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [program, "hook", name] => {
                name == self.name() && program.rsplit('/').next() == Some("countersign")
            }
            _ => false,
        }
    }

    /// The text with the hook; nothing if it is there.
    pub fn with(&self, text: Option<&str>) -> Result<Option<String>, Fault> {
        let Some(text) = text else { return Ok(Some(json_list::create(&self.path, &self.entry()))) };
        match self.find(text)? {
            Some(_) => Ok(None),
            None => json_list::append(text, self.dialect, &self.path, &self.entry()).map(Some),
        }
    }

    /// The text without the hook, nothing if the file was made for it; nothing at all if it is not there.
    pub fn without(&self, text: Option<&str>) -> Result<Option<Option<String>>, Fault> {
        let Some(text) = text else { return Ok(None) };
        let Some((place, element)) = self.find(text)? else { return Ok(None) };
        if self.commands(&element.value).count() > 1 {
            return Err(Fault {
                code: "foreign",
                hint: "take it out by hand; nothing was changed",
                ..Fault::shape(element.span, "the hook stands in a group with others")
            });
        }
        json_list::take_out(text, self.dialect, &self.path, place).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn again_changes_nothing_and_taking_out_gives_back_what_was_there() {
        for target in &HOOKS {
            for before in [None, Some("{}\n"), Some("{\n  \"model\": \"x\"\n}\n")] {
                let with = target.with(before).unwrap().unwrap();
                assert_eq!(target.with(Some(&with)), Ok(None), "{with}");
                assert_eq!(target.without(Some(&with)), Ok(Some(before.map(str::to_owned))), "{with}");
                assert_eq!(target.without(before), Ok(None));
            }
        }
    }

    #[test]
    fn only_what_calls_us_is_ours() {
        let claude = &HOOKS[0];
        for (line, ours) in [
            ("countersign hook claude", true),
            ("/opt/bin/countersign hook claude", true),
            ("countersign hook codex", false),
            ("countersign hook claude; rm x", false),
            ("not-countersign hook claude", false),
            ("countersign review", false),
        ] {
            assert_eq!(claude.is_ours(line), ours, "{line}");
        }
        let beside =
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}, {"command": "countersign hook claude"}]}]}}"#;
        assert_eq!(claude.with(Some(beside)), Ok(None));
        assert_eq!(claude.without(Some(beside)).unwrap_err().code, "foreign");
    }
}
