//! What an agent breaks to be let go: the hook holds, tells the person, and never for ever.

use super::{Bench, goes, held, told};
use countersign_testkit::{Ran, Running};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The agent stops, with whatever else is done to the command.
fn stops(bench: &Bench, program: &str, was_held: bool, more: impl FnOnce(&mut Command)) -> Ran {
    let event = if program == "gemini" { "AfterAgent" } else { "Stop" };
    let input = json!({
        "session_id": "s-1", "cwd": bench.project.root().canonicalize().unwrap(), "hook_event_name": event,
        "stop_hook_active": was_held, "transcript_path": null, "prompt": "Write a page.",
    });
    let mut command = bench.project.command(&["hook", program]);
    more(&mut command);
    Running::fed(&mut command, input.to_string().as_bytes()).wait().exits(0)
}

fn plain(_: &mut Command) {}

/// The agent is held by a failure, and the person is told: both in the program's own form.
#[track_caller]
fn held_by_failure(ran: &Ran, why: &str, decision: &str) {
    let said = ran.json();
    let (reason, message) =
        (said["reason"].as_str().unwrap_or(""), said["systemMessage"].as_str().unwrap_or(""));
    assert_eq!(said["decision"], decision, "{why}: {ran:?}");
    for text in [reason, message, ran.stderr.as_str()] {
        assert!(text.contains(why), "{why}: {ran:?}");
    }
    assert!(reason.contains("not a finding") && message.contains("is not reviewed"), "{ran:?}");
    assert!(!reason.contains("unblock") && !reason.contains("approve"), "{reason}");
}

/// What a file is replaced by, and how.
type Way = (&'static str, fn(&Path));

/// How something is broken, by what it is known, and how it is put back.
struct Breakage {
    name: &'static str,
    breaks: fn(&Path),
    says: &'static str,
    repairs: fn(&Path),
}

fn breaks_settings(root: &Path) {
    fs::write(root.join(".git/config"), "[core\n").unwrap();
}

const BREAKAGES: [Breakage; 6] = [
    Breakage {
        name: "broken .git/config",
        breaks: |root| {
            fs::copy(root.join(".git/config"), root.join(".git/kept")).unwrap();
            breaks_settings(root);
        },
        says: "bad config",
        repairs: |root| fs::rename(root.join(".git/kept"), root.join(".git/config")).unwrap(),
    },
    Breakage {
        name: "a .git that leads nowhere",
        breaks: |root| {
            fs::rename(root.join(".git"), root.join(".kept")).unwrap();
            fs::write(root.join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
        },
        says: "not a git repository",
        repairs: |root| {
            fs::remove_file(root.join(".git")).unwrap();
            fs::rename(root.join(".kept"), root.join(".git")).unwrap();
        },
    },
    Breakage {
        name: "no .git any more",
        breaks: |root| fs::rename(root.join(".git"), root.join(".kept")).unwrap(),
        says: "not a git repository",
        repairs: |root| fs::rename(root.join(".kept"), root.join(".git")).unwrap(),
    },
    Breakage {
        name: "a damaged ledger",
        breaks: |root| {
            fs::remove_dir_all(root.join(".git/countersign")).unwrap();
            fs::create_dir_all(root.join(".git/countersign")).unwrap();
            fs::write(
                root.join(".git/countersign/ledger.db"),
                "this is no database at all, whatever it is called",
            )
            .unwrap();
        },
        says: "ledger",
        repairs: |root| fs::remove_dir_all(root.join(".git/countersign")).unwrap(),
    },
    Breakage {
        name: "a ledger that cannot be opened",
        breaks: |root| {
            fs::remove_dir_all(root.join(".git/countersign")).unwrap();
            fs::create_dir_all(root.join(".git/countersign/ledger.db/folder")).unwrap();
        },
        says: "ledger",
        repairs: |root| fs::remove_dir_all(root.join(".git/countersign")).unwrap(),
    },
    Breakage {
        name: "a folder of the ledger that cannot be made",
        breaks: |root| {
            fs::remove_dir_all(root.join(".git/countersign")).unwrap();
            fs::write(root.join(".git/countersign"), "").unwrap();
        },
        says: "the ledger is gone",
        repairs: |root| fs::remove_file(root.join(".git/countersign")).unwrap(),
    },
];

#[test]
fn an_agent_that_breaks_git_or_the_ledger_is_held_and_never_for_ever() {
    for Breakage { name, breaks, says, repairs } in BREAKAGES {
        let bench = Bench::new("");
        goes(&bench.stops(false));
        let root = bench.project.root().canonicalize().unwrap();
        bench.project.write("a.md", "BAD\n");
        breaks(&root);
        held_by_failure(&stops(&bench, "claude", false, plain), says, "block");
        held_by_failure(&stops(&bench, "claude", true, plain), says, "block");
        for _ in 0..2 {
            let words = told(&stops(&bench, "claude", true, plain));
            assert!(words.contains("is not reviewed") && words.contains(says), "{name}: {words}");
        }
        // Somebody writes to the agent: it is held anew.
        held_by_failure(&stops(&bench, "claude", false, plain), says, "block");
        repairs(&root);
        bench.project.trust();
        assert!(held(&stops(&bench, "claude", true, plain)).contains("there is a BAD word"), "{name}");
        assert_eq!(bench.judge.asked().len(), 1, "{name}");
    }
}

/// One program forgets that its agent was held, and has no limit of its own.
#[test]
fn every_program_is_held_by_a_failure_in_its_own_form_and_at_most_twice() {
    for (program, decision) in [("codex", "block"), ("gemini", "deny")] {
        let bench = Bench::new("");
        bench.project.write("a.md", "BAD\n");
        breaks_settings(bench.project.root());
        for was_held in [false, program == "codex"] {
            held_by_failure(&stops(&bench, program, was_held, plain), "bad config", decision);
        }
        for _ in 0..3 {
            told(&stops(&bench, program, program == "codex", plain));
        }
    }
}

/// Where not even that can be counted, what the program says has to be enough.
#[test]
fn where_nothing_can_be_counted_an_agent_is_held_once() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n").write("file", "");
    breaks_settings(bench.project.root());
    let file = bench.project.path("file");
    let nowhere = |command: &mut Command| {
        command.env("XDG_STATE_HOME", &file).env("TMPDIR", &file);
    };
    held_by_failure(&stops(&bench, "claude", false, nowhere), "bad config", "block");
    told(&stops(&bench, "claude", true, nowhere));
    told(&stops(&bench, "gemini", false, nowhere));
}

/// What judges is found by its place.
#[test]
fn attack_17_a_path_without_programs_changes_nothing() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    let ran = stops(&bench, "claude", false, |command| {
        command.env("PATH", "/nowhere");
    });
    assert!(held(&ran).contains("there is a BAD word"), "{ran:?}");
    countersign_testkit::attack_row(
        "PATH without programs",
        "hook",
        "the trusted programs run",
        "the findings",
    );
}

/// Whatever the working tree has in place of the committed configuration, the committed one holds.
#[test]
fn an_invalid_uncommitted_configuration_does_not_matter_and_is_named() {
    let breaks: [Way; 6] = [
        ("invalid", |file| fs::write(file, "rules: oops\n").unwrap()),
        ("no YAML", |file| fs::write(file, "{{{ :\n").unwrap()),
        ("no text", |file| fs::write(file, b"\xff\xfe\0").unwrap()),
        ("a folder", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
        ("a broken link", |file| {
            fs::remove_file(file).unwrap();
            std::os::unix::fs::symlink("/nowhere/at/all", file).unwrap();
        }),
        ("too long", |file| fs::write(file, "#".repeat(20 * 1024 * 1024)).unwrap()),
    ];
    for (name, breaks) in breaks {
        let bench = Bench::new("");
        bench.project.write("a.md", "BAD\n");
        breaks(&bench.project.path("countersign.yml"));
        let ran = bench.stops(false);
        assert!(held(&ran).contains("there is a BAD word"), "{name}: {ran:?}");
        assert!(ran.stderr.contains("countersign.yml in the working tree is invalid"), "{name}: {ran:?}");
        let told = ran.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
        assert!(told.contains("countersign.yml in the working tree is invalid"), "{name}: {ran:?}");
    }
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    fs::remove_file(bench.project.path("countersign.yml")).unwrap();
    assert!(held(&bench.stops(false)).contains("there is a BAD word"));
}

#[test]
fn attack_17_a_configuration_that_is_broken_or_not_committed_changes_nothing() {
    for broken in ["rules: oops\n", "version: 7\n"] {
        let bench = Bench::new("");
        bench.repository.git(["rm", "-q", "--cached", "countersign.yml"]);
        bench.repository.git(["commit", "-q", "-m", "without"]);
        bench.project.write("a.md", "BAD\n").write("countersign.yml", broken);
        let ran = bench.stops(false);
        assert!(held(&ran).contains("there is a BAD word"), "{ran:?}");
        assert!(ran.stderr.contains("is invalid and was not used"), "{ran:?}");
        // The same where it is committed as it is.
        bench.repository.commit("broken");
        bench.project.write("a.md", "BAD again\n");
        assert!(held(&bench.stops(false)).contains("there is a BAD word"));
    }
    countersign_testkit::attack_row(
        "countersign.yml broken or not committed",
        "hook",
        "the trusted one counts",
        "a message to the person",
    );
}

/// Without the word of a person there is no judge: an agent is held, and the person is told.
#[test]
fn attack_17_a_configuration_that_no_person_trusted_holds() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    bench.project.forget_ledger();
    held_by_failure(&stops(&bench, "claude", false, plain), "no person has trusted", "block");
    bench.project.trust();
    assert!(held(&bench.stops(false)).contains("there is a BAD word"));
    countersign_testkit::attack_row("no person has trusted the project", "hook", "holds", "the message");
}

#[test]
fn attack_17_the_users_own_file_cannot_be_changed_to_be_let_go() {
    for text in ["oops: 1\n", "version: 1\nreviewers: [{name: judge, use: command, command: ['true']}]\n"] {
        let bench = Bench::new("");
        bench.project.write("a.md", "BAD\n");
        let folder = bench.project.home().join(".config/countersign");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.yml"), text).unwrap();
        let ran = bench.stops(false);
        assert!(held(&ran).contains("there is a BAD word"), "{ran:?}");
        assert!(ran.stderr.contains("your own configuration file was changed"), "{ran:?}");
    }
    countersign_testkit::attack_row(
        "the user's own configuration edited",
        "hook",
        "the trusted one counts",
        "a message",
    );
}

#[test]
fn input_that_is_not_understood_holds_where_there_is_a_project() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    for input in ["", "not JSON", "{}", "[1]"] {
        let say = || {
            let mut command = bench.project.command(&["hook", "claude"]);
            Running::fed(&mut command, input.as_bytes()).wait().exits(0)
        };
        for _ in 0..2 {
            held_by_failure(&say(), "input of", "block");
        }
        told(&say());
        // A stop that is understood ends the count.
        assert!(held(&bench.stops(false)).contains("there is a BAD word"), "{input}");
    }
}

#[test]
fn a_folder_that_is_unknown_does_not_hide_the_project() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    let gone = bench.project.root().canonicalize().unwrap().join("sub/that/is/gone");
    for folder in [gone.as_path(), Path::new("/nowhere/at/all")] {
        assert!(
            held(&bench.hook_in(folder, "claude", "s", false)).contains("there is a BAD word"),
            "{folder:?}"
        );
    }
}

/// What an agent puts into the environment chooses neither the judge, nor the rules, nor the project.
#[test]
fn variables_do_not_steer_the_hook_and_are_named() {
    let bench = Bench::new("policy: {max_attempts: 20, max_stalled_rounds: 20}\n");
    let elsewhere = bench.project.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let replay = elsewhere.join("replay.jsonl");
    fs::write(&replay, "{\"criterion\": \"Complete\", \"passed\": true}\n").unwrap();
    let config = elsewhere.join("loose.yml");
    fs::write(&config, "version: 1\nreview: {enabled: false}\n").unwrap();
    let ours = [
        ("COUNTERSIGN_REVIEWER", format!("replay:{}", replay.display())),
        ("COUNTERSIGN_CONFIG", config.display().to_string()),
        ("COUNTERSIGN_ROOT", elsewhere.display().to_string()),
    ];
    for (n, (name, value)) in ours.iter().enumerate() {
        bench.project.write("a.md", format!("BAD {n}\n"));
        let ran = stops(&bench, "claude", false, |command| {
            command.env(name, value);
        });
        assert!(held(&ran).contains("there is a BAD word"), "{name}: {ran:?}");
        assert!(ran.stderr.contains(&format!("{name} is ignored")), "{name}: {ran:?}");
        // What came of it is what everybody gets.
        assert!(held(&bench.hook("claude", "later", false)).contains("there is a BAD word"), "{name}");
    }
    let of_git = [
        ("GIT_DIR", "/nowhere"),
        ("GIT_WORK_TREE", "/nowhere"),
        ("GIT_INDEX_FILE", "/nowhere"),
        ("GIT_CEILING_DIRECTORIES", "/"),
        ("GIT_CONFIG_PARAMETERS", "'core.bare=true'"),
    ];
    for (n, (name, value)) in of_git.iter().enumerate() {
        bench.project.write("a.md", format!("BAD for git {n}\n"));
        let ran = stops(&bench, "claude", false, |command| {
            command.env(name, value);
        });
        assert!(held(&ran).contains("there is a BAD word"), "{name}: {ran:?}");
    }
    bench.project.write("a.md", "BAD once more\n");
    let ran = stops(&bench, "claude", false, |command| {
        command
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.bare")
            .env("GIT_CONFIG_VALUE_0", "true");
    });
    assert!(held(&ran).contains("there is a BAD word"), "{ran:?}");
}
