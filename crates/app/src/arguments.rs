//! Arguments of a program as JSON: parsing, limits and schemas, the same for MCP and HTTP.

use crate::{Code, Failure};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub const TEXT_LIMIT_BYTES: usize = 1024 * 1024;

/// Parses arguments. An error names the path of the wrong value.
pub fn read<T: DeserializeOwned>(given: Value) -> Result<T, Failure> {
    bounded("", &given)?;
    serde_path_to_error::deserialize(given).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!("`{path}`: ") };
        bad_argument(format!("{place}{}", error.inner()))
    })
}

pub fn bad_argument(message: impl Into<String>) -> Failure {
    Failure { code: Code::Arguments, ..Failure::usage(message) }
        .hint("the tool's input schema describes every argument; nothing was changed")
}

/// Refuses strings that are too long or hold NUL, at any depth.
fn bounded(path: &str, value: &Value) -> Result<(), Failure> {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::String(text) if text.len() > TEXT_LIMIT_BYTES => {
            at_most(path, text.len(), TEXT_LIMIT_BYTES, "bytes")
        }
        Value::String(text) if text.contains('\0') => {
            Err(bad_argument(format!("`{path}` holds a NUL character")))
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(n, item)| bounded(&format!("{path}[{n}]"), item))
        }
        Value::Object(map) => map.iter().try_for_each(|(key, item)| {
            // Errors below show the key.
            if key.len() > 200 || key.contains('\0') {
                return Err(bad_argument("an argument name is too long or has a NUL character"));
            }
            bounded(&below(key), item)
        }),
        _ => Ok(()),
    }
}

/// Refuses a text that is empty or too long.
pub fn filled(name: &str, text: &str, max_bytes: usize) -> Result<(), Failure> {
    if text.trim().is_empty() {
        return Err(bad_argument(format!("`{name}` is empty")));
    }
    at_most(name, text.len(), max_bytes, "bytes")
}

pub fn at_most(name: &str, given: usize, max: usize, unit: &str) -> Result<(), Failure> {
    if given > max {
        return Err(bad_argument(format!("`{name}` has {given} {unit}, at most {max} are allowed")));
    }
    Ok(())
}

pub fn schema<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = whole::<T>(SchemaSettings::draft2020_12());
    schema.values_mut().for_each(without_null);
    schema
}

/// The JSON schema of an answer: every key is required, and an absent value is null.
pub fn answer_schema<T: JsonSchema>() -> Map<String, Value> {
    whole::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// The JSON schema of a type without references: not all clients follow them.
fn whole<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    schema.remove("title");
    schema.remove("description");
    schema
}

/// Removes null from optional arguments: not every model's service takes a list of types.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_null),
        Value::Object(map) => {
            if let Some(kind) = map.get_mut("type")
                && let Value::Array(types) = kind
            {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    *kind = only.clone();
                }
            }
            if let Some(Value::Array(values)) = map.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            map.values_mut().for_each(without_null);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_strings_and_nul_are_refused() {
        let long = "x".repeat(TEXT_LIMIT_BYTES + 1);
        for (value, says) in [
            (json!({ "a": long }), "`a` has 1048577 bytes"),
            (json!({ "a": ["b", "c\0"] }), "`a[1]` holds a NUL character"),
            (json!({ "a": { "b": "\0" } }), "`a.b` holds a NUL"),
            (json!({ "a\0": 1 }), "an argument name is too long"),
        ] {
            assert!(bounded("", &value).unwrap_err().message.contains(says), "{says}");
        }
        assert!(bounded("", &json!({ "a": ["b", { "c": 1 }], "d": null })).is_ok());
    }
}
