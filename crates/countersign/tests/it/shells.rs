//! Completion scripts and help, as a shell and a person see them.

use crate::project;
use std::process::Command;

#[test]
fn completions_are_valid_scripts() {
    let project = project();
    let script = project.run(&["completions", "bash"]).exits(0).stdout;
    project.write("c.bash", &script);
    let checked = Command::new("bash").arg("-n").arg(project.path("c.bash")).status().unwrap();
    assert!(checked.success() && script.contains("review"));
    for shell in ["zsh", "fish"] {
        assert!(project.run(&["completions", shell]).exits(0).stdout.contains("countersign"));
    }
}

#[test]
fn help_has_examples_and_exit_codes() {
    let project = project();
    let help = project.run(&["--help"]).exits(0).stdout;
    assert!(help.contains("Exit codes:\n  0  passed, overridden or skipped") && help.contains("demo"));
    let review = project.run(&["review", "--help"]).exits(0).stdout;
    assert!(review.contains("Examples:") && review.contains("--max-inline-files"));
    for command in ["init", "doctor"] {
        assert!(project.run(&[command, "--help"]).exits(0).stdout.contains("Examples:\n  countersign"));
    }
    assert!(project.run(&["--version"]).exits(0).stdout.starts_with("countersign "));
    assert!(project.run(&[]).exits(2).stderr.contains("Usage: countersign"));
}
