//! The commands for the ledger as a whole, as people and scripts see them.

use crate::project;
use countersign_testkit::{Project, Terminal};
use serde_json::Value;

const CONFIG: &str = "version: 1
rules: [{name: r, for: ['*.md'], criteria: [{name: Done, check: no_placeholders}]}]
";

fn judged() -> Project {
    let project = project();
    project.write("countersign.yml", CONFIG);
    for (subject, text) in [("guide", "TODO"), ("plan", "fine")] {
        project.write("a.md", text);
        project.run(&["review", "--subject", subject, "a.md"]);
    }
    project
}

/// What a person at a terminal gets.
fn person(project: &Project, args: &[&str], code: i32) -> String {
    let mut terminal = Terminal::start(&project.command(args), 160, 40);
    assert_eq!(terminal.ends(), code, "{}", terminal.contents());
    terminal.contents()
}

#[test]
fn issue_18_a_backup_is_made_beside_the_ledger_or_where_it_is_named() {
    let project = judged();
    let answer = project.run(&["ledger", "backup", "--json"]).exits(0).json();
    let events = project.run(&["log", "--verify", "--json"]).exits(0).json()["events_verified"].clone();
    assert_eq!(answer["events"], events);
    assert!(std::path::Path::new(answer["file"].as_str().unwrap()).is_file(), "{answer}");
    let ran = project.run(&["ledger", "backup", "copy.db"]).exits(0);
    assert!(ran.stdout.starts_with("copy.db: ") && ran.stdout.contains("all checked"), "{ran:?}");
    let ran = project.run(&["ledger", "backup", "copy.db"]).exits(2);
    assert!(ran.stderr.contains("`copy.db` exists already, and nothing is written over it"), "{ran:?}");
}

#[test]
fn issue_18_an_export_has_every_event_and_every_call_and_ends_with_totals() {
    let project = judged();
    let ran = project.run(&["ledger", "export"]).exits(0);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let totals = &lines.last().unwrap()["totals"];
    let count = |key: &str| lines.iter().filter(|line| line.get(key).is_some()).count();
    assert_eq!(
        (totals["events"].as_u64(), totals["calls"].as_u64()),
        (Some(count("event") as u64), Some(count("call") as u64))
    );
    assert_eq!(totals["head"], lines[count("event") - 1]["event"]["chain"]);
    assert!(ran.stderr.contains("exported: "), "{ran:?}");
    assert_eq!(project.run(&["ledger", "export", "-q"]).exits(0).stderr, "");
    assert!(project.run(&["ledger", "export", "--json"]).exits(2).stdout.contains("one JSON object"));
    let answer = project.run(&["ledger", "export", "all.jsonl", "--json"]).exits(0).json();
    assert_eq!(answer["events"], totals["events"]);
    assert_eq!(std::fs::read_to_string(project.path("all.jsonl")).unwrap(), ran.stdout);
    project.run(&["ledger", "export", "all.jsonl"]).exits(2);
}

#[test]
fn issue_18_imported_reviews_are_shown_as_such() {
    let theirs = judged();
    theirs.run(&["ledger", "export", "all.jsonl"]).exits(0);
    let file = theirs.path("all.jsonl");
    let file = file.to_str().unwrap();
    let ours = project();
    ours.write("countersign.yml", CONFIG);
    let said = person(&ours, &["ledger", "import", file], 0);
    assert!(said.contains("2 reviews"), "{said}");
    assert!(person(&ours, &["ledger", "import", file], 2).contains("was imported before"));
    let imported = ours.run(&["log", "--imported", "--json"]).exits(0).json();
    let rows = imported["imported"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["from"] == file), "{imported}");
    let id = rows[0]["id"].as_str().unwrap();
    let shown = ours.run(&["log", id]).exits(0).stdout;
    assert!(shown.contains("no gate counts it") && shown.contains("round_judged"), "{shown}");
    assert_eq!(ours.run(&["log", "--json"]).exits(0).json()["reviews"], serde_json::json!([]));
    assert!(ours.run(&["show", id]).exits(2).stderr.contains("was imported"));
    ours.run(&["approve", id, "--reason", "x"]).exits(2);
    let text = std::fs::read_to_string(file).unwrap().replacen("no_placeholders", "no_placeholder5", 1);
    std::fs::write(file, text).unwrap();
    assert!(person(&ours, &["ledger", "import", file], 7).contains("line 1 of the export was changed"));
}

#[test]
fn issue_18_a_person_prunes_after_a_look() {
    let project = judged();
    let trial =
        project.run(&["ledger", "prune", "--before", "2100-01-01", "--dry-run", "--json"]).exits(0).json();
    let id = trial["reviews"][0].as_str().unwrap().to_owned();
    assert_eq!(
        (trial["dry_run"].as_bool(), trial["reviews"].as_array().unwrap().len()),
        (Some(true), 1),
        "{trial}"
    );
    let mut terminal =
        Terminal::start(&project.command(&["ledger", "prune", "--before", "2100-01-01"]), 160, 40);
    terminal.until("Remove these events for good?");
    terminal.send("n\r");
    assert_eq!(terminal.ends(), 3, "{}", terminal.contents());
    project.run(&["show", &id]).exits(0);
    let said = person(&project, &["ledger", "prune", "--before", "2100-01-01", "--yes"], 0);
    assert!(said.contains("removed the contents of"), "{said}");
    let ran = project.run(&["show", &id]).exits(2);
    assert!(ran.stderr.contains("was pruned on "), "{ran:?}");
    assert!(project.run(&["log", &id]).exits(2).stderr.contains("was pruned on "));
    let log = project.run(&["log", "--verify"]).exits(0).stdout;
    assert!(log.contains(", pruned") && log.contains("pruned on ") && log.contains(": 1 review"), "{log}");
    assert!(project.run(&["log", "--reviewer", "checks"]).exits(0).stdout.contains("cli/guide"));
    assert!(project.run(&["dispute", "fi-none", "--evidence", "x"]).exits(2).stderr.contains("fi-none"));
    // The same work is judged again.
    project.run(&["review", "--subject", "plan", "a.md"]).exits(0);
    project.run(&["log", "--verify"]).exits(0);
    assert!(project.run(&["ledger", "prune"]).exits(2).stderr.contains("--before"));
}
