//! A route of `serve`: its parameters, its answers, and its function. Router and description are made from
//! the rows of `routes/`.

use super::call::Call;
use super::parameter::Parameter;
use super::refusal::Refusal;
use super::routes::TABLES;
use axum::response::Response;
use axum::routing::MethodFilter;
use countersign_app::answer::v1;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::pin::Pin;

pub struct Route {
    /// Its method, as the description names it.
    pub method: (&'static str, MethodFilter),
    /// Its path; `{id}` stands for one part of any text.
    pub path: &'static str,
    pub name: &'static str,
    /// The command whose answer it gives.
    pub command: &'static str,
    pub summary: &'static str,
    /// Everything else a program has to know.
    pub description: &'static str,
    pub open: bool,
    pub parameters: &'static [Parameter],
    pub body: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// The answers that are no refusals.
    pub answers: &'static [ResponseSpec],
    pub run: fn(Call) -> Running,
}

/// A GET route without parameters; a row names what differs.
pub const GET: Route = Route {
    method: ("get", MethodFilter::GET),
    path: "",
    name: "",
    command: "",
    summary: "",
    description: "",
    open: false,
    parameters: &[],
    body: None,
    answers: &[],
    run: |_| Box::pin(async { Err(Refusal::malformed("")) }),
};

pub const POST: Route = Route { method: ("post", MethodFilter::POST), ..GET };

pub struct ResponseSpec {
    pub status: u16,
    pub words: &'static str,
    /// Its schema; none for server-sent events.
    pub schema: Option<fn(&mut SchemaGenerator) -> Schema>,
}

impl ResponseSpec {
    pub const fn answer<T: JsonSchema>(status: u16, words: &'static str) -> Self {
        Self { status, words, schema: Some(schema::<v1::Answer<T>>) }
    }
}

pub fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

pub type Running = Pin<Box<dyn Future<Output = Result<Response, Refusal>> + Send>>;

pub fn all() -> impl Iterator<Item = &'static Route> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_has_a_name_and_a_place_of_its_own() {
        let all: Vec<&Route> = all().collect();
        for (n, route) in all.iter().enumerate() {
            let same = |other: &&Route| {
                other.name == route.name || (other.path == route.path && other.method == route.method)
            };
            assert!(!all[..n].iter().any(same), "{}", route.name);
            let texts = [route.path, route.name, route.command, route.summary];
            assert!(!route.answers.is_empty() && texts.iter().all(|text| !text.is_empty()), "{}", route.name);
        }
    }
}
