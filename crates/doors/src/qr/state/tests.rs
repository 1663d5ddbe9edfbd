//! Every form of a state file: read, written, read again.

use super::*;
use crate::qr::scope::Scope;
use crate::qr::severity;
use countersign_core::criterion::Severity;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const EXAMPLE: &str = include_str!("example.json");

fn parse(text: &str) -> Result<State, Diagnostic> {
    State::parse(Path::new("qr-plan-structure.json"), text)
}

fn with_item(item: Value) -> String {
    json!({ "phase": "plan-structure", "items": [item] }).to_string()
}

/// QR-5.
#[test]
fn qr_5_the_documents_example_is_written_back_byte_for_byte() {
    let state = parse(EXAMPLE).unwrap();
    assert_eq!(state.text(), EXAMPLE);
    let statuses: Vec<_> = state.items.iter().map(|item| item.status).collect();
    assert_eq!(statuses, [Status::Pass, Status::Fail, Status::Todo]);
    assert_eq!(state.iteration, 1);
    assert!(state.items[0].scope.is_macro());
    assert!(state.items.iter().all(|item| item.severity == severity::DEFAULT));
}

#[test]
fn every_dialect_of_the_table_loads_and_keeps_what_it_says() {
    let text = r#"{
  "phase": "plan-design",
  "iteration": 3,
  "iteration_sig": "abc",
  "items": [
    {"zeta": {"b": 1, "a": [2.5, null]}, "severity": "COULD", "version": 7, "id": "qa-002a", "parent_id": "qa-002",
     "group_id": null, "check": "c", "scope": "code_intent:CI-1", "fail_count": 2, "accepted": true,
     "acceptance_reason": "fine"},
    {"id": "qa-003", "scope": "*", "check": "d", "severity": "blocker", "status": "FAIL", "finding": "x"},
    {"id": "qa-004", "scope": "*", "check": "e", "severity": "SHOULD", "status": null}
  ]
}"#;
    let mut state = parse(text).unwrap();
    let [first, second, third] = state.items.as_slice() else { panic!() };
    assert_eq!((first.status, first.severity, first.fail_count), (Status::Todo, Severity::May, 2));
    assert_eq!((first.accepted, first.acceptance_reason.as_deref()), (true, Some("fine")));
    assert_eq!((second.status, second.severity, second.fail_count), (Status::Fail, Severity::Must, 1));
    assert_eq!((third.status, third.severity), (Status::Todo, Severity::Should));
    assert_eq!((state.iteration, state.phase), (3, Phase::PlanStructure));
    let written = state.text();
    assert!(written.contains("\"schema_version\": \"1.0\""));
    for kept in
        ["plan-design", "\"COULD\"", "\"blocker\"", "\"SHOULD\"", "iteration_sig", "parent_id", "group_id"]
    {
        assert!(written.contains(kept), "{kept}\n{written}");
    }
    // Nested keys keep their order too.
    assert!(written.find("\"b\": 1").unwrap() < written.find("\"a\": [").unwrap());
    assert_eq!(parse(&written).unwrap(), state);
    // A field that was found is never dropped, also when it is back at its default.
    state.items[0].accepted = false;
    state.items[0].fail_count = 0;
    let written = state.text();
    assert!(written.contains("\"accepted\": false") && written.contains("\"fail_count\": 0"), "{written}");
}

/// QR-5.
#[test]
fn qr_5_severity_and_iteration_are_written_only_where_they_say_something() {
    let mut state = State::new(
        Phase::ImplCode,
        vec![
            Item::new("impl-001", Scope::whole(), "a", Severity::Should),
            Item::new("impl-002", Scope::whole(), "b", Severity::Must),
        ],
    );
    let keys = |state: &State| -> Vec<Vec<String>> {
        let value: Value = serde_json::from_str(&state.text()).unwrap();
        let of = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        std::iter::once(of(&value)).chain(value["items"].as_array().unwrap().iter().map(of)).collect()
    };
    let found = keys(&state);
    assert_eq!(found[0], ["items", "phase", "schema_version"]);
    assert_eq!(found[1], ["check", "finding", "id", "scope", "status"]);
    assert_eq!(found[2], ["check", "finding", "id", "scope", "severity", "status"]);
    state.iteration = 2;
    assert_eq!(keys(&state)[0], ["items", "iteration", "phase", "schema_version"]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let item = |fields: &str| format!("{{\n\"phase\": \"plan-structure\",\n\"items\": [\n{{{fields}}}\n]}}");
    let rows = [
        ("".to_owned(), 1, "EOF"),
        ("{\"phase\": \"plan-structure\",\n\"items\": [}".to_owned(), 2, "expected value"),
        ("[]".to_owned(), 1, "a state file, an object"),
        ("{\"items\": []}".to_owned(), 1, "no `phase`"),
        ("{\"phase\": \"plan-structure\"}".to_owned(), 1, "no `items`"),
        ("{\"phase\": \"plan-strukture\",\n\"items\": []}".to_owned(), 1, "did you mean `plan-structure`"),
        ("{\"phase\": \"plan-code\",\n\"items\": []}".to_owned(), 1, "its name says plan-structure"),
        ("{\"phase\": \"plan-structure\",\n\"items\": {}}".to_owned(), 2, "a list of items"),
        ("{\"phase\": \"plan-structure\",\n\"iteration\": 0, \"items\": []}".to_owned(), 2, "a round"),
        ("{\"phase\": \"plan-structure\",\n\"iteration\": \"2\", \"items\": []}".to_owned(), 2, "a round"),
        (
            "{\"schema_version\": \"2.0\",\n\"phase\": \"plan-structure\", \"items\": []}".to_owned(),
            1,
            "version",
        ),
        (
            "{\"phase\": \"plan-structure\",\n\"x\": 1, \"x\": 2,\n\"items\": []}".to_owned(),
            2,
            "appears twice",
        ),
        (item(r#""id": "a", "scope": "*", "check": "c", "status": "DONE""#), 4, "TODO, PASS or FAIL"),
        (item(r#""id": "a", "scope": "*", "check": "c", "status": "pass""#), 4, "TODO, PASS or FAIL"),
        (item(r#""id": "a", "scope": "*", "check": "c", "severity": "HIGH""#), 4, "unknown severity"),
        (item(r#""id": "a", "scope": "*", "check": "c", "accepted": "yes""#), 4, "boolean"),
        (item(r#""id": "a", "scope": "*", "check": "c", "fail_count": -1"#), 4, "u32"),
        (item(r#""id": "a", "scope": "*", "check": "c", "finding": 3"#), 4, "a text or null"),
        (item(r#""id": "a;b", "scope": "*", "check": "c""#), 4, "is invalid: use letters"),
        (item(r#""id": "a\nb", "scope": "*", "check": "c""#), 4, "is invalid: use letters"),
        (item(r#""id": "a", "scope": "file:\u001b[2J", "check": "c""#), 4, "control characters"),
        (item(r#""id": "a", "scope": "*", "check": """#), 4, "what to verify"),
        (item(r#""id": "a", "scope": "*", "check": null"#), 4, "what to verify"),
        (item(r#""id": "a", "scope": "*", "id": "b", "check": "c""#), 4, "appears twice"),
        (
            item("\"id\": \"a\", \"scope\": \"*\", \"check\": \"c\"},\n{\"id\": \"a\""),
            5,
            "two items have the id `a`",
        ),
    ];
    for (text, line, expected) in rows {
        let problem = parse(&text).unwrap_err();
        assert!(problem.message.contains(expected), "{text}\n{problem}");
        assert_eq!(problem.place.line(), line, "{text}\n{problem}");
        assert!(problem.hint.is_some());
    }
    for missing in ["id", "scope", "check"] {
        let mut whole = json!({ "id": "a", "scope": "*", "check": "c" });
        whole.as_object_mut().unwrap().remove(missing);
        let problem = parse(&with_item(whole)).unwrap_err();
        assert!(problem.message.contains(&format!("no `{missing}`")), "{problem}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e9..1.0e9).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_item() -> impl Strategy<Value = Map<String, Value>> {
    let severity = prop_oneof![Just("MUST"), Just("should"), Just("Could"), Just("BLOCKER"), Just("MAY")];
    let status = prop_oneof![Just("TODO"), Just("PASS"), Just("FAIL")];
    let scope = prop_oneof![Just("*"), Just("milestone:M1"), Just("file:a b.rs:L1-L2"), Just("file:x")];
    (
        ("[a-z]{2,4}-[0-9]{3}", scope, "[^\\s].{0,20}"),
        prop::option::of(status),
        prop::option::of(any::<String>()),
        prop::option::of(severity),
        prop::option::of(0u32..9),
        prop::option::of(any::<bool>()),
        prop::collection::btree_map("x_[a-z]{1,3}", any_json(), 0..3),
    )
        .prop_map(|((id, scope, check), status, finding, severity, fails, accepted, extras)| {
            let mut item: Map<String, Value> = extras.into_iter().collect();
            item.insert("id".into(), json!(id));
            item.insert("scope".into(), json!(scope));
            item.insert("check".into(), json!(check));
            let given = [
                ("status", status.map(Value::from)),
                ("finding", finding.map(Value::from)),
                ("severity", severity.map(Value::from)),
                ("fail_count", fails.map(Value::from)),
                ("accepted", accepted.map(Value::from)),
            ];
            item.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
            item
        })
}

proptest! {
    #[test]
    fn any_file_of_any_dialect_is_the_same_after_writing(
        items in prop::collection::vec(any_item(), 0..6),
        iteration in prop::option::of(1u32..60),
        version in prop::option::of(prop_oneof![Just(json!("1.0")), Just(json!(1)), Just(json!("1.1"))]),
        phase in prop_oneof![Just("plan-structure"), Just("plan-design")],
        extra in any_json(),
    ) {
        let mut seen = HashSet::new();
        let items: Vec<_> = items.into_iter().filter(|item| seen.insert(item["id"].clone())).collect();
        let mut file = json!({ "phase": phase, "items": items, "x_extra": extra });
        if let Some(iteration) = iteration {
            file["iteration"] = json!(iteration);
        }
        if let Some(version) = version {
            file["schema_version"] = version;
        }
        let state = parse(&file.to_string()).unwrap();
        let written = state.text();
        prop_assert_eq!(&parse(&written).unwrap(), &state);
        // Everything that was said is still said.
        let after: Value = serde_json::from_str(&written).unwrap();
        for (key, value) in file.as_object().unwrap().iter().filter(|(key, _)| *key != "items") {
            prop_assert_eq!(&after[key], value, "{}", key);
        }
        for (before, after) in file["items"].as_array().unwrap().iter().zip(after["items"].as_array().unwrap()) {
            for (key, value) in before.as_object().unwrap() {
                prop_assert_eq!(&after[key], value, "{}", key);
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_fall_over(text in "[\\[\\]{}\",:a-z0-9\\s]{0,60}") {
        let _ = parse(&text);
    }
}
