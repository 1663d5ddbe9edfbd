//! `task`: reviews of tasks in free words, and what becomes of the tasks.

mod faults;
mod flow;
mod plans;
mod replies;
mod states;
mod together;
mod told;

use crate::project;
use countersign_engine::ledger::Ledger;
use countersign_testkit::{Judge, Project, Ran, Repository};
use serde_json::Value;

const CONFIG: &str = "version: 1\n\
    reviewers: [{name: judge, use: command, command: [./judge.sh]}]\n\
    rules: [{name: r, for: ['**'], criteria: [{name: Complete, ask: 'Is it?'}]}]\n";

const APPROVED: &str = r#"{"result": "APPROVED", "summary": "fine"}"#;

const PLAN: &str = "# Plan\r\n\r\n### Phase 1: Ground\r\n\r\n- [ ] **Build walls** `[in_progress]`\r\n  - **Scope:** all four\r\n  \
    - **Acceptance:** they stand\r\n- [ ] **Roof** `[pending]`\r\n";

/// A project with a commit, a plan, changed work, and a judge whose two voices are files: `.review` is what it says of
/// the work, `.parsed` what it reads out of a review. Every question is kept.
pub fn started(more: &str) -> (Project, Repository, Judge) {
    let project = project();
    let repository = Repository::at(project.root());
    project.write("a.md", "one\n").write(".gitignore", ".asked*\n.brief*\n.review*\n.parsed*\n");
    project.write("countersign.yml", format!("{CONFIG}{more}")).write("PLAN.md", PLAN);
    let body = format!(
        r#"n=$(ls {0}/.brief* 2>/dev/null | wc -l); printf '%s' "$brief" >{0}/.brief$n
case "$brief" in
*'"consult":"parse-review"'*) if [ -e {0}/.parsed-next ]; then cat {0}/.parsed; mv {0}/.parsed-next {0}/.parsed; else cat {0}/.parsed; fi;;
*) cat {0}/.review; if [ -e {0}/.review-next ]; then mv {0}/.review-next {0}/.review; fi;;
esac"#,
        project.root().display()
    );
    let judge = Judge::scripted(&project, "judge.sh", &body);
    repository.commit("first");
    project.trust_anew();
    repository.git(["checkout", "-q", "-b", "topic"]);
    project.write("a.md", "two\n");
    says(&project, "Fine.", r#"{"result": "APPROVED", "issues": [], "summary": "fine", "blocking": false}"#);
    (project, repository, judge)
}

/// What the judge says from now on.
pub fn says(project: &Project, review: &str, parsed: &str) {
    project.write(".review", review).write(".parsed", parsed);
}

/// The questions so far.
fn briefs(project: &Project) -> Vec<Value> {
    let brief = |n: usize| project.path(&format!(".brief{n}"));
    let there = (0..).map(brief).take_while(|path| path.exists());
    there.map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

/// The events of the door.
pub fn events(project: &Project) -> Vec<(String, Value)> {
    let read = async {
        let ledger = Ledger::open_existing(&project.ledger_dir()).await.unwrap().unwrap();
        ledger.notes("service/events").await.unwrap()
    };
    let notes = tokio::runtime::Runtime::new().unwrap().block_on(read);
    notes.into_iter().map(|note| (note.kind, serde_json::from_str(&note.body).unwrap())).collect()
}

/// The same as kind, task, result and status.
fn kinds(project: &Project) -> Vec<String> {
    let of = |(kind, body): &(String, Value)| {
        format!(
            "{kind} {} {} {}",
            body["task_id"].as_str().unwrap(),
            body["review"]["result"].as_str().unwrap(),
            body["status"].as_str().unwrap()
        )
    };
    events(project).iter().map(of).collect()
}

fn json(project: &Project, args: &[&str], code: i32) -> Value {
    let ran: Ran = project.run(&[args, &["--json"]].concat());
    ran.exits(code).json()
}
