//! When the hook reviews, and what reviewers get beside the change.

use super::{Bench, goes, held, told};
use countersign_engine::ledger::Ledger;
use countersign_testkit::Running;
use serde_json::json;

/// What `config` shows is what the hook does.
#[test]
fn issue_19_config_shows_that_a_hook_reviews_where_no_trigger_is_set() {
    for (more, shown) in [
        ("", "review.trigger = script_completion for tasks, session_idle for hooks"),
        ("review: {trigger: explicit}\n", "review.trigger = explicit"),
    ] {
        let bench = Bench::new(more);
        let text = bench.project.run(&["config"]).exits(0).stdout;
        assert!(text.lines().any(|line| line == shown), "{text}");
        bench.project.write("a.md", "BAD\n");
        assert_eq!(bench.stops(false).stdout.is_empty(), !more.is_empty());
    }
}

/// SVC-11, SVC-12.
#[test]
fn svc_11_and_12_the_hook_reviews_under_its_trigger() {
    for (more, reviews) in [
        ("", true),
        ("review: {trigger: session_idle}\n", true),
        ("review: {max_revisions: 2}\n", true),
        ("review: {trigger: explicit}\n", false),
        ("review: {trigger: script_completion}\n", false),
        ("review: {enabled: false}\n", false),
    ] {
        let bench = Bench::new(more);
        bench.project.write("a.md", "BAD\n");
        let ran = bench.stops(false);
        match reviews {
            true => drop(held(&ran)),
            false => {
                assert_eq!(ran.stdout, "", "{more}");
                assert!(ran.stderr.starts_with("countersign: `review."), "{more}: {ran:?}");
                assert_eq!(bench.judge.asked().len(), 0, "{more}");
            }
        }
    }
}

#[test]
fn files_that_no_rule_is_for_hold_nobody() {
    let bench = Bench::new("");
    bench.project.write("a.txt", "BAD\n");
    let ran = bench.stops(false);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("no rule matches the changed files"), "{ran:?}");
    // They stay part of what is new.
    bench.project.write("a.md", "good\n");
    let ran = bench.stops(false);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("no rule matches `a.txt`"), "{ran:?}");
}

/// SVC-2, SVC-3.
#[test]
fn svc_2_and_3_the_task_under_way_and_the_session_stand_beside_the_change() {
    let bench = Bench::new("context: {session_log: true}\ncommands: {test: echo all 7 tests pass}\n");
    let plan = "### Phase 1: P\n\n- [ ] **Walls** `[in_progress]`\n  - **Scope:** four of them\n- [ ] **Roof** `[pending]`\n";
    bench.project.write("PLAN.md", plan).write("a.md", "good\n");
    let transcript = bench.project.home().join("t.jsonl");
    std::fs::write(&transcript, format!("early{}\nsaid last\n", " ".repeat(40 * 1024))).unwrap();
    let input = json!({
        "session_id": "s", "transcript_path": transcript, "cwd": bench.project.root().canonicalize().unwrap(),
        "hook_event_name": "Stop", "stop_hook_active": false,
    });
    let mut command = bench.project.command(&["hook", "claude"]);
    goes(&Running::fed(&mut command, input.to_string().as_bytes()).wait().exits(0));
    let asked = bench.payload();
    for part in [
        "# Task 1.1: Walls",
        "## Scope",
        "four of them",
        "## Git Diff",
        "all 7 tests pass",
        "## Session Log",
        "said last",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(!asked.contains("early"), "{asked}");
}

/// What reviewers are told about the tests is about the judged files.
#[test]
fn issue_18_tests_of_a_hook_run_on_exactly_the_judged_files() {
    let test = "[ -e .asked-helper ] && echo by a helper || { [ -e kept/x ] && cat a.md; }";
    for (more, words, is_worktree) in [
        ("setup: mkdir -p kept && touch kept/x, keep: [kept]", "good work", false),
        ("tests_in: worktree", "by a helper", true),
        (
            "setup: 'echo no network; false'",
            "did not run: `echo no network; false` (`commands.setup`) failed",
            false,
        ),
        ("keep: [a.md]", "`commands.keep` names `a.md`", false),
    ] {
        let bench = Bench::new(&format!("commands: {{test: '{test}', {more}}}\n"));
        bench.project.write("a.md", "good work\n").write(".asked-helper", "");
        let ran = bench.stops(false).exits(0);
        assert_eq!(ran.stdout, "", "{more}: {ran:?}");
        let payload = bench.payload();
        assert!(payload.contains(words), "{more}: {payload}");
        let note = "tests and lint ran in the working folder, not on the judged files";
        assert_eq!(
            (payload.contains(note), ran.stderr.contains(note)),
            (is_worktree, is_worktree),
            "{more}: {ran:?}"
        );
    }
}

#[test]
fn an_author_who_reviews_their_own_work_is_held_for_it() {
    let bench = Bench::new("");
    bench.project.write(
        "countersign.yml",
        super::config("").replace("use: command, command: [./judge.sh]", "use: self"),
    );
    bench.repository.commit("another judge");
    bench.project.trust();
    goes(&bench.stops(false));
    bench.project.write("a.md", "good\n");
    let reason = held(&bench.stops(false));
    assert!(reason.contains("countersign rule rv-") && reason.contains(".md"), "{reason}");
    for _ in 0..3 {
        held(&bench.stops(true));
    }
    told(&bench.stops(true));
}

/// Once for a session, because a hook runs often.
#[test]
fn attack_17_reviews_that_are_off_leave_an_event_of_the_session() {
    let bench = Bench::new("review: {enabled: false}\n");
    bench.project.write("a.md", "BAD\n");
    for _ in 0..2 {
        assert_eq!(bench.stops(false).stdout, "");
    }
    let read = async {
        let ledger = Ledger::open_existing(&bench.project.ledger_dir()).await.unwrap().unwrap();
        let streams = ledger.streams("off/", 10).await.unwrap();
        ledger.notes(&streams[0]).await.unwrap()
    };
    let notes = tokio::runtime::Runtime::new().unwrap().block_on(read);
    assert_eq!(notes.iter().map(|note| note.kind.as_str()).collect::<Vec<_>>(), ["review_skipped"]);
    countersign_testkit::attack_row("trusted review: {enabled: false}", "hook", "obeyed", "an event");
}
