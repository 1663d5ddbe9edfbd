//! What stands from before, tried as an agent would: asking again until it passes, a ruling by another program or
//! service, a ledger that comes with the repository.

use crate::project;
use countersign_testkit::{Project, Ran, Repository, Running};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const CONFIG: &str = "version: 1\n\
    reviewers: [{name: judge, use: command, command: [python3, .judge/judge.py]}]\n\
    rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]\n";
/// Fails the first questions it is asked and passes all others: a reviewer that is asked until it passes.
const FAILS_THREE: &str = "\
import json, os, sys
brief, log = json.load(sys.stdin), os.path.join(os.path.dirname(__file__), 'asked')
with open(log, 'a') as file: file.write('x')
passed = os.path.getsize(log) > 3
print(json.dumps({'passed': passed, 'feedback': 'f', 'criteria_results': [
    {'criterion': c['name'], 'passed': passed, 'feedback': 'found it'} for c in brief['assignment']['criteria']]}))
";
/// The same for six at once: none is answered before all have asked.
const FAILS_THREE_OF_SIX: &str = "\
import json, os, sys, time
brief, log = json.load(sys.stdin), os.path.join(os.path.dirname(__file__), 'asked')
with open(log, 'a') as file: file.write('x')
passed = os.path.getsize(log) > 3
until = time.monotonic() + 60
while os.path.getsize(log) < 6 and time.monotonic() < until: time.sleep(0.01)
print(json.dumps({'passed': passed, 'feedback': 'f', 'criteria_results': [
    {'criterion': c['name'], 'passed': passed, 'feedback': 'found it'} for c in brief['assignment']['criteria']]}))
";
const FAILS_ALL: &str = "\
import json, sys
brief = json.load(sys.stdin)
print(json.dumps({'passed': False, 'feedback': 'f', 'criteria_results': [
    {'criterion': c['name'], 'passed': False, 'feedback': 'found it'} for c in brief['assignment']['criteria']]}))
";
/// In the place of python3: passes whatever it is asked.
const FAKE: &str = r#"#!/bin/sh
cat >/dev/null
printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'
"#;

/// A project with a commit, a judge in a folder that git ignores, and work that is not committed.
fn started(judge: &str) -> (Project, Repository) {
    let project = project();
    let repository = Repository::at(project.root());
    project.write(".gitignore", ".judge/\n").write("countersign.yml", CONFIG).write("a.md", "one\n");
    project.write(".judge/judge.py", judge);
    repository.commit("first");
    project.write("a.md", "two\n");
    (project, repository)
}

/// The agent stops; whether it is held.
fn is_held(project: &Project, session: &str) -> bool {
    let input = json!({
        "session_id": session, "transcript_path": null, "cwd": project.root().canonicalize().unwrap(),
        "hook_event_name": "Stop", "stop_hook_active": false,
    });
    let ran = Running::fed(&mut project.command(&["hook", "claude"]), input.to_string().as_bytes()).wait();
    let ran = ran.exits(0);
    !ran.stdout.is_empty() && ran.json()["decision"] == "block"
}

fn review(project: &Project, more: &[&str]) -> Ran {
    project.run(&[&["review", "--change"], more].concat())
}

/// A folder with a program that is found before the real one.
fn fake_programs(project: &Project, names: &[&str]) -> PathBuf {
    let folder = project.home().join("fake");
    std::fs::create_dir_all(&folder).unwrap();
    for name in names {
        std::fs::write(folder.join(name), FAKE).unwrap();
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn with_path(project: &Project, folder: &std::path::Path, args: &[&str]) -> Ran {
    let mut command = project.command(args);
    let real = std::env::var_os("PATH").unwrap();
    let all = [folder.to_owned()].into_iter().chain(std::env::split_paths(&real));
    command.env("PATH", std::env::join_paths(all).unwrap());
    Running::start(&mut command).wait()
}

#[test]
fn reroll_asking_again_until_it_passes_counts_for_no_review_hook_or_subject() {
    let (project, _repository) = started(FAILS_THREE);
    assert!(is_held(&project, "s-1"));
    let asked = || project.read(".judge/asked").len();
    for _ in 0..5 {
        let ran = review(&project, &["--base", "HEAD", "--no-cache"]).exits(1);
        assert!(ran.stdout.contains("found it"), "{}", ran.stdout);
    }
    assert_eq!(asked(), 1, "a failure on the same bytes is not asked about again");
    assert!(is_held(&project, "s-2"));
    review(&project, &["--subject", "another"]).exits(1);
    project.run(&["log", "--verify"]).exits(0);
    // Other bytes are other work.
    project.write("a.md", "three\n");
    review(&project, &[]).exits(1);
    assert_eq!(asked(), 2);
}

#[test]
fn reroll_many_at_once_leave_the_failure_standing() {
    let (project, _repository) = started(FAILS_THREE_OF_SIX);
    let args = ["review", "--change", "--no-cache"];
    let running: Vec<_> = (0..6).map(|_| project.start(&args)).collect();
    running.into_iter().for_each(|one| drop(one.wait()));
    assert_eq!(project.read(".judge/asked").len(), 6, "three of them passed");
    review(&project, &[]).exits(1);
    assert!(is_held(&project, "s-1"));
    project.run(&["log", "--verify"]).exits(0);
}

#[test]
fn reroll_no_cache_says_that_failures_stand() {
    let (project, _repository) = started(FAILS_THREE);
    review(&project, &[]).exits(1);
    let ran = review(&project, &["--no-cache"]).exits(1);
    assert!(
        ran.stderr.contains("--no-cache") && ran.stderr.contains("countersign dispute"),
        "{}",
        ran.stderr
    );
    let ran = review(&project, &["--no-cache", "--json"]).exits(1).json();
    assert!(ran["warnings"][0].as_str().unwrap().contains("--no-cache"), "{ran}");
}

#[test]
fn fake_program_first_on_the_path_leaves_nothing_that_is_reused() {
    for command in [
        "[python3, .judge/judge.py]",
        "[env, python3, .judge/judge.py]",
        "[.judge/judge.py]",
        "[sh, -c, 'python3 ROOT/.judge/judge.py']",
    ] {
        let (project, repository) = started(&format!("#!/usr/bin/env python3\n{FAILS_ALL}"));
        let script = project.path(".judge/judge.py");
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let command = command.replace("ROOT", &project.root().display().to_string());
        project.write("countersign.yml", CONFIG.replace("[python3, .judge/judge.py]", &command));
        repository.commit("another command");
        project.write("a.md", "work\n");
        let fake = fake_programs(&project, &["python3"]);
        with_path(&project, &fake, &["review", "--change", "--subject", "s"]).exits(0);
        review(&project, &[]).exits(1);
        review(&project, &["--subject", "s"]).exits(1);
        assert!(is_held(&project, "s-1"), "{command}");
        // The other way round nobody is asked: a failure stands at every place.
        with_path(&project, &fake, &["review", "--change"]).exits(1);
        review(&project, &[]).exits(1);
    }
}

/// A variable that steers the reviewer is no way to have the same bytes judged again.
#[test]
fn reroll_another_environment_does_not_replace_a_failure() {
    let (project, _repository) = started(FAILS_THREE);
    review(&project, &["--subject", "s"]).exits(1);
    for (name, value) in
        [("PYTHONPATH", "/x"), ("HTTPS_PROXY", "http://127.0.0.1:9"), ("PYTHONUSERBASE", "/y")]
    {
        for subject in [&["--subject", "s"][..], &[]] {
            let mut command = project.command(&[&["review", "--change"], subject].concat());
            let ran = Running::start(command.env(name, value)).wait();
            assert!([1, 6].contains(&ran.code), "{name}: {ran:?}");
        }
    }
    assert_eq!(project.read(".judge/asked").len(), 1);
}

#[test]
fn place_of_a_reviewer_is_on_record() {
    let (project, _repository) = started(FAILS_ALL);
    let id = review(&project, &["--json"]).exits(1).json()["review"]["id"].as_str().unwrap().to_owned();
    let log = project.run(&["log", &id, "--json"]).exits(0).json();
    let asked =
        log["events"].as_array().unwrap().iter().find(|event| event["event"]["kind"] == "asked").unwrap();
    let program = asked["event"]["place"]["programs"][0].as_str().unwrap();
    assert!(program.ends_with("/python3"), "{asked}");
}

#[test]
fn committed_ledger_is_refused_also_as_a_link_or_a_submodule() {
    let (project, repository) = started(FAILS_ALL);
    let fake = fake_programs(&project, &["python3"]);
    with_path(&project, &fake, &["review", "--change"]).exits(0);
    // Where earlier versions had it.
    std::fs::rename(project.ledger_dir(), project.path(".countersign")).unwrap();
    std::fs::remove_dir_all(project.home().join(".local/state")).unwrap();
    repository.git(["add", "-f", ".countersign/ledger.db"]);
    repository.commit("with a ledger");
    for args in [&["review"][..], &["review", "--change", "--base", "HEAD~1"], &["status"], &["task", "list"]]
    {
        let ran = project.run(args).exits(7);
        assert!(ran.stderr.contains("git tracks `.countersign/ledger.db`"), "{}", ran.stderr);
        assert!(ran.stderr.contains("git rm -r --cached .countersign"), "{}", ran.stderr);
    }
    // In a fresh clone, as CI has it.
    let clone = repository.cloned(&[]);
    let mut command = project.command(&["review", "--change", "--base", "HEAD~1"]);
    Running::start(command.current_dir(clone.root())).wait().exits(7);
    // As a link to a folder of the repository.
    repository.git(["rm", "-q", "-r", "--cached", ".countersign"]);
    std::fs::rename(project.path(".countersign"), project.path("evil")).unwrap();
    let _ = std::fs::remove_file(project.path("evil/.gitignore"));
    std::os::unix::fs::symlink("evil", project.path(".countersign")).unwrap();
    repository.commit("with a link");
    project.run(&["review"]).exits(7);
}

#[test]
fn tracked_files_of_our_folder_are_judged_and_wait_for_a_person() {
    let (project, repository) = started(FAILS_ALL);
    project.write("countersign.yml", CONFIG.replace("'*.md'", "'**'"));
    repository.commit("rules for everything");
    project.write(".countersign/qr/modules/plan.yml", "version: 1\n");
    repository.git(["add", "-f", ".countersign/qr/modules/plan.yml"]);
    let ran = review(&project, &["--json"]).exits(1).json();
    assert_eq!(ran["findings"][0]["file"], ".countersign/qr/modules/plan.yml", "{ran}");
    // Our own untracked state is not, also where what hides it was taken away.
    repository.commit("with a module");
    std::fs::write(project.path(".countersign/.gitignore"), "").unwrap();
    project.write("b.md", "work\n");
    let ran = review(&project, &["--base", "HEAD", "--json"]).exits(1).json();
    let files: Vec<_> = ran["findings"].as_array().unwrap().iter().map(|f| f["file"].clone()).collect();
    assert_eq!(files, ["b.md"], "{ran}");
}
