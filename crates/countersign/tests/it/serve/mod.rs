//! `serve`: reviews, tasks, decisions and events over HTTP, by raw requests to the real program. Every answer is held
//! against the description the server gives of itself.

mod decisions;
mod entry;
mod events;
mod input;
mod looking;
mod real_schemathesis;
mod reviews;
mod stopping;
mod tasks;

use crate::project;
use countersign_engine::ledger::Ledger;
use countersign_testkit::{Answered, Judge, Project, Served, eventually};
use serde_json::{Value, json};
use std::ops::Deref;

/// A server, the token it wants, and what it says of itself.
struct Server {
    served: Served,
    token: String,
    description: Value,
}

impl Server {
    fn start(project: &Project) -> Self {
        let served = Served::start(&mut project.command(&["serve", "--port", "0"]));
        let token = project.read_own("serve-token").trim().to_owned();
        Self::with(served, token)
    }

    /// The same by a person at a terminal, with the token that is shown there.
    fn at_terminal(project: &Project) -> Self {
        let served = Served::at_terminal(&project.command(&["serve", "--port", "0"]));
        let token = served.person_token();
        Self::with(served, token)
    }

    fn with(served: Served, token: String) -> Self {
        let mut description = served.send("GET", "/openapi.json", &[], "").json();
        // Keys may be added; that none is added without being described is for us to see.
        description["components"]["schemas"].as_object_mut().unwrap().values_mut().for_each(strictly);
        Self { served, token, description }
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn get(&self, path: &str) -> Answered {
        self.ask("GET", path, None)
    }

    fn post(&self, path: &str, body: &Value) -> Answered {
        self.ask("POST", path, Some(body))
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answered {
        let bearer = self.bearer();
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(body.map(|_| ("Content-Type", "application/json")));
        let body = body.map(Value::to_string).unwrap_or_default();
        let answer = self.served.send(method, path, &headers, &body);
        self.conforms(method, path, &answer);
        answer
    }

    /// Whether an answer is one of those that are described.
    fn conforms(&self, method: &str, path: &str, answer: &Answered) {
        let path = path.split('?').next().unwrap();
        let fits = |template: &str| {
            let (template, path): (Vec<_>, Vec<_>) =
                (template.split('/').collect(), path.split('/').collect());
            template.len() == path.len()
                && template.iter().zip(&path).all(|(part, given)| part.starts_with('{') || part == given)
        };
        let paths = self.description["paths"].as_object().unwrap();
        let Some((_, operations)) = paths.iter().find(|(template, _)| fits(template)) else { return };
        let described = &operations[method.to_ascii_lowercase()]["responses"][answer.status.to_string()];
        assert!(
            described.is_object(),
            "{method} {path}: {} is not described: {}",
            answer.status,
            answer.body
        );
        let mut schema = described["content"]["application/json"]["schema"].clone();
        schema["components"] = self.description["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let json = answer.json();
        let wrong: Vec<String> =
            validator.iter_errors(&json).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{method} {path}: {wrong:?}\n{json}");
    }
}

impl Deref for Server {
    type Target = Served;

    fn deref(&self) -> &Served {
        &self.served
    }
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

fn configure(project: &Project) {
    project.write(
        "countersign.yml",
        "version: 1\nreviewers:\n  - {name: judge, use: command, command: [./judge.sh]}\n\
         rules:\n  - name: docs\n    for: [\"*.md\"]\n    each: file\n    criteria:\n      - {name: Complete, ask: \"Is it complete?\"}\n",
    );
}

/// A project with one file and one question about it. What contains the word `BAD` fails.
fn judged() -> (Project, Judge) {
    let project = project();
    let judge = Judge::by_word(&project, "Complete");
    configure(&project);
    project.write("a.md", "a BAD text\n");
    (project, judge)
}

/// The same, where the reviewer answers about everything but `a.md` once `.go` is there.
fn slow() -> (Project, Judge) {
    let project = project();
    let body = r#"case "$file" in a.md) ;; *) while [ ! -e 'GO' ]; do sleep 0.01; done;; esac
printf '{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true, "feedback": "fine"}]}'"#;
    let judge =
        Judge::scripted(&project, "judge.sh", &body.replace("GO", project.path(".go").to_str().unwrap()));
    configure(&project);
    project.write("a.md", "a text\n").write("b.md", "another\n");
    (project, judge)
}

/// Hands the whole project in under a subject and waits for the verdict, and for everything that comes with it.
fn handed_in(server: &Server, subject: &str) -> Value {
    let answer = server.post("/v1/reviews?wait=100", &json!({ "subject": subject }));
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    if json["outcome"] == "needs_work" {
        noted(server, &json["review"]);
    }
    json
}

/// Waits until it is on record that the answer was given, which is the last thing to happen.
fn noted(server: &Server, review: &Value) {
    eventually("the answer is noted", || {
        let events = server.get(&format!("/v1/reviews/{}/events", review["id"].as_str().unwrap())).json();
        events["events"].as_array().unwrap().last().unwrap()["event"]["kind"] == "notified"
    });
}

fn events_of(project: &Project) -> u64 {
    let last = async {
        match Ledger::open_existing(&project.ledger_dir()).await.unwrap() {
            Some(ledger) => ledger.last_seq().await.unwrap(),
            None => 0,
        }
    };
    tokio::runtime::Runtime::new().unwrap().block_on(last)
}
