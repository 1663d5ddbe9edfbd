//! The screen of a run on a real terminal, beside a project that somebody runs.

use crate::project;
use countersign_core::check::Check;
use countersign_core::cost::Budget;
use countersign_core::criterion::Criterion;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::policy::Policy;
use countersign_core::progress::Stage;
use countersign_core::redact::Redaction;
use countersign_core::review::State as Standing;
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use countersign_doors::run::checkpoint::Checkpoint;
use countersign_doors::run::layout::Layout;
use countersign_doors::run::log::Log;
use countersign_doors::run::repo::WorkLocation;
use countersign_doors::run::state::State;
use countersign_engine::engine::{Bounds, Engine, Panel, Planner, Request, Surroundings};
use countersign_engine::ledger::Ledger;
use countersign_engine::process::GuardProgram;
use countersign_engine::workspace::Root;
use countersign_testkit::{Project, Terminal, eventually};
use tokio_util::sync::CancellationToken;

const TASKS: &str = "\
### TASK-001: Set up
P0 | DONE

### TASK-002: Add API endpoints
P0 | IN_PROGRESS

### TASK-003: Document \u{1b}[31mthem
P1 | TODO
";

/// A project in which TASK-002 waits for a person, with its review.
async fn waiting() -> (Project, Engine, ReviewId) {
    let project = project();
    project.write("spec/tasks.md", TASKS).write("api.md", "TODO: everything\n");
    let layout = Layout::new(project.root(), "").unwrap();
    let state = State::open(&layout).await.unwrap();
    state.begin_attempt("TASK-002", "2026-02-23T10:15:00").await.unwrap();
    let checkpoint =
        Checkpoint { stage: Stage::Person, attempt: 2, ..Checkpoint::new("base".into(), WorkLocation::Here) };
    checkpoint.keep(&state, "TASK-002").await.unwrap();
    state.close().await.unwrap();
    let log = Log::open(&layout.logs(), "TASK-002", 2).unwrap();
    log.write(b"the agent \x1b[2Jsays hello\n");
    let engine = engine(&project).await;
    let id = judged(&engine).await;
    (project, engine, id)
}

async fn engine(project: &Project) -> Engine {
    let root = Root::new(project.root()).unwrap();
    let planner = Planner {
        panel: Panel::new(vec![], root.path(), 2, &Surroundings::default()),
        root,
        bounds: Bounds { max_inline_files: Some(5), prompt_bytes: 100_000, reply_bytes: 100_000 },
        redaction: Redaction::off(),
        day_budget: Budget::default(),
        keep_contents_days: 0,
        rules_from: None,
        baseline: std::sync::Arc::default(),
    };
    let ledger = Ledger::open(&project.ledger_dir()).await.unwrap();
    Engine::new(planner, ledger, GuardProgram(env!("CARGO_BIN_EXE_countersign").into())).unwrap()
}

async fn judged(engine: &Engine) -> ReviewId {
    let check = Criterion { check: Some(Check::NoPlaceholders), ..Criterion::must("Complete", "Is it?") };
    let rule = Rule::new("docs", Scope::Whole, vec![check]);
    let request = Request {
        subject: Subject::new("run", ["spec/tasks.md", "TASK-002"]),
        rules: vec![rule],
        policy: Policy::default(),
        outputs: vec![Output { name: "work".into(), kind: OutputKind::File }],
        files: vec![("api.md".into(), 0)],
        guidance_files: vec![],
        change: None,
        notes: None,
        fresh: false,
    };
    let mut prepared = engine.planner().prepare(request).await.unwrap();
    prepared.submission.asks_person = true;
    let ticket = engine.submit(prepared).await.unwrap();
    let stored = engine.wait(&ticket, &CancellationToken::new()).await.unwrap();
    assert_eq!(stored.review.state, Standing::AwaitingPerson);
    stored.review.id
}

fn screen(project: &Project, variables: &[(&str, &str)]) -> Terminal {
    let mut command = project.command(&["tui"]);
    command.env("USER", "ann").env("TERM", "xterm").envs(variables.iter().copied());
    Terminal::start(&command, 100, 30)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_watched_and_decided_about() {
    let (project, engine, id) = waiting().await;
    let mut terminal = screen(&project, &[]);
    for words in [
        "waiting for you (1)",
        "person · try 2",
        "awaiting person",
        "round 1: needs work, 1 finding",
        "MAJOR: Complete:",
        "(api.md:1)",
        "Output: TASK-002-2.log",
        "the agent \\u{1b}[2Jsays hello",
        "Document \\u{1b}[31m",
        "1 of 3 done",
        "no run is active",
        "[a]pprove [r]eject [f]ix-and-retry [s]kip",
    ] {
        terminal.until(words);
    }
    assert!(terminal.is_taken());
    // What somebody else writes is seen.
    let layout = Layout::new(project.root(), "").unwrap();
    Log::open(&layout.logs(), "TASK-002", 2).unwrap().write(b"and now more\n");
    terminal.until("and now more");
    // Another size, smaller, and back.
    terminal.resize(60, 15);
    terminal.until_seen("one part alone", |screen| {
        screen.contains("waiting for you") && !screen.contains("Output")
    });
    terminal.resize(30, 8);
    terminal.until("too small");
    terminal.resize(100, 30);
    terminal.until("Output: TASK-002-2.log");
    // Another key than y decides nothing.
    terminal.send("a");
    terminal.until("approve TASK-002 (");
    terminal.send("n");
    terminal.until("Nothing was decided.");
    assert_eq!(engine.get(&id).await.unwrap().review.state, Standing::AwaitingPerson);
    // What is pasted does not either.
    terminal.send("\u{1b}[200~ay\u{1b}[201~r");
    terminal.until("reject TASK-002 (");
    terminal.send("ya");
    terminal.until("TASK-002 does not wait for a decision.");
    let decided = engine.until_decided(&id, &CancellationToken::new()).await.unwrap().review;
    let decision = &decided.decisions[0];
    let said = (decision.verb.name(), decision.by.words(), decision.reason.as_str());
    assert_eq!(said, ("reject", crate::people::at_terminal(), "at the terminal"));
    terminal.until(&format!("decided: reject by {} (at a", crate::people::account()));
    terminal.send("q");
    assert_eq!(terminal.ends(), 0);
    eventually("everything is back", || terminal.is_restored());
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_decides_about_work_they_did_not_see_and_no_agent_decides_at_all() {
    let (project, engine, id) = waiting().await;
    let mut terminal = screen(&project, &[("CLAUDECODE", "1")]);
    terminal.until("awaiting person");
    terminal.send("ay");
    terminal.until("Nothing was decided: ");
    assert_eq!(engine.get(&id).await.unwrap().review.state, Standing::AwaitingPerson);
    drop(terminal);
    let mut terminal = screen(&project, &[]);
    terminal.until("awaiting person");
    terminal.send("a");
    terminal.until("approve TASK-002 (");
    // Other work is handed in before they are sure.
    project.write("api.md", "TODO: nearly everything\n");
    assert_eq!(judged(&engine).await, id);
    terminal.until("round 2: ");
    terminal.send("y");
    terminal.until("Nothing was decided: ");
    assert_eq!(engine.get(&id).await.unwrap().review.state, Standing::AwaitingPerson);
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let project = project();
    project.write("spec/tasks.md", TASKS);
    for (typed, code) in [(Some("\u{3}"), 130), (None, 130), (Some("q"), 0)] {
        let mut terminal = screen(&project, &[]);
        terminal.until("to do (2)");
        assert!(terminal.is_taken() && !terminal.is_restored());
        match typed {
            Some(keys) => terminal.send(keys),
            None => terminal.terminate(),
        }
        assert_eq!(terminal.ends(), code);
        eventually("everything is back", || terminal.is_restored());
    }
    // Looking makes nothing.
    assert!(!project.ledger_dir().exists() && !project.path("spec/.executor-state.db").exists());
}

#[test]
fn a_screen_needs_a_terminal_and_tasks() {
    let project = project();
    let ran = project.run(&["tui"]).exits(2);
    assert!(ran.stderr.contains("spec/tasks.md does not exist"), "{}", ran.stderr);
    let ran = project.run(&["tui", "--prefix", "../x"]).exits(2);
    assert!(ran.stderr.contains("a prefix is up to 64"), "{}", ran.stderr);
    project.write("spec/tasks.md", TASKS);
    let ran = project.run(&["tui"]).exits(2);
    assert!(
        ran.stderr.contains("needs a terminal") && ran.stderr.contains("countersign status"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_screen_whose_terminal_is_closed_ends() {
    let project = project();
    project.write("spec/tasks.md", TASKS);
    let inner = project.command(&["tui"]);
    // Killing the leader of the session closes the terminal for all others in it.
    let script = "(trap '' HUP; \"$0\" tui; echo $? >ended.new; mv ended.new ended); true";
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", script]).arg(inner.get_program()).current_dir(project.root());
    command.env("HOME", project.home()).env("TERM", "xterm");
    let mut terminal = Terminal::start(&command, 80, 24);
    terminal.until("to do (2)");
    terminal.kill();
    eventually("the screen ends", || project.path("ended").exists());
    let code = project.read("ended");
    assert!(["0", "130"].contains(&code.trim()), "{code}");
}
