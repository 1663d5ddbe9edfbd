//! `job.yml`: what it means, and all that is said about what is wrong with it.

mod arbitrary;
mod mistakes;

use super::{Job, Reading, RunEach, Step, StepOutput, StepReview, Workflow, read};
use countersign_core::submission::OutputKind;
use countersign_engine::yaml::{Diagnostic, FileBytes, Problems};
use std::path::Path;
use std::sync::Arc;

/// A good job. The tests change a line and look what is said about it.
const GOOD: &str = "\
name: guide
version: 1.0.0
summary: Write a guide
common_job_info_provided_to_all_steps_at_runtime: For beginners.
workflows:
- {name: all, summary: Everything, agent: general, steps: [plan, [text, images]]}
steps:
- id: plan
  name: Plan
  description: Say what is to be written
  instructions_file: steps/a.md
  inputs: [{name: topic, description: What it is about}]
  outputs:
    plan.md: {type: file, description: The plan, required: true}
  reviews:
  - run_each: plan.md
    quality_criteria:
      Whole: Is every chapter of the book planned?
      In order: Does it begin with what comes first?
- id: text
  name: Text
  description: Write it
  instructions_file: steps/a.md
  inputs: [{file: plan.md, from_step: plan}]
  dependencies: [plan]
  hooks: {after_agent: [{prompt: Look again}, {prompt_file: p.md}], before_tool: [{script: run.sh}]}
  stop_hooks: [{prompt: Stop}]
  exposed: true
  hidden: false
  agent: writer
  outputs:
    chapters: {type: files, description: The chapters, required: true}
    index: {type: file, description: The index, required: false}
  reviews:
  - run_each: chapters
    additional_review_guidance: Read the plan.
    quality_criteria: {Clear: Can a beginner follow every sentence?}
  - run_each: step
    quality_criteria: {Whole: Is there a chapter for each point of the plan?}
- {id: images, name: Images, description: Draw, instructions_file: ./steps/a.md, outputs: {}, reviews: []}
";

fn files(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some("steps/a.md" | "./steps/a.md" | "steps/../p.md" | "p.md") => Ok("Do it.".into()),
        _ => Err("does not exist".into()),
    }
}

fn read_text(text: impl Into<Vec<u8>>) -> Result<(Job, Vec<Diagnostic>), Problems> {
    let reading = read(&FileBytes { path: "jobs/guide/job.yml".into(), bytes: text.into() }, &files)?;
    Ok((Arc::unwrap_or_clone(reading.job), reading.warnings))
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn criteria(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, ask)| (text(name), text(ask))).collect()
}

#[test]
fn a_good_job_means_what_it_says() {
    let output = |name, kind, description, required| StepOutput {
        name: text(name),
        kind,
        description: text(description),
        required,
    };
    let step = |id, name, description, outputs, reviews| Step {
        id: text(id),
        name: text(name),
        description: text(description),
        instructions: text("Do it."),
        outputs,
        reviews,
    };
    let plan = StepReview {
        run_each: RunEach::Output(text("plan.md")),
        criteria: criteria(&[
            ("Whole", "Is every chapter of the book planned?"),
            ("In order", "Does it begin with what comes first?"),
        ]),
        guidance: None,
    };
    let chapters = StepReview {
        run_each: RunEach::Output(text("chapters")),
        criteria: criteria(&[("Clear", "Can a beginner follow every sentence?")]),
        guidance: Some(text("Read the plan.")),
    };
    let whole = StepReview {
        run_each: RunEach::Step,
        criteria: criteria(&[("Whole", "Is there a chapter for each point of the plan?")]),
        guidance: None,
    };
    let expected = Job {
        name: text("guide"),
        version: text("1.0.0"),
        summary: text("Write a guide"),
        common_info: text("For beginners."),
        dir: "jobs/guide".into(),
        steps: vec![
            step(
                "plan",
                "Plan",
                "Say what is to be written",
                vec![output("plan.md", OutputKind::File, "The plan", true)],
                vec![plan],
            ),
            step(
                "text",
                "Text",
                "Write it",
                vec![
                    output("chapters", OutputKind::Files, "The chapters", true),
                    output("index", OutputKind::File, "The index", false),
                ],
                vec![chapters, whole],
            ),
            step("images", "Images", "Draw", vec![], vec![]),
        ],
        workflows: vec![Workflow {
            name: text("all"),
            summary: text("Everything"),
            entries: vec![vec![text("plan")], vec![text("text"), text("images")]],
            agent: Some(text("general")),
        }],
    };
    let (job, warnings) = read_text(GOOD).unwrap();
    assert_eq!(job, expected);
    assert_eq!(warnings, []);
}

#[test]
fn a_job_without_workflows_has_one_of_all_its_steps() {
    for none in ["", "workflows: []\n"] {
        let (_, rest) = GOOD.split_once("steps:\n- id").unwrap();
        let head =
            "name: guide\nversion: 1.0.0\nsummary: S\ncommon_job_info_provided_to_all_steps_at_runtime: C\n";
        let (job, _) = read_text(format!("{head}{none}steps:\n- id{rest}")).unwrap();
        let expected = Workflow {
            name: text("guide"),
            summary: text("S"),
            entries: vec![vec![text("plan")], vec![text("text")], vec![text("images")]],
            agent: None,
        };
        assert_eq!(job.workflows, [expected]);
    }
}

#[test]
fn maps_keep_the_order_of_the_file() {
    let names = ["z", "a", "m", "b 2", "10", "1"];
    let outputs: String = names
        .iter()
        .map(|name| format!("{name}: {{type: file, description: d, required: true}}, "))
        .collect();
    let questions: String = names.iter().map(|name| format!("{name}: Is all of it there?, ")).collect();
    let changed = GOOD
        .replace("outputs: {}", &format!("outputs: {{{outputs}}}"))
        .replace("reviews: []", &format!("reviews: [{{run_each: step, quality_criteria: {{{questions}}}}}]"));
    let (job, _) = read_text(changed).unwrap();
    let step = job.step("images").unwrap();
    assert!(step.outputs.iter().map(|output| output.name.as_str()).eq(names));
    assert!(step.reviews[0].criteria.iter().map(|(name, _)| name.as_str()).eq(names));
}

/// JOBS-12.
#[test]
fn jobs_12_warnings_have_places_and_are_no_failures() {
    let changed = GOOD
        .replace("Is every chapter of the book planned?", "Complete?")
        .replace("Does it begin with what comes first?", "Has the user confirmed the plan?")
        .replace("    additional_review_guidance: Read the plan.\n", "");
    let (_, warnings) = read_text(changed).unwrap();
    let said: Vec<_> =
        warnings.iter().map(|warning| (warning.code, warning.place.line(), warning.place.column())).collect();
    assert_eq!(said, [("short-question", 18, 14), ("needs-conversation", 19, 17), ("no-guidance", 35, 15)]);
}

#[test]
fn the_example_is_good() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/jobs/guide");
    let file = countersign_engine::yaml::read_file(&folder.join("job.yml")).unwrap();
    let Reading { job, warnings, .. } =
        read(&file, &|path| crate::jobs::library::text(&folder, path)).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(job.workflows[0].entries, [["outline"], ["pages"]]);
    assert!(job.steps.iter().all(|step| step.instructions.starts_with("# ")));
    assert_eq!(job.steps[1].rules().len(), 2);
}
