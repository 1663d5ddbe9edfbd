//! A pull request writes the cache from which its next job restores the ledger.

use crate::kit::{FINDING, config, row};
use countersign_testkit::{Project, Ran, Repository, Running};
use serde_json::json;
use std::fs;
use std::process::Command;

/// A clone in a job of CI, on a machine of its own.
struct Job {
    project: Project,
    clone: Repository,
}

/// The upstream repository, and the commits of a pull request with bad work.
fn pull_request() -> (Repository, String, String) {
    let origin = Repository::new();
    let judge = "#!/bin/sh\nbrief=$(cat); case \"$brief\" in *BAD*) p=false;; *) p=true;; esac\n\
        printf '{\"passed\": %s, \"feedback\": \"f\", \"criteria_results\": [{\"criterion\": \"Complete\", \"passed\": %s, \"feedback\": \"there is a BAD word\"}]}' $p $p\n";
    origin.write("judge.sh", judge).write("a.md", "one\n").write("countersign.yml", config("[sh, judge.sh]"));
    let base = origin.commit("first");
    origin.git(["checkout", "-q", "-b", "topic"]);
    origin.write("a.md", "BAD\n");
    let head = origin.commit("bad work");
    origin.git(["checkout", "-q", "main"]);
    (origin, base, head)
}

impl Job {
    fn new(origin: &Repository, head: &str) -> Self {
        let clone = origin.cloned(&[]);
        clone.git(["checkout", "-q", "--detach", head]);
        Self { project: Project::new(env!("CARGO_BIN_EXE_countersign")), clone }
    }

    fn ci(&self, base: &str, head: &str, vouched: Option<&str>) -> Ran {
        let event = self.project.home().join("event.json");
        let pull_request = json!({ "pull_request": { "base": { "sha": base }, "head": { "sha": head } },
            "repository": { "default_branch": "main" } });
        fs::write(&event, pull_request.to_string()).unwrap();
        let mut command = self.project.command(&["ci"]);
        command.current_dir(self.clone.root()).env("CI", "true").env("GITHUB_ACTIONS", "true");
        command.env("GITHUB_EVENT_NAME", "pull_request").env("GITHUB_EVENT_PATH", event);
        command.envs(vouched.map(|head| ("COUNTERSIGN_LEDGER_HEAD", head)));
        Running::start(&mut command).wait()
    }

    fn ledger(&self) -> std::path::PathBuf {
        self.clone.path(".git/countersign")
    }

    /// A cache of another job is restored here.
    fn restores(&self, other: &Self) {
        let _ = fs::remove_dir_all(self.ledger());
        let done = Command::new("cp").arg("-a").args([other.ledger(), self.ledger()]).status().unwrap();
        assert!(done.success());
    }
}

/// The ledger of a job in which another judge let the same work pass.
fn forged(origin: &Repository, base: &str, head: &str) -> Job {
    let forger = Job::new(origin, head);
    // On a machine of its own the author of the work is every judge.
    let tame = "import json\nruling = {'criterion': 'Complete', 'passed': True, 'feedback': 'fine'}\n\
        print(json.dumps({'passed': True, 'feedback': 'f', 'criteria_results': [ruling]}))\n";
    let judge = forger.project.home().join("python");
    fs::create_dir(&judge).unwrap();
    fs::write(judge.join("sh"), format!("#!/usr/bin/env python3\n{tame}")).unwrap();
    fs::set_permissions(judge.join("sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = forger.project.command(&["ci", "--base", base]);
    let path = format!("{}:{}", judge.display(), std::env::var("PATH").unwrap());
    command.current_dir(forger.clone.root()).env("CI", "true").env("PATH", path);
    Running::start(&mut command).wait().exits(0);
    forger
}

#[test]
fn attack_20_a_forged_ledger_in_a_cache_does_not_count() {
    let (origin, base, head) = pull_request();
    let forger = forged(&origin, &base, &head);
    let job = Job::new(&origin, &head);
    job.restores(&forger);
    let ran = job.ci(&base, &head, None).exits(1);
    assert!(ran.stdout.contains(FINDING), "{ran:?}");
    assert!(
        ran.stderr.contains("a ledger was restored here") && ran.stderr.contains("restored-1"),
        "{ran:?}"
    );
    // What this job has written itself counts for the rest of it.
    let mut show = job.project.command(&["show"]);
    let shown = Running::start(show.current_dir(job.clone.root()).env("CI", "true")).wait().exits(0);
    assert!(shown.stdout.contains(FINDING), "{shown:?}");
    // A head that does not fit vouches for nothing.
    let other = Job::new(&origin, &head);
    other.restores(&forger);
    other.ci(&base, &head, Some("00")).exits(1);
    row(
        "a forged ledger in a cache that pull requests can write",
        "ci",
        "ignored",
        "the ledger is named, and is moved aside",
    );
}

#[test]
fn honest_20_a_vouched_ledger_is_not_asked_again() {
    let (origin, base, head) = pull_request();
    let first = Job::new(&origin, &head);
    first.ci(&base, &head, None).exits(1);
    let file = first.project.home().join("export.jsonl");
    let mut export = first.project.command(&["ledger", "export", file.to_str().unwrap(), "--json"]);
    let exported = Running::start(export.current_dir(first.clone.root()).env("CI", "true")).wait().exits(0);
    let vouched = exported.json()["head"].as_str().unwrap().to_owned();
    let job = Job::new(&origin, &head);
    job.restores(&first);
    let ran = job.ci(&base, &head, Some(&vouched)).exits(1);
    assert!(ran.stdout.contains("0 asked, 1 reused"), "{ran:?}");
    assert!(!ran.stderr.contains("restored"), "{ran:?}");
}
