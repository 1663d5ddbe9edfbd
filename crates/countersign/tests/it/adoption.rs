//! A gate in a project that is there already: parts of the rules, what is staged, and what is excluded.

use crate::project;
use countersign_testkit::{Judge, Project, Repository};

mod accepted;
mod local;

const CONFIG: &str = "version: 1\n\
    reviewers: [{name: judge, use: command, command: [./judge.sh]}]\n\
    exclude: ['vendor/**']\n\
    rules:\n\
    - {name: docs, for: ['**/*.md'], exclude: ['old/**'], each: file, criteria: [{name: Complete, ask: 'Is it?'}]}\n\
    - {name: notes, for: ['*.txt'], criteria: [{name: Filled, check: not_empty}]}\n";

/// A project with a commit and a judge that fails what has the word BAD in it.
fn started(config: &str) -> (Project, Repository, Judge) {
    let project = project();
    let repository = Repository::at(project.root());
    project.write("a.md", "one\n").write("b.txt", "b\n").write(".gitignore", ".asked*\n");
    project.write("countersign.yml", config);
    let judge = Judge::by_word(&project, "Complete");
    repository.commit("first");
    (project, repository, judge)
}

#[test]
fn issue_20_excluded_files_are_not_judged_and_are_named() {
    let (project, repository, judge) = started(CONFIG);
    project.write("vendor/x.md", "BAD\n").write("old/y.md", "BAD\n").write("new.md", "good\n");
    let json = project.run(&["review", "--change", "--json"]).exits(0).json();
    assert_eq!(judge.asked(), ["new.md"]);
    assert_eq!(json["coverage"]["excluded"], serde_json::json!(["old/y.md", "vendor/x.md"]));
    assert_eq!(json["coverage"]["not_covered"], serde_json::json!([]));
    assert!(json["coverage"]["words"].as_str().unwrap().contains("2 excluded: old/y.md, vendor/x.md"));
    let ran = project.run(&["review"]).exits(0);
    assert!(ran.stderr.contains("`exclude` leaves 2 files out: `old/y.md` and 1 more"), "{}", ran.stderr);
    let ran = project.run(&["review", "vendor/x.md"]).exits(2);
    assert!(ran.stderr.contains("no rule matches") || ran.stderr.contains("`exclude`"), "{}", ran.stderr);
    let ran = project.run(&["review", "vendor/x.md", "a.md"]).exits(2);
    assert!(ran.stderr.contains("`exclude` of the configuration leaves `vendor/x.md` out"), "{}", ran.stderr);
    // A change does not exclude itself: the configuration of its base counts.
    project.write("countersign.yml", CONFIG.replace("'vendor/**'", "'**'")).write("a.md", "BAD\n");
    repository.git(["checkout", "-q", "-b", "topic"]);
    repository.commit("exclude everything");
    project.run(&["review", "--change"]).exits(1);
}

#[test]
fn issue_20_a_pattern_that_excludes_nothing_readable_is_refused() {
    let project = project();
    let config = CONFIG.replace("'vendor/**'", "'vendor/'");
    project.write("countersign.yml", config).write("a.md", "x\n");
    let ran = project.run(&["review"]).exits(2);
    assert!(
        ran.stderr.contains("countersign.yml:3") && ran.stderr.contains("names a folder"),
        "{}",
        ran.stderr
    );
}

#[test]
fn issue_20_a_part_of_the_rules_says_that_it_is_a_part() {
    let (project, _, judge) = started(CONFIG);
    project.write("a.md", "BAD\n").write("b.txt", "");
    let ran = project.run(&["review", "--rule", "notes"]).exits(1);
    assert!(ran.stderr.contains("a part of the review: 1 of 2 rules, 1 of 2 criteria"), "{}", ran.stderr);
    project.write("b.txt", "b\n");
    project.run(&["review", "--rule", "notes"]).exits(0);
    let json = project.run(&["review", "--checks-only", "--json"]).exits(0).json();
    assert!(json["warnings"][0].as_str().unwrap().contains("a part of the review"), "{json}");
    assert!(judge.asked().is_empty());
    let ran = project.run(&["review", "--rule", "nots"]).exits(2);
    assert!(
        ran.stderr.contains("no rule is called `nots`") && ran.stderr.contains("docs, notes"),
        "{}",
        ran.stderr
    );
    project.run(&["review", "--rule", "docs", "--checks-only"]).exits(2);
    for part in [&["--rule", "notes"][..], &["--checks-only"]] {
        let ran = project.run(&[&["review", "--gate"][..], part].concat()).exits(2);
        assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    }
    project.run(&["review"]).exits(1);
}

#[test]
fn issue_20_what_changed_since_a_branch_is_judged() {
    let (project, repository, judge) = started(CONFIG);
    repository.git(["checkout", "-q", "-b", "topic"]);
    project.write("new.md", "good\n");
    repository.commit("topic");
    repository.git(["checkout", "-q", "main"]);
    project.write("a.md", "BAD\n");
    repository.commit("main goes on");
    repository.git(["checkout", "-q", "topic"]);
    project.run(&["review", "--since", "main"]).exits(0);
    assert_eq!(judge.asked(), ["new.md"]);
    let ran = project.run(&["review", "--since", "nowhere"]).exits(2);
    assert!(ran.stderr.contains("--since: there is no commit `nowhere`"), "{}", ran.stderr);
}

#[test]
fn issue_20_exactly_what_is_staged_is_judged() {
    let (project, repository, judge) = started(CONFIG);
    project.write("a.md", "BAD\n");
    repository.git(["add", "a.md"]);
    project.write("a.md", "good\n").write("other.md", "BAD\n");
    // The working tree is good, and a commit would be bad.
    let ran = project.run(&["review", "--staged"]).exits(1);
    assert!(ran.stderr.contains("2 changed files are not staged"), "{}", ran.stderr);
    repository.git(["add", "a.md"]);
    project.write("a.md", "BAD\n");
    let json = project.run(&["review", "--staged", "--json"]).exits(0).json();
    assert_eq!(json["coverage"]["files"], 1);
    assert_eq!(judge.asked(), ["a.md", "a.md"]);
    // It is recorded where all reviews are.
    let shown = project.run(&["show", json["review"]["id"].as_str().unwrap(), "--json"]).exits(0).json();
    assert_eq!(shown["review"]["outcome"], "passed");
    // Checks look at the staged bytes too.
    project.write("b.txt", "");
    repository.git(["add", "b.txt"]);
    project.write("b.txt", "full\n");
    project.run(&["review", "--staged", "--checks-only"]).exits(1);
    repository.git(["reset", "-q"]);
    project.run(&["review", "--staged"]).exits(4);
}
