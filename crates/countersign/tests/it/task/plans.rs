//! Plans as people have them: what only looks like a phase or a task is text, with a warning.

use super::{json, says, started};
use crate::project;

const LOOSE: &str = "# Plan\n\n- [ ] **Before** `[pending]`\n\n## Tasks\n\n### Phase 1: Ground\n\n\
    - [ ] **Build walls** `[in_progress]`\n  - Scope: all four\n  - Acceptance: they stand\n- [ ] **Ask the owner**\n\n\
    ## Phase 2: Overhaul\n\n### 2.1 Roof\n\n- [ ] **2.1.1 Beams**\n  - Spec: beams.md\n- [ ] **Roof** `[pending]`\n\n\
    ## Open Questions\n\n- [ ] **Colour**: which one?\n\n### Phase 3: Garden\n\n- [ ] **Trees** `[pending]`\n";

#[test]
fn issue_19_a_plan_is_read_as_its_parser_reads_it_with_warnings() {
    let project = project();
    project.write("PLAN.md", LOOSE);
    let listed = json(&project, &["task", "list"], 0);
    let seen: Vec<_> = listed["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (task["id"].as_str().unwrap(), task["title"].as_str().unwrap()))
        .collect();
    assert_eq!(seen, [("1.1", "Build walls"), ("1.2", "Roof"), ("3.1", "Trees")]);
    let warnings: Vec<_> =
        listed["warnings"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let says = [
        "PLAN.md:14:1: `## Phase 2: Overhaul` does not begin a phase",
        "PLAN.md:12:9: `Ask the owner` has no status, so it is no task (and 2 more like it)",
        "PLAN.md:3:9: `Before` is before the first phase",
        "PLAN.md:20:9: `Roof` belongs to the phase above",
    ];
    assert_eq!(warnings.len(), says.len(), "{warnings:?}");
    for (warning, says) in warnings.iter().zip(says) {
        assert!(warning.contains(says), "{warnings:?}");
    }
    let valid = json(&project, &["validate"], 0);
    assert_eq!((&valid["plan_tasks"], &valid["warnings"]), (&3.into(), &listed["warnings"]));
}

#[test]
fn issue_19_a_task_below_another_heading_is_reviewed_and_written_back() {
    let (project, repository, _judge) = started("");
    project.write("PLAN.md", LOOSE);
    repository.git(["checkout", "-q", "main"]);
    repository.commit("plan");
    project.trust_anew();
    repository.git(["checkout", "-q", "-B", "topic"]);
    project.write("a.md", "three\n");
    says(&project, "Fine.", super::APPROVED);
    let done = json(&project, &["task", "done", "1.2"], 0);
    assert!(done["warnings"].to_string().contains("has no status"), "{done}");
    let expected = LOOSE.replace("- [ ] **Roof** `[pending]`", "- [x] **Roof** `[complete]`");
    let plan = project.read("PLAN.md");
    assert!(plan.starts_with(expected.split("\n\n## Open").next().unwrap()), "{plan}");
}

#[test]
fn issue_19_a_task_is_added_beside_a_plan_with_mistakes() {
    let project = project();
    project.write("PLAN.md", "### Phase 1: a\n\n- [ ] **A** `[pendin]`\n");
    let add = ["task", "add", "Paint", "--id", "paint"];
    let added = json(&project, &add, 0);
    assert_eq!((&added["task"]["id"], &added["task"]["status"]), (&"paint".into(), &"pending".into()));
    json(&project, &add, 0);
    project.run(&["task", "list"]).exits(2);
    project.write("PLAN.md", "");
    assert_eq!(json(&project, &["task", "list"], 0)["tasks"].as_array().unwrap().len(), 1);
}
