//! The schema of one question's reply. Pure. Without bounds small models write without end and answer criteria that were
//! not asked. Servers that enforce a schema enforce its bounds; the vendors' own APIs refuse some.

use serde_json::{Value, json};

/// The longest text of a ruling. Longer repetitions are refused by servers that make a grammar of it.
const TEXT_CHARACTERS: usize = 1000;
const FINDINGS: usize = 20;

/// The schema with bounds: one ruling for each criterion, by its name, none endless.
pub fn bounded(mut schema: Value, criteria: &[&str]) -> Value {
    shorten(&mut schema);
    let results = &mut schema["properties"]["criteria_results"];
    results["type"] = json!("array");
    results["minItems"] = json!(criteria.len());
    results["maxItems"] = json!(criteria.len());
    let ruling = &mut results["items"]["properties"];
    ruling["findings"]["maxItems"] = json!(FINDINGS);
    let name = &mut ruling["criterion"];
    *name = json!({ "type": "string", "enum": criteria, "description": name["description"] });
    schema
}

/// Bounds every text, but for those that are one of some words.
pub fn shorten(schema: &mut Value) {
    if schema.get("enum").is_some() {
        return;
    }
    let kind = &schema["type"];
    let is_text = kind == "string" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("string")));
    if is_text {
        schema["maxLength"] = json!(TEXT_CHARACTERS);
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(shorten);
    }
    if let Some(items) = schema.get_mut("items") {
        shorten(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::prompt::Shape;

    #[test]
    fn a_bounded_schema_takes_one_ruling_for_each_criterion() {
        let long = "x".repeat(TEXT_CHARACTERS + 1);
        let ruling = |name: &str, feedback: &str| json!({ "criterion": name, "passed": true, "feedback": feedback, "findings": [] });
        let finding = json!({ "message": "m", "file": null, "line": 1, "end_line": null });
        let finding_many = |count: usize| {
            let mut ruling = ruling("B", "");
            ruling["findings"] = json!(vec![finding.clone(); count]);
            ruling
        };
        let (a, b) = (ruling("A", ""), ruling("B", ""));
        let table = [
            (json!([a, b]), true),
            (json!([a]), false),
            (json!([a, b, a]), false),
            (json!([a, ruling("C", "")]), false),
            (json!([a, ruling("B", &long)]), false),
            (json!([a, finding_many(FINDINGS)]), true),
            (json!([a, finding_many(FINDINGS + 1)]), false),
            (json!(null), false),
        ];
        for schema in [Shape::RULINGS.schema(), Shape::RULINGS.strict_schema()] {
            let schema = bounded(schema, &["A", "B"]);
            let validator = jsonschema::validator_for(&schema).unwrap();
            for (results, expected) in &table {
                let reply = json!({ "passed": true, "feedback": "", "criteria_results": results });
                assert_eq!(validator.is_valid(&reply), *expected, "{reply}");
            }
            let reply = json!({ "passed": true, "feedback": long, "criteria_results": [a, b] });
            assert!(!validator.is_valid(&reply));
        }
    }
}
