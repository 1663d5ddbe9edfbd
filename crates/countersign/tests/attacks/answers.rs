//! Replacing an answer, by what a plain question, a dispute or a forged object brings along.

use crate::kit::{Case, FINDING, TAME, config, held, judged, row};
use countersign_testkit::{Running, Terminal};
use std::fs;
use std::path::Path;
use std::process::Command;

fn finding(case: &Case) -> String {
    let ran = case.gate_with(&["--json"], |_| {}).exits(1).json();
    ran["findings"][0]["id"].as_str().unwrap().to_owned()
}

/// The author disputes a finding with a judge that it chose in one of several ways: whether the finding is still there.
fn disputed(prepare: impl FnOnce(&Case, &mut Command), restore: impl FnOnce(&Case)) {
    let case = Case::new();
    let finding = finding(&case);
    let mut command = case.agent(&["dispute", &finding, "--evidence", "It is fine."]);
    prepare(&case, &mut command);
    let ran = Running::start(&mut command).wait();
    assert!(!ran.stdout.contains("withdrawn"), "{ran:?}");
    restore(&case);
    judged(&case.gate());
    held(&case.hook());
}

#[test]
fn attack_17_a_dispute_is_judged_as_at_a_gate() {
    let fake = tempfile::tempdir().unwrap();
    let python = fake.path().join("python3");
    fs::write(
        &python,
        format!("#!/bin/sh\ncat >/dev/null\nexec /usr/bin/python3 -c '{}'\n", TAME.replace('\'', "\"")),
    )
    .unwrap();
    fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(fake.path().join("words.py"), "BAD = 'nothing'\n").unwrap();
    let nothing = |_: &Case| {};
    disputed(
        |case, _| {
            case.project.write("words.py", "BAD = 'nothing has this word'\n");
        },
        |case| drop(case.repository.git(["checkout", "-q", "words.py"])),
    );
    let path = format!("{}:{}", fake.path().display(), std::env::var("PATH").unwrap());
    disputed(
        |_, command| {
            command.env("PATH", path);
        },
        nothing,
    );
    disputed(
        |_, command| {
            command.env("PYTHONPATH", fake.path()).env("PYTHONSAFEPATH", "1");
        },
        nothing,
    );
    disputed(
        |_, command| {
            command.args(["--reviewer", "command:/bin/true"]);
        },
        nothing,
    );
    row(
        "a dispute with an edited helper, another PATH, PYTHONPATH or --reviewer",
        "dispute, then review --gate, hook",
        "judged by the trusted script",
        "the findings",
    );
}

#[test]
fn attack_17_a_question_does_not_choose_the_policy_of_a_gate() {
    for decisions in ["", "policy: {decisions: signed}\n"] {
        let case = Case::untrusted();
        let text = format!("{}{decisions}", config("[python3, judge.py]"));
        case.project.write("countersign.yml", &text);
        case.repository.commit("policy");
        case.project.trust();
        case.repository.git(["checkout", "-q", "-b", "topic"]);
        case.project.write("a.md", "BAD\n");
        let own = case.project.home().join("own.yml");
        fs::write(&own, format!("{}policy: {{overrides: allow}}\n", config("[python3, judge.py]"))).unwrap();
        let own = own.to_str().unwrap();
        let ask = ["review", "--config", own, "--change", "--subject", "w"];
        Running::start(&mut case.agent(&ask)).wait().exits(1);
        for verb in ["approve", "skip"] {
            Running::start(&mut case.agent(&[verb, "cli/w", "--reason", "x", "--config", own])).wait();
        }
        judged(&case.gate_with(&["--subject", "w"], |_| {}));
    }
    row(
        "a plain review opens the subject with a lax policy, and the agent approves it",
        "review --gate",
        "a review of its own, by the trusted policy",
        "the findings",
    );
}

/// Gives the object of this name other contents under its id.
fn forge(case: &Case, name: &str, bytes: &str) {
    let file = case.project.home().join("other");
    fs::write(&file, bytes).unwrap();
    let object = |id: &str| case.project.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let other = object(&case.repository.git(["hash-object", "-w", file.to_str().unwrap()]));
    let own = object(&case.repository.git(["rev-parse", name]));
    fs::remove_file(&own).unwrap();
    fs::copy(other, own).unwrap();
}

#[test]
fn attack_17_a_forged_object_of_the_trusted_commit() {
    let case = Case::new();
    forge(
        &case,
        "HEAD:countersign.yml",
        "version: 1\nrules: [{name: r, for: ['none'], criteria: [{name: A, check: not_empty}]}]\n",
    );
    let ran = case.gate();
    assert!(ran.code != 0 && ran.stderr.contains("not what its id says"), "{ran:?}");
    let ran = case.hook();
    assert!(ran.stdout.contains(r#""decision":"block""#), "{ran:?}");
    row(
        "the object of the trusted countersign.yml is forged",
        "review --gate, hook",
        "refused",
        "the message",
    );
}

#[test]
fn attack_17_a_base_of_the_agents_choice() {
    let case = Case::new();
    case.repository.commit("bad work");
    for base in ["HEAD", "topic", "@{0}"] {
        let ran = case.gate_with(&["--base", base], |_| {});
        judged(&ran);
        assert!(ran.stderr.contains("is ignored: an agent does not choose"), "{ran:?}");
    }
    row("--base HEAD after a commit", "review --gate", "ignored", "a warning");
}

#[test]
fn attack_17_settings_of_a_repository_around_the_temporary_folder() {
    let case = Case::untrusted();
    let remote = case.repository.cloned(&["--bare"]);
    case.repository.git(["remote", "add", "origin", remote.root().to_str().unwrap()]);
    case.repository.git(["fetch", "-q", "origin"]);
    case.repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    case.project.trust();
    case.project.write(
        "countersign.yml",
        "version: 1\nrules: [{name: r, for: ['none'], criteria: [{name: A, check: not_empty}]}]\n",
    );
    let commit = case.repository.commit("tame rules");
    let other = case.repository.cloned(&["--bare"]);
    case.repository.git(["update-ref", "refs/remotes/origin/main", &commit]);
    let around = countersign_testkit::Repository::new();
    let key = format!("url.{}.insteadOf", other.root().display());
    around.git(["config", &key, remote.root().to_str().unwrap()]);
    fs::create_dir(around.path("tmp")).unwrap();
    case.project.write("a.md", "BAD\n");
    let ran = case.gate_with(&["--base", "HEAD~1"], |command| {
        command.env("TMPDIR", around.path("tmp"));
    });
    judged(&ran);
    row(
        "TMPDIR inside of a repository with url.insteadOf",
        "review --gate",
        "the pinned remote is asked",
        "the findings",
    );
}

/// A filter of the repository that runs below a command of a person must not act as that person.
#[test]
fn attack_17_a_filter_below_a_persons_command() {
    let case = Case::new();
    case.gate_with(&["--subject", "w"], |_| {}).exits(1);
    let own = env!("CARGO_BIN_EXE_countersign");
    let said = case.project.home().join("said");
    let filter = format!("{own} approve gate/w --reason mine </dev/tty >>{} 2>&1; cat", said.display());
    case.repository.git(["config", "filter.sly.clean", &filter]);
    case.project.write(".git/info/attributes", "*.md filter=sly\n");
    case.project.write("a.md", "BAD again\n");
    // The person looks at the change at a terminal.
    let mut terminal = Terminal::start(&case.project.command(&["review", "--change"]), 120, 50);
    terminal.ends();
    let said = fs::read_to_string(said).unwrap_or_default();
    assert!(said.is_empty() || said.contains("COUNTERSIGN_CALL"), "{said}");
    let shown = case.project.run(&["show", "gate/w", "--json"]).exits(0).json();
    assert_eq!(shown["review"]["decisions"], serde_json::json!([]), "{said}");
    row(
        "a filter of .git/config runs below a person's command",
        "approve",
        "refused",
        "the message names the mark",
    );
}

#[test]
fn attack_17_commits_that_no_branch_has_passed() {
    // On another branch, detached, and under another name of the branch.
    let ways: [&[&[&str]]; 3] = [
        &[&["checkout", "-q", "-b", "feature"]],
        &[&["checkout", "-q", "--detach"]],
        &[&["branch", "-m", "main", "old"], &["branch", "main", "old"], &["checkout", "-q", "main"]],
    ];
    for way in ways {
        let case = Case::untrusted();
        case.project.trust();
        case.project.write("a.md", "BAD\n");
        case.repository.commit("bad work on the main branch");
        way.iter().for_each(|args| drop(case.repository.git(*args)));
        held(&case.hook());
        // A forged ref of ours changes nothing.
        let refs = case.repository.git(["for-each-ref", "--format=%(refname)", "refs/countersign/passed"]);
        refs.lines().for_each(|name| drop(case.repository.git(["update-ref", name, "HEAD"])));
        let ran = case.hook();
        assert!(ran.stdout.contains(FINDING), "{way:?}: {ran:?}");
    }
    row(
        "a commit, then another branch, a detached HEAD or a forged refs/countersign/passed",
        "hook",
        "judged since what passed last",
        "the findings",
    );
    let case = Case::untrusted();
    case.project.write("a.md", "BAD\n");
    case.repository.commit("bad work");
    case.repository.git(["checkout", "-q", "-b", "feature"]);
    let ran = case.hook();
    assert!(ran.stdout.contains(r#""decision":"block""#), "{ran:?}");
    assert!(Path::new(&case.root()).exists());
    row("a commit before any person trusted the project", "hook", "holds", "the message");
}

/// A reviewer that gets the paths of files, and does not open them, sees nothing. The question has the same key.
#[test]
fn attack_17_limits_that_hide_the_contents() {
    for tight in ["--max-inline-files", "--config"] {
        let case = Case::new();
        let limits = case.project.home().join("limits.yml");
        let text = format!("{}limits: {{prompt_bytes: 1024}}\n", config("[python3, judge.py]"));
        fs::write(&limits, text).unwrap();
        case.project.write("a.md", format!("{}BAD\n", "fine\n".repeat(300)));
        let value = if tight == "--config" { limits.to_str().unwrap() } else { "0" };
        let ran = case.project.run(&["review", "a.md", tight, value]).exits(0);
        assert!(ran.stdout.contains("gates do not count it"), "{tight}: {ran:?}");
        judged(&Running::start(&mut case.agent(&["review", "--gate", "a.md"])).wait());
        let refused =
            Running::start(&mut case.agent(&["review", "--gate", "--max-inline-files", "0"])).wait();
        assert!(refused.code == 2 && refused.stderr.contains("--max-inline-files"), "{refused:?}");
    }
    row(
        "--max-inline-files or limits that show only paths, before the gate asks",
        "review --gate",
        "asked again with the contents; the flag is refused at a gate",
        "review says that gates do not count it",
    );
}
