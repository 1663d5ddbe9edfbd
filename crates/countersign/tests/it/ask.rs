//! The human gate, driven through a real terminal.

use crate::project;
use countersign_testkit::{Project, Terminal, eventually};
use serde_json::{Value, json};

const CHOICES: &str = "  [a]pprove  [r]eject  [f]ix-and-retry  [s]kip\n  [d]iff  [e]dit  · a reason goes behind a colon, as in r: TEXT\n>";

fn two_issues() -> Value {
    json!({ "issues": [
        ["must", "No error handling in API call", "api.py:45"],
        ["should", "Unused import", "utils.py:1"],
    ] })
}

fn many_issues(more: Value) -> Value {
    let issues: Vec<_> = (1..=60).map(|n| json!(["must", format!("Finding number {n}"), "a.rs:1"])).collect();
    let mut fixture = json!({ "issues": issues });
    fixture.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fixture
}

fn gate(fixture: &Value, variables: &[(&str, &str)], columns: u16, rows: u16) -> (Project, Terminal) {
    let project = project();
    project.write("gate.json", fixture.to_string());
    let mut command = project.command(&["__ask", "gate.json"]);
    command.env("USER", "ann").env("TERM", "xterm").env_remove("EDITOR").envs(variables.iter().copied());
    let terminal = Terminal::start(&command, columns, rows);
    (project, terminal)
}

/// RUN-9.
#[test]
fn run_9_the_gate_takes_keys_and_words() {
    for (typed, said) in [
        ("a\n", "approve"),
        ("  Approve \n", "approve"),
        ("r\n", "reject"),
        ("REJECT\n", "reject"),
        ("f\n", "fix"),
        ("fix\n", "fix"),
        ("s\n", "skip"),
        ("skip\n", "skip"),
    ] {
        let (_project, mut terminal) = gate(&two_issues(), &[], 80, 24);
        terminal.until(CHOICES);
        terminal.send(typed);
        assert_eq!(terminal.ends(), 0);
        terminal.until(&format!("said: {said} by {}: at the terminal", crate::people::at_terminal()));
        assert!(terminal.is_restored());
    }
}

#[test]
fn issue_19_a_decision_takes_a_reason() {
    for (typed, said) in [
        ("r: it loses data: see a.rs\n", "said: reject by {by}: it loses data: see a.rs"),
        ("Approve:\n", "said: approve by {by}: at the terminal"),
    ] {
        let (_project, mut terminal) = gate(&two_issues(), &[], 100, 24);
        terminal.until(CHOICES);
        // A letter behind another is no reason, and no decision.
        terminal.send("a r\n");
        terminal.until("Invalid choice. Use: a, r, f, or s\n>");
        terminal.send(typed);
        assert_eq!(terminal.ends(), 0);
        terminal.until(&said.replace("{by}", &crate::people::at_terminal()));
    }
}

/// RUN-9.
#[test]
fn run_9_the_gate_is_drawn_in_colour_and_without_where_nobody_wants_it() {
    let (_project, mut terminal) = gate(&two_issues(), &[], 80, 24);
    terminal.until(CHOICES);
    let drawn = "\
═══════════════════════════════════════
📋 Review: TASK-003 — Add API endpoints
═══════════════════════════════════════

2 issues found:
  MAJOR: No error handling in API call (api.py:45)
  MINOR: Unused import (utils.py:1)

Verdict: REVIEW_FAILED

  [a]pprove  [r]eject  [f]ix-and-retry  [s]kip
  [d]iff  [e]dit  · a reason goes behind a colon, as in r: TEXT
>";
    assert!(terminal.contents().contains(drawn), "{}", terminal.contents());
    assert!(terminal.written().contains("\u{1b}[31m  MAJOR: No error"), "{:?}", terminal.written());
    terminal.send("what?\n");
    terminal.until("Invalid choice. Use: a, r, f, or s\n>");
    terminal.send("\n");
    terminal.until_seen("asked again", |screen| screen.matches("Invalid choice").count() == 2);
    terminal.send("a\n");
    assert_eq!(terminal.ends(), 0);

    let (_project, terminal) = gate(&two_issues(), &[("NO_COLOR", "1")], 80, 24);
    terminal.until(CHOICES);
    assert!(!terminal.written().contains('\u{1b}'), "{:?}", terminal.written());
}

#[test]
fn what_is_judged_cannot_draw_the_gate() {
    let hostile = "x\u{1b}[2J\u{1b}[31m\n\nVerdict: REVIEW_PASSED\r\u{202e}";
    let fixture = json!({
        "issues": [["must", hostile, "\u{1b}]0;title\u{7}"]],
        "diff": format!("+{hostile}\n"),
    });
    let (_project, mut terminal) = gate(&fixture, &[("NO_COLOR", "1")], 80, 24);
    terminal.until(CHOICES);
    assert!(!terminal.written().contains('\u{1b}') && !terminal.written().contains('\u{202e}'));
    assert!(!terminal.contents().contains("\nVerdict: REVIEW_PASSED"), "{}", terminal.contents());
    terminal.send("d\n");
    terminal.until("q: back");
    assert!(!terminal.written().contains("\u{1b}[2J\u{1b}[31m") && !terminal.written().contains('\u{202e}'));
    assert!(terminal.contents().contains("\\u{1b}[2J"), "{}", terminal.contents());
}

#[test]
fn ctrl_c_decides_nothing_and_leaves_the_terminal_as_it_was() {
    let (_project, mut terminal) = gate(&two_issues(), &[], 80, 24);
    terminal.until(CHOICES);
    terminal.send("\u{3}");
    assert_eq!(terminal.ends(), 130);
    assert!(terminal.is_restored() && !terminal.contents().contains("said:"));
    // While somebody scrolls too.
    let (_project, mut terminal) = gate(&many_issues(json!({})), &[], 80, 24);
    terminal.until("1-23 of");
    assert!(terminal.is_taken() && !terminal.is_restored());
    terminal.send("\u{3}");
    assert_eq!(terminal.ends(), 130);
    eventually("everything is back", || terminal.is_restored());
    // And by a signal.
    let (_project, mut terminal) = gate(&many_issues(json!({})), &[], 80, 24);
    terminal.until("1-23 of");
    terminal.terminate();
    assert_eq!(terminal.ends(), 130);
    eventually("everything is back", || terminal.is_restored());
}

#[test]
fn without_a_terminal_or_with_its_end_the_task_waits() {
    let project = project();
    project.write("gate.json", two_issues().to_string());
    let ran = project.run(&["__ask", "gate.json"]).exits(3);
    assert_eq!(ran.stdout, "said: nothing\n");
    // The end of the input.
    let (_project, mut terminal) = gate(&two_issues(), &[], 80, 24);
    terminal.until(CHOICES);
    terminal.send("\u{4}");
    assert_eq!(terminal.ends(), 3);
}

#[test]
fn a_terminal_that_is_closed_decides_nothing() {
    for (fixture, seen) in [(two_issues(), CHOICES), (many_issues(json!({})), "1-23 of")] {
        let project = project();
        project.write("gate.json", fixture.to_string());
        let inner = project.command(&["__ask", "gate.json"]);
        // Killing the leader of the session closes the terminal for all others in it.
        let script = "(trap '' HUP; \"$0\" __ask gate.json; echo $? >ended.new; mv ended.new ended); true";
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", script]).arg(inner.get_program()).current_dir(project.root());
        command.env("HOME", project.home()).env("TERM", "xterm").env_remove("CLAUDECODE");
        let mut terminal = Terminal::start(&command, 80, 24);
        terminal.until(seen);
        terminal.kill();
        eventually("the gate ends", || project.path("ended").exists());
        let code = project.read("ended");
        assert!(["3", "130"].contains(&code.trim()), "{code}");
    }
}

/// Whatever the pager was doing when its terminal went away, also where nothing can be said any more.
#[test]
fn issue_19_a_terminal_closed_in_the_pager_is_no_internal_error() {
    for keys in ["", " ", &" ".repeat(900)] {
        let project = project();
        let mut fixture = two_issues();
        fixture["diff"] = json!("+line\n".repeat(20_000));
        project.write("gate.json", fixture.to_string());
        let inner = project.command(&["__ask", "gate.json"]);
        let script = "(trap '' HUP; \"$0\" __ask gate.json; echo $? >ended.new; mv ended.new ended); true";
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", script]).arg(inner.get_program()).current_dir(project.root());
        command.env("HOME", project.home()).env("TERM", "xterm").env_remove("CLAUDECODE");
        let mut terminal = Terminal::start(&command, 80, 24);
        terminal.until(CHOICES);
        terminal.send("d\n");
        terminal.until("of 20000");
        terminal.send(keys);
        terminal.kill();
        drop(terminal);
        eventually("the gate ends", || project.path("ended").exists());
        let code = project.read("ended");
        assert!(["3", "130"].contains(&code.trim()), "{code}");
    }
}

#[test]
fn findings_longer_than_the_screen_are_scrolled_and_follow_its_size() {
    let (_project, mut terminal) = gate(&many_issues(json!({})), &[], 80, 24);
    terminal.until("1-23 of 68");
    assert!(terminal.is_taken());
    terminal.send(" ");
    terminal.until("23-45 of 68");
    terminal.send("\u{1b}[B");
    terminal.until("24-46 of 68");
    terminal.send("\u{1b}[6~");
    terminal.until("46-68 of 68");
    terminal.send("\u{1b}[5~\u{1b}[A");
    terminal.until("23-45 of 68");
    terminal.resize(60, 12);
    terminal.until("23-33 of 68");
    terminal.resize(20, 12);
    terminal.until_seen("more rows", |screen| !screen.contains("of 68"));
    terminal.resize(80, 80);
    terminal.until("1-68 of 68");
    terminal.resize(80, 24);
    terminal.send("q");
    terminal.until(CHOICES);
    eventually("everything is back", || terminal.is_restored());
    terminal.send("r\n");
    assert_eq!(terminal.ends(), 0);
    terminal.until("said: reject");
}

#[test]
fn the_change_is_shown_and_files_are_edited_before_anything_is_decided() {
    let mut fixture = two_issues();
    fixture["diff"] = json!("diff --git a/a.txt b/a.txt\n@@ -1 +1 @@\n-before\n+after\n");
    fixture["files"] = json!(["a.txt", "gone.txt", "-dash.txt"]);
    let project = project();
    project.write("gate.json", fixture.to_string());
    project.write("a.txt", "after\n").write("-dash.txt", "dash\n");
    let editor = "echo typing in \"$@\"; read -r line; echo \"$line\" >>a.txt";
    project.write("edit.sh", format!("#!/bin/sh\n{editor}\n"));
    let mut command = project.command(&["__ask", "gate.json"]);
    command.env("USER", "ann").env("TERM", "xterm").env("EDITOR", "sh ./edit.sh --wait");
    let mut terminal = Terminal::start(&command, 80, 24);
    terminal.until(CHOICES);
    terminal.send("d\n");
    terminal.until("+after");
    assert!(terminal.written().contains("\u{1b}[38;5;2;49m+after"), "{:?}", terminal.written());
    terminal.send("q");
    terminal.until_seen("asked again", |screen| screen.matches("[a]pprove").count() == 2);
    terminal.send("e\n");
    terminal.until("typing in --wait ./a.txt ./-dash.txt");
    terminal.send("by hand\n");
    terminal.until_seen("asked again", |screen| screen.matches("[a]pprove").count() == 3);
    assert_eq!(project.read("a.txt"), "after\nby hand\n");
    assert!(terminal.contents().contains("Your edits were not judged"));
    terminal.send("a\n");
    assert_eq!(terminal.ends(), 0);
    terminal.until("said: approve");
}

#[test]
fn an_editor_that_is_missing_is_said() {
    let (_project, mut terminal) = gate(&two_issues(), &[], 80, 24);
    terminal.until(CHOICES);
    terminal.send("e\n");
    terminal.until("EDITOR is not set");
    terminal.send("d\n");
    terminal.until("There is no change to show.");
    terminal.send("s\n");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn after_a_failure_only_a_yes_goes_on() {
    for (typed, goes_on) in [("y\n", true), ("Yes\n", true), ("\n", false), ("n\n", false), ("\u{4}", false)]
    {
        let (_project, mut terminal) = gate(&json!({ "issues": [], "go_on": true }), &[], 80, 24);
        terminal.until("TASK-003 failed: it failed\nContinue with the other tasks? [y/N]");
        terminal.send(typed);
        assert_eq!(terminal.ends(), 0);
        terminal.until(&format!("goes on: {goes_on}"));
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_can_be_read() {
    let (_project, mut terminal) = gate(&json!({ "issues": [], "panics": true }), &[], 80, 24);
    assert_eq!(terminal.ends(), 101);
    terminal.until("on purpose");
    assert!(terminal.is_restored(), "{}", terminal.contents());
    assert!(terminal.written().contains("\u{1b}[?1049h"), "the screen was taken before");
}
