//! Whatever is in the file: an answer, never a panic, and never a mistake read as a default.

use super::read;
use countersign_engine::config::schema;
use proptest::prelude::*;
use serde_json::{Value, json};

fn whole() -> Value {
    json!({
        "version": 1,
        "reviewers": [
            { "name": "main", "use": "command", "command": ["./judge.sh", "-x"], "sees": "given",
              "timeout_seconds": 5, "concurrency": 2, "model": null },
            { "name": "rec", "use": "replay", "file": "r.jsonl" },
        ],
        "rules": [{
            "name": "r", "for": ["docs/*.md"], "each": "file", "guidance": "g", "reviewer": "main",
            "criteria": [
                { "name": "A", "ask": "q", "severity": "may", "check": "valid_json" },
                { "name": "B", "check": { "run": { "command": "make", "exit_code": 1, "timeout_seconds": 3 } } },
                { "name": "C", "check": { "required_headings": ["Usage"] } },
            ],
        }],
        "policy": { "max_attempts": 3, "blocking": [{ "from_round": 1, "severity": "should" }],
                    "max_stalled_rounds": 3, "reuse_days": 30, "accept_bare_verdicts": false,
                    "overrides": "people-only" },
        "limits": { "max_inline_files": 5, "prompt_bytes": 9, "reply_bytes": 9, "reviewers_at_once": 4,
                    "keep_contents_days": 0 },
    })
}

/// Every place in a value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, inner)| pointers(inner, &format!("{at}/{key}"), found))
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(n, inner)| pointers(inner, &format!("{at}/{n}"), found));
        }
        _ => {}
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!([])),
        Just(json!({})),
        Just(json!([3])),
        Just(json!({ "name": "x" })),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
        prop_oneof![Just("must"), Just("run"), Just("self"), Just("all"), Just("1"), Just("true")]
            .prop_map(Value::from),
    ]
}

#[test]
fn the_unchanged_whole_is_good() {
    assert!(read(whole().to_string()).is_ok());
}

proptest! {
    #[test]
    fn text_never_panics(text in "\\PC*") {
        let _ = read(text);
    }

    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(bytes);
    }

    #[test]
    fn yaml_like_text_never_panics(text in "([a-c]|: |- |\\n|  |\\[|\\]|\\{|\\}|,|&a |\\*a|\"|'|#|\\||>|!|é|\t|<<|~|1|-){0,60}") {
        if let Err(problems) = read(text) {
            for problem in problems.listed {
                let (line, column) = (problem.place.line(), problem.place.column());
                prop_assert!(line >= 1 && column >= 1);
                prop_assert!(problem.place.source().get(problem.place.span()).is_some());
            }
        }
    }

    /// What the schema refuses, the reader refuses.
    #[test]
    fn a_changed_value_is_refused_wherever_the_schema_refuses_it(pick in any::<prop::sample::Index>(), value in any_value()) {
        let mut config = whole();
        let mut places = Vec::new();
        pointers(&config, "", &mut places);
        let at: &String = pick.get(&places);
        *config.pointer_mut(at).unwrap() = value;
        if !jsonschema::is_valid(&schema(), &config) {
            prop_assert!(read(config.to_string()).is_err(), "{config}");
        }
    }

    #[test]
    fn a_changed_key_is_an_error(pick in any::<prop::sample::Index>(), key in "[a-z_]{1,12}") {
        let mut config = whole();
        let mut places = Vec::new();
        pointers(&config, "", &mut places);
        places.retain(|at| !at.is_empty() && !at.ends_with(|c: char| c.is_ascii_digit()));
        let (parent, old) = pick.get(&places).rsplit_once('/').unwrap();
        let map = config.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        prop_assume!(!map.contains_key(&key));
        let value = map.remove(old).unwrap();
        map.insert(key, value);
        // A key that exists elsewhere may fit here too; the schema knows.
        if !jsonschema::is_valid(&schema(), &config) {
            prop_assert!(read(config.to_string()).is_err(), "{config}");
        }
    }
}
