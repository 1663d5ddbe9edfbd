//! A plan as JSON, as the planner skill writes it: lists of parts at any depth.

use super::{Kind, Part, is_id};
use countersign_core::strict_json;
use serde_json::{Map, Value};

const IDS: [&str; 4] = ["id", "milestone_id", "intent_id", "change_id"];

pub fn parts(file: &str, text: &str) -> Result<Vec<Part>, String> {
    let value = strict_json::parse(text).map_err(|error| format!("`{file}` is not JSON: {error}"))?;
    let mut parts = vec![];
    walk(file, &value, &mut parts);
    // Maps do not keep the order of the file.
    parts.sort_by_key(|part| text.find(&format!("\"{}\"", part.id)).unwrap_or(usize::MAX));
    for part in &mut parts {
        let at = text.find(&format!("\"{}\"", part.id));
        let line = at.and_then(|at| u32::try_from(text[..at].matches('\n').count() + 1).ok());
        part.lines = line.map(|line| (line, line));
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
    let entries: Vec<(Option<&String>, &Value)> = match value {
        Value::Array(entries) => entries.iter().map(|entry| (None, entry)).collect(),
        Value::Object(entries) => entries.iter().map(|(key, entry)| (Some(key), entry)).collect(),
        _ => vec![],
    };
    parts.extend(entries.into_iter().filter_map(|(key, entry)| {
        let id = own_id(entry.as_object()?).or(key.cloned()).filter(|id| is_id(id))?;
        let text = serde_json::to_string_pretty(entry).unwrap_or_default();
        Some(Part { kind, id, file: file.to_owned(), lines: None, text })
    }));
}

fn own_id(object: &Map<String, Value>) -> Option<String> {
    IDS.iter().find_map(|key| match object.get(*key)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(number) => Some(format!("M{number}")),
        _ => None,
    })
}
