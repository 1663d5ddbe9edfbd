//! The shape of a reply: one table, from which the two schemas and the words that describe them are made.

use serde_json::{Map, Value, json};

/// What a field holds.
pub enum Kind {
    /// true or false.
    Bool,
    /// A text.
    Text,
    /// A text or null.
    MaybeText,
    /// A list of objects with these fields.
    List(&'static [Field]),
}

/// One field of a reply.
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether a reply without it is incomplete.
    pub required: bool,
    /// What it means, in the prompt's words.
    pub says: &'static str,
}

/// The reply to a review.
pub const RESPONSE: &[Field] = &[
    Field { name: "passed", kind: Kind::Bool, required: true, says: "true only if every criterion passed" },
    Field {
        name: "feedback",
        kind: Kind::Text,
        required: true,
        says: "a short summary; where something failed, what must change",
    },
    Field {
        name: "criteria_results",
        kind: Kind::List(RULING),
        required: false,
        says: "one entry for each criterion, none left out, none twice",
    },
];

const RULING: &[Field] = &[
    Field {
        name: "criterion",
        kind: Kind::Text,
        required: true,
        says: "the criterion's name, copied exactly",
    },
    Field { name: "passed", kind: Kind::Bool, required: true, says: "whether this criterion is met" },
    Field {
        name: "feedback",
        kind: Kind::MaybeText,
        required: false,
        says: "where it failed: the place, the defect and how to mend it; otherwise null",
    },
];

/// The schema as the source document has it.
pub fn response_schema() -> Value {
    object(RESPONSE, Rendering::Document)
}

/// The schema for services that refuse optional keys: every key required and nullable, nothing else allowed.
pub fn strict_response_schema() -> Value {
    object(RESPONSE, Rendering::Strict)
}

/// The fields in words, for the prompt.
pub(super) fn in_words() -> String {
    let mut out = String::new();
    describe(RESPONSE, "", &mut out);
    out
}

fn describe(fields: &[Field], indent: &str, out: &mut String) {
    for field in fields {
        let kind = match field.kind {
            Kind::Bool => "true or false",
            Kind::Text => "text",
            Kind::MaybeText => "text or null",
            Kind::List(_) => "list of objects",
        };
        out.push_str(&format!("{indent}- `{}` ({kind}): {}\n", field.name, field.says));
        if let Kind::List(inner) = field.kind {
            describe(inner, &format!("{indent}  "), out);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rendering {
    Document,
    Strict,
}

fn object(fields: &[Field], rendering: Rendering) -> Value {
    let strict = rendering == Rendering::Strict;
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), property(field, rendering))).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| strict || field.required).map(|field| field.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    if strict {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

fn property(field: &Field, rendering: Rendering) -> Value {
    let nullable = rendering == Rendering::Strict && !field.required;
    let kind = |name: &str| if nullable { json!([name, "null"]) } else { json!(name) };
    let mut schema = match field.kind {
        Kind::Bool => json!({ "type": kind("boolean") }),
        Kind::Text => json!({ "type": kind("string") }),
        Kind::MaybeText => json!({ "type": ["string", "null"] }),
        Kind::List(inner) => json!({ "type": kind("array"), "items": object(inner, rendering) }),
    };
    schema["description"] = json!(field.says);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(schema: &Value, reply: Value) -> bool {
        jsonschema::validator_for(schema).unwrap().is_valid(&reply)
    }

    #[test]
    fn req_004_2_5_passed_and_feedback_are_required_criteria_results_optional() {
        let schema = response_schema();
        assert_eq!(schema["required"], json!(["passed", "feedback"]));
        assert_eq!(schema["properties"]["passed"]["type"], "boolean");
        assert_eq!(schema["properties"]["feedback"]["type"], "string");
        assert!(accepts(&schema, json!({ "passed": true, "feedback": "" })));
        assert!(!accepts(&schema, json!({ "passed": true })));
        assert!(!accepts(&schema, json!({ "passed": "yes", "feedback": "" })));
    }

    #[test]
    fn req_004_2_6_each_result_requires_criterion_and_passed() {
        let schema = response_schema();
        let reply = |result: Value| json!({ "passed": true, "feedback": "", "criteria_results": [result] });
        assert!(accepts(&schema, reply(json!({ "criterion": "A", "passed": true }))));
        assert!(accepts(&schema, reply(json!({ "criterion": "A", "passed": true, "feedback": null }))));
        assert!(accepts(&schema, reply(json!({ "criterion": "A", "passed": true, "feedback": "x" }))));
        assert!(!accepts(&schema, reply(json!({ "passed": true }))));
        assert!(!accepts(&schema, reply(json!({ "criterion": "A" }))));
        assert!(!accepts(&schema, reply(json!({ "criterion": "A", "passed": true, "feedback": 1 }))));
    }

    #[test]
    fn strict_rendering_requires_every_key_and_allows_no_other() {
        fn walk(schema: &Value) {
            if schema["type"] == "object" {
                let keys: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
                let mut required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap();
                required.sort();
                assert_eq!(required, keys);
                assert_eq!(schema["additionalProperties"], false);
                schema["properties"].as_object().unwrap().values().for_each(walk);
            } else if let Some(items) = schema.get("items") {
                walk(items);
            }
        }
        let strict = strict_response_schema();
        walk(&strict);
        assert!(accepts(&strict, json!({ "passed": true, "feedback": "x", "criteria_results": null })));
        assert!(!accepts(&strict, json!({ "passed": true, "feedback": "x" })));
    }

    /// JOBS-11: the words cannot drift from the schema, because both are made from the table.
    #[test]
    fn jobs_11_words_name_every_field_of_the_schema() {
        fn names(schema: &Value, out: &mut Vec<String>) {
            if let Some(properties) = schema["properties"].as_object() {
                for (name, property) in properties {
                    out.push(name.clone());
                    names(&property["items"], out);
                }
            }
        }
        let mut all = vec![];
        names(&response_schema(), &mut all);
        assert_eq!(all.len(), 6);
        for name in all {
            assert!(in_words().contains(&format!("`{name}`")), "{name}");
        }
    }
}
