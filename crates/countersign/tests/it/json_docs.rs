//! The tables of docs/json.md are those of the types. `cargo xtask schema` writes them again.

use countersign_app::answer::v1;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const BEGIN: &str = "<!-- keys of ";
const END: &str = "<!-- end of keys -->";

/// A type with a table, by the name that stands in the page.
fn root<T: JsonSchema>(into: &mut BTreeMap<String, Value>, name: &str) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs").map(Value::take) {
        into.extend(definitions);
    }
    into.insert(name.to_owned(), schema);
}

/// Every type that programs read from `--json`, with all that it has inside.
fn types() -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    root::<v1::Answer<Map<String, Value>>>(&mut all, "Answer");
    root::<v1::Problem>(&mut all, "Problem");
    root::<v1::Verdict>(&mut all, "Verdict");
    root::<v1::baseline::Baseline>(&mut all, "Baseline");
    root::<v1::ci::Ci>(&mut all, "Ci");
    root::<v1::JudgedFile>(&mut all, "JudgedFile");
    root::<v1::Preview>(&mut all, "Preview");
    root::<v1::Statement>(&mut all, "Statement");
    root::<v1::Disputed>(&mut all, "Disputed");
    root::<v1::Status>(&mut all, "Status");
    root::<v1::Reconciled>(&mut all, "Reconciled");
    root::<v1::Log>(&mut all, "Log");
    root::<v1::ledger::Backup>(&mut all, "Backup");
    root::<v1::ledger::Exported>(&mut all, "Exported");
    root::<v1::ledger::Imported>(&mut all, "Imported");
    root::<v1::ledger::Pruned>(&mut all, "Pruned");
    root::<v1::ledger::Rebuilt>(&mut all, "Rebuilt");
    root::<v1::Costs>(&mut all, "Costs");
    root::<v1::Checks>(&mut all, "Checks");
    root::<v1::Valid>(&mut all, "Valid");
    root::<v1::Config>(&mut all, "Config");
    root::<v1::ConfigSchema>(&mut all, "ConfigSchema");
    root::<v1::Demo>(&mut all, "Demo");
    root::<v1::Completions>(&mut all, "Completions");
    root::<v1::Event>(&mut all, "Event");
    all.retain(|_, schema| schema["properties"].is_object());
    all
}

fn table(schema: &Value) -> String {
    let mut out = "| key | type | meaning |\n|---|---|---|\n".to_owned();
    let keys = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert_eq!(
        keys.len(),
        schema["properties"].as_object().map_or(0, Map::len),
        "every key is there: {schema}"
    );
    for key in keys.iter().filter_map(Value::as_str) {
        let property = &schema["properties"][key];
        let meaning = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        let meaning = meaning.strip_suffix('.').unwrap_or(&meaning);
        writeln!(out, "| `{key}` | {} | {meaning} |", words(property)).unwrap();
    }
    out
}

/// A type in words.
fn words(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return match name {
            "Outcome" => "an [outcome](#every-answer)".to_owned(),
            "Version" => "`\"countersign/1\"`".to_owned(),
            name => format!("`{name}`"),
        };
    }
    if let Some(ways) = schema["anyOf"].as_array() {
        return ways.iter().map(words).collect::<Vec<_>>().join(" or ");
    }
    let values = |of: &Value| {
        let all = of.as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ")
    };
    if let Some(ways) = schema["oneOf"].as_array() {
        return ways
            .iter()
            .map(|way| format!("`{}`", way["const"].as_str().unwrap()))
            .collect::<Vec<_>>()
            .join(" ");
    }
    if schema["enum"].is_array() {
        return values(&schema["enum"]);
    }
    let one = |kind: &str| match kind {
        "string" => "text".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => format!("list of {}", words(&schema["items"])),
        other => other.to_owned(),
    };
    match &schema["type"] {
        Value::String(kind) => one(kind),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

#[test]
fn json_docs_are_published() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");
    let page = std::fs::read_to_string(path).unwrap();
    let types = types();
    let (mut written, mut described, mut rest) = (String::new(), BTreeSet::new(), page.as_str());
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").unwrap();
        let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("the block of {name} has no end"));
        let schema = types.get(name).unwrap_or_else(|| panic!("there is no type {name}"));
        write!(written, "{before}{BEGIN}{name} -->\n{}{END}", table(schema)).unwrap();
        described.insert(name);
        rest = after;
    }
    written.push_str(rest);
    let missing: Vec<&String> = types.keys().filter(|name| !described.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "docs/json.md has no block for {missing:?}");
    if std::env::var_os("UPDATE_SCHEMA").is_some_and(|value| value == "1") {
        std::fs::write(path, written).unwrap();
        return;
    }
    assert!(page == written, "docs/json.md is not what the types say: run `cargo xtask schema`");
}
