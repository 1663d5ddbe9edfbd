//! Attacks on the record itself: rows that are deleted, a record of another ledger, and the commands for the ledger.

use crate::kit::{Case, TAME, held, judged, row};
use countersign_testkit::{Running, Terminal};
use std::process::Command;

/// Edits the ledger by another program, as an agent could.
fn edit(case: &Case, sql: &str) {
    let script = "import sqlite3, sys\nfile = sqlite3.connect(sys.argv[1])\nfile.executescript(sys.argv[2])\nfile.commit()";
    let file = case.project.ledger_path("ledger.db");
    let mut python = Command::new("python3");
    let done = python.args(["-c", script]).arg(file).arg(sql).status().unwrap();
    assert!(done.success(), "{sql}");
}

/// What a person at a terminal gets, and the exit code.
fn person(case: &Case, args: &[&str]) -> (i32, String) {
    let mut terminal = Terminal::start(&case.project.command(args), 160, 40);
    let code = terminal.ends();
    (code, terminal.contents())
}

#[test]
fn attack_18_rows_of_the_ledger_are_deleted_or_changed() {
    for (sql, table) in [
        ("DELETE FROM rulings WHERE key <> 'index/2'", "rulings"),
        ("DELETE FROM calls", "calls"),
        ("UPDATE calls SET state = 'answered', reviewer = 'other'", "calls"),
        ("DELETE FROM reviews", "reviews"),
        ("UPDATE reviews SET outcome = 'passed', state = 'settled'", "reviews"),
    ] {
        let case = Case::new();
        judged(&case.gate());
        edit(&case, sql);
        let ran = Running::start(&mut case.agent(&["log", "--verify"])).wait().exits(7);
        assert!(ran.stderr.contains(&format!("{table}: ")), "{sql}: {ran:?}");
        assert!(!ran.stderr.contains("ledger rebuild"), "an agent gets no command for people: {ran:?}");
        Running::start(&mut case.agent(&["ledger", "rebuild"])).wait().exits(3);
        let (code, said) = person(&case, &["log", "--verify"]);
        assert!(code == 7 && said.contains("countersign ledger rebuild"), "{sql}: {said}");
        let (code, said) = person(&case, &["ledger", "rebuild"]);
        assert_eq!(code, 0, "{sql}: {said}");
        case.project.run(&["log", "--verify"]).exits(0);
        judged(&case.gate());
    }
    // The whole index is made again by the next command that may write.
    let case = Case::new();
    judged(&case.gate());
    edit(&case, "DELETE FROM rulings");
    judged(&case.gate());
    case.project.run(&["log", "--verify"]).exits(0);
    row(
        "rows of `rulings`, `calls` or `reviews` are deleted",
        "log --verify",
        "seen (exit 7)",
        "the message names table and row",
    );
}

/// The agent has its work judged elsewhere, by a judge that lets everything pass, and brings the record along.
#[test]
fn attack_18_a_forged_export_that_passed_is_imported() {
    let case = Case::new();
    let elsewhere = Case::untrusted();
    elsewhere.project.write("judge.py", TAME);
    elsewhere.repository.commit("tame");
    elsewhere.project.trust();
    elsewhere.repository.git(["checkout", "-q", "-b", "topic"]);
    elsewhere.project.write("a.md", "BAD\n");
    elsewhere.gate().exits(0);
    elsewhere.project.run(&["ledger", "export", "forged.jsonl"]).exits(0);
    let forged = elsewhere.project.path("forged.jsonl");
    let forged = forged.to_str().unwrap();
    Running::start(&mut case.agent(&["ledger", "import", forged])).wait().exits(3);
    let (code, said) = person(&case, &["ledger", "import", forged]);
    assert!(code == 0 && said.contains("no gate counts them"), "{said}");
    let shown = case.project.run(&["log", "--imported"]).exits(0).stdout;
    assert!(shown.contains("passed") && shown.contains("imported from"), "{shown}");
    judged(&case.gate());
    held(&case.hook());
    case.project.run(&["log", "--verify"]).exits(0);
    row(
        "an export that says passed is imported",
        "review --gate, hook",
        "judged",
        "`log --imported` names the file",
    );
}

#[test]
fn attack_18_an_agent_prunes_or_imports() {
    let case = Case::new();
    judged(&case.gate());
    let events =
        || case.project.run(&["log", "--verify", "--json"]).exits(0).json()["events_verified"].clone();
    let before = events();
    for args in [
        &["ledger", "prune", "--before", "2100-01-01", "--yes"][..],
        &["ledger", "prune", "--before", "2100-01-01"],
        &["ledger", "import", "countersign.yml"],
        &["ledger", "rebuild"],
    ] {
        // Without a terminal, with a mark, and both.
        Running::start(&mut case.project.command(args)).wait().exits(3);
        let ran = Running::start(&mut case.agent(args)).wait().exits(3);
        assert!(ran.stderr.contains("only a person at a terminal"), "{ran:?}");
        let mut terminal = Terminal::start(&case.agent(args), 160, 40);
        assert_eq!(terminal.ends(), 3, "{}", terminal.contents());
    }
    assert_eq!(events(), before);
    // A person removes nothing that failures stand on.
    let (code, said) = person(&case, &["ledger", "prune", "--before", "2100-01-01", "--yes"]);
    assert_eq!(code, 0, "{said}");
    judged(&case.gate());
    held(&case.hook());
    row("an agent prunes, imports or rebuilds", "ledger", "refused (exit 3)", "the message names the mark");
}
