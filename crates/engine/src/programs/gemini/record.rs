//! The program's record of what its service answered: its telemetry, written to our file and sent to no service. Its report
//! does not say why a reply ended, or that it was cut or filtered.

use crate::programs::{Kind, Problem, stop};
use serde::Deserialize;
use serde_json::Value;

/// The file, in the private folder.
pub const FILE: &str = "record.json";

/// What the service answered, by the program's own name for it.
const ANSWERED: &str = "gemini_cli.api_response";
/// The part of a conversation that the answer comes from. Others are questions of the program's own.
const MAIN: &str = "main";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attributes {
    #[serde(rename = "event.name")]
    event: Value,
    role: Value,
    response_text: Value,
}

/// Whether the last reply was whole.
pub fn check(record: &[u8]) -> Result<(), Problem> {
    let entries = serde_json::Deserializer::from_slice(record).into_iter::<Entry>();
    let mut last = None;
    for entry in entries {
        let Ok(Entry { attributes }) = entry else { return Err(unknown("its record cannot be read")) };
        if attributes.event == ANSWERED && (attributes.role.is_null() || attributes.role == MAIN) {
            last = Some(attributes.response_text);
        }
    }
    let Some(Value::String(text)) = last else { return Err(unknown("its record has no reply")) };
    let Ok(Value::Array(pieces)) = serde_json::from_str::<Value>(&text) else {
        return Err(unknown("its record of the reply cannot be read"));
    };
    let candidates = pieces.iter().filter_map(|piece| piece["candidates"].as_array()).flatten();
    let reasons: Vec<&str> = candidates.filter_map(|candidate| candidate["finishReason"].as_str()).collect();
    match reasons[..] {
        [] => stop::google(None),
        _ => reasons.into_iter().try_for_each(|reason| stop::google(Some(reason))),
    }
}

fn unknown(words: &str) -> Problem {
    Problem::new(Kind::NotWhole, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(role: Option<&str>, reasons: &[Option<&str>]) -> String {
        let pieces: Vec<Value> =
            reasons.iter().map(|reason| json!({ "candidates": [{ "finishReason": reason }] })).collect();
        let text = Value::Array(pieces).to_string();
        let attributes = json!({ "event.name": ANSWERED, "role": role, "response_text": text });
        format!("{:#}\n", json!({ "hrTime": [1, 2], "attributes": attributes }))
    }

    #[test]
    fn the_last_reply_has_to_be_whole() {
        let other = format!("{:#}\n", json!({ "attributes": { "event.name": "gemini_cli.config" } }));
        let metrics = "{\"resource\": {}, \"scopeMetrics\": []}\n";
        let stop = entry(Some("main"), &[None, Some("STOP")]);
        let cut = entry(Some("main"), &[None, Some("MAX_TOKENS")]);
        let utility = entry(Some("utility_tool"), &[Some("MAX_TOKENS")]);
        for (record, expected) in [
            (format!("{other}{stop}{metrics}"), None),
            (entry(None, &[Some("STOP")]), None),
            (format!("{cut}{stop}"), None),
            (format!("{stop}{utility}"), None),
            (format!("{stop}{cut}"), Some(Kind::ReplyTooLong)),
            (entry(Some("main"), &[Some("MAX_TOKENS"), Some("STOP")]), Some(Kind::ReplyTooLong)),
            (entry(Some("main"), &[Some("SAFETY")]), Some(Kind::Refused)),
            (entry(Some("main"), &[Some("NEW_REASON")]), Some(Kind::NotWhole)),
            (entry(Some("main"), &[None]), Some(Kind::NotWhole)),
            (entry(Some("main"), &[]), Some(Kind::NotWhole)),
            (other, Some(Kind::NotWhole)),
            (String::new(), Some(Kind::NotWhole)),
            (format!("{stop}{{\"attributes\": "), Some(Kind::NotWhole)),
        ] {
            let kind = check(record.as_bytes()).err().map(|problem| problem.kind);
            assert_eq!(kind, expected, "{record}");
        }
        let without = json!({ "attributes": { "event.name": ANSWERED, "finish_reasons": ["stop"] } });
        assert_eq!(check(without.to_string().as_bytes()).unwrap_err().kind, Kind::NotWhole);
    }
}
