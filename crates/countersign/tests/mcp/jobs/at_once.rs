//! How many reviews are under way at once: all of a step, unless the reviewer says how many it can take.

use super::*;
use crate::configure;

/// A busy machine takes its time to start 21 programs.
const PATIENT: &[&str] = &["--wait-seconds", "600"];

const ONE_STEP: &str = r#"
name: guide
version: "1.0.0"
summary: Write a guide
common_job_info_provided_to_all_steps_at_runtime: Write plainly.
workflows:
  - {name: write, summary: All pages, steps: [pages]}
steps:
  - id: pages
    name: Pages
    description: Write them
    instructions_file: pages.md
    outputs:
      pages: {type: files, description: The pages, required: true}
    reviews:
      - run_each: pages
        quality_criteria: {Complete: Is the page complete in every part?}
      - run_each: step
        quality_criteria: {Complete: Are the pages complete all together?}
"#;

/// A project with pages, and a reviewer that answers once this many of it have been started. Each notes how many are
/// at work when it begins, before any of them can end.
fn meeting(pages: usize, reviewers: usize) -> (Project, Vec<String>) {
    let project = project();
    write_job(&project, "guide", ONE_STEP);
    let body = r#"cd 'ROOT'
: >.running/$$; ls .running | wc -l >>.seen; : >.started/$$
tries=0
while [ "$(ls .started | wc -l)" -lt REVIEWERS ]; do
  tries=$((tries + 1)); [ $tries -gt 3000 ] && exit 1; sleep 0.02
done
rm .running/$$
printf '{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
    let root = project.path("").display().to_string();
    let body = body.replace("ROOT", &root).replace("REVIEWERS", &reviewers.to_string());
    Judge::scripted(&project, "judge.sh", &body);
    for folder in [".started", ".running"] {
        std::fs::create_dir(project.path(folder)).unwrap();
    }
    let pages: Vec<String> = (1..=pages).map(|n| format!("page{n}.md")).collect();
    for page in &pages {
        project.write(page, format!("text of {page}\n"));
    }
    (project, pages)
}

/// The most that were at work when one began, and how many were started.
fn at_work(project: &Project) -> (usize, usize) {
    let seen = std::fs::read_to_string(project.path(".seen")).unwrap();
    let seen: Vec<usize> = seen.lines().map(|line| line.trim().parse().unwrap()).collect();
    (seen.iter().copied().max().unwrap(), seen.len())
}

fn finish(client: &mut Client, pages: &[String]) {
    let session = start(client);
    let finished =
        client.good("finished_step", json!({ "session_id": session, "outputs": { "pages": pages } }));
    assert_eq!(finished["status"], "workflow_complete", "{finished}");
}

/// 004.7.6. None of them answers before all 21 have been started.
#[test]
fn req_004_7_6_all_reviews_of_a_step_are_under_way_at_once() {
    let (project, pages) = meeting(20, 21);
    finish(&mut external(&project, PATIENT), &pages);
    assert_eq!(at_work(&project).1, 21);
}

/// 004.7.6: what a reviewer says about itself, and what the project says about all, still holds.
#[test]
fn req_004_7_6_a_number_that_is_configured_still_caps() {
    let (project, pages) = meeting(5, 2);
    configure(&project, "");
    let config = std::fs::read_to_string(project.path("countersign.yml")).unwrap();
    project.write("countersign.yml", config.replace("/judge.sh]", "/judge.sh], concurrency: 2")).trust();
    let mut client = Client::silent(&project, &["--external-runner", "judge", "--wait-seconds", "600"]);
    client.initialize("2025-11-25");
    finish(&mut client, &pages);
    assert_eq!(at_work(&project), (2, 6));

    let (project, pages) = meeting(5, 3);
    configure(&project, "limits: {reviewers_at_once: 3}\n");
    project.trust();
    finish(&mut external(&project, PATIENT), &pages);
    assert_eq!(at_work(&project), (3, 6));
}

/// Beside 004.7.6: other doors ask a program four questions at once.
#[test]
fn req_004_7_6_another_door_still_asks_four_at_once() {
    let (project, pages) = meeting(9, 4);
    configure(&project, "");
    project.trust();
    let mut client = external(&project, PATIENT);
    let submitted = client.good("review_submit", json!({ "files": pages }));
    let mut waited = submitted.clone();
    while waited["outcome"].is_null() {
        waited = client.good("review_wait", json!({ "review": submitted["review"] }));
    }
    assert_eq!(waited["outcome"], "passed", "{waited}");
    assert_eq!(at_work(&project), (4, 9));
}
