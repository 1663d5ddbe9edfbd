//! Hiding bad work from a change: every way × what was done to the file × the doors that look at a change.

use crate::kit::{Case, FINDING, held, judged, row};
use countersign_testkit::Repository;
use std::fs;

/// How bad work came into a file of the work.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Modified,
    New,
    Renamed,
}

/// Where the bad work is.
fn path(kind: Kind) -> &'static str {
    match kind {
        Kind::Modified => "sub/a.md",
        Kind::New => "sub/new.md",
        Kind::Renamed => "sub/other.md",
    }
}

type Hide = fn(&Case, &str);

/// The ways to hide the file at a path, each with its name.
const WAYS: [(&str, Hide); 15] = [
    ("assume-unchanged", |case, path| {
        // A file that git does not know is put into its index first, as it was.
        case.repository.try_git(["add", "-N", path]);
        case.repository.git(["update-index", "--assume-unchanged", path]);
    }),
    ("skip-worktree", |case, path| {
        case.repository.try_git(["add", "-N", path]);
        case.repository.git(["update-index", "--skip-worktree", path]);
    }),
    (".git/info/exclude", |case, path| drop(fs::write(case.project.path(".git/info/exclude"), path))),
    ("core.excludesFile", |case, path| {
        let file = case.project.home().join("ignore");
        fs::write(&file, path).unwrap();
        case.repository.git(["config", "core.excludesFile", file.to_str().unwrap()]);
    }),
    ("the user's git/ignore", |case, path| {
        let folder = case.project.home().join(".config/git");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("ignore"), path).unwrap();
    }),
    (".ignore", |case, path| {
        case.project.write(".ignore", path);
    }),
    (".gitignore of the top", |case, path| {
        case.project.write(".gitignore", format!("__pycache__/\n{path}\n"));
    }),
    ("a new .gitignore that hides itself", |case, _| {
        case.project.write("sub/.gitignore", "*\n");
    }),
    ("a clean filter of info/attributes", |case, path| {
        case.repository.git(["config", "filter.sly.clean", "sed s/BAD/one/"]);
        fs::write(case.project.path(".git/info/attributes"), format!("{path} filter=sly\n")).unwrap();
    }),
    ("a clean filter of .gitattributes", |case, path| {
        case.repository.git(["config", "filter.sly.clean", "sed s/BAD/one/"]);
        case.project.write(".gitattributes", format!("{path} filter=sly\n"));
    }),
    ("core.worktree", |case, _| {
        let other = case.project.home().join("clean");
        fs::create_dir_all(&other).unwrap();
        case.repository.git(["config", "core.worktree", other.to_str().unwrap()]);
    }),
    ("core.bare", |case, _| {
        case.repository.git(["config", "core.bare", "true"]);
    }),
    ("core.fileMode, checkStat, trustctime, ignoreCase", |case, _| {
        for (key, value) in
            [("fileMode", "false"), ("checkStat", "minimal"), ("trustctime", "false"), ("ignoreCase", "true")]
        {
            case.repository.git(["config", &format!("core.{key}"), value]);
        }
    }),
    ("a lying fsmonitor", |case, _| {
        case.repository.git(["config", "core.fsmonitor", "true"]);
        case.repository.git(["update-index", "--fsmonitor-valid", "judge.py"]);
    }),
    ("a zero byte", |case, path| {
        let text = fs::read_to_string(case.project.path(path)).unwrap();
        case.project.write(path, format!("x\0 {text}"));
    }),
];

/// A trusted project with a file of work below a folder, in which an agent writes bad work.
fn with(kind: Kind) -> Case {
    let case = Case::untrusted();
    let text = "one\ntwo\nthree\nfour\nfive\n";
    case.project
        .write("sub/a.md", text)
        .write("countersign.yml", crate::kit::config("[python3, judge.py]").replace("'*.md'", "'**/*.md'"));
    case.repository.commit("work");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    if kind == Kind::Renamed {
        fs::remove_file(case.project.path("sub/a.md")).unwrap();
    }
    case.project.write(path(kind), format!("{text}BAD\n"));
    case
}

#[test]
fn attack_18_every_way_to_hide_at_every_door_of_a_change() {
    for (name, hide) in WAYS {
        for kind in [Kind::Modified, Kind::New, Kind::Renamed] {
            let case = with(kind);
            hide(&case, path(kind));
            let ran = case.gate();
            assert!(ran.code == 1 && ran.stdout.contains(FINDING), "{name} {kind:?}: {ran:?}");
            held(&case.hook());
            let ran = case.gate_with(&["--subject", "whole"], |_| {});
            assert_eq!(ran.code, 1, "{name} {kind:?}: {ran:?}");
        }
        row(&format!("hiding by {name}"), "review --change --gate, hook", "seen", "the findings");
    }
}

/// The hook knows where the work began and nothing was changed since, as far as the user's git can tell.
#[test]
fn attack_18_what_the_users_git_calls_unchanged_is_looked_at_by_the_hook() {
    for (name, hide) in WAYS {
        let case = Case::untrusted();
        case.project.write("sub/a.md", "one\n");
        case.project.write(
            "countersign.yml",
            crate::kit::config("[python3, judge.py]").replace("'*.md'", "'**/*.md'"),
        );
        case.repository.commit("work");
        case.project.trust();
        assert!(!case.hook().stdout.contains("block"), "the start");
        case.project.write("sub/a.md", "one\nBAD\n");
        hide(&case, "sub/a.md");
        held(&case.hook());
        row(&format!("hiding by {name} after a pass"), "hook", "seen", "the findings");
    }
}

#[test]
fn attack_18_ignore_files_hide_nothing_from_a_whole_project() {
    let ways = [".ignore", ".gitignore", ".git/info/exclude"];
    for file in ways {
        let case = with(Kind::Modified);
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
        let case = with(Kind::Modified);
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
    let case = with(Kind::Modified);
    case.project.write("sub/a.md", "one\ntwo\nthree\nfour\nfive\n").write("__pycache__/x.md", "BAD\n");
    case.project.write("sub/__pycache__/y.md", "BAD\n");
    let ran = case.gate();
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(!case.hook().stdout.contains("block"));
}

/// What cannot be shown as text is named to whoever judges.
#[test]
fn attack_18_links_and_bytes_that_are_no_text() {
    let case = with(Kind::Modified);
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
    let case = with(Kind::Modified);
    case.repository.commit("bad work");
    case.repository.git(["branch", "-q", "-f", "main"]);
    case.project.write("sub/b.md", "fine\n");
    let ran = case.gate();
    let base = case.repository.git(["rev-parse", "--short=8", "main"]);
    assert!(ran.stdout.contains(&format!("judged 1 of 1 changed file since {base}")), "{ran:?}");
    // The hook goes by what passed last.
    held(&case.hook());
    row(
        "a moved local default branch, without a remote",
        "review --change --gate",
        "judged since it",
        "the base",
    );
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
