//! What an agent can do to the ledger: every answer, decision and word of trust is in it.

use crate::kit::{Case, FINDING, judged, row};
use countersign_testkit::{Running, Terminal, honest_row};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs lines of Python with the ledger open as `db`.
fn sqlite(ledger: &Path, lines: &str) {
    let script =
        format!("import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n{lines}\ndb.commit()\ndb.close()\n");
    let ran = Command::new("python3").args(["-c", &script]).arg(ledger).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Everything of the ledger as it is now.
fn copy(case: &Case, to: &str) {
    let (from, to) = (case.project.ledger_dir(), case.project.home().join(to));
    let done = Command::new("cp").arg("-a").args([&from, &to]).status().unwrap();
    assert!(done.success());
}

fn put_back(case: &Case, from: &str) {
    fs::remove_dir_all(case.project.ledger_dir()).unwrap();
    fs::rename(case.project.home().join(from), case.project.ledger_dir()).unwrap();
}

/// Neither gate believes the ledger, and the message says why.
fn refused(case: &Case, words: &str) {
    let ran = case.gate().exits(7);
    assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    assert!(!ran.stderr.contains("countersign trust"), "an agent gets no command for people: {ran:?}");
    let ran = case.hook();
    assert!(ran.stdout.contains(r#""decision":"block""#) && !ran.stdout.contains(FINDING), "{ran:?}");
    let ran = case.project.run(&["status"]).exits(7);
    assert!(ran.stderr.contains("countersign trust"), "a person gets the way out: {ran:?}");
}

fn trusts(case: &Case, words: &str) {
    let mut terminal = Terminal::start(&case.project.command(&["trust"]), 200, 60);
    terminal.until("[y/N]");
    assert!(terminal.contents().contains(words), "{}", terminal.contents());
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
}

#[test]
fn attack_18_an_older_copy_of_the_ledger() {
    let case = Case::new();
    copy(&case, "older");
    judged(&case.gate());
    put_back(&case, "older");
    refused(&case, "the ledger is an older one, or its end was removed");
    // A person who did this accepts it.
    trusts(&case, "older one");
    judged(&case.gate());
    row("an older copy of the ledger is put back", "review --gate, hook", "refused (exit 7)", "the message");
}

#[test]
fn attack_18_the_end_of_the_ledger_is_cut_off() {
    let case = Case::new();
    judged(&case.gate());
    // As a forger does who knows the tables.
    let cut = "last = db.execute(\"select max(seq) from events where stream like 'trust:%'\").fetchone()[0]\n\
               db.execute('delete from events where seq > ?', (last,))\n\
               db.execute('update sqlite_sequence set seq = ?', (last,))\n\
               db.execute('delete from reviews')\ndb.execute('delete from calls')\n\
               db.execute(\"delete from rulings where stream <> ''\")";
    sqlite(&case.project.ledger_path("ledger.db"), cut);
    refused(&case, "the ledger is an older one, or its end was removed");
    row(
        "the end of the ledger is cut off, in all tables",
        "review --gate, hook",
        "refused (exit 7)",
        "the message",
    );
}

#[test]
fn attack_18_another_history_with_the_same_beginning() {
    let case = Case::new();
    copy(&case, "other");
    judged(&case.gate());
    // The copy grows on by other events, until it is as long.
    copy(&case, "kept");
    put_back(&case, "other");
    fs::rename(case.project.home().join(".local/state"), case.project.home().join("state")).unwrap();
    case.project.write("a.md", "good\n");
    for _ in 0..3 {
        case.gate();
    }
    fs::remove_dir_all(case.project.home().join(".local/state")).unwrap();
    fs::rename(case.project.home().join("state"), case.project.home().join(".local/state")).unwrap();
    refused(&case, "the ledger has other events than before");
    put_back(&case, "kept");
    case.project.write("a.md", "BAD\n");
    judged(&case.gate());
    row("a ledger with another end than before", "review --gate, hook", "refused (exit 7)", "the message");
}

#[test]
fn attack_18_the_ledger_of_another_project() {
    let (case, other) = (Case::new(), Case::new());
    judged(&case.gate());
    fs::remove_dir_all(case.project.ledger_dir()).unwrap();
    let from = other.project.ledger_dir();
    let done = Command::new("cp").arg("-a").args([&from, &case.project.ledger_dir()]).status().unwrap();
    assert!(done.success());
    refused(&case, "the ledger is another one than before");
    row("the ledger of another project", "review --gate, hook", "refused (exit 7)", "the message");
}

#[test]
fn attack_18_an_emptied_ledger_is_no_new_one() {
    let case = Case::new();
    judged(&case.gate());
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(case.project.ledger_path(&format!("ledger.db{end}")));
    }
    fs::write(case.project.ledger_path("ledger.db"), "").unwrap();
    let ran = case.gate().exits(7);
    assert!(ran.stderr.contains("the ledger file is empty"), "{ran:?}");
    let ran = case.hook();
    assert!(ran.stdout.contains(r#""decision":"block""#), "{ran:?}");
    // Also where the tables were removed one by one.
    fs::remove_file(case.project.ledger_path("ledger.db")).unwrap();
    sqlite(
        &case.project.ledger_path("ledger.db"),
        "db.execute('create table a (b)'); db.execute('drop table a')",
    );
    let ran = case.gate().exits(7);
    assert!(ran.stderr.contains("the ledger file is empty"), "{ran:?}");
    row("a ledger of 0 bytes", "review --gate, hook", "refused (exit 7)", "the message");
}

#[test]
fn attack_18_git_clean_leaves_the_ledger() {
    let case = Case::new();
    judged(&case.gate());
    case.project.write("untracked.txt", "x\n");
    case.repository.git(["clean", "-qffdx"]);
    case.repository.git(["add", "-A", "-f"]);
    assert!(!case.repository.git(["ls-files"]).contains("countersign/"));
    judged(&case.gate());
    row(
        "git clean -ffdx, git add -A -f",
        "review --gate",
        "the ledger stays, and is not committed",
        "nothing changes",
    );
}

#[test]
fn attack_18_a_ledger_in_the_old_place() {
    let (case, other) = (Case::new(), Case::new());
    judged(&case.gate());
    other.project.write("a.md", "good\n");
    other.gate().exits(0);
    let from = other.project.ledger_dir();
    let done =
        Command::new("cp").arg("-a").args([&from, &case.project.path(".countersign")]).status().unwrap();
    assert!(done.success());
    judged(&case.gate());
    // It is no part of the work either.
    assert_eq!(case.repository.git(["status", "--porcelain"]).trim(), "M a.md");
    row("a ledger where earlier versions had it", "review --gate", "ignored", "nothing changes");
}

/// The ledger of an earlier version is moved once, and nothing is asked again.
#[test]
fn honest_18_a_ledger_of_an_earlier_version() {
    let case = Case::new();
    judged(&case.gate());
    fs::rename(case.project.ledger_dir(), case.project.path(".countersign")).unwrap();
    fs::remove_dir_all(case.project.home().join(".local/state")).unwrap();
    let status = case.project.run(&["status"]).exits(0);
    assert!(status.stdout.contains("needs work") || status.stdout.contains("gate/"), "{status:?}");
    assert!(case.project.ledger_path("ledger.db").is_file());
    judged(&case.gate());
    let log = case.project.run(&["log", "--verify"]).exits(0);
    assert!(log.stdout.contains("none was changed or removed"), "{log:?}");
    honest_row("an upgrade from a version with the ledger in .countersign", 0, 0);
}

/// A new clone where a project was, and a project that was moved, have ledgers of their own and nothing to accept.
#[test]
fn honest_18_a_new_clone_in_the_same_place() {
    let case = Case::new();
    judged(&case.gate());
    let root = case.root();
    let away = case.project.home().join("away");
    fs::rename(root.join(".git"), &away).unwrap();
    let done = Command::new("git")
        .args(["clone", "-q", "--bare"])
        .arg(&away)
        .arg(root.join(".git"))
        .status()
        .unwrap();
    assert!(done.success());
    case.repository.git(["config", "core.bare", "false"]);
    let ran = case.gate().exits(3);
    assert!(ran.stderr.contains("no person has trusted"), "{ran:?}");
    case.project.run(&["status"]).exits(0);
    honest_row("a new clone in the place of an older one", 1, 0);
}

/// The bad work is the base of a new repository that has no configuration, where the built-in rules need no word of a person.
#[test]
fn attack_18_a_new_repository_in_place_of_the_trusted_one() {
    for is_elsewhere in [false, true] {
        let case = Case::new();
        judged(&case.gate());
        fs::rename(case.root().join(".git"), case.project.home().join("away")).unwrap();
        fs::remove_file(case.project.path("countersign.yml")).unwrap();
        let mut init = Command::new("git");
        init.args(["init", "-q"]).current_dir(case.root());
        if is_elsewhere {
            init.arg("--separate-git-dir").arg(case.project.home().join("elsewhere"));
        }
        assert!(init.status().unwrap().success());
        case.repository.git(["add", "-A"]);
        let person = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        case.repository.git([&person[..], &["commit", "-q", "-m", "bad work"]].concat());
        assert!(case.hook().stdout.contains(r#""decision":"block""#));
        case.project.write("b.md", "fine\n");
        let words = "another repository with a ledger was here";
        let ran = case.gate().exits(3);
        assert!(ran.stderr.contains(words), "{ran:?}");
        // A question is answered, and the ledger that it makes is no word of a person.
        Running::start(&mut case.agent(&["review", "b.md", "--criterion", "Full: Is it full?"])).wait();
        let ran = case.gate().exits(3);
        assert!(ran.stderr.contains(words), "{ran:?}");
        case.project.trust();
        assert_ne!(case.gate().code, 3);
    }
    row(
        "a new repository in place of the trusted one",
        "review --change --gate, hook",
        "a person is asked",
        "exit 3",
    );
}

/// Two projects of one repository share a ledger, and their subjects are their own.
#[test]
fn issue_18_projects_of_a_repository_have_subjects_of_their_own() {
    let case = Case::untrusted();
    let yes = "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: Full, check: not_empty}]}]\n";
    for (folder, text) in [("one", ""), ("two", "text\n")] {
        case.project.write(&format!("{folder}/countersign.yml"), yes);
        case.project.write(&format!("{folder}/a.md"), text);
    }
    let review = |folder: &str, code: i32| {
        let mut command = case.project.command(&["review", "--subject", "guide", "a.md", "--json"]);
        let ran = Running::start(command.current_dir(case.root().join(folder))).wait();
        ran.exits(code).json()["review"]["subject"].as_str().unwrap().to_owned()
    };
    assert_eq!(review("one", 1), "one:cli/guide");
    assert_eq!(review("two", 0), "two:cli/guide");
    let mut command = case.project.command(&["show", "guide", "--json"]);
    let shown = Running::start(command.current_dir(case.root().join("one"))).wait().exits(0).json();
    assert_eq!(shown["review"]["subject"], "one:cli/guide", "{shown}");
}
