//! The objects for programs of `run`, `task` and `qr` are what their types say: every key, and no other.

use crate::run::kit::{Kit, ONE};
use crate::{project, task};
use countersign_app::answer::v1::{qr, run, task as tasks};
use countersign_app::arguments::answer_schema;
use countersign_testkit::Project;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// What every answer has beside its own keys.
const ENVELOPE: [&str; 7] = ["schema", "command", "outcome", "reason", "exit_code", "error", "warnings"];

/// Whether the answer of a command fits a type.
#[track_caller]
fn fits<T: JsonSchema>(project: &Project, args: &[&str]) -> Value {
    let ran = project.run(&[args, &["--json"]].concat());
    let mut answer = ran.json();
    assert!(answer["error"].is_null(), "{args:?}: {answer}");
    answer.as_object_mut().unwrap().retain(|key, _| !ENVELOPE.contains(&key.as_str()));
    let mut schema = json!(answer_schema::<T>());
    strictly(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(&answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{args:?}: {wrong:?}\n{answer}");
    answer
}

/// Lets no key in that is not named.
fn strictly(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(strictly),
        Value::Object(map) => {
            map.values_mut().for_each(strictly);
            if map.get("properties").is_some_and(Value::is_object) {
                map.entry("additionalProperties").or_insert(json!(false));
            }
        }
        _ => {}
    }
}

/// Issue 15.3.
#[test]
fn issue_15_answers_of_run_fit_their_types() {
    let kit = Kit::new(ONE, "");
    fits::<run::Order>(&kit.project, &["run", "--all", "--dry-run"]);
    fits::<run::Stop>(&kit.project, &["stop"]);
    fits::<run::Results>(&kit.project, &["run", "--all", "--hitl-review"]);
    fits::<run::Output>(&kit.project, &["output", "TASK-001"]);
    kit.said(&["approve", "TASK-001", "--reason", "seen"]);
    let done = fits::<run::Results>(&kit.project, &["run", "--all"]);
    assert_eq!(done["tasks"][0]["state"], "success", "{done}");
}

/// Issue 15.3.
#[test]
fn issue_15_answers_of_task_fit_their_types() {
    let (project, _repository, _judge) = task::started("");
    fits::<tasks::OneTask>(&project, &["task", "add", "Paint", "--scope", "the walls"]);
    fits::<tasks::Tasks>(&project, &["task", "list"]);
    fits::<tasks::OneTask>(&project, &["task", "start", "1.1"]);
    let reviewed = fits::<tasks::OneTask>(&project, &["task", "done", "1.1"]);
    assert_eq!(reviewed["task"]["status"], "complete", "{reviewed}");
    fits::<tasks::OneTask>(&project, &["task", "show", "1.1"]);
}

/// Issue 15.3.
#[test]
fn issue_15_answers_of_qr_fit_their_types() {
    let project = project();
    let args = |words: &[&'static str]| -> Vec<&'static str> {
        [&["qr"], words, &["--state-dir", "state", "--phase", "plan-code"]].concat()
    };
    fits::<qr::Init>(&project, &args(&["init"]));
    fits::<qr::Execute>(&project, &args(&["execute"]));
    fits::<qr::Phase>(&project, &args(&["gate"]));
    project.write("plan.md", "# Plan\n\n## Milestone M1: Begin\n");
    fits::<qr::Prompt>(&project, &args(&["decompose", "--print-prompt", "--artifact", "plan.md"]));
    project.write(
        "items.json",
        json!([{ "scope": "*", "check": "a" }, { "scope": "*", "check": "b" }]).to_string(),
    );
    fits::<qr::Phase>(&project, &args(&["decompose", "--items", "items.json"]));
    fits::<qr::Phase>(&project, &args(&["record", "plan-001", "PASS"]));
    fits::<qr::Phase>(&project, &args(&["record", "plan-002", "FAIL", "--finding", "wrong"]));
    let status = fits::<qr::Status>(&project, &args(&["status"]));
    assert_eq!(status["failed"][0]["id"], "plan-002", "{status}");
    fits::<qr::ExecuteFailed>(&project, &args(&["execute", "--qr-fail"]));
    fits::<qr::Fix>(&project, &args(&["fix"]));
    let fixed = fits::<qr::Fixed>(&project, &args(&["fixed"]));
    assert_eq!(fixed["next_round"], true, "{fixed}");
}
