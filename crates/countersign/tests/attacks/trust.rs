//! Trusting in place of a person, and the record of what is trusted.

use crate::kit::{Case, held, judged, row};
use countersign_testkit::{Running, Terminal};
use std::fs;

#[test]
fn attack_17_an_agent_trusts_its_own_files() {
    let case = Case::new();
    case.project.write("countersign.yml", "version: 1\nreview: {enabled: false}\nrules: [{name: r, for: ['none'], criteria: [{name: A, check: not_empty}]}]\n");
    // Without a terminal, with a mark, and both.
    Running::start(&mut case.project.command(&["trust", "--yes"])).wait().exits(3);
    Running::start(&mut case.agent(&["trust", "--yes"])).wait().exits(3);
    let mut terminal = Terminal::start(&case.agent(&["trust", "--yes"]), 100, 30);
    assert_eq!(terminal.ends(), 3, "{}", terminal.contents());
    let mut terminal = Terminal::start(&case.agent(&["trust", "--revoke"]), 100, 30);
    assert_eq!(terminal.ends(), 3, "{}", terminal.contents());
    judged(&case.gate());
    row(
        "trust --yes by an agent, with and without a terminal",
        "trust",
        "refused (exit 3)",
        "the message names the mark",
    );
}

#[test]
fn attack_17_init_without_a_terminal_vouches_for_nothing() {
    let case = Case::new();
    case.project.write(
        "countersign.yml",
        "version: 1\nrules: [{name: r, for: ['none'], criteria: [{name: A, check: not_empty}]}]\n",
    );
    let ran = Running::start(&mut case.agent(&["init", "--agent", "claude", "--hook"])).wait();
    assert!(!ran.stdout.contains("countersign trust"), "an agent gets no command for people: {ran:?}");
    std::fs::rename(case.project.path("countersign.yml"), case.project.path("kept.yml")).unwrap();
    let ran = Running::start(&mut case.agent(&["init"])).wait();
    assert!(ran.stdout.contains("next:") && !ran.stdout.contains("countersign trust"), "{ran:?}");
    std::fs::rename(case.project.path("kept.yml"), case.project.path("countersign.yml")).unwrap();
    Running::start(&mut case.project.command(&["init", "--agent", "gemini", "--hook"])).wait();
    judged(&case.gate());
    held(&case.hook());
    row("init --agent X --hook without a terminal", "init", "vouches for nothing", "the trusted rules count");
}

#[test]
fn attack_17_deleting_the_record() {
    let case = Case::new();
    fs::remove_dir_all(case.project.ledger_dir()).unwrap();
    let ran = case.gate().exits(7);
    assert!(ran.stderr.contains("the ledger is gone"), "{ran:?}");
    assert!(!ran.stderr.contains("countersign trust"), "an agent gets no command for people: {ran:?}");
    let ran = case.hook();
    assert!(ran.stdout.contains(r#""decision":"block""#), "{ran:?}");
    // Without the head of the ledger too: nothing is trusted any more.
    fs::remove_dir_all(case.project.home().join(".local/state/countersign/heads")).unwrap();
    let ran = case.gate().exits(3);
    assert!(ran.stderr.contains("no person has trusted"), "{ran:?}");
    assert!(!ran.stderr.contains("countersign trust"), "an agent gets no command for people: {ran:?}");
    row(
        "the ledger is deleted",
        "review --gate, hook",
        "refused (exit 7), waits for a person",
        "the message",
    );
}

#[test]
fn attack_17_a_project_that_no_person_trusted() {
    let case = Case::untrusted();
    case.project.write("a.md", "BAD\n");
    case.gate().exits(3);
    let ran = case.project.run(&["review", "--change", "--gate"]).exits(3);
    assert!(ran.stderr.contains("countersign trust"), "{ran:?}");
    let ran = case.hook();
    assert!(ran.stdout.contains(r#""decision":"block""#), "{ran:?}");
    // A question is answered all the same.
    case.project.run(&["review", "--change"]).exits(1);
    row(
        "no person has trusted the project yet",
        "review --gate, hook",
        "waits for a person (exit 3)",
        "the message",
    );
}

/// The first use of a gate at a terminal asks once, and then does what was asked.
#[test]
fn the_first_use_at_a_terminal_asks_once() {
    let case = Case::untrusted();
    case.project.write("a.md", "BAD\n");
    let mut terminal = Terminal::start(&case.project.command(&["review", "--change", "--gate"]), 120, 60);
    terminal.until("[y/N]");
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 1, "{}", terminal.contents());
    judged(&case.gate());
}

/// What is vouched for is replaced by what the remote has later, and a pull asks nothing again.
#[test]
fn a_no_changes_nothing_and_a_yes_shows_the_differences() {
    let case = Case::untrusted();
    let mut terminal = Terminal::start(&case.project.command(&["trust"]), 120, 60);
    terminal.until("[y/N]");
    terminal.send("n\n");
    assert_eq!(terminal.ends(), 3);
    case.project.trust();
    let text = case.project.read("countersign.yml").replace("Is it?", "Is it good?");
    case.project.write("countersign.yml", text);
    let mut terminal = Terminal::start(&case.project.command(&["trust"]), 120, 60);
    terminal.until("[y/N]");
    let shown = terminal.written();
    assert!(shown.contains("Is it good?") && shown.contains("countersign.yml (changed)"), "{shown}");
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0);
    let shown = case.project.run(&["trust", "--show", "--json"]).exits(0).json();
    assert_eq!(shown["vouched"], true, "{shown}");
}

/// Nobody says yes to what was not shown, and a gate names what it ignored.
#[test]
fn what_is_asked_about_is_shown_whatever_the_options_say() {
    let ways: [&[&str]; 3] =
        [&["trust", "-q"], &["trust", "--json"], &["review", "--change", "--gate", "-q"]];
    for args in ways {
        let case = Case::untrusted();
        let mut terminal = Terminal::start(&case.project.command(args), 120, 60);
        terminal.until("[y/N]");
        let shown = terminal.written();
        assert!(shown.contains("countersign.yml (new)") && shown.contains("Is it?"), "{args:?}: {shown}");
        terminal.send("n\n");
        assert_eq!(terminal.ends(), 3, "{}", terminal.contents());
    }
    let case = Case::new();
    let edited = case.project.read("countersign.yml") + "# edited\n";
    case.project.write("countersign.yml", edited);
    let ran = case.gate_with(&["-q"], |_| {});
    assert!(ran.stderr.contains("countersign.yml was changed in the working tree"), "{ran:?}");
}

/// The scripts that judge become the trusted ones, so a person sees them too.
#[test]
fn attack_17_a_yes_to_the_configuration_hides_no_changed_judge() {
    let case = Case::new();
    let tame = case.project.read("words.py").replace("BAD", "WORSE");
    case.project.write("words.py", tame);
    // The gate does not use it, and names it.
    let ran = case.gate();
    judged(&ran);
    assert!(ran.stderr.contains("words.py was changed in the working tree and not yet trusted"), "{ran:?}");
    let edited = case.project.read("countersign.yml") + "# a comment\n";
    case.project.write("countersign.yml", edited);
    let mut terminal = Terminal::start(&case.project.command(&["trust"]), 120, 60);
    terminal.until("[y/N]");
    let shown = terminal.written();
    for words in ["words.py (changed)", "judge.py (same)", "WORSE"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    terminal.send("n\n");
    assert_eq!(terminal.ends(), 3);
    row(
        "judge.py or a helper of it is changed before the person trusts something else",
        "trust",
        "the differences show it",
        "a gate names it as changed and not trusted",
    );
}

/// A changed script counts as a file that decides how work is judged, also where a remote has another version.
#[test]
fn a_changed_script_is_vouched_for_until_the_remote_changes_it() {
    let case = Case::untrusted();
    let remote = case.repository.cloned(&["--bare"]);
    case.repository.git(["remote", "add", "origin", remote.root().to_str().unwrap()]);
    case.repository.git(["fetch", "-q", "origin"]);
    case.repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    case.project.write("words.py", "BAD = 'AWFUL'\n");
    case.project.trust();
    let source = |case: &Case| {
        let shown = case.project.run(&["trust", "--show", "--json"]).exits(0).json();
        shown["source"].as_str().unwrap().to_owned()
    };
    assert!(source(&case).contains("that a person trusted"), "{}", source(&case));
    let colleague = remote.cloned(&[]);
    colleague.write("words.py", "BAD = 'HORRIBLE'\n");
    colleague.commit("words");
    colleague.git(["push", "-q", "origin", "HEAD:main"]);
    case.repository.git(["fetch", "-q", "origin"]);
    assert!(source(&case).contains("origin/main"), "{}", source(&case));
}

/// Variables that choose where a reviewer connects are shown with their values; what may be a password is not.
#[test]
fn attack_17_a_yes_hides_no_variable() {
    let case = Case::untrusted();
    let mut command = case.project.command(&["trust"]);
    command.env("ANTHROPIC_BASE_URL", "https://evil.example").env("HTTPS_PROXY", "http://ann:secret@proxy");
    let mut terminal = Terminal::start(&command, 120, 60);
    terminal.until("[y/N]");
    let shown = terminal.written();
    for words in ["ANTHROPIC_BASE_URL=https://evil.example (new)", "HTTPS_PROXY is set, not shown (new)"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("secret"), "{shown}");
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    let ran = case.project.run(&["trust", "--show"]).exits(0);
    assert!(ran.stdout.contains("ANTHROPIC_BASE_URL=https://evil.example (same)"), "{ran:?}");
    let shown = case.project.run(&["trust", "--show", "--json"]).exits(0).json();
    let url = shown["variables"].as_array().unwrap().iter().find(|one| one["name"] == "ANTHROPIC_BASE_URL");
    assert_eq!(url.unwrap()["value"], "https://evil.example", "{shown}");
    row(
        "a base URL or proxy is set when the person trusts",
        "trust",
        "shown with its value",
        "the answer has names and values",
    );
}
