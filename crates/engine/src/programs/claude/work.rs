//! The program in its working form: edits and commands unasked, and a report at its end.

use crate::process::{Ended, ProcessEnd};
use crate::programs;
use crate::programs::program::used;
use crate::programs::{Kind, ModelArgument, ParsedOutput, Problem, ReplyBody, Working};
use serde_json::Value;

pub(super) const WORKING: Working = Working {
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
    own: &["-p", "--print"],
    set: &[],
    parse_output,
    live,
};

/// Its last line is the report that it would give alone; what it said last is in there as a text.
fn parse_output(ended: &Ended) -> ParsedOutput {
    let report = programs::events(&ended.stdout).flatten().rfind(|event| event["type"] == "result");
    let text = report.as_ref().and_then(|report| report["result"].as_str().map(str::to_owned));
    let stdout = report.map(|report| report.to_string().into_bytes()).unwrap_or_default();
    let parsed = super::parse_output::parse_output(&Ended { stdout, ..ended.clone() });
    // It has no structured answer because none was asked for.
    let only_text = matches!(&parsed.said, Err(problem) if problem.kind == Kind::Garbled)
        && ended.how == ProcessEnd::Exited(0);
    match text {
        Some(text) if only_text || parsed.said.is_ok() => {
            ParsedOutput { said: Ok(ReplyBody::Text(text)), ..parsed }
        }
        None if only_text => {
            ParsedOutput { said: Err(Problem::new(Kind::Crashed, "it ended without a result")), ..parsed }
        }
        _ => parsed,
    }
}

fn live(event: &Value) -> Option<String> {
    if event["type"] != "assistant" {
        return None;
    }
    let said = |block: &Value| match block["type"].as_str()? {
        "text" => block["text"].as_str().map(str::to_owned),
        "tool_use" => Some(used(block["name"].as_str()?, &block["input"])),
        _ => None,
    };
    let said: Vec<_> = event["message"]["content"].as_array()?.iter().filter_map(said).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn ended(how: ProcessEnd, events: &[Value]) -> Ended {
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
        let parsed = parse_output(&ended(ProcessEnd::Exited(0), &[before.clone(), result(json!({}))]));
        assert_eq!(parsed.said, Ok(ReplyBody::Text("done\nTASK_COMPLETE".to_owned())));
        assert_eq!(parsed.usage.unwrap().cost_microusd, Some(500_000));
        let failed = result(json!({ "is_error": true, "api_error_status": 429 }));
        let parsed = parse_output(&ended(ProcessEnd::Exited(1), &[failed]));
        assert_eq!(parsed.said.unwrap_err().kind, Kind::RateLimited);
        for (how, kind) in [(ProcessEnd::Exited(0), Kind::Crashed), (ProcessEnd::TimedOut, Kind::TimedOut)] {
            assert_eq!(parse_output(&ended(how, std::slice::from_ref(&before))).said.unwrap_err().kind, kind);
        }
    }
}
