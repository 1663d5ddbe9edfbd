//! OpenAI-compatible chat completions: the body of a question and the parsing of its stream. Pure.

use super::Question;
use super::exchange::{StreamReply, broken_off};
use super::refusal;
use crate::programs::{Kind, Problem, Usage, stop};
use serde_json::{Value, json};

/// The body of a question; without a schema for servers that take none.
pub fn body(question: &Question<'_>, with_schema: bool) -> Value {
    let mut body = json!({
        "model": question.model,
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": [
            { "role": "system", "content": question.system_prompt },
            { "role": "user", "content": question.prompt },
        ],
    });
    // The vendor's newer models refuse the name that all other services know.
    let limit = if question.own { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = json!(question.reply_tokens);
    if with_schema {
        let schema = json!({ "name": question.tool.0, "strict": true, "schema": question.schema });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
    }
    body
}

#[derive(Debug, Default)]
pub struct Reply {
    text: String,
    refusal: String,
    finish: Option<String>,
    usage: Option<Usage>,
    model: Option<String>,
}

impl StreamReply for Reply {
    fn event(&mut self, event: &Value) -> Result<(), Problem> {
        if !event["error"].is_null() {
            return Err(refusal::in_stream(&event["error"]));
        }
        if let Some(model) = event["model"].as_str() {
            self.model = Some(model.to_owned());
        }
        if event["usage"].is_object() {
            let count = |name: &str| event["usage"][name].as_u64();
            self.usage = Some(Usage {
                tokens_in: count("prompt_tokens"),
                tokens_out: count("completion_tokens"),
                ..Usage::default()
            });
        }
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        self.text.push_str(delta["content"].as_str().unwrap_or_default());
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
        if let Some(finish) = choice["finish_reason"].as_str() {
            // A reply that was cut once is not made whole by what comes after it.
            self.finish = self.finish.take().filter(|before| stop::chat(Some(before)).is_err());
            self.finish.get_or_insert_with(|| finish.to_owned());
        }
        Ok(())
    }

    fn whole(&mut self, reply: &Value) -> Result<(), Problem> {
        let choice = &reply["choices"][0];
        self.event(&json!({
            "error": reply["error"],
            "model": reply["model"],
            "usage": reply["usage"],
            "choices": [{ "delta": choice["message"], "finish_reason": choice["finish_reason"] }],
        }))
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.refusal.len()
    }

    fn said(&self) -> Result<String, Problem> {
        if !self.refusal.is_empty() {
            return Err(Problem::new(Kind::Refused, &self.refusal));
        }
        stop::chat(Some(self.finish.as_deref().ok_or_else(broken_off)?))?;
        Ok(self.text.clone())
    }

    fn usage(&self) -> Option<Usage> {
        let model = self.model.clone();
        (model.is_some() || self.usage.is_some())
            .then(|| Usage { model, ..self.usage.clone().unwrap_or_default() })
    }
}
