//! Screens as snapshots of a virtual terminal, driven by keys.

use super::board::{Board, Detail, Group, Known, Reviewed, TaskRow};
use super::screen;
use super::view::{Act, Pane, View};
use crate::terminal::keys::Key;
use countersign_core::criterion::Severity;
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::progress::{Issue, Stage};
use countersign_core::review::{State, Verb};
use countersign_doors::run::checkpoint::Checkpoint;
use countersign_doors::run::repo::WorkLocation;
use countersign_doors::run::state::{ErrorCode, ReviewStatus, Summary, TaskState};
use countersign_doors::run::tasks::parse;
use countersign_engine::yaml::Source;
use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::collections::HashMap;

const KEYS: [Key; 14] = [
    Key::Up,
    Key::Down,
    Key::PageUp,
    Key::PageDown,
    Key::Home,
    Key::End,
    Key::Tab,
    Key::BackTab,
    Key::Esc,
    Key::Char('a'),
    Key::Char('y'),
    Key::Char('f'),
    Key::Char(' '),
    Key::Other,
];

fn digest() -> Digest {
    Digest::of(b"the work")
}

fn row(n: usize, name: &str, group: Group, words: &str) -> TaskRow {
    TaskRow { id: format!("TASK-{n:03}"), name: name.to_owned(), group, words: words.to_owned() }
}

fn board() -> Board {
    Board {
        title: "spec/tasks.md".to_owned(),
        under_way: true,
        tasks: vec![
            row(3, "Add API endpoints", Group::Waiting, "person · try 2"),
            row(4, "Write the client for all of it", Group::Running, "review · try 1"),
            row(5, "Rate limits", Group::Failed, "TEST_FAILURE"),
            row(6, "Documentation", Group::Pending, ""),
            row(7, "Release", Group::Pending, ""),
            row(1, "Set up", Group::Done, "review: passed"),
            row(2, "Model", Group::Done, "review: fixed"),
        ],
        cost: Some("$1.25".to_owned()),
        detail: Some(detail("TASK-003", true)),
        trouble: None,
    }
}

fn detail(task: &str, waits: bool) -> Detail {
    let issue = |severity, text: &str, place: &str| Issue {
        severity,
        text: text.to_owned(),
        place: Some(place.to_owned()),
    };
    Detail {
        task: task.to_owned(),
        review: Some(Reviewed {
            id: ReviewId::from_text("rv-ab9a9hjkmnpq"),
            digest: Some(digest()),
            waits,
            standing: "awaiting person".to_owned(),
            rounds: vec![
                "round 1: needs work, 2 findings, cost $0.02".to_owned(),
                "round 2: needs work, 2 findings, cost $0.01".to_owned(),
            ],
            issues: vec![
                issue(Severity::Must, "No error handling in API call", "api.py:45"),
                issue(Severity::Should, "Unused import", "utils.py:1"),
            ],
            decisions: vec![],
            cost: "cost $0.03".to_owned(),
            diff: "diff --git a/api.py b/api.py\n@@ -1 +1 @@\n-before\n+after \u{1b}[2J\n".to_owned(),
        }),
        output_from: Some(format!("{task}-2.log")),
        output: (1..=40).map(|n| format!("line {n} of the output\n")).collect(),
    }
}

fn view(board: &Board, columns: u16, rows: u16) -> View {
    let mut view = View::default();
    view.take(&Board::default(), &mut board.clone());
    view.resize(board, (columns, rows));
    view
}

fn drawn(board: &Board, view: &View) -> String {
    let mut terminal = Terminal::new(TestBackend::new(view.size.0, view.size.1)).unwrap();
    terminal.draw(|frame| screen::draw(frame, board, view)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..view.size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..view.size.1).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn pressed(board: &Board, columns: u16, rows: u16, keys: &[Key]) -> String {
    let mut view = view(board, columns, rows);
    for key in keys {
        view.key(board, *key);
    }
    drawn(board, &view)
}

#[test]
fn everything_is_seen_in_80_by_24() {
    assert_snapshot!(pressed(&board(), 80, 24, &[]));
}

#[test]
fn everything_is_seen_in_120_by_40() {
    assert_snapshot!(pressed(&board(), 120, 40, &[Key::Down, Key::Down]));
}

#[test]
fn a_small_screen_shows_one_part_at_a_time() {
    let screens = [vec![], vec![Key::Tab], vec![Key::Tab, Key::Tab], vec![Key::Char('a')]];
    let drawn: Vec<String> = screens.iter().map(|keys| pressed(&board(), 44, 12, keys)).collect();
    assert_snapshot!(drawn.join("\n"));
}

#[test]
fn what_is_too_small_says_so() {
    assert_snapshot!(pressed(&board(), 39, 9, &[Key::Down]), @"too small: 40×10 are needed · q: quit");
}

#[test]
fn an_empty_list_is_a_screen_too() {
    let board = Board {
        title: "spec/tasks.md".to_owned(),
        trouble: Some("the list of tasks has mistakes; `countersign validate` says which".to_owned()),
        ..Board::default()
    };
    assert_snapshot!(pressed(&board, 80, 12, &[Key::Down, Key::Char('a'), Key::Char('y'), Key::End]));
}

#[test]
fn a_decision_is_confirmed_and_about_what_was_shown() {
    let board = board();
    for (key, verb) in [('a', Verb::Approve), ('r', Verb::Reject), ('f', Verb::Fix), ('s', Verb::Skip)] {
        let mut view = view(&board, 80, 24);
        assert_eq!(view.key(&board, Key::Char(key)), Act::Draw);
        assert!(drawn(&board, &view).contains("? y: yes · any other key: no"));
        // The work changes while a person thinks: the decision is about the work that was shown.
        let mut changed = board.clone();
        let review = changed.detail.as_mut().unwrap().review.as_mut().unwrap();
        review.digest = Some(Digest::of(b"other work"));
        view.take(&board, &mut changed);
        let Act::Decide(asked) = view.key(&changed, Key::Char('y')) else { panic!("{key}") };
        assert_eq!((asked.verb, asked.digest, asked.task.as_str()), (verb, digest(), "TASK-003"));
        assert_eq!(view.key(&changed, Key::Char('y')), Act::Draw, "once");
    }
    for other in [Key::Enter, Key::Char('a'), Key::Char('n'), Key::Esc, Key::Char('q')] {
        let mut view = view(&board, 80, 24);
        view.key(&board, Key::Char('a'));
        assert_eq!(view.key(&board, other), Act::Draw, "{other:?}");
        assert_eq!((view.asked, view.note.as_deref()), (None, Some("Nothing was decided.")));
    }
}

#[test]
fn issue_19_the_change_is_seen_before_a_decision_and_the_focus_always() {
    let mut board = board();
    let mut view = view(&board, 80, 24);
    assert!(drawn(&board, &view).contains("╔ ▶ Tasks"), "{}", drawn(&board, &view));
    view.key(&board, Key::Tab);
    let screen = drawn(&board, &view);
    assert!(screen.contains("╔ ▶ Review of TASK-003") && !screen.contains("▶ Tasks"), "{screen}");
    view.key(&board, Key::Char('d'));
    let screen = drawn(&board, &view);
    for part in ["▶ Diff of TASK-003", "-before", "+after \\u{1b}[2J", "d: back"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    // A decision is possible from here.
    view.key(&board, Key::Char('a'));
    assert!(drawn(&board, &view).contains("approve TASK-003 ("));
    assert!(matches!(view.key(&board, Key::Char('y')), Act::Decide(_)));
    view.key(&board, Key::Char('d'));
    assert!(drawn(&board, &view).contains("Review of TASK-003"));
    // It is gone where the task does not wait any more.
    view.key(&board, Key::Char('d'));
    board.detail.as_mut().unwrap().review.as_mut().unwrap().waits = false;
    view.take(&Board::default(), &mut board);
    assert!(!view.shows_diff);
    view.key(&board, Key::Char('d'));
    assert!(view.note.unwrap().contains("There is no diff of TASK-003"));
}

#[test]
fn what_does_not_wait_cannot_be_decided() {
    let mut board = board();
    let mut view = view(&board, 80, 24);
    view.key(&board, Key::Down);
    // The details of the task before are still there.
    view.key(&board, Key::Char('a'));
    assert_eq!(view.note.as_deref(), Some("TASK-004 does not wait for a decision."));
    board.detail = Some(detail("TASK-004", false));
    view.key(&board, Key::Char('a'));
    assert_eq!(view.asked, None);
    assert_eq!(view.key(&board, Key::Char('y')), Act::Draw);
}

#[test]
fn output_follows_until_somebody_reads_in_it() {
    let mut board = board();
    let mut view = view(&board, 80, 24);
    assert!(drawn(&board, &view).contains("line 40 of"));
    view.key(&board, Key::BackTab);
    assert_eq!(view.focus, Pane::Output);
    view.key(&board, Key::PageUp);
    let reading = drawn(&board, &view);
    assert!(!reading.contains("line 40 of") && reading.contains("(End: follow)"), "{reading}");
    let mut more = board.clone();
    more.detail.as_mut().unwrap().output.push_str("line 41 of the output\n");
    let mut now = more.clone();
    view.take(&board, &mut now);
    board = now;
    assert_eq!(drawn(&board, &view), reading);
    view.key(&board, Key::End);
    view.take(&board.clone(), &mut more);
    assert!(drawn(&more, &view).contains("line 41 of"));
}

#[test]
fn what_others_wrote_cannot_steer_the_screen() {
    let evil = "x\u{1b}[2J\u{1b}[31m\u{7}\r\n\u{202e}y";
    let mut board = board();
    board.title = evil.to_owned();
    board.trouble = Some(evil.to_owned());
    board.tasks[0].name = evil.to_owned();
    board.tasks[0].words = evil.to_owned();
    let detail = board.detail.as_mut().unwrap();
    detail.output = evil.to_owned();
    detail.output_from = Some(evil.to_owned());
    let review = detail.review.as_mut().unwrap();
    review.rounds = vec![evil.to_owned()];
    review.decisions = vec![evil.to_owned()];
    review.issues[0].text = evil.to_owned();
    review.issues[0].place = Some(evil.to_owned());
    for (columns, rows) in [(80, 24), (44, 12), (200, 60)] {
        for keys in [vec![], vec![Key::Tab], vec![Key::Tab, Key::Tab]] {
            let screen = pressed(&board, columns, rows, &keys);
            let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!screen.contains(steers), "{screen:?}");
            assert_eq!(screen.lines().count(), usize::from(rows));
        }
    }
}

#[test]
fn tasks_stand_by_state_with_stage_and_attempt() {
    let text: String = (1..=8).map(|n| format!("### TASK-00{n}: task {n}\nP0 | TODO\n")).collect();
    let list = parse(&Source::new("t", &text)).list;
    let summary = |id: &str, state: &str, code: Option<&str>, review: Option<&str>, cost| Summary {
        task_id: id.into(),
        state: TaskState::from(state),
        attempts: 1,
        cost_usd: cost,
        error_code: code.map(ErrorCode::from),
        review_status: review.map(ReviewStatus::from),
        issues: 0,
        review_id: None,
        started_at: (id == "TASK-002").then(|| "2026-02-23T10:12:02".to_owned()),
    };
    let summaries = [
        summary("TASK-001", "success", None, Some("passed"), Some(0.5)),
        summary("TASK-002", "running", None, None, None),
        summary("TASK-003", "running", None, None, None),
        summary("TASK-004", "failed", Some("REVIEW_REJECTED"), Some("rejected"), None),
        summary("TASK-006", "skipped", None, None, None),
        summary("TASK-007", "odd", None, None, None),
    ];
    let checkpoint = |stage, attempt| Checkpoint {
        stage,
        attempt,
        cost_microusd: Some(250_000),
        ..Checkpoint::new("base".into(), WorkLocation::Here)
    };
    let checkpoints = HashMap::from([
        ("TASK-002".to_owned(), checkpoint(Stage::Tests, 2)),
        ("TASK-003".to_owned(), checkpoint(Stage::Person, 1)),
    ]);
    let reviews = HashMap::from([
        ("TASK-003".to_owned(), State::AwaitingPerson),
        ("TASK-002".to_owned(), State::NeedsWork),
    ]);
    let mut known = Known {
        list: &list,
        summaries: &summaries,
        reviews: &reviews,
        checkpoints: &checkpoints,
        under_way: true,
        now: "2026-02-23T10:15:07".to_owned(),
    };
    let line = |row: TaskRow| format!("{} {} {}", row.group.word(), row.id, row.words);
    let rows: Vec<_> = known.rows().into_iter().map(line).collect();
    let expect = [
        "waiting for you TASK-003 person · try 1",
        "running TASK-002 tests · try 2 · 3:05",
        "failed TASK-004 REVIEW_REJECTED",
        "to do TASK-005 ",
        "to do TASK-007 odd",
        "to do TASK-008 ",
        "skipped TASK-006 ",
        "done TASK-001 review: passed",
    ];
    assert_eq!(rows, expect);
    assert_eq!(known.cost().as_deref(), Some("$1.0000"));
    // No process runs it any more.
    known.under_way = false;
    assert_eq!(line(known.rows().swap_remove(1)), "running TASK-002 interrupted · try 2");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_pressed_at_whatever_size_there_is_a_screen(
        steps in proptest::collection::vec((0..20usize, 0..130u16, 0..50u16), 0..30),
    ) {
        let boards = [board(), Board::default(), Board { tasks: board().tasks[2..].to_vec(), ..board() }];
        let mut view = view(&boards[0], 80, 24);
        let mut at = 0;
        for (step, columns, rows) in steps {
            match step {
                14..=16 => {
                    let before = at;
                    at = step - 14;
                    view.take(&boards[before], &mut boards[at].clone());
                }
                17.. => view.resize(&boards[at], (columns, rows)),
                key => { view.key(&boards[at], KEYS[key]); }
            }
            if view.size.0 > 0 && view.size.1 > 0 {
                let screen = drawn(&boards[at], &view);
                let small = view.size.0 < 40 || view.size.1 < 10;
                prop_assert!(small || screen.contains("q: quit"), "the keys are always shown");
            }
            let selected = view.selected.as_ref().and_then(|id| boards[at].place(id));
            prop_assert_eq!(selected.is_some(), !boards[at].tasks.is_empty());
        }
    }
}
