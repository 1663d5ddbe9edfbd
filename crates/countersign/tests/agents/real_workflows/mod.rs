//! The real programs finish a job of two steps through our server, as a user sets them up: told of the server by
//! `init --agent`, in their working form, without a person. Only the model is ours. A start takes seconds, so each
//! has all expectations.

mod agents;
mod model;

use crate::bench::Bench;
use agents::{Agent, CLAUDE, CODEX, GEMINI, OPENCODE};
use countersign_testkit::{
    Act, ChatApi, Dialect, GeminiApi, Judge, Loopback, MessagesApi, Project, ResponsesApi, Running,
};
use model::{BY_ITSELF, Mode, WITH_A_REVIEWER};
use serde_json::{Value, json};

/// A plan, then a page.
const JOB: &str = r#"
name: guide
version: "1.0.0"
summary: Write a guide
common_job_info_provided_to_all_steps_at_runtime: Write plainly.
workflows:
  - {name: write, summary: From a plan to a page, steps: [plan, page]}
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
  - id: page
    name: Page
    description: Write it
    instructions_file: page.md
    dependencies: [plan]
    outputs:
      page: {type: file, description: The page, required: true}
    reviews:
      - run_each: page
        quality_criteria: {Complete: Is the page complete in every part?}
"#;

/// How the longest description of our tools ends: some programs cut what is too long for them.
const END_OF_THE_LONGEST: &str = "so use it only for a reason a person would accept.";

#[test]
fn claude_with_a_reviewer() {
    finishes::<MessagesApi>(&CLAUDE, &WITH_A_REVIEWER);
}

#[test]
fn claude_by_itself() {
    finishes::<MessagesApi>(&CLAUDE, &BY_ITSELF);
}

#[test]
fn codex_with_a_reviewer() {
    finishes::<ResponsesApi>(&CODEX, &WITH_A_REVIEWER);
}

#[test]
fn codex_by_itself() {
    finishes::<ResponsesApi>(&CODEX, &BY_ITSELF);
}

#[test]
fn gemini_with_a_reviewer() {
    finishes::<GeminiApi>(&GEMINI, &WITH_A_REVIEWER);
}

#[test]
fn gemini_by_itself() {
    finishes::<GeminiApi>(&GEMINI, &BY_ITSELF);
}

#[test]
fn opencode_with_a_reviewer() {
    finishes::<ChatApi>(&OPENCODE, &WITH_A_REVIEWER);
}

#[test]
fn opencode_by_itself() {
    finishes::<ChatApi>(&OPENCODE, &BY_ITSELF);
}

/// A program works through the job, with everything that must then be so.
fn finishes<D: Dialect>(agent: &'static Agent, mode: &'static Mode) {
    let mut bench = Bench::of(agent.driven, Loopback::<D>::always(Act::Hang));
    // A gate starts no reviewer that lies in the project and is not committed.
    bench.project = bench.project.judged_from_outside();
    let judge = guide(&bench.project);
    let named = judge.name().to_owned();
    let by = |word: &'static str| if word == model::JUDGE { named.clone() } else { word.to_owned() };
    let server: Vec<String> = mode.server.iter().map(|word| by(word)).collect();
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let service = Loopback::minded(model::mind(agent, mode, bench.project.root().to_owned()));
    let bench = Bench { service, path: format!("{}:{}", our_folder(), bench.path), ..bench };
    bench.project.run(&[&["init", "--agent", agent.driven.name], server.as_slice()].concat()).exits(0);
    (agent.settings)(&bench.project, &bench.service.url());
    let mut command = bench.program();
    (agent.call)(&mut command, "Write the guide, with the workflow for it.");
    let ran = Running::start(&mut command).wait().exits(0);

    let questions: Vec<_> =
        bench.service.asked().into_iter().filter(|asked| model::offers(agent, &asked.body)).collect();
    let heard = questions.last().map(|last| statuses(&last.text)).unwrap_or_default();
    assert_eq!(heard, mode.heard, "\n{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(questions.len(), heard.len() + 2, "it starts, hands in and ends");
    assert!(questions[0].text.contains(END_OF_THE_LONGEST), "descriptions arrive whole");
    assert!(ran.stdout.contains(model::LAST_WORDS), "{}", ran.stdout);
    assert_eq!(recorded(&bench.project), ["workflow_started", "step_finished", "step_finished"]);
    assert_eq!(rulings(&bench.project), mode.rulings.map(|(who, outcome)| json!([by(who), outcome])));
    assert_eq!(judge.asked(), mode.asked);
    bench.assert_nothing_runs();
}

/// The job, something to hand in for each of its steps, and a reviewer who does not like the plan.
fn guide(project: &Project) -> Judge {
    let folder = ".deepwork/jobs/guide";
    project.write(&format!("{folder}/job.yml"), JOB);
    project.write(&format!("{folder}/plan.md"), "Make a plan.");
    project.write(&format!("{folder}/page.md"), "Write a page.");
    project.write("plan.md", "a BAD plan\n").write("page.md", "a page\n");
    Judge::by_word(project, "Complete")
}

/// Where the binary under test is: agents look for it on the PATH.
fn our_folder() -> String {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_countersign"));
    program.parent().unwrap().display().to_string()
}

/// What became of every step that was handed in, as the program told the model; however often it is quoted.
fn statuses(question: &str) -> Vec<String> {
    let plain = question.replace(['\\', ' '], "");
    let ours = ["needs_work", "next_step", "workflow_complete"];
    let words = plain.split("\"status\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    words.filter(|word| ours.contains(word)).map(str::to_owned).collect()
}

/// What the ledger holds about workflows, but for what was delivered when.
fn recorded(project: &Project) -> Vec<String> {
    let sql =
        "SELECT kind FROM events WHERE stream LIKE 'session/%' AND kind != 'answer_delivered' ORDER BY n";
    let file = project.ledger_path("ledger.db");
    let out = std::process::Command::new("sqlite3").arg("-readonly").arg(file).arg(sql).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Who ruled on each step, or decided, and how it ended.
fn rulings(project: &Project) -> Vec<Value> {
    let log = project.run(&["log", "--json"]).exits(0).json();
    let ruling = |row: &Value| {
        let shown = project.run(&["show", row["id"].as_str().unwrap(), "--json"]).exits(0).json();
        let decided = shown["review"]["decisions"][0]["by"].clone();
        let by = if decided.is_null() { shown["assignments"][0]["ruled_by"].clone() } else { decided };
        json!([by, row["outcome"]])
    };
    log["reviews"].as_array().unwrap().iter().rev().map(ruling).collect()
}
