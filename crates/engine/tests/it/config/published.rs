//! The schema that editors use, and the examples that people copy.

use super::read;
use countersign_engine::config::schema;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn accepts(config: &Value) -> bool {
    jsonschema::validator_for(&schema()).unwrap().is_valid(config)
}

/// A good configuration, changed at one place.
fn with(pointer: &str, value: Value) -> Value {
    let mut config = json!({
        "version": 1,
        "reviewers": [{ "name": "main", "use": "command", "command": ["./judge.sh"] }],
        "rules": [{ "name": "r", "for": ["a"], "criteria": [{ "name": "A", "ask": "q" }] }],
        "policy": { "max_attempts": 3, "blocking": [{ "from_round": 1, "severity": "must" }] },
        "limits": { "prompt_bytes": 1 },
    });
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match config.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.insert(key.into(), value)),
        list => list[key.parse::<usize>().unwrap()] = value,
    }
    config
}

#[test]
fn schema_is_published() {
    let file = docs().join("countersign.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some_and(|value| value == "1") {
        std::fs::write(&file, serde_json::to_string_pretty(&schema()).unwrap() + "\n").unwrap();
    }
    // Compared as values: the order of keys depends on what other crates ask of serde_json.
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    let published: Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == schema(), "docs/countersign.schema.json is out of date: run `cargo xtask schema`");
}

#[test]
fn examples_are_read_and_fit_the_schema() {
    for (name, rules, reviewers) in [("minimal.yml", 1, 1), ("documents.yml", 3, 8)] {
        let text = std::fs::read_to_string(docs().join("examples").join(name)).unwrap();
        let config = read(text.as_str()).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        assert_eq!((config.rules.len(), config.reviewers.len()), (rules, reviewers), "{name}");
        let value: Value = serde_saphyr::from_str(&text).unwrap();
        assert!(accepts(&value), "{name} does not fit the schema");
    }
}

#[test]
fn the_whole_example_shows_every_key() {
    let text = std::fs::read_to_string(docs().join("examples/documents.yml")).unwrap();
    let schema = schema();
    let objects = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    for key in objects.filter_map(|object| object["properties"].as_object()).flat_map(|map| map.keys()) {
        assert!(text.contains(&format!("{key}:")), "`{key}` is not shown");
    }
}

#[test]
fn schema_and_reader_refuse_the_same_mistakes() {
    assert!(accepts(&with("/version", json!(1))));
    for wrong in [
        with("/version", json!(2)),
        with("/version", json!("1")),
        with("/rules", json!([])),
        with("/rules", json!(null)),
        with("/polcy", json!({})),
        with("/policy", json!([])),
        with("/policy/max_attempts", json!(0)),
        with("/policy/max_attempts", json!(-1)),
        with("/policy/max_attempts", json!(null)),
        with("/policy/max_attempts", json!(4_294_967_296_u64)),
        with("/policy/overrides", json!("anyone")),
        with("/policy/on_no_verdict", json!("pass")),
        with("/policy/blocking/0", json!({ "from_round": 1 })),
        with("/policy/blocking/0/from_round", json!(0)),
        with("/limits/prompt_bytes", json!(-1)),
        with("/limits/prompt_byte", json!(1)),
        with("/reviewers/0", json!({ "name": "main" })),
        with("/reviewers/0", json!({ "name": "main", "use": "clod" })),
        with("/reviewers/0", json!({ "name": "main", "use": "command" })),
        with("/reviewers/0", json!({ "name": "main", "use": "replay" })),
        with("/reviewers/0/command", json!([])),
        with("/rules/0/name", json!("")),
        with("/rules/0/name", json!(3)),
        with("/rules/0/for", json!([])),
        with("/rules/0/for", json!("a")),
        with("/rules/0/each", json!("folder")),
        with("/rules/0/criteria", json!([])),
        with("/rules/0/criteria/0", json!({ "name": "A" })),
        with("/rules/0/criteria/0", json!({ "ask": "q" })),
        with("/rules/0/criteria/0/severity", json!("high")),
        with("/rules/0/criteria/0/check", json!("run")),
        with("/rules/0/criteria/0/check", json!({ "required_headings": [] })),
        with("/rules/0/criteria/0/check", json!({ "required_pattern": "" })),
        with("/rules/0/criteria/0/check", json!({ "run": { "command": "x", "exit_code": 256 } })),
        with("/rules/0/criteria/0/check", json!({ "run": "x", "not_empty": null })),
    ] {
        assert!(!accepts(&wrong), "the schema accepts {wrong}");
        assert!(read(wrong.to_string()).is_err(), "the reader accepts {wrong}");
    }
    for right in [
        with("/reviewers/0", json!({ "name": "main", "use": "claude" })),
        with("/reviewers", json!(null)),
        with("/policy", json!(null)),
        with("/rules/0/guidance", json!(null)),
        with("/rules/0/criteria/0/check", json!("valid_json")),
        with("/rules/0/criteria/0", json!({ "name": "A", "check": { "run": "make lint" } })),
        with("/rules/0/criteria/0", json!({ "name": "A", "check": { "run": { "command": "x" } } })),
        with("/rules/0/criteria/0", json!({ "name": "A", "check": { "required_headings": ["Usage"] } })),
    ] {
        assert!(accepts(&right), "the schema refuses {right}");
        assert!(read(right.to_string()).is_ok(), "the reader refuses {right}");
    }
}
