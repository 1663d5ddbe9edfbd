//! The replay reviewer: recorded answers, so that a policy can be tried without a model. The file has a JSON object a line:
//! `{"rule", "file", "criterion", "passed", "feedback"}` is a ruling, where `rule` and `file` may be left out if that is
//! clear; `{"consult", "reply"}` answers the consultation of that name. Without a line there is no verdict.

use super::{Brief, ReviewerReply};
use crate::programs::ReplyBody;
use countersign_core::answer::{Answer, Row, match_rulings};
use countersign_core::criterion::fold_name;
use countersign_core::outcome::NoVerdict;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    pub rows: Vec<Row>,
    /// Replies to consultations, by name.
    pub consults: Vec<Consult>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consult {
    consult: String,
    /// What is answered: an object, or a text as it came.
    reply: Value,
}

/// Reads the lines of a replay file. The error names the line.
pub fn parse(text: &str) -> Result<Recording, String> {
    let mut recording = Recording::default();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |error: serde_json::Error| format!("line {}: {error}", i + 1);
        let is_consult =
            || serde_json::from_str::<Value>(line).is_ok_and(|value| value.get("consult").is_some());
        // Rulings are read at once: there may be thousands.
        match serde_json::from_str::<Row>(line) {
            Ok(row) => recording.rows.push(row),
            Err(_) if is_consult() => {
                recording.consults.push(serde_json::from_str(line).map_err(wrong)?);
            }
            Err(error) => return Err(wrong(error)),
        }
    }
    Ok(recording)
}

pub fn answer(recording: &Recording, brief: &Brief) -> ReviewerReply {
    let asked = brief.asked();
    let wanted: Vec<_> = asked.iter().map(|criterion| fold_name(&criterion.name)).collect();
    let fits =
        |row: &&Row| row.speaks_of(&brief.rule, brief.file()) && wanted.contains(&fold_name(&row.criterion));
    let rulings: Vec<_> = recording.rows.iter().filter(fits).map(Row::ruling).collect();
    match match_rulings(rulings, &asked) {
        Ok(rulings) => ReviewerReply::bare(Ok(Answer::from_rulings(rulings))),
        // Asking a recording again changes nothing, so this is not a reply to be repaired.
        Err(defect) => ReviewerReply::failed(
            NoVerdict::Unavailable,
            format!("the recording does not answer this: {defect}"),
        ),
    }
}

/// Answers a consultation: what is recorded first under its name.
pub fn consult(recording: &Recording, name: &str) -> ReviewerReply<ReplyBody> {
    let said = recording.consults.iter().find(|recorded| recorded.consult == name);
    match said.map(|recorded| recorded.reply.clone()) {
        Some(Value::String(text)) => ReviewerReply::bare(Ok(ReplyBody::Text(text))),
        Some(value) => ReviewerReply::bare(Ok(ReplyBody::Structured(value))),
        None => {
            let words =
                format!("the recording does not answer this: it has no line with \"consult\": \"{name}\"");
            ReviewerReply::failed(NoVerdict::Unavailable, words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rulings_and_replies_stand_side_by_side_and_a_wrong_line_is_named() {
        let text = "{\"criterion\":\"A\",\"passed\":true}\n\n{\"consult\":\"c\",\"reply\":{\"x\":1}}\n\
                    {\"consult\":\"t\",\"reply\":\"words\"}\n{\"consult\":\"c\",\"reply\":2}\n";
        let recording = parse(text).unwrap();
        assert_eq!((recording.rows.len(), recording.consults.len()), (1, 3));
        assert_eq!(consult(&recording, "c").result, Ok(ReplyBody::Structured(json!({ "x": 1 }))));
        assert_eq!(consult(&recording, "t").result, Ok(ReplyBody::Text("words".to_owned())));
        assert_eq!(consult(&recording, "d").result.unwrap_err().why, NoVerdict::Unavailable);
        for (line, words) in [
            ("{}", "line 2: missing field `criterion`"),
            ("{\"consult\":\"c\"}", "line 2: missing field `reply`"),
            ("{\"consult\":\"c\",\"reply\":1,\"x\":1}", "line 2: unknown field `x`"),
            ("x", "line 2: expected value"),
        ] {
            let error = parse(&format!("\n{line}\n")).unwrap_err();
            assert!(error.starts_with(words), "{error}");
        }
    }
}
