//! The tools of workflows.

mod at_once;
mod bad_calls;
mod blocked;
mod context;
mod defects;
mod faults;
mod folders;
mod lost_answers;
mod races;
mod self_review;
mod started_by;
mod together;
mod ways;

use crate::client::Client;
use crate::configure;
use crate::project;
use crate::runner;
use countersign_testkit::{Judge, Project};
use serde_json::{Value, json};

/// A job of two steps: a plan, then pages that are judged one by one and all together.
const JOB: &str = r#"
name: guide
version: "1.0.0"
summary: Write a guide
common_job_info_provided_to_all_steps_at_runtime: Write plainly.
workflows:
  - {name: write, summary: From a plan to pages, steps: [plan, pages]}
steps:
  - id: plan
    name: Plan
    description: Plan it
    instructions_file: plan.md
    outputs:
      plan: {type: file, description: The plan, required: true}
    reviews:
      - run_each: plan
        quality_criteria: {Complete: Is the plan complete in every part?}
  - id: pages
    name: Pages
    description: Write them
    instructions_file: pages.md
    dependencies: [plan]
    outputs:
      pages: {type: files, description: The pages, required: true}
      extra: {type: file, description: More, required: false}
    reviews:
      - run_each: pages
        additional_review_guidance: One page of several.
        quality_criteria: {Complete: Is the page complete in every part?}
      - run_each: step
        quality_criteria: {Complete: Are the pages complete all together?}
      - run_each: extra
        quality_criteria: {Complete: Is there more than there was before?}
"#;

/// A project with that job, and a reviewer by whom what contains `BAD` fails.
pub fn guide() -> (Project, Judge) {
    let project = project();
    write_job(&project, "guide", JOB);
    project.write("plan.md", "the plan").write("a.md", "page a").write("b.md", "page b");
    let judge = Judge::by_word(&project, "Complete");
    (project, judge)
}

fn write_job(project: &Project, name: &str, job: &str) {
    let folder = format!(".deepwork/jobs/{name}");
    project.write(&format!("{folder}/job.yml"), job);
    project
        .write(&format!("{folder}/plan.md"), "Make a plan.")
        .write(&format!("{folder}/pages.md"), "Write pages.");
}

/// A server whose steps are judged by the reviewer.
fn external(project: &Project, more: &[&str]) -> Client {
    let runner = runner(project);
    let args = [&["--external-runner", runner.as_str()], more].concat();
    let mut client = Client::silent(project, &args);
    client.initialize("2025-11-25");
    client
}

/// Starts the job: the session.
fn start(client: &mut Client) -> String {
    let started = client.good("start_workflow", started_with("guide"));
    started["begin_step"]["session_id"].as_str().unwrap().to_owned()
}

fn started_with(job: &str) -> Value {
    json!({ "goal": "a guide", "job_name": job, "workflow_name": "write" })
}

fn plan(session: &str) -> Value {
    json!({ "session_id": session, "outputs": { "plan": "plan.md" } })
}

fn pages(session: &str, files: &[&str]) -> Value {
    json!({ "session_id": session, "outputs": { "pages": files } })
}

/// The status of an answer, or the code of an error.
fn status(result: &Value) -> &str {
    let content = &result["structuredContent"];
    content["status"].as_str().or(content["error"]["code"].as_str()).unwrap_or_default()
}

/// Everything about workflows that the ledger holds.
fn events(project: &Project) -> Vec<(String, String)> {
    let file = project.ledger_path("ledger.db");
    let sql = "SELECT stream || ' ' || n, kind FROM events WHERE stream LIKE 'session/%' ORDER BY stream, n";
    let out = std::process::Command::new("sqlite3").arg("-readonly").arg(file).arg(sql).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().filter_map(|line| line.split_once('|')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

/// How often something is recorded.
fn count(project: &Project, kind: &str) -> usize {
    events(project).iter().filter(|(_, known)| known == kind).count()
}
