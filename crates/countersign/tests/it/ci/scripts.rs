//! The shell steps of `action.yml` in a scratch repository, as a runner calls them.

use super::{Hosted, Job, pull_request};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Runs a script of the action in a job; returns what it did and its outputs.
fn step(job: &Job<'_>, script: &str, event: &Value, variables: &[(&str, &str)]) -> (Output, String) {
    // The variables of a job are those of the command.
    let typed = job.command(&["ci"]);
    let mut command = Command::new(root().join("ci/github").join(script));
    command.current_dir(job.clone.root());
    for (name, value) in typed.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    job.github(&mut command, "pull_request", event);
    command.env("RUNNER_TEMP", job.home()).envs(variables.iter().copied());
    let ran = command.output().unwrap();
    (ran, fs::read_to_string(job.home().join("outputs")).unwrap())
}

fn output(outputs: &str, name: &str) -> String {
    let line = outputs.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
    line.unwrap_or_else(|| panic!("no {name}: {outputs}")).to_owned()
}

#[test]
fn issue_20_the_steps_of_the_action_judge_a_pull_request() {
    let hosted = Hosted::new();
    let base = hosted.tip();
    let head = hosted.branch("topic", &[("new.md", "TODO: later\n")]);
    let (job, event) = (hosted.merged(&head), pull_request(&base, &head));
    let (_, files) = step(&job, "files.sh", &event, &[]);
    let (sarif, comment) = (output(&files, "sarif"), output(&files, "comment"));
    let (installed, said) =
        step(&job, "install.sh", &event, &[("PROGRAM", env!("CARGO_BIN_EXE_countersign"))]);
    assert!(installed.status.success());
    let program = output(&said, "program");
    let variables =
        [("PROGRAM", program.as_str()), ("SARIF", &sarif), ("COMMENT", &comment), ("REVIEWER", "")];
    let (judged, outputs) = step(&job, "judge.sh", &event, &variables);
    assert_eq!(judged.status.code(), Some(1), "{}", String::from_utf8_lossy(&judged.stderr));
    assert_eq!(output(&outputs, "outcome"), "needs_work");
    assert!(fs::read_to_string(sarif).unwrap().contains("new.md"));
    assert!(fs::read_to_string(comment).unwrap().contains("new.md"));
}

#[test]
fn issue_20_the_action_installs_only_what_was_named() {
    let hosted = Hosted::new();
    let (job, event) = (hosted.job(&hosted.tip()), pull_request(&hosted.tip(), &hosted.tip()));
    let (missing, _) = step(&job, "install.sh", &event, &[("PROGRAM", "no-such-program")]);
    assert_eq!(missing.status.code(), Some(2));
    let program = job.home().join("countersign-of-others");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let url = format!("file://{}", program.display());
    let (unnamed, _) = step(&job, "install.sh", &event, &[("PROGRAM_URL", &url)]);
    assert_eq!(unnamed.status.code(), Some(2), "a download without a digest");
    let digest = "0".repeat(64);
    let (other, outputs) =
        step(&job, "install.sh", &event, &[("PROGRAM_URL", &url), ("PROGRAM_SHA256", &digest)]);
    assert_eq!((other.status.code(), outputs.as_str()), (Some(2), ""), "a download with another digest");
    let sum = Command::new("sha256sum").arg(&program).output().unwrap();
    let digest = String::from_utf8(sum.stdout).unwrap()[..64].to_owned();
    let (right, outputs) =
        step(&job, "install.sh", &event, &[("PROGRAM_URL", &url), ("PROGRAM_SHA256", &digest)]);
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stderr));
    assert_eq!(fs::read_to_string(output(&outputs, "program")).unwrap(), "#!/bin/sh\n");
}
