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
}

#[test]
fn issue_16_2_commands_stand_below_headings_and_topics_are_embedded() {
    let project = project();
    let help = project.run(&["--help"]).exits(0).stdout;
    for heading in [
        "Judge:\n  review ",
        "Decide (people only, recorded):\n  approve ",
        "Look:\n  status ",
        "Doors:\n  run ",
    ] {
        assert!(help.contains(heading), "{heading}: {help}");
    }
    let all = project.run(&["help"]).exits(0).stdout;
    assert!(all.contains("Topics (countersign help TOPIC):\n  configuration "), "{all}");
    assert!(project.run(&["help", "configuration"]).exits(0).stdout.contains("countersign.yml"));
    assert!(
        project
            .run(&["help", "task", "add"])
            .exits(0)
            .stdout
            .contains("countersign task add [OPTIONS] <TITLE>")
    );
    // A topic that is also a command: the page, then the options.
    let run = project.run(&["help", "run"]).exits(0).stdout;
    assert!(run.contains("spec/tasks.md") && run.contains("--max-concurrent"), "{run}");
    let json = project.run(&["help", "hooks", "--json"]).exits(0).json();
    assert_eq!((&json["command"], &json["topic"]), (&"help".into(), &"hooks".into()));
    let wrong = project.run(&["help", "configuraton"]).exits(2).stderr;
    assert!(wrong.contains("did you mean `countersign help configuration`?"), "{wrong}");
}

/// No work was judged, so a script whose command is empty must not see a pass.
#[test]
fn issue_16_2_alone_it_names_three_commands_and_is_no_pass() {
    let project = project();
    let next = |says: [&str; 3]| {
        let out = project.run(&[]).exits(2).stdout;
        let steps: Vec<&str> = out.lines().filter(|line| line.starts_with("  countersign ")).collect();
        assert_eq!(steps.len(), 3, "{out}");
        for (step, says) in steps.iter().zip(says) {
            assert!(step.contains(says), "{out}");
        }
    };
    next(["countersign demo", "countersign init", "countersign help"]);
    project.write(
        "countersign.yml",
        "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: Done, check: no_placeholders}]}]\n",
    );
    project.write("a.md", "TODO\n");
    next(["countersign doctor", "countersign review", "countersign status"]);
    project.run(&["review", "--subject", "guide"]).exits(1);
    next(["countersign show rv-", "countersign review", "countersign status"]);
    assert!(
        project.run(&["--json"]).exits(2).json()["next"][0]["why"]
            .as_str()
            .unwrap()
            .contains("guide needs work")
    );
    project.write("countersign.yml", "version: 1\nrulse: []\n");
    let out = project.run(&[]).exits(2).stdout;
    assert!(out.contains("countersign validate"), "{out}");
    assert!(out.contains("the configuration has an error: the file has no `rules`"), "{out}");
}

#[test]
fn issue_16_3_colours_are_a_choice() {
    let project = project();
    assert!(!project.run(&["demo"]).exits(0).stdout.contains('\u{1b}'));
    assert!(project.run(&["demo", "--color", "always"]).exits(0).stdout.contains("\u{1b}["));
    assert!(project.run(&["demo", "--color", "sometimes"]).exits(2).stderr.contains("always, never"));
}
