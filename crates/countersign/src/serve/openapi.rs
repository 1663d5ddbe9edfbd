//! The description of everything that is served, made from the tables of routes.

use super::parameter::{Kind, Parameter, ParameterIn, WITHOUT_NUL};
use super::refusal::STATUSES;
use super::route::{ResponseSpec, Route, all};
use countersign_app::answer::v1;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The part of a path in braces.
const ID: Parameter = Parameter::query("id", Kind::Text { max_chars: 1000 }, "Which one; percent-encoded.");

/// OpenAPI 3.1, whose schemas are those of JSON Schema 2020-12.
pub fn description() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for route in all() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.0] = operation(route, &mut schemas);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Countersign",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Reviews, tasks, decisions and events of one project, on loopback. Every answer is the object \
                            that the command it names prints with `--json`; keys may be added, what is unknown is null.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "The token in the file serve-token beside the ledger, for everything but decisions; or the token that was shown at the terminal where a person started the server, for decisions too.",
            } },
            "schemas": schemas.definitions(),
        },
    })
}

/// Requests and answers have separate schemas: a key that is optional in a request is always in an answer.
struct Schemas {
    taken: SchemaGenerator,
    given: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self { given: settings.clone().for_serialize().into_generator(), taken: settings.into_generator() }
    }

    fn definitions(mut self) -> Map<String, Value> {
        let mut all = self.taken.take_definitions(true);
        all.values_mut().for_each(without_nul);
        all.extend(self.given.take_definitions(true));
        all
    }
}

/// Adds to every text of a request that it holds no NUL.
fn without_nul(schema: &mut Value) {
    let Value::Object(map) = schema else {
        if let Value::Array(all) = schema {
            all.iter_mut().for_each(without_nul);
        }
        return;
    };
    let is_text = match map.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => false,
    };
    if is_text && !map.contains_key("enum") {
        map.entry("pattern").or_insert_with(|| WITHOUT_NUL.into());
    }
    map.values_mut().for_each(without_nul);
}

fn operation(route: &Route, schemas: &mut Schemas) -> Value {
    let in_path = route.path.contains('{').then(|| {
        json!({ "name": ID.name, "in": "path", "required": true, "description": ID.words, "schema": ID.kind.schema() })
    });
    let parameters: Vec<Value> = in_path.into_iter().chain(route.parameters.iter().map(parameter)).collect();
    let mut operation = json!({
        "operationId": route.name,
        "summary": route.summary,
        "description": route.description,
        "parameters": parameters,
        "responses": responses(route, schemas),
    });
    if route.open {
        operation["security"] = json!([]);
    }
    if let Some(schema) = route.body {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema(&mut schemas.taken) } },
        });
    }
    operation
}

fn parameter(parameter: &Parameter) -> Value {
    let place = match parameter.place {
        ParameterIn::Query => "query",
        ParameterIn::Header => "header",
    };
    json!({
        "name": parameter.name, "in": place, "required": false, "description": parameter.words,
        "schema": parameter.kind.schema(),
    })
}

fn responses(route: &Route, schemas: &mut Schemas) -> Value {
    let mut responses = Map::new();
    for ResponseSpec { status, words, schema } in route.answers {
        let (kind, schema) = match schema {
            Some(schema) => ("application/json", json!(schema(&mut schemas.given))),
            None => ("text/event-stream", json!({ "type": "string" })),
        };
        let mut response = json!({ "description": words, "content": { kind: { "schema": schema } } });
        if matches!(status, 201 | 202) && route.body.is_some() {
            let words = "The path of the new object.";
            response["headers"] =
                json!({ "Location": { "description": words, "schema": { "type": "string" } } });
        }
        responses.insert(status.to_string(), response);
    }
    for (status, words) in STATUSES.iter().filter(|(status, _)| can_be(route, *status)) {
        let schema = schemas.given.subschema_for::<v1::Failed>();
        let content = json!({ "application/json": { "schema": schema } });
        responses.insert(status.to_string(), json!({ "description": words, "content": content }));
    }
    Value::Object(responses)
}

fn can_be(route: &Route, status: u16) -> bool {
    match status {
        401 => !route.open,
        404 => route.path.contains('{'),
        // It belongs to the path, not to one route.
        405 => false,
        408 | 413 | 415 => route.body.is_some(),
        409 | 422 => !route.open,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_route_is_described_with_all_it_takes_and_gives() {
        let all_of_it = description();
        for route in all() {
            let described = &all_of_it["paths"][route.path][route.method.0];
            assert_eq!(described["operationId"], route.name);
            for given in route.answers {
                assert!(described["responses"].get(given.status.to_string()).is_some(), "{}", route.name);
            }
            assert_eq!(described.get("requestBody").is_some(), route.body.is_some(), "{}", route.name);
            assert_eq!(described.get("security").is_some(), route.open, "{}", route.name);
        }
    }

    /// One name for two types would describe one of them wrongly.
    #[test]
    fn every_shape_has_a_name_of_its_own() {
        let mut schemas = Schemas::new();
        for route in all() {
            operation(route, &mut schemas);
        }
        let names = |definitions: Map<String, Value>| {
            definitions.into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>()
        };
        let (taken, given) =
            (names(schemas.taken.take_definitions(true)), names(schemas.given.take_definitions(true)));
        assert_eq!(taken.intersection(&given).collect::<Vec<_>>(), Vec::<&String>::new());
        assert!(
            taken.iter().chain(&given).all(|name| name.chars().all(char::is_alphabetic)),
            "{taken:?} {given:?}"
        );
    }
}
