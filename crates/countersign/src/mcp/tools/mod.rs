//! The tools: tables of names, descriptions, schemas and functions. How another table is added is in
//! [`super`]'s documentation.

pub mod jobs;
pub mod review;
mod review_submit;

use super::progress::Progress;
use super::server::Server;
use crate::author;
use crate::cli::Failure;
use crate::project::Project;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

/// Every table there is.
pub const TABLES: &[&[Tool]] = &[jobs::TOOLS, review::TOOLS];

/// The longest string a tool takes.
pub const TEXT_LIMIT_BYTES: usize = 1024 * 1024;

/// A tool.
pub struct Tool {
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Everything an agent needs to know.
    pub description: &'static str,
    /// The JSON schema of the arguments; see [`schema`].
    pub input: fn() -> Map<String, Value>,
    /// The JSON schema of the answer; see [`schema`].
    pub output: fn() -> Map<String, Value>,
    pub hints: Hints,
    pub run: fn(Call) -> Running,
}

/// What a client may rely on before it lets an agent call a tool.
#[derive(Clone, Copy, Debug)]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    /// Whether it reaches beyond this machine, such as a model's service.
    pub open_world: bool,
}

/// A tool at work.
pub type Running = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;

/// What runs once an answer was written.
pub type Afterwards = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One call of a tool.
pub struct Call {
    /// What all calls share.
    pub server: Server,
    /// The client's own name, as it gave it.
    pub client: String,
    /// Tells the client how far it is, where it wants to know.
    pub progress: Progress,
    /// Ends when the client cancels, hangs up, or the server stops.
    pub cancel: CancellationToken,
    arguments: Map<String, Value>,
}

/// The answer of a tool.
pub struct Reply {
    pub json: Value,
    /// Runs once the answer was written.
    pub afterwards: Option<Afterwards>,
}

impl Reply {
    /// An answer.
    pub fn new(answer: &impl Serialize) -> Result<Self, Failure> {
        let json = serde_json::to_value(answer).map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Self { json, afterwards: None })
    }

    /// The same, with what is to be done once it was written and nobody had cancelled.
    pub fn delivered(self, afterwards: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { afterwards: Some(Box::pin(afterwards)), ..self }
    }
}

impl Call {
    pub fn new(
        server: Server,
        client: String,
        progress: Progress,
        cancel: CancellationToken,
        arguments: Map<String, Value>,
    ) -> Self {
        Self { server, client, progress, cancel, arguments }
    }

    /// The project, with the configuration as it is now, and the client as the author of the work.
    pub fn project(&self) -> Result<Project, Failure> {
        Ok(self.by_client(self.server.project()?))
    }

    /// The project with the client as the author of the work.
    pub fn by_client(&self, project: Project) -> Project {
        Project { author: author::of_client(&self.client).or(project.author), ..project }
    }

    /// The arguments, as the tool needs them.
    pub fn arguments<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        let arguments = Value::Object(std::mem::take(&mut self.arguments));
        bounded("", &arguments)?;
        serde_path_to_error::deserialize(arguments).map_err(|error| {
            let path = error.path().to_string();
            let place = if path == "." { String::new() } else { format!("`{path}`: ") };
            bad_argument(format!("{place}{}", error.inner()))
        })
    }
}

/// An argument that cannot be used.
pub fn bad_argument(message: impl Into<String>) -> Failure {
    Failure { code: "arguments", ..Failure::usage(message) }
        .hint("the tool's input schema describes every argument; nothing was changed")
}

/// Refuses what no tool has a use for, wherever it stands.
fn bounded(path: &str, value: &Value) -> Result<(), Failure> {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::String(text) if text.len() > TEXT_LIMIT_BYTES => Err(bad_argument(format!(
            "`{path}` has {} bytes, at most {TEXT_LIMIT_BYTES} are taken",
            text.len()
        ))),
        Value::String(text) if text.contains('\0') => {
            Err(bad_argument(format!("`{path}` holds a NUL character")))
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(n, item)| bounded(&format!("{path}[{n}]"), item))
        }
        Value::Object(map) => map.iter().try_for_each(|(key, item)| {
            // A key is named in what follows, so it must be fit to be shown.
            match key.len() > 200 || key.contains('\0') {
                true => Err(bad_argument("there is no argument with such a name")),
                false => bounded(&below(key), item),
            }
        }),
        _ => Ok(()),
    }
}

/// The tool of a name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TABLES.iter().copied().flatten().find(|tool| tool.name == name)
}

/// The JSON schema of the arguments of a tool.
pub fn schema<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = whole::<T>(SchemaSettings::draft2020_12());
    schema.values_mut().for_each(without_null);
    schema
}

/// The JSON schema of an answer: every key is there, and what is absent is null.
pub fn answer_schema<T: JsonSchema>() -> Map<String, Value> {
    whole::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// The JSON schema of a type, in one piece: clients do not all follow references.
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

/// What may be left out need not be offered as null: not every model's service takes a list of types.
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

/// The schema of an answer that may also be an error.
pub fn or_error(mut answer: Map<String, Value>) -> Map<String, Value> {
    let required = answer.remove("required").unwrap_or_else(|| json!([]));
    if let Some(Value::Object(properties)) = answer.get_mut("properties") {
        properties.entry("error").or_insert_with(error_schema);
    }
    answer.insert("anyOf".into(), json!([{ "required": required }, { "required": ["error"] }]));
    answer
}

fn error_schema() -> Value {
    json!({
        "type": ["object", "null"],
        "description": "With isError: what went wrong and what to do.",
        "properties": {
            "kind": { "type": "string" },
            "code": { "type": "string" },
            "message": { "type": "string" },
            "hint": { "type": ["string", "null"] },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_name_of_its_own_and_says_what_it_is() {
        let all: Vec<&Tool> = TABLES.iter().copied().flatten().collect();
        for (n, tool) in all.iter().enumerate() {
            assert!(all[..n].iter().all(|other| other.name != tool.name), "{}", tool.name);
            assert!(tool.description.len() > 100, "{}", tool.name);
            for schema in [(tool.input)(), (tool.output)()] {
                assert_eq!(schema["type"], "object", "{}", tool.name);
                assert!(!json!(schema).to_string().contains("$ref"), "{}", tool.name);
            }
            assert!(!json!((tool.input)()).to_string().contains("null"), "{}", tool.name);
        }
    }

    #[test]
    fn what_no_tool_has_a_use_for_is_refused() {
        let long = "x".repeat(TEXT_LIMIT_BYTES + 1);
        for (value, says) in [
            (json!({ "a": long }), "`a` has 1048577 bytes"),
            (json!({ "a": ["b", "c\0"] }), "`a[1]` holds a NUL character"),
            (json!({ "a": { "b": "\0" } }), "`a.b` holds a NUL"),
            (json!({ "a\0": 1 }), "no argument with such a name"),
        ] {
            assert!(bounded("", &value).unwrap_err().message.contains(says), "{says}");
        }
        assert!(bounded("", &json!({ "a": ["b", { "c": 1 }], "d": null })).is_ok());
    }
}
