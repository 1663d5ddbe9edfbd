//! What other users of the machine can see of private work in the temporary folder: nothing, whatever the umask.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, Ran, Repository, Running};

const PASS: &str = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;

/// Runs the program where every new file is open to all, with a temporary folder of its own.
fn run_open(project: &Project, args: &[&str]) -> Ran {
    run_open_with(project, args, |_| {})
}

fn run_open_with(project: &Project, args: &[&str], change: impl FnOnce(&mut std::process::Command)) -> Ran {
    std::fs::create_dir_all(project.path(".tmp")).unwrap();
    let words = [&["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_countersign")], args].concat();
    let plain = project.command(&[]);
    let mut command = std::process::Command::new("sh");
    command.args(words).current_dir(project.root()).env("TMPDIR", project.path(".tmp"));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    change(&mut command);
    Running::start(&mut command).wait()
}

/// A shell command that lists the temporary folder: mode, kind and path of everything in it.
fn look(project: &Project) -> String {
    let root = project.root().display();
    format!("find '{root}/.tmp' -mindepth 1 -printf '%m %y %P\\n' >>'{root}/.modes'")
}

/// Asserts that only the user may open what was seen.
#[track_caller]
fn all_private(project: &Project, some: &str) {
    let modes = project.read(".modes");
    assert!(modes.contains(some), "{some} was not there:\n{modes}");
    for line in modes.lines() {
        assert!(line.starts_with("700 d ") || line.starts_with("600 f "), "{line}\n{modes}");
    }
}

#[test]
fn scratch_copies_for_a_reviewer_are_for_its_user_alone() {
    let project = project();
    for i in 0..30 {
        project.write(&format!("docs/sub/{i}.md"), format!("page {i}"));
    }
    let judge = Judge::scripted(&project, "judge.sh", &format!("{}; {PASS}", look(&project)));
    let args = ["review", "docs", "--criterion", COMPLETE, "--reviewer", judge.name()];
    run_open(&project, &[&args[..], &["--max-inline-files", "5"]].concat()).exits(0);
    all_private(&project, "files/docs/sub/7.md");
}

#[test]
fn scratch_the_comparison_of_a_change_is_for_its_user_alone() {
    let project = project();
    let repository = Repository::at(project.root());
    let judge = Judge::scripted(&project, "judge.sh", PASS);
    project.write(".gitignore", ".asked*\n.modes\n.tmp\n").write(".gitattributes", "*.md filter=look\n");
    repository.commit("first");
    // A filter of the repository is not run while the files are read.
    repository.git([
        "config",
        "filter.look.clean",
        &format!("touch '{}'; cat", project.path(".ran").display()),
    ]);
    project.write("a.md", "secret work");
    // Git keeps its own files in our folder.
    let git = project.home().join("git");
    std::fs::write(&git, format!("#!/bin/sh\ngit \"$@\"\ncode=$?\n{}\nexit $code\n", look(&project)))
        .unwrap();
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let args = ["review", "--change", "--criterion", COMPLETE, "--reviewer", judge.name()];
    run_open_with(&project, &args, |command| {
        command.env("COUNTERSIGN_TEST_GIT", git);
    })
    .exits(0);
    assert!(!project.path(".ran").exists());
    // What git makes itself is behind a folder that others cannot enter.
    let modes = project.read(".modes");
    let outer: Vec<&str> = modes.lines().filter(|line| !line.contains('/')).collect();
    assert!(outer.iter().any(|line| line.contains("countersign-change-")), "{modes}");
    assert!(outer.iter().all(|line| line.starts_with("700 d ")), "{modes}");
}

#[test]
fn scratch_the_question_of_doctor_is_for_its_user_alone() {
    let project = project();
    let answer = PASS.replace("Complete", "Answers");
    Judge::scripted(&project, "judge.sh", &format!("{}; {answer}", look(&project)));
    let reviewer = "{name: main, use: command, command: [./judge.sh]}";
    let rule = "{name: r, for: ['*.md'], criteria: [{name: C, ask: 'C?'}]}";
    project.write("a.md", "x");
    project.write("countersign.yml", format!("version: 1\nreviewers: [{reviewer}]\nrules: [{rule}]\n"));
    run_open(&project, &["doctor", "--ask"]).exits(0);
    let modes = project.read(".modes");
    let outer: Vec<&str> = modes.lines().filter(|line| !line.contains('/')).collect();
    assert!(!outer.is_empty() && outer.iter().all(|line| line.starts_with("700 d ")), "{modes}");
}
