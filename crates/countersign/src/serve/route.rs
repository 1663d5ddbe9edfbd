//! A route: what it takes, what it gives, and the function behind it. The description is made from these.

use super::call::{Call, Reply};
use super::parameter::Parameter;
use super::refusal::Refusal;
use super::routes::TABLES;
use countersign_app::answer::v1;
use hyper::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::pin::Pin;

/// A route.
pub struct Route {
    pub method: Method,
    /// Its path; `{id}` stands for one part of any text.
    pub path: &'static str,
    /// Its name in the description.
    pub name: &'static str,
    /// The command whose answer it gives.
    pub command: &'static str,
    /// In a line.
    pub summary: &'static str,
    /// Everything else a program has to know.
    pub description: &'static str,
    /// Whether everybody on this machine may ask.
    pub open: bool,
    pub parameters: &'static [Parameter],
    /// The body it takes.
    pub body: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// What it gives when it works.
    pub answers: &'static [Given],
    pub run: fn(Call) -> Running,
}

/// An answer that is no refusal.
pub struct Given {
    pub status: u16,
    /// When.
    pub words: &'static str,
    pub content: Content,
}

/// What an answer is.
pub enum Content {
    /// One object.
    Json(fn(&mut SchemaGenerator) -> Schema),
    /// Server-sent events.
    Events,
}

/// The schema of an answer of a command.
pub fn answer<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<v1::Answer<T>>()
}

/// The schema of a body.
pub fn body<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A route at work.
pub type Running = Pin<Box<dyn Future<Output = Result<Reply, Refusal>> + Send>>;

/// What a path leads to.
pub enum Found {
    /// A route, and what stood for the parts in braces.
    Route(&'static Route, Vec<String>),
    /// There are routes, for other methods.
    OtherMethods(Vec<&'static Method>),
    /// Nothing.
    Nothing,
}

/// Every route there is.
pub fn all() -> impl Iterator<Item = &'static Route> {
    TABLES.iter().copied().flatten()
}

/// The route of a request.
pub fn find(method: &Method, path: &str) -> Found {
    let mut others = vec![];
    for route in all() {
        let Some(parts) = fits(route.path, path) else { continue };
        if route.method == *method {
            return Found::Route(route, parts);
        }
        others.push(&route.method);
    }
    if others.is_empty() { Found::Nothing } else { Found::OtherMethods(others) }
}

/// What stands for the parts in braces, if the path fits at all.
fn fits(template: &str, path: &str) -> Option<Vec<String>> {
    let mut parts = vec![];
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(parts),
            (Some(wanted), Some(given)) if wanted.starts_with('{') => {
                parts.push(super::parameter::decoded(given, false).filter(|part| !part.is_empty())?);
            }
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_fits_part_by_part() {
        let table: [(&str, Option<&[&str]>); 8] = [
            ("/v1/reviews/rv-1/events", Some(&["rv-1"])),
            ("/v1/reviews/cli%2Fguides/events", Some(&["cli/guides"])),
            ("/v1/reviews/a+b%20c/events", Some(&["a+b c"])),
            ("/v1/reviews//events", None),
            ("/v1/reviews/%ff/events", None),
            ("/v1/reviews/%2/events", None),
            ("/v1/reviews/rv-1/events/", None),
            ("/v1/reviews/rv-1", None),
        ];
        for (path, expected) in table {
            let found = fits("/v1/reviews/{id}/events", path);
            assert_eq!(
                found.as_deref(),
                expected
                    .map(|parts| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>())
                    .as_deref(),
                "{path}"
            );
        }
    }

    #[test]
    fn every_route_has_a_name_and_a_place_of_its_own() {
        let all: Vec<&Route> = all().collect();
        for (n, route) in all.iter().enumerate() {
            let same = |other: &&Route| {
                other.name == route.name || (other.path == route.path && other.method == route.method)
            };
            assert!(!all[..n].iter().any(same), "{}", route.name);
            assert!(!route.answers.is_empty() && !route.summary.is_empty(), "{}", route.name);
        }
    }
}
