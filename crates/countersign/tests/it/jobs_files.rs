//! `countersign validate` on projects with jobs: every mistake of every file at its place, warnings that never
//! fail, nothing asked and nothing written.

use crate::project;
use countersign_testkit::{Project, Running};
use std::path::Path;

const RULES: &str =
    "version: 1\nrules: [{name: docs, for: ['*.md'], criteria: [{name: A, check: not_empty}]}]\n";

/// A project with the example job, as the documentation has it.
fn with_example() -> Project {
    let project = project();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/jobs/guide");
    for file in ["job.yml", "steps/outline.md", "steps/pages.md"] {
        project.write(&format!(".deepwork/jobs/guide/{file}"), std::fs::read(example.join(file)).unwrap());
    }
    project
}

fn change(project: &Project, from: &str, to: &str) {
    let text = project.read(".deepwork/jobs/guide/job.yml");
    assert!(text.contains(from), "{from}");
    project.write(".deepwork/jobs/guide/job.yml", text.replacen(from, to, 1));
}

#[test]
fn jobs_are_valid_with_and_without_a_configuration() {
    let project = with_example();
    let ran = project.run(&["validate"]).exits(0);
    assert!(ran.stdout.ends_with("/.deepwork/jobs: 1 job, 2 steps: valid\n"), "{ran:?}");
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""));
    let json = project.run(&["validate", "--json"]).exits(0).json();
    assert!(json["file"].is_null());
    assert_eq!((&json["rules"], &json["jobs"]), (&0.into(), &1.into()));

    project.write("countersign.yml", RULES).write("a.md", "x");
    let ran = project.run(&["validate"]).exits(0);
    assert!(ran.stdout.contains("countersign.yml: 1 rule, 1 criterion, 0 reviewers: valid\n"), "{ran:?}");
    assert!(ran.stdout.ends_with("1 job, 2 steps: valid\n"), "{ran:?}");
    let json = project.run(&["validate", "--json"]).exits(0).json();
    assert!(json["file"].as_str().unwrap().ends_with("countersign.yml"));
    assert_eq!(
        (&json["rules"], &json["jobs"], &json["warnings"]),
        (&1.into(), &1.into(), &serde_json::json!([]))
    );
    assert!(!project.ledger_dir().exists() && !project.path(".deepwork/tmp").exists());
}

#[test]
fn neither_configuration_nor_jobs_is_no_project() {
    let project = project();
    assert!(project.run(&["validate"]).exits(2).stderr.contains("there is no configuration"));
    project.write("countersign.yml", RULES).write("a.md", "x");
    assert_eq!(project.run(&["validate", "--json"]).exits(0).json()["jobs"], 0);
}

#[test]
fn mistakes_of_all_files_are_shown_together() {
    let project = with_example();
    project.write("countersign.yml", RULES.replace("rules", "rulez")).write("a.md", "x");
    change(&project, "run_each: pages", "run_each: page");
    change(&project, "steps/outline.md", "../outline.md");
    project.write(".deepwork/jobs/broken/job.yml", "steps: [\n");
    let stderr = project.run(&["validate"]).exits(2).stderr;
    for (said, place, hint) in [
        (
            "`run_each` is `page`, but this step has no output with this name",
            "guide/job.yml:52:19",
            "did you mean `pages`?",
        ),
        (
            "the instructions file `../outline.md` is outside the job's folder",
            "guide/job.yml:19:24",
            "stay in it",
        ),
        ("unclosed bracket", "broken/job.yml:1:8", "`countersign help jobs` describes every key"),
        ("unknown key `rulez`", "countersign.yml:2:1", "did you mean `rules`?"),
    ] {
        for words in [said, place, hint] {
            assert!(stderr.contains(words), "{words}\n{stderr}");
        }
    }
    let json = project.run(&["validate", "--json"]).exits(2).json();
    assert_eq!((&json["outcome"], &json["error"]["kind"]), (&"usage".into(), &"configuration".into()));
    let problems = json["error"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), stderr.matches("error: ").count());
    for key in ["code", "message", "file", "line", "column", "hint"] {
        assert!(problems.iter().all(|problem| !problem[key].is_null()), "{key}: {json}");
    }
}

#[test]
fn a_broken_job_fails_without_a_configuration_too() {
    let project = with_example();
    change(&project, "name: guide", "name: Guide");
    let json = project.run(&["validate", "--json"]).exits(2).json();
    let error = &json["error"];
    assert_eq!(
        (&error["code"], &error["line"], &error["column"]),
        (&"bad-name".into(), &3.into(), &7.into())
    );
    // Other commands have nothing to do with jobs.
    project.write("countersign.yml", RULES).write("a.md", "x").run(&["review"]).exits(0);
}

/// JOBS-12.
#[test]
fn jobs_12_doubtful_criteria_are_warnings() {
    let project = with_example();
    change(&project, "Does the list begin with what a new user needs first?", "User confirmed");
    let text = project.read(".deepwork/jobs/guide/job.yml");
    let (before, rest) = text.split_once("        additional_review_guidance").unwrap();
    let (_, after) = rest.split_once("        quality_criteria").unwrap();
    project.write(".deepwork/jobs/guide/job.yml", format!("{before}        quality_criteria{after}"));
    let ran = project.run(&["validate"]).exits(0);
    let warnings: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(warnings.len(), 3, "{}", ran.stderr);
    for (warning, (place, words)) in warnings.iter().zip([
        ("guide/job.yml:32:21: ", "sees the files and not the conversation"),
        ("guide/job.yml:32:21: ", "a question of 2 words"),
        ("guide/job.yml:52:19: ", "each file is reviewed alone"),
    ]) {
        assert!(
            warning.starts_with("warning: ") && warning.contains(place) && warning.contains(words),
            "{warning}"
        );
    }
    let json = project.run(&["validate", "--json"]).exits(0).json();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 3);
}

#[test]
fn more_folders_come_from_the_environment() {
    let project = with_example();
    project.write("library/guide/job.yml", "steps: [").write("library/other/job.yml", "steps: [");
    let run = |folders: &str| {
        let mut command = project.command(&["validate", "--json"]);
        Running::start(command.env("DEEPWORK_ADDITIONAL_JOBS_FOLDERS", folders)).wait()
    };
    let json = run("library").exits(2).json();
    let problems = json["error"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "the first folder name wins: {json}");
    assert!(problems[0]["file"].as_str().unwrap().ends_with("library/other/job.yml"));
    let json = run(":nowhere:").exits(0).json();
    assert!(
        json["warnings"][0].as_str().unwrap().contains("names this folder, which does not exist"),
        "{json}"
    );
}

#[test]
fn what_a_job_says_cannot_act_on_a_terminal() {
    let project = with_example();
    change(&project, "run_each: pages", "run_each: \"\\e[31mred\\u202e\"");
    let stderr = project.run(&["validate"]).exits(2).stderr;
    assert!(stderr.contains(r"`\u{1b}[31mred\u{202e}`"), "{stderr}");
    assert!(!stderr.contains('\u{1b}') && !stderr.contains('\u{202e}'), "{stderr:?}");
}
