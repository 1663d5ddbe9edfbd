//! Agent programs in their working form: they write files and run commands in their folder without asking, with the user's
//! own settings, instructions and environment. Reviews use the judging form instead.

use super::ParsedOutput;
use crate::process::Ended;
use serde_json::Value;
use std::ffi::OsString;

/// What is particular about a program that works.
pub struct Working {
    /// Its arguments; the prompt is its standard input.
    pub args: &'static [&'static str],
    /// The argument that chooses its model, to be followed by the name in the same word or in the next.
    pub model: ModelArgument,
    /// What comes after all that.
    pub last: &'static [&'static str],
    /// What existing configurations say on their own and we say ourselves.
    pub own: &'static [&'static str],
    pub set: &'static [(&'static str, &'static str)],
    /// What it said last, and what it cost.
    pub parse_output: fn(&Ended) -> ParsedOutput,
    /// What a line of its output says to people who watch.
    pub live: fn(&Value) -> Option<String>,
}

/// How a model is named on a command line.
#[derive(Clone, Copy, Debug)]
pub enum ModelArgument {
    /// `--model=NAME`: in one word, so that no name is taken for an option.
    Joined(&'static str),
    /// `-m NAME`.
    Next(&'static str),
}

impl Working {
    /// The whole command line but the program, with whatever the user adds.
    pub fn line(&self, model: Option<&str>, more: &[String]) -> Vec<OsString> {
        let mut line: Vec<OsString> = self.args.iter().map(OsString::from).collect();
        match (model, self.model) {
            (Some(name), ModelArgument::Joined(flag)) => line.push(format!("{flag}{name}").into()),
            (Some(name), ModelArgument::Next(flag)) => line.extend([flag.into(), name.into()]),
            (None, _) => {}
        }
        line.extend(more.iter().map(OsString::from));
        line.extend(self.last.iter().map(OsString::from));
        line
    }
}

/// A tool with the one argument that tells most.
pub(super) fn used(tool: &str, input: &Value) -> String {
    let telling = ["command", "file_path", "filePath", "path", "pattern", "url"];
    let argument = telling.iter().find_map(|name| input[*name].as_str());
    format!("→ {tool} {}", argument.unwrap_or_default()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::programs::{Facts, claude, codex, gemini, opencode};
    use serde_json::json;

    fn words(facts: &Facts, model: Option<&str>) -> String {
        let line = facts.working.line(model, &["--more".to_owned()]);
        line.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_model_stands_before_what_the_user_adds_and_the_prompt_is_never_an_argument() {
        assert!(words(&claude::FACTS, Some("opus")).ends_with("NotebookEdit --model=opus --more"));
        assert!(words(&codex::FACTS, Some("o3")).ends_with("-s workspace-write -m o3 --more -"));
        assert_eq!(words(&gemini::FACTS, None), "--output-format json --approval-mode yolo --more");
        assert_eq!(words(&opencode::FACTS, Some("a/b")), "run --format json -m a/b --more");
    }

    #[test]
    fn people_who_watch_see_words_and_tools() {
        let claude = json!({ "type": "assistant", "message": { "content": [
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "name": "Bash", "input": { "command": "ls" } },
        ] } });
        assert_eq!((claude::FACTS.working.live)(&claude).as_deref(), Some("I look.\n→ Bash ls"));
        let codex =
            json!({ "type": "item.started", "item": { "type": "command_execution", "command": "ls" } });
        assert_eq!((codex::FACTS.working.live)(&codex).as_deref(), Some("$ ls"));
        let opencode = json!({ "type": "text", "part": { "text": "hello" } });
        assert_eq!((opencode::FACTS.working.live)(&opencode).as_deref(), Some("hello"));
        assert_eq!((claude::FACTS.working.live)(&json!({ "type": "system" })), None);
    }
}
