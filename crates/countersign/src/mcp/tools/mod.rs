//! The tables of tools, and the types of a call and its answer. How to add a tool: see [`super`].

pub mod jobs;
pub mod review;

pub use countersign_app::arguments::{answer_schema, schema};

use super::progress::Progress;
use super::server::Server;
use countersign_app::answer::v1::Problem;
use countersign_app::project::Project;
use countersign_app::{Failure, arguments, author};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

pub const TABLES: &[&[Tool]] = &[jobs::TOOLS, review::TOOLS];

pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// JSON schemas of the arguments and the answer.
    pub input: fn() -> Map<String, Value>,
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

pub type Running = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;

/// Runs once an answer was written.
pub type Afterwards = Pin<Box<dyn Future<Output = ()> + Send>>;

pub struct Call {
    pub server: Server,
    /// The client's own name, as it gave it.
    pub client: String,
    pub progress: Progress,
    /// Ends when the client cancels, hangs up, or the server stops.
    pub cancel: CancellationToken,
    pub arguments: Map<String, Value>,
}

pub struct Reply {
    pub json: Value,
    /// The same as text, with keys in the order of its type.
    pub text: String,
    pub afterwards: Option<Afterwards>,
}

impl Reply {
    pub fn new(answer: &impl Serialize) -> Result<Self, Failure> {
        let failed = |error: serde_json::Error| Failure::internal(error.to_string());
        let json = serde_json::to_value(answer).map_err(failed)?;
        let text = serde_json::to_string(answer).map_err(failed)?;
        Ok(Self { json, text, afterwards: None })
    }

    /// The same, with a future to run once it was written and the call was not cancelled.
    pub fn delivered(self, afterwards: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { afterwards: Some(Box::pin(afterwards)), ..self }
    }
}

impl Call {
    /// The project, with the configuration as it is now, and the client as the author of the work.
    pub fn project(&self) -> Result<Project, Failure> {
        Ok(self.by_client(self.server.project()?))
    }

    pub fn by_client(&self, project: Project) -> Project {
        Project { author: author::of_client(&self.client).or(project.author), ..project }
    }

    pub fn arguments<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        arguments::read(Value::Object(std::mem::take(&mut self.arguments)))
    }
}

pub fn all() -> impl Iterator<Item = &'static Tool> {
    TABLES.iter().copied().flatten()
}

pub fn find(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

/// The schema of an answer that may also be an error.
pub fn or_error(mut answer: Map<String, Value>) -> Map<String, Value> {
    let required = answer.remove("required").unwrap_or_else(|| json!([]));
    if let Some(Value::Object(properties)) = answer.get_mut("properties") {
        let mut error = answer_schema::<Problem>();
        error.insert("type".into(), json!(["object", "null"]));
        error.insert("description".into(), "With isError: what went wrong and what to do.".into());
        properties.entry("error").or_insert(Value::Object(error));
    }
    answer.insert("anyOf".into(), json!([{ "required": required }, { "required": ["error"] }]));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_name_of_its_own_and_says_what_it_is() {
        let all: Vec<&Tool> = all().collect();
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
}
