//! A first configuration: made for what is there, valid at once, and never over another file.

use crate::project;
use countersign_testkit::{Judge, Project, Ran, Running};
use std::os::unix::fs::PermissionsExt;

fn in_folder(project: &Project, folder: &str, args: &[&str]) -> Ran {
    Running::start(project.command(args).current_dir(project.path(folder))).wait()
}

fn rust() -> Project {
    let project = project();
    project.write("Cargo.toml", "[package]\nname = \"x\"\n").write("src/main.rs", "fn main() {}\n");
    project.write("README.md", "# X\n\nSee [main](src/main.rs).\n");
    project
}

/// The names of the rules a project has.
fn rules(project: &Project) -> Vec<String> {
    let file = project.read("countersign.yml");
    file.lines().filter_map(|line| line.strip_prefix("  - name: ").map(str::to_owned)).collect()
}

#[test]
fn a_new_file_is_valid_at_once_and_can_be_judged_by() {
    let empty = project();
    let python = project();
    python.write("pyproject.toml", "[project]\nname = \"x\"\n").write("app/a.py", "x = 1\n");
    python
        .write("docs/guide.md", "# Guide\n")
        .write("tests/bad.json", "{")
        .write("tsconfig.json", "{ // c\n}");
    python.write("config/a.yml", "a: 1\n").write(".gitignore", "out/\n").write("out/broken.toml", "[");
    let odd = project();
    odd.write("it's \"odd\" [1]/{a}.json", "{}").write("it's \"odd\" [1]/tests/b.json", "{");
    odd.write("logo.png", b"\x89PNG\x00").write("LICENSE", "MIT");
    let table = [
        (empty, vec!["configuration"]),
        (rust(), vec!["text", "documents", "toml"]),
        (python, vec!["text", "documents", "yaml", "toml"]),
        (odd, vec!["text", "json"]),
    ];
    for (project, expected) in table {
        let said = project.run(&["init"]).exits(0).stdout;
        assert!(said.starts_with("wrote ") && said.contains("next: countersign review"), "{said}");
        assert_eq!(rules(&project), expected);
        project.run(&["validate"]).exits(0);
        project.run(&["review"]).exits(0);
        project.run(&["doctor"]).exits(0);
    }
}

#[test]
fn what_costs_something_is_suggested_and_switched_off() {
    let project = rust();
    let said = project.run(&["init"]).exits(0).stdout;
    assert!(said.contains("found    Rust (Cargo.toml)") && said.contains("cargo test;"), "{said}");
    let file = project.read("countersign.yml");
    for line in ["#reviewers:", "#  - name: change", "#  - name: commands"] {
        assert!(file.lines().any(|written| written == line), "{line}\n{file}");
    }
    assert!(file.contains("#      - {name: \"cargo test passes\", check: {run: {command: \"cargo test\","));
}

#[test]
fn a_reviewer_that_is_named_gets_the_questions() {
    let project = rust();
    let judge = Judge::replying(&project, "{}");
    let said = in_folder(&project, "src", &["init", "--reviewer", "command:../judge.sh --strict"]).exits(0);
    assert!(said.stdout.starts_with(&format!("wrote {}", project.path("countersign.yml").display())));
    let file = project.read("countersign.yml");
    assert!(
        file.contains("    command: [\"./judge.sh\", \"--strict\"]\n"),
        "paths are from the root\n{file}"
    );
    assert_eq!(rules(&project), ["main", "text", "documents", "toml", "change"]);
    project.run(&["validate"]).exits(0);
    let dry = project.run(&["review", "src/main.rs", "--dry-run"]).exits(0).stdout;
    assert!(dry.contains("**Failures are handled**"), "{dry}");
    assert!(judge.asked().is_empty(), "nobody is asked by any of this");
    let other = rust();
    assert!(other.run(&["init", "--reviewer", "nobody"]).exits(2).stderr.contains("command:PROGRAM"));
    other.run(&["init", "--config", "x.yml"]).exits(2);
    assert!(!other.path("countersign.yml").exists());
    let quiet = other.run(&["init", "--reviewer", "self", "--quiet"]).exits(0).stdout;
    assert!(quiet.starts_with("wrote ") && !quiet.contains("next:"), "{quiet}");
    other.run(&["validate"]).exits(0);
}

#[test]
fn a_file_that_is_there_is_left_byte_for_byte() {
    let project = rust();
    let mine =
        "version: 1\r\nrules:\r\n  - {name: a, for: ['*.md'], criteria: [{name: A, check: not_empty}]}";
    project.write("countersign.yml", mine);
    for (folder, args) in
        [(".", &["init"][..]), ("src", &["init", "--reviewer", "self"]), (".", &["init", "--dry-run"])]
    {
        let said = in_folder(&project, folder, args).exits(0).stdout;
        assert!(said.contains("exists and is not changed"), "{said}");
        assert!(said.ends_with("1 rule, 1 criterion, 0 reviewers: valid\n"), "{said}");
        assert_eq!(project.read("countersign.yml"), mine);
    }
    assert!(!project.path("src/countersign.yml").exists());
    let json = project.run(&["init", "--json"]).exits(0).json();
    assert_eq!((json["already_there"].as_bool(), json["written"].as_bool()), (Some(true), Some(false)));
    project.write("countersign.yml", "version: 1\nrulez: []\n");
    assert!(project.run(&["init"]).exits(2).stderr.contains("did you mean `rules`?"));
    assert_eq!(project.read("countersign.yml"), "version: 1\nrulez: []\n");
}

#[test]
fn a_link_that_leads_nowhere_is_not_written_through() {
    let project = rust();
    std::os::unix::fs::symlink(project.path("elsewhere.yml"), project.path("countersign.yml")).unwrap();
    project.run(&["init"]).exits(2);
    assert!(!project.path("elsewhere.yml").exists());
}

#[test]
fn a_dry_run_shows_the_file_and_writes_nothing() {
    let project = rust();
    let before = listing(&project);
    let dry = project.run(&["init", "--dry-run"]).exits(0);
    assert!(dry.stderr.contains("dry run: "), "{dry:?}");
    let json = project.run(&["init", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(
        (json["content"].as_str(), json["written"].as_bool()),
        (Some(dry.stdout.as_str()), Some(false))
    );
    assert_eq!(listing(&project), before);
    let json = project.run(&["init", "--json"]).exits(0).json();
    assert_eq!(project.read("countersign.yml"), dry.stdout);
    assert_eq!((json["written"].as_bool(), json["rules"].as_u64()), (Some(true), Some(3)));
    assert_eq!(json["found"]["commands"][0]["command"], "cargo test");
    assert_eq!(listing(&project).len(), before.len() + 1, "one file and nothing else");
}

#[test]
fn agents_that_are_installed_are_named() {
    let project = rust();
    project.write("bin/claude", "#!/bin/sh\nexit 9\n");
    project.write("bin/codex", "not a program");
    let program = project.path("bin/claude");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let said =
        Running::start(project.command(&["init"]).env("PATH", project.path("bin"))).wait().exits(0).stdout;
    assert!(said.contains(&format!("claude is installed: {}", program.display())), "{said}");
    assert!(!said.contains("codex"), "{said}");
}

fn listing(project: &Project) -> Vec<String> {
    let names = std::fs::read_dir(project.root()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
