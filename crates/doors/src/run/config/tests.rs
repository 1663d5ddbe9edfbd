//! Both shapes, what wins, and every mistake at its place.

use super::read::{parse, parse_section};
use super::*;
use countersign_engine::yaml::FileBytes;
use std::fs;

fn file(text: &str) -> FileBytes {
    FileBytes { path: "c.yaml".into(), bytes: text.as_bytes().to_vec() }
}

fn good(text: &str) -> RunConfig {
    let (config, warnings) = parse(&file(text)).unwrap_or_else(|problems| panic!("{text}: {problems}"));
    assert_eq!(warnings, [], "{text}");
    config
}

const FLAT: &str = "\
max_retries: 5
retry_delay_seconds: 0
task_timeout_minutes: 10
check_timeout_seconds: 90
review_timeout_minutes: 2
max_consecutive_failures: 4
max_concurrent: 8
on_task_failure: stop
hitl_review: true
review_policy: advisory
claude_command: codex
claude_model: big
command_template: '{cmd} exec {prompt}'
review_command: claude
review_model: ''
skip_permissions: false
task_budget_usd: 1
budget_usd: 2.50
main_branch: trunk
integration_pr: true
callback_url: ''
spec_prefix: phase5-
commands: {test: make test, lint: make lint, lint_fix:}
hooks:
  pre_start: {create_git_branch: false}
  post_done: {run_tests: false, run_lint: false, lint_blocking: false, run_review: false, auto_commit: false}
";

/// RUN-7.
#[test]
fn run_7_both_shapes_say_the_same() {
    let config = good(FLAT);
    let expect = RunConfig {
        max_retries: 5,
        retry_delay_seconds: 0,
        task_timeout_minutes: 10,
        check_timeout_seconds: 90,
        review_timeout_minutes: 2,
        max_consecutive_failures: 4,
        max_concurrent: 8,
        on_task_failure: OnFailure::Stop,
        hitl_review: true,
        review_policy: ReviewPolicy::Advisory,
        claude_command: "codex".into(),
        claude_model: Some("big".into()),
        command_template: Some("{cmd} exec {prompt}".into()),
        review_command: Some("claude".into()),
        review_model: None,
        review_command_template: None,
        task_budget_usd: Some(1.0),
        budget_usd: Some(2.5),
        main_branch: Some("trunk".into()),
        integration_pr: true,
        spec_prefix: "phase5-".into(),
        commands: Commands { test: Some("make test".into()), lint: Some("make lint".into()), lint_fix: None },
        create_git_branch: false,
        run_tests: false,
        run_lint: false,
        lint_blocking: false,
        run_review: false,
        auto_commit: false,
    };
    assert_eq!(config, expect);
    let old: String = FLAT.lines().map(|line| format!("  {line}\n")).collect();
    assert_eq!(good(&format!("executor:\n{old}")), expect);
    for empty in ["", "# nothing\n", "executor:\n", "max_retries:\n", "budget_usd: null\n"] {
        assert_eq!(good(empty), RunConfig::default(), "{empty}");
    }
    assert!(!RunConfig::default().hitl_review);
    assert!(!good("run_tests: false\nhooks: {post_done: {run_tests: true}}").run_tests);
}

#[test]
fn issue_19_an_address_that_is_never_called_is_refused() {
    for text in ["callback_url: http://127.0.0.1:1/\n", "executor: {callback_url: 'http://127.0.0.1:1/'}\n"] {
        let wrong = parse(&file(text)).unwrap_err();
        let said = &wrong.listed[0];
        assert_eq!(
            (said.code, said.message.as_str()),
            ("callback", "`callback_url` is not called"),
            "{text}"
        );
        assert!(said.hint.as_deref().unwrap().contains("webhook"), "{said:?}");
    }
}

#[test]
fn every_key_is_known_by_its_name() {
    for key in [
        "max_retries",
        "retry_delay_seconds",
        "task_timeout_minutes",
        "review_timeout_minutes",
        "check_timeout_seconds",
        "max_consecutive_failures",
        "max_concurrent",
        "on_task_failure",
        "hitl_review",
        "review_policy",
        "claude_command",
        "claude_model",
        "command_template",
        "review_command",
        "review_model",
        "review_command_template",
        "skip_permissions",
        "task_budget_usd",
        "budget_usd",
        "main_branch",
        "integration_pr",
        "callback_url",
        "spec_prefix",
        "commands",
        "hooks",
        "create_git_branch",
        "run_tests",
        "run_lint",
        "lint_blocking",
        "run_review",
        "auto_commit",
    ] {
        assert_eq!(good(&format!("{key}:\n")), RunConfig::default(), "{key}");
        let mixed = parse(&file(&format!("executor: {{}}\n{key}:\n"))).unwrap_err();
        assert_eq!(mixed.listed[0].code, "mixed-shapes", "{key}");
    }
}

#[test]
fn unknown_keys_are_warnings_in_the_files_of_old() {
    let (config, warnings) =
        parse(&file("personas: {a: {model: b}}\nmax_retrys: 9\ncommands: {sync: x}\n")).unwrap();
    assert_eq!(config, RunConfig::default());
    let said: Vec<_> = warnings.iter().map(|one| (one.place.line(), one.hint.clone().unwrap())).collect();
    let unused = "this key is ignored".to_owned();
    assert_eq!(said, [(1, unused.clone()), (2, "did you mean `max_retries`?".into()), (3, unused)]);
    // A remark beside `executor:` is not mixing.
    let (_, warnings) = parse(&file("executor: {max_retries: 1}\nexecution_order: [a]\n")).unwrap();
    assert_eq!(warnings.len(), 1);
}

#[test]
fn every_mistake_is_named_at_its_place() {
    for (text, expect) in [
        ("max_retries: -1", "1:14 wrong-value"),
        ("max_retries: many", "1:14 wrong-type"),
        ("task_timeout_minutes: 0", "1:23 wrong-value"),
        ("on_task_failure: panic", "1:18 unknown-value"),
        ("review_policy: none", "1:16 unknown-value"),
        ("hitl_review: yes please", "1:14 wrong-type"),
        ("budget_usd: -0.5", "1:13 wrong-value"),
        ("budget_usd: .inf", "1:13 wrong-value"),
        ("spec_prefix: ../x", "1:14 bad-prefix"),
        ("commands: [a]", "1:11 wrong-type"),
        ("- a", "1:3 wrong-type"),
        ("executor: 3", "1:11 wrong-type"),
        ("executor: {}\nmax_retries: 1\nbudget_usd: 1", "2:1 mixed-shapes"),
        ("max_retries: 1\nmax_retries: 2", "2:1 duplicate-key"),
        ("a: [", "1:4 yaml"),
    ] {
        let problems = parse(&file(text)).unwrap_err();
        let [one] = problems.listed.as_slice() else { panic!("{text}: {problems}") };
        assert_eq!(format!("{}:{} {}", one.place.line(), one.place.column(), one.code), expect, "{problems}");
        assert!(one.hint.is_some(), "{text}");
    }
}

#[test]
fn the_section_wins_over_the_files_and_minds_its_own_mistakes() {
    let under = RunConfig { max_retries: 7, max_concurrent: 9, ..RunConfig::default() };
    let over = |text: &str| parse_section(&file(text), under.clone());
    let config = over("version: 1\nrulez: 3\nrun: {max_retries: 1}\n").unwrap();
    assert_eq!((config.max_retries, config.max_concurrent), (1, 9));
    assert_eq!(over("version: 1\n").unwrap(), under);
    let problems = over("rulez: 3\nrun: {max_retry: 1, budget_usd: x}\n").unwrap_err();
    let codes: Vec<_> = problems.listed.iter().map(|one| (one.place.line(), one.code)).collect();
    assert_eq!(codes, [(2, "unknown-key"), (2, "wrong-type")]);
    for (text, line) in
        [("run:\n  commands:\n    tset: x\nrules: 3\n", 3), ("a: 1\nrun: 3\nb: 2\n", 2), ("run: [a]", 1)]
    {
        let problems = over(text).unwrap_err();
        assert_eq!((problems.listed.len(), problems.listed[0].place.line()), (1, line), "{problems}");
    }
}

#[test]
fn the_newer_file_is_the_one_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    assert_eq!(load(root, None).unwrap().file, None);
    fs::create_dir(root.join("spec")).unwrap();
    fs::write(root.join("spec/executor.config.yaml"), "executor: {max_retries: 1, max_concurrent: 1}")
        .unwrap();
    assert_eq!(load(root, None).unwrap().config.max_retries, 1);
    fs::write(root.join("spec-runner.config.yaml"), "max_retries: 2").unwrap();
    let section = file("run: {max_concurrent: 5}");
    let loaded = load(root, Some(&section)).unwrap();
    assert_eq!((loaded.config.max_retries, loaded.config.max_concurrent), (2, 5));
    assert_eq!(loaded.warnings.iter().map(|one| one.code).collect::<Vec<_>>(), ["second-file"]);
    fs::write(root.join("spec-runner.config.yaml"), "max_retries: no").unwrap();
    let problems = load(root, Some(&file("run: {max_retries: no}"))).unwrap_err();
    assert_eq!(problems.listed.len(), 2);
}
