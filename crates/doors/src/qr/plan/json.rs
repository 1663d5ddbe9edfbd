//! A plan as JSON, as the planner skill writes it: lists of parts at any depth.

use super::{Kind, Part, is_id};
use countersign_core::strict_json;
use serde_json::{Map, Value};

/// The keys of an id.
const IDS: [&str; 4] = ["id", "milestone_id", "intent_id", "change_id"];

pub fn parts(file: &str, text: &str) -> Result<Vec<Part>, String> {
    let value = strict_json::parse(text).map_err(|error| format!("`{file}` is not JSON: {error}"))?;
    let mut parts = vec![];
    walk(file, &value, &mut parts);
    // Maps do not keep the order of the file.
    parts.sort_by_key(|part| text.find(&format!("\"{}\"", part.id)).unwrap_or(usize::MAX));
    for part in &mut parts {
        part.lines = line_of(text, &part.id).map(|line| (line, line));
    }
    Ok(parts)
}

fn walk(file: &str, value: &Value, parts: &mut Vec<Part>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| walk(file, value, parts)),
        Value::Object(members) => {
            for (key, value) in members {
                if let Some(kind) = kind(key) {
                    list(file, kind, value, parts);
                }
                walk(file, value, parts);
            }
        }
        _ => {}
    }
}

fn kind(key: &str) -> Option<Kind> {
    match key {
        "milestones" => Some(Kind::Milestone),
        "code_intents" | "intents" => Some(Kind::CodeIntent),
        "code_changes" | "changes" => Some(Kind::CodeChange),
        _ => None,
    }
}

/// A list of objects with ids, or objects under their ids.
fn list(file: &str, kind: Kind, value: &Value, parts: &mut Vec<Part>) {
    let mut add = |id: Option<String>, object: &Map<String, Value>| {
        let Some(id) = id.filter(|id| is_id(id)) else { return };
        let text = serde_json::to_string_pretty(object).unwrap_or_default();
        parts.push(Part { kind, id, file: file.to_owned(), lines: None, text });
    };
    match value {
        Value::Array(entries) => {
            entries.iter().filter_map(Value::as_object).for_each(|object| add(own_id(object), object));
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                if let Some(object) = entry.as_object() {
                    add(own_id(object).or(Some(key.clone())), object);
                }
            }
        }
        _ => {}
    }
}

fn own_id(object: &Map<String, Value>) -> Option<String> {
    IDS.iter().find_map(|key| match object.get(*key)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(number) => Some(format!("M{number}")),
        _ => None,
    })
}

/// The line on which an id is first written.
fn line_of(text: &str, id: &str) -> Option<u32> {
    let at = text.find(&format!("\"{id}\""))?;
    u32::try_from(text[..at].matches('\n').count() + 1).ok()
}
