//! Agent programs in their working form: they write files and run commands, unasked, in the folder they run in.
//!
//! It is the user's own program doing the user's own work, so it has the user's settings, instructions and
//! environment. Nothing here judges anything.

use super::{Heard, Kind, Problem, Program, Said};
use crate::process::{Ended, How};
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
    /// Variables that it needs.
    pub set: &'static [(&'static str, &'static str)],
    /// What it said last, and what it cost.
    pub hear: fn(&Ended) -> Heard,
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

const CLAUDE: Working = Working {
    args: &[
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "acceptEdits",
        "--allowedTools",
        "Bash,Edit,Write,NotebookEdit",
    ],
    model: ModelArgument::Joined("--model="),
    last: &[],
    set: &[],
    hear: hear_claude,
    live: live_claude,
};

const CODEX: Working = Working {
    args: &["exec", "--json", "--color", "never", "--skip-git-repo-check", "-s", "workspace-write"],
    model: ModelArgument::Next("-m"),
    last: &["-"],
    set: &[],
    hear: super::codex::hear_work,
    live: live_codex,
};

const GEMINI: Working = Working {
    args: &["--output-format", "json", "--approval-mode", "yolo"],
    model: ModelArgument::Next("-m"),
    last: &[],
    // It would otherwise not begin without a person, and would run below another one of itself.
    set: &[("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("GEMINI_CLI_NO_RELAUNCH", "true")],
    hear: super::gemini::hear_work,
    live: |_| None,
};

const OPENCODE: Working = Working {
    args: &["run", "--format", "json"],
    model: ModelArgument::Next("-m"),
    last: &[],
    set: &[],
    hear: super::opencode::hear_work,
    live: live_opencode,
};

impl Program {
    /// What is particular about it at work.
    pub fn working(self) -> &'static Working {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Opencode => &OPENCODE,
        }
    }
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

/// Its last line is the report that it would give alone; what it said last is in there as a text.
fn hear_claude(ended: &Ended) -> Heard {
    let report = ended
        .stdout
        .split(|byte| *byte == b'\n')
        .rev()
        .find(|line| serde_json::from_slice::<Value>(line).is_ok_and(|event| event["type"] == "result"));
    let report = report.unwrap_or_default().to_vec();
    let text = serde_json::from_slice::<Value>(&report).ok();
    let text = text.and_then(|report| report["result"].as_str().map(str::to_owned));
    let heard = super::claude::hear(&Ended { stdout: report, ..ended.clone() });
    // It has no structured answer because none was asked for.
    let only_text =
        matches!(&heard.said, Err(problem) if problem.kind == Kind::Garbled) && ended.how == How::Exited(0);
    match text {
        Some(text) if only_text || heard.said.is_ok() => Heard { said: Ok(Said::Text(text)), ..heard },
        None if only_text => {
            Heard { said: Err(Problem::new(Kind::Crashed, "it ended without a result")), ..heard }
        }
        _ => heard,
    }
}

fn live_claude(event: &Value) -> Option<String> {
    if event["type"] != "assistant" {
        return None;
    }
    let said = |block: &Value| match block["type"].as_str()? {
        "text" => block["text"].as_str().map(str::to_owned),
        "tool_use" => Some(used(block["name"].as_str()?, &block["input"])),
        _ => None,
    };
    lines(event["message"]["content"].as_array()?.iter().filter_map(said))
}

fn live_codex(event: &Value) -> Option<String> {
    let item = &event["item"];
    match (event["type"].as_str()?, item["type"].as_str()?) {
        ("item.completed", "agent_message") => item["text"].as_str().map(str::to_owned),
        ("item.started", "command_execution") => Some(format!("$ {}", item["command"].as_str()?)),
        ("item.completed", "file_change") => Some(used("file_change", &item["changes"][0])),
        _ => None,
    }
}

fn live_opencode(event: &Value) -> Option<String> {
    let part = &event["part"];
    match event["type"].as_str()? {
        "text" => part["text"].as_str().map(str::to_owned),
        "tool_use" => Some(used(part["tool"].as_str()?, &part["state"]["input"])),
        _ => None,
    }
}

/// A tool with the one argument that tells most.
fn used(tool: &str, input: &Value) -> String {
    let telling = ["command", "file_path", "filePath", "path", "pattern", "url"];
    let argument = telling.iter().find_map(|name| input[*name].as_str());
    format!("→ {tool} {}", argument.unwrap_or_default()).trim_end().to_owned()
}

fn lines(said: impl Iterator<Item = String>) -> Option<String> {
    let said: Vec<_> = said.collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn words(program: Program, model: Option<&str>) -> String {
        let line = program.working().line(model, &["--more".to_owned()]);
        line.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_model_stands_before_what_the_user_adds_and_the_prompt_is_never_an_argument() {
        assert!(words(Program::Claude, Some("opus")).ends_with("NotebookEdit --model=opus --more"));
        assert!(words(Program::Codex, Some("o3")).ends_with("-s workspace-write -m o3 --more -"));
        assert_eq!(words(Program::Gemini, None), "--output-format json --approval-mode yolo --more");
        assert_eq!(words(Program::Opencode, Some("a/b")), "run --format json -m a/b --more");
    }

    fn ended(how: How, events: &[Value]) -> Ended {
        let stdout = events.iter().map(|event| format!("{event}\n")).collect::<String>().into_bytes();
        Ended { how, stdout, stderr_tail: String::new(), elapsed: Duration::ZERO }
    }

    #[test]
    fn what_claude_said_last_is_its_result() {
        let result = |more: Value| {
            let mut report = json!({ "type": "result", "subtype": "success", "is_error": false,
                "result": "done\nTASK_COMPLETE", "total_cost_usd": 0.5, "modelUsage": { "m": { "outputTokens": 3 } } });
            more.as_object().unwrap().iter().for_each(|(key, value)| report[key] = value.clone());
            report
        };
        let before = json!({ "type": "assistant", "message": { "content": [] } });
        let heard = hear_claude(&ended(How::Exited(0), &[before.clone(), result(json!({}))]));
        assert_eq!(heard.said, Ok(Said::Text("done\nTASK_COMPLETE".to_owned())));
        assert_eq!(heard.usage.unwrap().cost_microusd, Some(500_000));
        let failed = result(json!({ "is_error": true, "api_error_status": 429 }));
        let heard = hear_claude(&ended(How::Exited(1), &[failed]));
        assert_eq!(heard.said.unwrap_err().kind, Kind::RateLimited);
        for (how, kind) in [(How::Exited(0), Kind::Crashed), (How::TimedOut, Kind::TimedOut)] {
            assert_eq!(hear_claude(&ended(how, std::slice::from_ref(&before))).said.unwrap_err().kind, kind);
        }
    }

    #[test]
    fn people_who_watch_see_words_and_tools() {
        let claude = json!({ "type": "assistant", "message": { "content": [
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "name": "Bash", "input": { "command": "ls" } },
        ] } });
        assert_eq!((CLAUDE.live)(&claude).as_deref(), Some("I look.\n→ Bash ls"));
        let codex =
            json!({ "type": "item.started", "item": { "type": "command_execution", "command": "ls" } });
        assert_eq!((CODEX.live)(&codex).as_deref(), Some("$ ls"));
        let opencode = json!({ "type": "text", "part": { "text": "hello" } });
        assert_eq!((OPENCODE.live)(&opencode).as_deref(), Some("hello"));
        assert_eq!((CLAUDE.live)(&json!({ "type": "system" })), None);
    }
}
