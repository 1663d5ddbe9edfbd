//! `countersign hook`: what an agent program is told when its agent stops, by what is written to its hook.

mod failing;
mod faults;
mod history;
mod input;
mod installing;
mod loops;
mod no_verdict;
mod own_call;
mod wanted;

use crate::project;
use countersign_engine::ledger::Ledger;
use countersign_testkit::{Judge, Project, Ran, Repository, Running};
use serde_json::{Value, json};
use std::path::Path;

/// A project with a commit, and a judge that keeps every question and fails what has the word BAD in it.
struct Bench {
    project: Project,
    repository: Repository,
    judge: Judge,
}

const RULES: &str = "rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]\n";

fn config(more: &str) -> String {
    format!("version: 1\nreviewers: [{{name: judge, use: command, command: [./judge.sh]}}]\n{more}{RULES}")
}

impl Bench {
    fn new(more: &str) -> Self {
        let project = project();
        let repository = Repository::at(project.root());
        project.write("a.md", "one\n").write(".gitignore", ".asked*\n.brief\n.down\n");
        project.write("countersign.yml", config(more));
        let body = r#"printf '%s' "$brief" >ROOT/.brief
test -e ROOT/.down && exit 3
case "$brief" in *QUOTED*) p=true;; *BAD*) p=false;; *) p=true;; esac
printf '{"passed": %s, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": %s, "feedback": "there is a BAD word"}]}' $p $p"#;
        let body = body.replace("ROOT", &project.root().display().to_string());
        let judge = Judge::scripted(&project, "judge.sh", &body);
        repository.commit("first");
        project.trust();
        Self { project, repository, judge }
    }

    /// The agent stops: because somebody wrote to it and it is done, or after it was held.
    fn stops(&self, was_held: bool) -> Ran {
        self.hook("claude", "s-1", was_held)
    }

    /// The same in another folder.
    fn stops_in(&self, folder: &Path, was_held: bool) -> Ran {
        self.hook_in(folder, "claude", "s-1", was_held)
    }

    fn hook(&self, program: &str, session: &str, was_held: bool) -> Ran {
        self.hook_in(&self.project.root().canonicalize().unwrap(), program, session, was_held)
    }

    fn hook_in(&self, folder: &Path, program: &str, session: &str, was_held: bool) -> Ran {
        let event = if program == "gemini" { "AfterAgent" } else { "Stop" };
        let input = json!({
            "session_id": session, "transcript_path": null, "cwd": folder,
            "hook_event_name": event, "stop_hook_active": was_held, "last_assistant_message": "I am done.",
            "prompt": "Write a page.",
        });
        Running::fed(&mut self.project.command(&["hook", program]), input.to_string().as_bytes())
            .wait()
            .exits(0)
    }

    /// What people were told who do not look at the program: title and message.
    fn notifications(&self) -> Vec<(String, String)> {
        let read = async {
            let ledger = Ledger::open_existing(&self.project.ledger_dir()).await.unwrap().unwrap();
            ledger.notes("notifications").await.unwrap()
        };
        let notes = tokio::runtime::Runtime::new().unwrap().block_on(read);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let bodies = notes.into_iter().map(|note| serde_json::from_str::<Value>(&note.body).unwrap());
        bodies.map(|body| (text(&body["title"]), text(&body["message"]))).collect()
    }

    /// What was asked last.
    fn payload(&self) -> String {
        let brief: Value = serde_json::from_str(&self.project.read(".brief")).unwrap();
        brief["payload"].as_str().unwrap().to_owned()
    }
}

/// Why the agent is held.
#[track_caller]
fn held(ran: &Ran) -> String {
    let said = ran.json();
    assert_eq!(said["decision"], "block", "{ran:?}");
    said["reason"].as_str().unwrap().to_owned()
}

/// The agent may stop, and there is nothing to say.
#[track_caller]
fn goes(ran: &Ran) {
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{ran:?}");
}

/// The agent may stop, and the person is told this.
#[track_caller]
fn told(ran: &Ran) -> String {
    let said = ran.json();
    assert_eq!(said.as_object().unwrap().len(), 1, "{ran:?}");
    said["systemMessage"].as_str().unwrap().to_owned()
}
