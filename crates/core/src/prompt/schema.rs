//! The shape of a reply: one table of fields, from which the JSON schemas and their description in the prompt are made,
//! and by which a reply is checked.

use serde_json::{Map, Value, json};

#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    MaybeBool,
    Text,
    MaybeText,
    MaybeNumber,
    OneOf(&'static [&'static str]),
    Texts,
    List(&'static [Field]),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether a reply without it is incomplete.
    pub required: bool,
    /// What it means, in the prompt's words.
    pub says: &'static str,
}

impl Field {
    /// A field without which a reply is incomplete.
    pub const fn required(name: &'static str, kind: Kind, says: &'static str) -> Self {
        Self { name, kind, required: true, says }
    }

    /// A field that may be left out.
    pub const fn optional(name: &'static str, kind: Kind, says: &'static str) -> Self {
        Self { name, kind, required: false, says }
    }
}

pub const RESPONSE: &[Field] = &[
    Field::required("passed", Kind::Bool, "true only if every criterion passed"),
    Field::required("feedback", Kind::Text, "a short summary; where something failed, what must change"),
    results(RULING),
];

/// A reply about a change, which also says what was there before.
const CHANGE_RESPONSE: &[Field] = &[
    Field::required("passed", Kind::Bool, "true only if every criterion passed"),
    Field::required("feedback", Kind::Text, "a short summary; where something failed, what must change"),
    results(CHANGE_RULING),
];

const fn results(ruling: &'static [Field]) -> Field {
    Field::optional(
        "criteria_results",
        Kind::List(ruling),
        "one entry for each criterion, none left out, none twice",
    )
}

const RULING: &[Field] = &[CRITERION, PASSED, FEEDBACK, findings(FINDING)];
const CHANGE_RULING: &[Field] = &[CRITERION, PASSED, FEEDBACK, findings(CHANGE_FINDING)];
const CRITERION: Field = Field::required("criterion", Kind::Text, "the criterion's name, copied exactly");
const PASSED: Field = Field::required("passed", Kind::Bool, "whether this criterion is met");
const FEEDBACK: Field = Field::optional(
    "feedback",
    Kind::MaybeText,
    "where it failed: the place, the defect and how to mend it; otherwise null",
);

const fn findings(finding: &'static [Field]) -> Field {
    Field::optional(
        "findings",
        Kind::List(finding),
        "where it failed: one entry for each defect, with its file and line; otherwise empty",
    )
}

const FINDING: &[Field] = &[MESSAGE, FILE, LINE, END_LINE];
const CHANGE_FINDING: &[Field] = &[MESSAGE, FILE, LINE, END_LINE, CAUSED];
const MESSAGE: Field = Field::required("message", Kind::Text, "what is wrong, and how to fix it");
const FILE: Field = Field::optional(
    "file",
    Kind::MaybeText,
    "the file's path, copied exactly; null where it is about no single file",
);
const LINE: Field = Field::optional(
    "line",
    Kind::MaybeNumber,
    "the line in the file as it is now, from 1; null where you do not know it",
);
const END_LINE: Field =
    Field::optional("end_line", Kind::MaybeNumber, "the last line, where there are several; otherwise null");
const CAUSED: Field = Field::optional(
    "caused_by_change",
    Kind::MaybeBool,
    "false only if the defect was there before this change, in lines that it did not touch; otherwise true",
);

impl Default for Shape {
    fn default() -> Self {
        Self::RULINGS
    }
}

/// The shape of a whole reply: an object with these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(pub &'static [Field]);

impl Shape {
    pub const RULINGS: Self = Self(RESPONSE);
    /// The same for a change, where what was there before does not block.
    pub const CHANGE_RULINGS: Self = Self(CHANGE_RESPONSE);

    /// The schema as documents have it: optional keys may be left out.
    pub fn schema(self) -> Value {
        object(self.0, false)
    }

    /// The schema for services that refuse optional keys: every key required and nullable, nothing else allowed.
    pub fn strict_schema(self) -> Value {
        object(self.0, true)
    }

    pub fn in_words(self) -> String {
        describe(self.0, "")
    }

    /// Whether a value has this shape; if not, the first defect. Other keys are ignored.
    pub fn check(self, value: &Value) -> Result<(), String> {
        check(self.0, value, "")
    }
}

/// The schema as the source document has it.
pub fn response_schema() -> Value {
    Shape::RULINGS.schema()
}

fn check(fields: &[Field], value: &Value, within: &str) -> Result<(), String> {
    let Value::Object(object) = value else {
        let what = if within.is_empty() { "the reply" } else { within.trim_end_matches('.') };
        return Err(format!("{what} is not an object"));
    };
    for field in fields {
        let name = format!("{within}{}", field.name);
        match object.get(field.name) {
            None | Some(Value::Null) if !field.required || field.kind.takes_null() => {}
            None | Some(Value::Null) => return Err(format!("`{name}` is missing")),
            Some(value) => check_field(field, value, &name)?,
        }
    }
    Ok(())
}

fn check_field(field: &Field, value: &Value, name: &str) -> Result<(), String> {
    match (&field.kind, value) {
        (Kind::Bool | Kind::MaybeBool, Value::Bool(_)) | (Kind::Text | Kind::MaybeText, Value::String(_)) => {
            Ok(())
        }
        (Kind::MaybeNumber, Value::Number(number)) if number.is_u64() => Ok(()),
        (Kind::OneOf(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
        (Kind::Texts, Value::Array(values)) if values.iter().all(Value::is_string) => Ok(()),
        (Kind::List(inner), Value::Array(values)) => {
            let mut numbered = values.iter().enumerate();
            numbered.try_for_each(|(i, value)| check(inner, value, &format!("{name}[{i}].")))
        }
        (kind, _) => Err(format!("`{name}` is not {}", kind.in_words())),
    }
}

impl Kind {
    fn takes_null(&self) -> bool {
        matches!(self, Self::MaybeText | Self::MaybeNumber | Self::MaybeBool)
    }

    fn in_words(&self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::MaybeBool => "true, false or null".to_owned(),
            Self::Text => "text".to_owned(),
            Self::MaybeText => "text or null".to_owned(),
            Self::MaybeNumber => "whole number or null".to_owned(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Texts => "list of texts".to_owned(),
            Self::List(_) => "list of objects".to_owned(),
        }
    }
}

fn describe(fields: &[Field], indent: &str) -> String {
    let line = |field: &Field| {
        let inner = match field.kind {
            Kind::List(inner) => describe(inner, &format!("{indent}  ")),
            _ => String::new(),
        };
        format!("{indent}- `{}` ({}): {}\n{inner}", field.name, field.kind.in_words(), field.says)
    };
    fields.iter().map(line).collect()
}

/// The schema of an object; a strict one requires every key and allows no other.
fn object(fields: &[Field], strict: bool) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), property(field, strict))).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| strict || field.required).map(|field| field.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    if strict {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

fn property(field: &Field, strict: bool) -> Value {
    let nullable = strict && !field.required;
    let kind = |name: &str| if nullable { json!([name, "null"]) } else { json!(name) };
    let mut schema = match field.kind {
        Kind::Bool => json!({ "type": kind("boolean") }),
        Kind::MaybeBool => json!({ "type": ["boolean", "null"] }),
        Kind::Text => json!({ "type": kind("string") }),
        Kind::MaybeText => json!({ "type": ["string", "null"] }),
        Kind::MaybeNumber => json!({ "type": ["integer", "null"] }),
        Kind::OneOf(words) => {
            let words: Vec<_> = words.iter().map(Some).chain(nullable.then_some(None)).collect();
            json!({ "type": kind("string"), "enum": words })
        }
        Kind::Texts => json!({ "type": kind("array"), "items": { "type": "string" } }),
        Kind::List(inner) => json!({ "type": kind("array"), "items": object(inner, strict) }),
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
        let schema = Shape::RULINGS.schema();
        assert_eq!(schema["required"], json!(["passed", "feedback"]));
        assert_eq!(schema["properties"]["passed"]["type"], "boolean");
        assert_eq!(schema["properties"]["feedback"]["type"], "string");
        assert!(accepts(&schema, json!({ "passed": true, "feedback": "" })));
        assert!(!accepts(&schema, json!({ "passed": true })));
        assert!(!accepts(&schema, json!({ "passed": "yes", "feedback": "" })));
    }

    #[test]
    fn req_004_2_6_each_result_requires_criterion_and_passed() {
        let schema = Shape::RULINGS.schema();
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
        let strict = Shape::RULINGS.strict_schema();
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
        names(&Shape::RULINGS.schema(), &mut all);
        assert_eq!(all.len(), 11);
        for name in all {
            assert!(Shape::RULINGS.in_words().contains(&format!("`{name}`")), "{name}");
        }
        // A question about a change asks one thing more.
        let (usual, change) = (Shape::RULINGS.in_words(), Shape::CHANGE_RULINGS.in_words());
        let more = change.strip_prefix(usual.as_str()).unwrap();
        assert!(more.trim_start().starts_with("- `caused_by_change` (true, false or null): "), "{more}");
        assert_eq!(more.lines().count(), 1);
    }

    const ITEMS: Shape = Shape(&[Field {
        name: "items",
        kind: Kind::List(&[
            Field { name: "id", kind: Kind::Text, required: true, says: "its id" },
            Field { name: "weight", kind: Kind::OneOf(&["MUST", "MAY"]), required: false, says: "how much" },
            Field { name: "note", kind: Kind::MaybeText, required: false, says: "a note" },
        ]),
        required: true,
        says: "at least one",
    }]);

    #[test]
    fn what_a_shape_takes_its_schemas_take_and_what_it_refuses_it_names() {
        let table = [
            (json!({ "items": [{ "id": "a", "weight": "MUST", "note": null }], "usage": 1 }), Ok(())),
            (json!({ "items": [{ "id": "a" }] }), Ok(())),
            (json!({ "items": [] }), Ok(())),
            (json!([]), Err("the reply is not an object")),
            (json!({}), Err("`items` is missing")),
            (json!({ "items": null }), Err("`items` is missing")),
            (json!({ "items": {} }), Err("`items` is not list of objects")),
            (json!({ "items": ["a"] }), Err("items[0] is not an object")),
            (json!({ "items": [{ "id": "a" }, { "id": 1 }] }), Err("`items[1].id` is not text")),
            (
                json!({ "items": [{ "id": "a", "weight": "must" }] }),
                Err("`items[0].weight` is not one of MUST, MAY"),
            ),
        ];
        for (reply, expected) in table {
            assert_eq!(ITEMS.check(&reply), expected.map_err(str::to_owned), "{reply}");
            assert_eq!(accepts(&ITEMS.schema(), reply.clone()), expected.is_ok(), "{reply}");
        }
        let full = json!({ "items": [{ "id": "a", "weight": null, "note": "n" }] });
        assert!(accepts(&ITEMS.strict_schema(), full));
        assert!(!accepts(&ITEMS.strict_schema(), json!({ "items": [{ "id": "a" }] })));
    }
}
