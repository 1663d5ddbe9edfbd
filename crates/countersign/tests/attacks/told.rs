//! What gates, `trust` and `doctor` tell: which files and programs count, why others do not, and what to do.

use crate::kit::{Case, config, judged};
use countersign_testkit::{Ran, Repository, Running, Terminal};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const CHANGED: &str = "was changed in the working tree and not yet trusted";

impl Case {
    /// A remote that has what the project has.
    fn with_remote(&self) -> Repository {
        let remote = self.repository.cloned(&["--bare"]);
        self.repository.git(["remote", "add", "origin", remote.root().to_str().unwrap()]);
        self.repository.git(["fetch", "-q", "origin"]);
        self.repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
        remote
    }

    /// A gate in a job of CI, in this folder.
    fn job(&self, folder: &Path, path: Option<&Path>) -> Ran {
        let mut command = self.project.command(&["review", "--change", "--gate"]);
        self.in_job(&mut command, folder, path)
    }

    fn in_job(&self, command: &mut std::process::Command, folder: &Path, path: Option<&Path>) -> Ran {
        let own = std::env::var("PATH").unwrap();
        let path = path.map_or_else(|| own.clone(), |first| format!("{}:{own}", first.display()));
        Running::start(command.env("CI", "true").env("PATH", path).current_dir(folder)).wait()
    }
}

fn pushed(remote: &Repository, path: &str, text: &str) {
    let colleague = remote.cloned(&[]);
    colleague.write(path, text);
    colleague.commit("of a colleague");
    colleague.git(["push", "-q", "origin", "HEAD:main"]);
}

#[test]
fn a_branch_that_is_older_than_the_rules_has_changed_nothing() {
    let case = Case::untrusted();
    let remote = case.with_remote();
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("a.md", "BAD\n");
    pushed(&remote, "countersign.yml", &(case.project.read("countersign.yml") + "# newer\n"));
    pushed(&remote, "words.py", "BAD = 'BAD'  # newer\n");
    case.repository.git(["fetch", "-q", "origin"]);
    let ran = case.gate();
    judged(&ran);
    assert!(!ran.stderr.contains(CHANGED), "{ran:?}");
    let ran = case.hook();
    assert!(!ran.stdout.contains(CHANGED), "{ran:?}");
    // Committed or not, what this work changed is named.
    case.project.write("words.py", "BAD = 'WORSE'\n");
    let edited = case.project.read("countersign.yml") + "# edited\n";
    case.project.write("countersign.yml", edited);
    case.repository.commit("edited");
    let ran = case.gate();
    assert!(ran.stderr.contains(&format!("countersign.yml {CHANGED}")), "{ran:?}");
    assert!(ran.stderr.contains(&format!("words.py {CHANGED}")), "{ran:?}");
}

#[test]
fn a_branch_that_the_remote_does_not_have_any_more_is_told() {
    let case = Case::untrusted();
    let remote = case.with_remote();
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("a.md", "BAD\n");
    remote.git(["branch", "-m", "main", "trunk"]);
    case.repository.git(["fetch", "-q", "--prune", "origin"]);
    let ran = case.gate();
    judged(&ran);
    assert!(ran.stderr.contains("origin has no branch main any more"), "{ran:?}");
    // The tracking branch alone is nothing that a gate goes by.
    remote.git(["branch", "-m", "trunk", "main"]);
    let ran = case.gate();
    assert!(!ran.stderr.contains("any more"), "{ran:?}");
}

#[test]
fn a_job_of_ci_says_what_it_lacks() {
    let case = Case::untrusted();
    let remote = case.with_remote();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("a.md", "BAD\n");
    case.repository.commit("work");
    case.repository.git(["push", "-q", "origin", "topic"]);
    let url = format!("file://{}", remote.root().canonicalize().unwrap().display());
    let shallow = case.repository.beside("shallow");
    case.repository.git([
        "clone",
        "-q",
        "--depth",
        "1",
        "--branch",
        "topic",
        &url,
        shallow.to_str().unwrap(),
    ]);
    let ran = case.job(&shallow, None).exits(3);
    for words in ["has not fetched the default branch", "git fetch origin", "fetch-depth: 0"] {
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    }
    assert!(!ran.stderr.contains("terminal"), "{ran:?}");
    case.repository.git(["remote", "remove", "origin"]);
    let ran = case.job(case.project.root(), None).exits(3);
    assert!(ran.stderr.contains("no git remote") && !ran.stderr.contains("terminal"), "{ran:?}");
}

#[test]
fn a_pull_request_with_the_first_rules_says_to_merge_them_first() {
    let case = Case::untrusted();
    let rules = case.project.read("countersign.yml");
    fs::remove_file(case.project.path("countersign.yml")).unwrap();
    case.repository.commit("no rules");
    case.with_remote();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("countersign.yml", rules);
    case.repository.commit("rules");
    let ran = case.job(case.project.root(), None).exits(3);
    for words in ["origin/main has no countersign.yml", "merge the rules"] {
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    }
    assert!(!ran.stderr.contains("terminal"), "{ran:?}");
}

/// Hosted runners keep tools in folders that every account may write.
#[test]
fn a_job_of_ci_uses_the_tools_of_its_path() {
    let case = Case::untrusted();
    case.project.write("countersign.yml", config("[judge]"));
    case.repository.commit("a judge of the job");
    case.with_remote();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("a.md", "BAD\n");
    case.repository.commit("work");
    let bin = case.project.home().join("hostedtoolcache/judge/1.0/x64/bin");
    fs::create_dir_all(&bin).unwrap();
    let words = case.project.read("words.py");
    let text =
        format!("#!/usr/bin/env python3\n{}", case.project.read("judge.py").replace("import words\n", ""));
    fs::write(bin.join("judge"), text.replace("words.BAD", words.split('=').nth(1).unwrap().trim())).unwrap();
    for path in [bin.join("judge"), bin.clone()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    judged(&case.job(case.project.root(), Some(&bin)));
    let ran = case.in_job(&mut case.project.command(&["doctor"]), case.project.root(), Some(&bin));
    assert!(ran.stdout.contains("x64/bin/judge") && !ran.stdout.contains("gates do not start"), "{ran:?}");
    // Outside of a job such a folder is no place for a judge.
    case.project.write("a.md", "BAD too\n");
    let mut command = case.project.command(&["trust", "--yes"]);
    command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    assert_eq!(Terminal::start(&command, 120, 40).ends(), 0);
    let mut command = case.project.command(&["review", "--change", "--gate"]);
    command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    let ran = Running::start(&mut command).wait().exits(4);
    assert!(ran.stdout.contains("other accounts may write"), "{ran:?}");
}

/// What a gate will refuse is said where a person looks: before the yes, and by `doctor`.
#[test]
fn a_judge_inside_of_the_project_is_told_before_a_gate_refuses_it() {
    let case = Case::untrusted();
    case.project.write("countersign.yml", config("[own-judge]")).write(".gitignore", "node_modules/\n");
    let bin = case.project.path("node_modules/.bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("own-judge"), "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(bin.join("own-judge"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = case.project.command(&["trust"]);
    let mut terminal = Terminal::start(command.env("PATH", &path), 200, 60);
    terminal.until("[y/N]");
    let shown = terminal.written();
    assert!(shown.contains("gates do not start it, because it lies in the project"), "{shown}");
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0);
    let told = |args: &[&str]| Running::start(case.project.command(args).env("PATH", &path)).wait().stdout;
    let shown = told(&["doctor"]);
    assert!(shown.contains("gates do not start it") && shown.contains("lies in the project"), "{shown}");
    let shown = told(&["trust", "--show"]);
    assert!(shown.contains("gates do not ask it") && shown.contains("own-judge"), "{shown}");
}

#[test]
fn an_invalid_file_does_not_hide_what_gates_use() {
    let case = Case::new();
    case.project.write("countersign.yml", "rules: [");
    let ran = case.project.run(&["doctor"]).exits(2);
    assert!(ran.stdout.contains("they use the version that a person trusted"), "{ran:?}");
    let ran = case.project.run(&["config", "--show-origin"]).exits(2);
    assert!(ran.stderr.contains("# gates use the version that a person trusted"), "{ran:?}");
}

#[test]
fn without_git_a_script_of_the_folder_cannot_judge_and_that_is_told() {
    let project = crate::project();
    project
        .write("a.md", "BAD\n")
        .write("judge.py", "")
        .write("countersign.yml", config("[python3, judge.py]"));
    let mut terminal = Terminal::start(&project.command(&["trust"]), 200, 60);
    terminal.until("[y/N]");
    let shown = terminal.written();
    assert!(shown.contains("cannot judge without git"), "{shown}");
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0);
    let ran = project.run(&["review", "--gate"]).exits(4);
    assert!(ran.stdout.contains("without git no trusted copy"), "{ran:?}");
}
