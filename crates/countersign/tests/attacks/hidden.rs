//! Hiding bad work: every way × what was done to the file × the doors that look at a change, at a task or at items.

use crate::kit::{Case, FINDING, held, judged, row};
use countersign_testkit::Repository;
use countersign_testkit::hiding::{self, Deed, FORGERIES, WAYS, Way};
use std::fs;

/// A trusted project with files of work below a folder, and a branch for an agent.
fn started() -> Case {
    let case = Case::untrusted();
    let config = crate::kit::config("[python3, judge.py]").replace("'*.md'", "'**/*.md'");
    case.project.write("countersign.yml", config);
    for (path, text) in hiding::before() {
        case.project.write(path, text);
    }
    case.repository.commit("work");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case
}

/// The same with bad work in it.
fn with_bad_work() -> Case {
    let case = started();
    case.project.write("sub/a.md", "one\ntwo\nthree\nfour\nfive\nBAD\n");
    case
}

fn hide(case: &Case, way: &Way, deed: Deed) {
    way.apply(deed, &case.repository, case.project.home());
}

#[test]
fn attack_18_every_way_to_hide_at_every_door_of_a_change() {
    for way in WAYS {
        for deed in Deed::ALL.into_iter().filter(|deed| way.hides(*deed)) {
            let (name, case) = (way.name, started());
            hide(&case, &way, deed);
            let ran = case.gate();
            assert!(ran.code == 1 && ran.stdout.contains(FINDING), "{name} {deed:?}: {ran:?}");
            held(&case.hook());
            let ran = case.gate_with(&["--subject", "whole"], |_| {});
            assert_eq!(ran.code, 1, "{name} {deed:?}: {ran:?}");
        }
        row(&format!("hiding by {}", way.name), "review --change --gate, hook", "seen", "the findings");
    }
}

/// The hook knows where the work began and nothing was changed since, as far as the user's git can tell.
#[test]
fn attack_18_what_the_users_git_calls_unchanged_is_looked_at_by_the_hook() {
    for way in WAYS {
        let case = started();
        assert!(!case.hook().stdout.contains("block"), "the start");
        hide(&case, &way, Deed::Modified);
        held(&case.hook());
        row(&format!("hiding by {} after a pass", way.name), "hook", "seen", "the findings");
    }
}

/// Where the objects of the base are forged, nothing passes, and the reason is named.
#[test]
fn attack_18_forged_objects_and_indexes_never_pass() {
    for way in FORGERIES {
        let case = started();
        hide(&case, &way, Deed::Modified);
        let ran = case.gate();
        assert!(
            ran.code != 0 && !format!("{}{}", ran.stdout, ran.stderr).trim().is_empty(),
            "{}: {ran:?}",
            way.name
        );
        let ran = case.hook();
        assert!(ran.stdout.contains(r#""decision":"block""#), "{}: {ran:?}", way.name);
        row(&format!("forged: {}", way.name), "review --change --gate, hook", "never passes", "the message");
    }
}

#[test]
fn attack_18_ignore_files_hide_nothing_from_a_whole_project() {
    let ways = [".ignore", ".gitignore", ".git/info/exclude"];
    for file in ways {
        let case = with_bad_work();
        let before = fs::read_to_string(case.project.path(file)).unwrap_or_default();
        case.project.write(file, format!("{before}\nsub/a.md\n"));
        let mut command = case.agent(&["review", "--gate"]);
        let ran = countersign_testkit::Running::start(&mut command).wait();
        judged(&ran);
    }
    row("hiding by .ignore, .gitignore, info/exclude", "review --gate", "seen", "the findings");
}

#[test]
fn attack_18_a_repository_inside_of_the_work() {
    for fake in [false, true] {
        let case = with_bad_work();
        case.project.write("sub/a.md", "one\n").write("sub/vendor/x.md", "BAD\n");
        match fake {
            false => drop(Repository::at(&case.project.path("sub/vendor")).commit("inner")),
            true => {
                case.project.write("sub/vendor/.git", "gitdir: /nowhere\n");
            }
        }
        judged(&case.gate());
        held(&case.hook());
    }
    row(
        "a repository inside of the work, real or pretended",
        "review --change --gate, hook",
        "seen",
        "the findings",
    );
}

/// Without a change nothing is found, whatever the settings of the user are.
#[test]
fn what_the_base_ignores_is_no_work() {
    let case = with_bad_work();
    case.project.write("sub/a.md", "one\ntwo\nthree\nfour\nfive\n").write("__pycache__/x.md", "BAD\n");
    case.project.write("sub/__pycache__/y.md", "BAD\n");
    let ran = case.gate();
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(!case.hook().stdout.contains("block"));
}

/// What cannot be shown as text is named to whoever judges.
#[test]
fn attack_18_links_and_bytes_that_are_no_text() {
    let case = with_bad_work();
    let seen = case.project.home().join("seen");
    let note =
        format!("brief = json.load(sys.stdin)\nopen('{}', 'a').write(brief['payload'])\n", seen.display());
    let judge = case.project.read("judge.py").replace("brief = json.load(sys.stdin)\n", &note);
    case.project.write("judge.py", judge).write("sub/a.md", "one\ntwo\nthree\nfour\nfive\n");
    case.repository.commit("a judge that notes");
    case.project.trust();
    let outside = case.project.home().join("outside.md");
    fs::write(&outside, "not shown\n").unwrap();
    std::os::unix::fs::symlink(&outside, case.project.path("sub/link.md")).unwrap();
    case.project.write("sub/latin.md", b"caf\xe9 BAD\n");
    judged(&case.gate());
    let payload = fs::read_to_string(seen).unwrap();
    for words in ["new file mode 120000", outside.to_str().unwrap(), "+caf\\xe9 BAD"] {
        assert!(payload.contains(words), "{words}: {payload}");
    }
    assert!(!payload.contains("not shown\n"), "{payload}");
    row(
        "a link that leads outside, bytes that are no text",
        "review --change --gate",
        "named",
        "the question",
    );
}

/// Without a remote the local branch is all there is, and the answer says what it is.
#[test]
fn attack_18_a_local_default_branch_that_was_moved() {
    let case = with_bad_work();
    case.repository.commit("bad work");
    case.repository.git(["branch", "-q", "-f", "main"]);
    case.project.write("sub/b.md", "fine\n");
    let ran = case.gate();
    let base = case.repository.git(["rev-parse", "--short=8", "main"]);
    let line = format!("judged 1 of 1 changed file since {base}");
    assert!(ran.stdout.contains(&line), "{ran:?}");
    // A remote that nobody has pinned is as local as a branch.
    case.repository.git(["branch", "-q", "-f", "main", "HEAD~1"]);
    case.repository.git(["update-ref", "refs/remotes/origin/topic", "HEAD"]);
    case.repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/topic"]);
    let ran = case.gate_with(&["--subject", "other"], |_| {});
    assert!(ran.stdout.contains(&line), "{ran:?}");
    // The hook goes by what passed last.
    held(&case.hook());
    row(
        "a moved local default branch, without a remote",
        "review --change --gate",
        "judged since it",
        "the base",
    );
}

/// What is committed is what others get. It is named where it is not what was judged.
#[test]
fn attack_18_bad_work_in_a_commit_that_the_disk_has_not() {
    let case = with_bad_work();
    case.repository.commit("bad work");
    case.project.write("sub/a.md", "one\ntwo\nthree\nfour\nfive\n");
    let words = "HEAD has other contents of `sub/a.md`, which are not judged";
    let ran = case.gate().exits(4);
    assert!(ran.stderr.contains(words), "{ran:?}");
    let ran = case.hook();
    assert!(ran.stderr.contains(words), "{ran:?}");
    case.project.write("sub/b.md", "fine\n");
    let ran = case.gate().exits(0);
    let line = "judged 1 of 1 changed file since";
    assert!(
        ran.stdout.contains(line) && ran.stdout.contains("; 1 other in HEAD than judged: sub/a.md"),
        "{ran:?}"
    );
    let json = case.gate_with(&["--json"], |_| {}).exits(0).json();
    assert!(json["coverage"]["words"].as_str().unwrap().contains("other in HEAD"), "{json}");
    // As it is committed it is judged.
    case.repository.git(["checkout", "-q", "--", "sub/a.md"]);
    judged(&case.gate());
    row("bad work in a commit, other files on disk", "review --change --gate, hook", "named", "the coverage");
}

/// Git leaves out such files without an error. With a setting they can be committed all the same.
#[test]
fn attack_18_names_that_git_does_not_accept() {
    for is_committed in [false, true] {
        let case = started();
        case.project.write("sub/git~1/x.md", "BAD\n").write("sub/b.md", "fine\n");
        if is_committed {
            case.repository.git(["-c", "core.protectNTFS=false", "add", "sub"]);
            case.repository.git(["-c", "core.protectNTFS=false", "commit", "-q", "-m", "bad"]);
        }
        let json = case.gate_with(&["--json"], |_| {}).exits(4).json();
        assert_eq!(json["coverage"]["not_seen"][0]["path"], "sub/git~1/x.md", "{json}");
        assert!(case.hook().stdout.contains(r#""decision":"block""#));
    }
    row("a name that git leaves out", "review --change --gate, hook", "no verdict", "the coverage");
}

/// The rule was about the file, so it is about what became of it.
#[test]
fn attack_18_a_file_that_is_renamed_out_of_the_rule() {
    let case = Case::untrusted();
    let config = crate::kit::config("[python3, judge.py]").replace("'*.md'", "'sub/**'");
    case.project.write("countersign.yml", config).write("sub/a.md", "one\ntwo\nthree\nfour\nfive\n");
    case.repository.commit("work");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("other.md", "one\ntwo\nthree\nfour\nfive\nBAD\n").write("sub/b.md", "fine\n");
    fs::remove_file(case.project.path("sub/a.md")).unwrap();
    judged(&case.gate());
    held(&case.hook());
    row("a file is renamed out of the rule", "review --change --gate, hook", "seen", "the findings");
}

/// A trusted project whose rule is about these files, with a program among them.
fn about(patterns: &str) -> Case {
    let case = Case::untrusted();
    let config = crate::kit::config("[python3, judge.py]").replace("['*.md']", patterns);
    case.project.write("countersign.yml", config).write("sub/old.md", b"\x7fELF\x02\0\0\xff\xfe");
    case.repository.commit("before");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case
}

/// Work that a rule is about and that nobody can see never passes, and is named, also where nobody wants to hear of it.
#[test]
fn attack_18_what_nobody_can_see_does_not_pass() {
    type Make = fn(&Case);
    let ways: [(&str, &str, Make); 6] = [
        ("a program in place of a text", "sub/x.md", |case| {
            case.project.write("sub/x.md", b"\x7fELF\x02\0\0\xff\xfe");
        }),
        ("a picture by its name alone", "sub/x.png", |case| {
            case.project.write("sub/x.png", b"#!/bin/sh\n\0\xff\n");
        }),
        ("a pipe", "sub/pipe.md", |case| {
            let made = std::process::Command::new("mkfifo").arg(case.project.path("sub/pipe.md")).status();
            assert!(made.unwrap().success());
        }),
        ("a socket", "sub/socket.md", |case| {
            drop(std::os::unix::net::UnixListener::bind(case.project.path("sub/socket.md")).unwrap());
        }),
        ("a name that is not text", "sub/x\u{fffd}.md", |case| {
            use std::os::unix::ffi::OsStrExt;
            let name = std::ffi::OsStr::from_bytes(b"sub/x\xff.md");
            fs::write(case.root().join(name), "fine\n").unwrap();
        }),
        ("a text that was a program", "sub/old.md", |case| {
            case.project.write("sub/old.md", "BAD\n");
        }),
    ];
    for (name, path, make) in ways {
        let case = about("['**/*.md', '**/*.png']");
        case.project.write("b.md", "fine\n");
        make(&case);
        let ran = case.gate_with(&["-q"], |_| {}).exits(4);
        assert!(ran.stdout.contains("not seen") && ran.stdout.contains(path), "{name}: {ran:?}");
        let json = case.gate_with(&["--json"], |_| {}).exits(4).json();
        assert_eq!(json["reason"], "not_seen", "{name}: {json}");
        assert_eq!(json["coverage"]["not_seen"][0]["path"], path, "{name}: {json}");
        assert!(case.hook().stdout.contains(r#""decision":"block""#), "{name}");
        // The ledger has it, whatever was shown.
        let shown = case.project.run(&["show", json["review"]["id"].as_str().unwrap()]);
        assert!(shown.stdout.contains(path), "{name}: {shown:?}");
        row(&format!("not seen: {name}"), "review --change --gate, hook", "no verdict", "the coverage");
    }
}

/// What the rule lets pass unseen passes, and is named all the same.
#[test]
fn honest_18_pictures_and_long_lock_files_pass_unseen() {
    let case = about("['**']");
    case.project.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    case.project.write("Cargo.lock", "name = \"x\"\n".repeat(10_000));
    let wide: Vec<u8> = "\u{feff}wide text\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    case.project.write("wide.txt", wide);
    let ran = case.gate().exits(0);
    let words =
        "2 passed unseen: Cargo.lock (its diff is too long to be shown whole), logo.png (it is not text)";
    assert!(ran.stdout.contains("judged 1 of 3 changed files"), "{ran:?}");
    assert!(ran.stdout.contains(words), "{ran:?}");
}
