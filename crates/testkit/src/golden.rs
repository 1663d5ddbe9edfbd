//! The keys of answers and the types of their values, held against a file: a key that is gone, or whose value has another
//! type, is a broken promise; new keys are allowed.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Keys whose values are not looked into: events, schemas, and objects whose keys are data.
const OPAQUE: [&str; 4] = [".data", ".event", ".json_schema", ".ended"];

type Shape = BTreeMap<String, BTreeSet<&'static str>>;

/// Answers that were collected, by name.
pub struct Golden {
    file: PathBuf,
    seen: BTreeMap<String, Shape>,
}

impl Golden {
    /// Answers that are held against a file.
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), seen: BTreeMap::new() }
    }

    /// Adds an answer. Several of one name are taken together.
    pub fn take(&mut self, name: &str, answer: &Value) {
        walk(self.seen.entry(name.to_owned()).or_default(), "", answer);
    }

    /// Fails where the file has something that the answers have not; `UPDATE_GOLDEN=1` writes the file instead.
    #[track_caller]
    pub fn holds(self) {
        let mut lines = BTreeSet::new();
        for (name, shape) in &self.seen {
            for (path, types) in shape {
                let types: Vec<&str> = types.iter().copied().collect();
                lines.insert(format!("{name}: {path} {}", types.join("|")));
            }
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(&self.file, text).unwrap();
            return;
        }
        let golden = std::fs::read_to_string(&self.file).unwrap();
        let broken: Vec<&str> = golden.lines().filter(|line| !lines.contains(*line)).collect();
        assert!(broken.is_empty(), "gone or of another type:\n{}", broken.join("\n"));
    }
}

fn walk(shape: &mut Shape, path: &str, value: &Value) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    shape.entry(if path.is_empty() { "." } else { path }.to_owned()).or_default().insert(kind);
    if OPAQUE.iter().any(|key| path.ends_with(key)) {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(shape, &format!("{path}[]"), item)),
        Value::Object(map) => map.iter().for_each(|(key, item)| walk(shape, &format!("{path}.{key}"), item)),
        _ => {}
    }
}
