//! Anthropic Messages: the body of a question and the parsing of its stream. Pure. The answer is the input of a tool that
//! the model must use, which works with every server of this API; a server that ignores tools answers with a text.

use super::Question;
use super::exchange::{StreamReply, broken_off};
use super::refusal;
use crate::programs::{Kind, Problem, Usage, stop};
use serde_json::{Value, json};

/// The tool that rulings are given by.
pub const RULINGS: (&str, &str) = ("rulings", "Gives the rulings.");
/// The tool that other answers are given by.
pub const ANSWER: (&str, &str) = ("answer", "Gives the answer.");

pub fn body(question: &Question<'_>) -> Value {
    let (name, description) = question.tool;
    json!({
        "model": question.model,
        "max_tokens": question.reply_tokens,
        "stream": true,
        "system": question.system_prompt,
        "messages": [{ "role": "user", "content": question.prompt }],
        "tools": [{
            "name": name,
            "description": description,
            "input_schema": question.schema,
        }],
        "tool_choice": { "type": "tool", "name": name },
    })
}

#[derive(Debug, Default)]
pub struct Reply {
    text: String,
    /// The inputs of the tools it used, by name.
    used: Vec<(String, String)>,
    stop: Option<String>,
    over: bool,
    usage: Option<Usage>,
}

impl StreamReply for Reply {
    fn event(&mut self, event: &Value) -> Result<(), Problem> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let message = &event["message"];
                let model = message["model"].as_str().map(str::to_owned);
                self.usage.get_or_insert_default().model = model;
                self.count(&message["usage"]);
            }
            "content_block_start" => self.begin(&event["content_block"]),
            "content_block_delta" => self.go_on(&event["delta"]),
            "message_delta" => {
                self.stop = event["delta"]["stop_reason"].as_str().map(str::to_owned);
                self.count(&event["usage"]);
            }
            "message_stop" => self.over = true,
            "error" => return Err(refusal::in_stream(&event["error"])),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, reply: &Value) -> Result<(), Problem> {
        if reply["type"] == "error" {
            return self.event(reply);
        }
        self.event(&json!({ "type": "message_start", "message": reply }))?;
        for block in reply["content"].as_array().into_iter().flatten() {
            self.begin(block);
            if let (Some((_, input)), "tool_use") =
                (self.used.last_mut(), block["type"].as_str().unwrap_or_default())
            {
                *input = block["input"].to_string();
            }
        }
        self.event(&json!({ "type": "message_delta", "delta": { "stop_reason": reply["stop_reason"] } }))?;
        self.over = true;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.used.iter().map(|(_, input)| input.len()).sum::<usize>()
    }

    fn said(&self) -> Result<String, Problem> {
        let stop = self.stop.as_deref().filter(|_| self.over).ok_or_else(broken_off)?;
        stop::anthropic(Some(stop)).map_err(|problem| match problem.kind {
            Kind::Refused if !self.text.is_empty() => Problem::new(Kind::Refused, &self.text),
            _ => problem,
        })?;
        match &self.used[..] {
            [] => Ok(self.text.clone()),
            [(name, input)] if name == RULINGS.0 || name == ANSWER.0 => Ok(input.clone()),
            [(name, _)] => Err(Problem::new(Kind::Garbled, &format!("it used the tool `{name}`"))),
            _ => Err(Problem::new(Kind::Garbled, "it answered several times")),
        }
    }

    fn usage(&self) -> Option<Usage> {
        self.usage.clone()
    }
}

impl Reply {
    fn begin(&mut self, block: &Value) {
        match block["type"].as_str() {
            Some("tool_use") => {
                self.used.push((block["name"].as_str().unwrap_or_default().to_owned(), String::new()));
            }
            Some("text") => self.text.push_str(block["text"].as_str().unwrap_or_default()),
            _ => {}
        }
    }

    fn go_on(&mut self, delta: &Value) {
        match (delta["type"].as_str(), self.used.last_mut()) {
            (Some("text_delta"), _) => self.text.push_str(delta["text"].as_str().unwrap_or_default()),
            (Some("input_json_delta"), Some((_, input))) => {
                input.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Counts come at the beginning and at the end; a later one replaces an earlier one.
    fn count(&mut self, usage: &Value) {
        let parts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
        let parts: Vec<u64> = parts.iter().filter_map(|part| usage[*part].as_u64()).collect();
        let sum = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let known = self.usage.get_or_insert_default();
        // At the end some services say nothing of the question, and some say that it had no tokens.
        if sum > 0 || known.tokens_in.is_none() && !parts.is_empty() {
            known.tokens_in = Some(sum);
        }
        known.tokens_out = usage["output_tokens"].as_u64().or(known.tokens_out);
    }
}
