//! Items from a caller or a reviewer: all are checked before any is taken.

use super::item::{Item, id_problem};
use super::phase::Phase;
use super::scope::Scope;
use super::severity;
use super::state::{ITEMS_MAX, problem};
use countersign_core::strict_json;
use countersign_engine::yaml::{Diagnostic, Place, Source, did_you_mean, quoted};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::path::Path;

const KEYS: [&str; 4] = ["id", "scope", "check", "severity"];
pub const FORM: &str =
    r#"{"items": [{"scope": "*", "check": "what to verify", "severity": "MUST"}]}, or the list alone"#;

pub fn parse(path: &Path, text: &str, phase: Phase) -> Result<Vec<Item>, Diagnostic> {
    let source = Source::new(path, text);
    let items = match strict_json::parse(source.text()) {
        Err(error) => Err(problem(&source, &error)),
        Ok(value) => items(&value, phase)
            .map_err(|message| Diagnostic::new("bad-items", Place::start_of(&source), message)),
    };
    items.map_err(|problem| problem.with_hint(format!("expected: {FORM}")))
}

/// The items of a JSON value: `{"items": […]}` or the list alone. An item without an id gets one.
pub(super) fn items(value: &Value, phase: Phase) -> Result<Vec<Item>, String> {
    let list = match value {
        Value::Array(list) => list,
        Value::Object(object) => match object.get("items") {
            Some(Value::Array(list)) => list,
            Some(_) => return Err("`items` is not a list".to_owned()),
            None => return Err("`items` is missing".to_owned()),
        },
        _ => return Err("there is neither an object with `items` nor a list".to_owned()),
    };
    if list.is_empty() {
        return Err("there are no items: at least one is needed".to_owned());
    }
    if list.len() > ITEMS_MAX {
        return Err(format!("there are more than {ITEMS_MAX} items"));
    }
    let reserved = list.iter().filter_map(|item| item.get("id").and_then(Value::as_str)).collect();
    let mut ids = Ids { prefix: phase.id_prefix(), reserved, used: HashSet::new(), last: 0 };
    list.iter()
        .enumerate()
        .map(|(at, value)| item(value, &mut ids).map_err(|why| format!("item {}: {why}", at + 1)))
        .collect()
}

fn item(value: &Value, ids: &mut Ids<'_>) -> Result<Item, String> {
    let Value::Object(fields) = value else { return Err("it is not an object".to_owned()) };
    if let Some(unknown) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let known = did_you_mean(unknown, &KEYS, "there are");
        return Err(format!("it has an unknown key {}: {known}", quoted(unknown)));
    }
    let scope = Scope::parse(text(fields, "scope")?.ok_or("it has no `scope`: `*` is everything")?)?;
    let check = text(fields, "check")?.map(str::trim).filter(|check| !check.is_empty());
    let check = check.ok_or("it has no `check`, which says what to verify")?;
    let severity = match text(fields, "severity")? {
        None => severity::DEFAULT,
        Some(word) => severity::parse(word)?,
    };
    let id = match text(fields, "id")? {
        Some(id) => ids.given(id)?,
        None => ids.next(),
    };
    Ok(Item::new(id, scope, check, severity))
}

fn text<'v>(fields: &'v Map<String, Value>, key: &str) -> Result<Option<&'v str>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` is not a text")),
    }
}

/// The ids of a list: the given ones, and new ones that differ from all of them.
struct Ids<'l> {
    prefix: &'static str,
    reserved: HashSet<&'l str>,
    used: HashSet<String>,
    last: usize,
}

impl Ids<'_> {
    fn given(&mut self, id: &str) -> Result<String, String> {
        match id_problem(id) {
            Some(problem) => Err(problem),
            None if self.used.insert(id.to_owned()) => Ok(id.to_owned()),
            None => Err(format!("another item has the id {} already", quoted(id))),
        }
    }

    fn next(&mut self) -> String {
        loop {
            self.last += 1;
            let id = format!("{}-{:03}", self.prefix, self.last);
            if !self.reserved.contains(id.as_str()) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::criterion::Severity;
    use serde_json::json;

    /// QR-6.
    #[test]
    fn qr_6_ids_are_given_out_where_none_are_given() {
        let value = json!([
            { "scope": "*", "check": "a" },
            { "id": "impl-002", "scope": "file:x", "check": "b", "severity": "must" },
            { "scope": "milestone:M1", "check": "c", "severity": null },
        ]);
        for value in [value.clone(), json!({ "items": value })] {
            let items = items(&value, Phase::ImplCode).unwrap();
            let ids: Vec<_> = items.iter().map(|item| item.id.as_str()).collect();
            assert_eq!(ids, ["impl-001", "impl-002", "impl-003"]);
            let weights: Vec<_> = items.iter().map(|item| item.severity).collect();
            assert_eq!(weights, [Severity::Should, Severity::Must, Severity::Should]);
        }
    }

    /// QR-2.
    #[test]
    fn qr_2_items_are_checked_before_any_is_taken() {
        let good = json!({ "id": "a", "scope": "*", "check": "x" });
        let rows = [
            (json!([]), "at least one"),
            (json!({ "items": {} }), "not a list"),
            (json!({}), "`items` is missing"),
            (json!("x"), "neither"),
            (json!([good, { "id": "a", "scope": "*", "check": "y" }]), "item 2: another item has the id `a`"),
            (json!([good, { "check": "y" }]), "item 2: it has no `scope`"),
            (json!([{ "scope": "milestone:", "check": "y" }]), "item 1: the scope"),
            (json!([{ "scope": "*" }]), "item 1: it has no `check`"),
            (json!([{ "scope": "*", "check": " " }]), "no `check`"),
            (json!([{ "scope": "*", "check": 1 }]), "`check` is not a text"),
            (json!([{ "scope": "*", "check": "x", "severity": "HIGH" }]), "unknown severity `HIGH`"),
            (json!([{ "scope": "*", "check": "x", "severty": "MUST" }]), "did you mean `severity`"),
            (json!([{ "id": "a; rm -rf", "scope": "*", "check": "x" }]), "is invalid: use letters"),
            (json!([{ "id": "a\nb", "scope": "*", "check": "x" }]), "is invalid: use letters"),
            (json!([{ "scope": "file:a\nb", "check": "x" }]), "control characters"),
            (json!([{ "scope": "*", "check": "x", "status": "PASS" }]), "unknown key `status`"),
            (json!([7]), "item 1: it is not an object"),
        ];
        for (value, expected) in rows {
            let problem = items(&value, Phase::PlanCode).unwrap_err();
            assert!(problem.contains(expected), "{value}: {problem}");
        }
    }
}
