//! What a good configuration means, and which file has the last word.

use super::{check_problem, gathered, read};
use countersign_core::check::{Check, RunCheck};
use countersign_core::cost::Price;
use countersign_core::criterion::{Criterion, Severity};
use countersign_core::policy::{Attempts, Blocking, Overrides, Policy};
use countersign_core::rule::{Each, Lines, Rule, Scope};
use countersign_engine::config::{
    AskSettings, CommandReviewer, Config, ContextConfig, Environment, FileBytes, Flags, KeySource, Limits,
    PROGRAM_CONCURRENCY, Pipeline, Problems, ProgramReviewer, ReviewerKind, SERVICE_CONCURRENCY, Sees,
    ServiceReviewer, TestsIn, Trigger, resolve,
};
use countersign_engine::programs::{Api, claude, codex, gemini, opencode};

const RULES: &str = "version: 1\nrules: [{name: r, for: [a], criteria: [{name: A, ask: q}]}]\n";

fn layered(project: &str, user: &str, flags: &Flags, environment: &Environment) -> Result<Config, Problems> {
    let user = Some(FileBytes { path: "/home/me/config.yml".into(), bytes: user.into() });
    resolve(&super::Gathered { user, ..gathered(project) }, flags, environment, &check_problem)
}

fn files(project: &str, user: &str) -> Result<Config, Problems> {
    layered(project, user, &Flags::default(), &Environment::default())
}

fn origins(config: &Config) -> Vec<String> {
    config.settings().iter().map(|s| format!("{} = {} ({})", s.name, s.value, s.origin)).collect()
}

#[test]
fn rules_become_rules() {
    let config = read(
        r#"
version: 1
rules:
  - name: docs
    for: ["docs/**/*.md", README.md]
    each: file
    guidance: Be kind.
    criteria:
      - {name: Complete, ask: "No stubs?"}
      - {name: Short, ask: "Short?", severity: may}
      - {name: Headings, severity: should, check: {required_headings: [Usage, "2. See also"]}}
      - {name: Lint, ask: "Clean?", check: {run: {command: make lint, exit_code: 2}}}
      - {name: Test, check: {run: make test}}
"#,
    );
    let config = config.unwrap();
    let criterion = |name: &str, question: &str, severity, check| Criterion {
        name: name.into(),
        question: question.into(),
        severity,
        check,
    };
    let run = |command: &str, exit_code| {
        Some(Check::Run(RunCheck { command: command.into(), exit_code, timeout_seconds: 120 }))
    };
    let headings = Check::RequiredHeadings(vec!["Usage".into(), "2. See also".into()]);
    let expected = Rule {
        name: "docs".into(),
        scope: Scope::Files { patterns: vec!["docs/**/*.md".into(), "README.md".into()], each: Each::File },
        criteria: vec![
            Criterion::must("Complete", "No stubs?"),
            criterion("Short", "Short?", Severity::May, None),
            criterion(
                "Headings",
                "Are these headings there: Usage, 2. See also?",
                Severity::Should,
                Some(headings),
            ),
            criterion("Lint", "Clean?", Severity::Must, run("make lint", 2)),
            criterion("Test", "Does `make test` end with 0?", Severity::Must, run("make test", 0)),
        ],
        guidance: Some("Be kind.".into()),
        reviewer: None,
        unseen: None,
        exclude: vec![],
        lines: Lines::Changed,
    };
    assert_eq!(config.rules, [expected]);
    assert_eq!((config.policy, config.limits), (Policy::default(), Limits::default()));
}

#[test]
fn rules_know_their_places() {
    let config = read(RULES.replace("[a]", "[a, \"b/*\"]")).unwrap();
    let [source] = config.rule_sources.as_slice() else { panic!("one rule, one source") };
    let at = |place: &countersign_engine::config::Place| (place.line(), place.column(), place.span().len());
    assert_eq!(at(&source.name), (2, 16, 1));
    assert_eq!(source.patterns.iter().map(at).collect::<Vec<_>>(), [(2, 25, 1), (2, 28, 5)]);
    assert_eq!(source.criteria.iter().map(at).collect::<Vec<_>>(), [(2, 54, 1)]);
    assert_eq!(source.reviewer, None);
}

/// However it is typed, it is one place, and the path of a question goes behind it.
#[test]
fn an_address_is_the_one_that_is_connected_to() {
    for (typed, meant) in [
        ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1"),
        (" http://127.0.0.1:1/v1/ ", "http://127.0.0.1:1/v1"),
        ("http://127.0.0.1:1//", "http://127.0.0.1:1"),
        ("HTTPS://API.OpenAI.com:443/v1", "https://api.openai.com/v1"),
        ("http://[0:0::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://bücher.example/v 1", "http://xn--bcher-kva.example/v%201"),
        ("http://@127.0.0.1/v1", "http://127.0.0.1/v1"),
    ] {
        let config =
            read(format!("{RULES}reviewers: [{{name: a, use: openai, model: m, base_url: '{typed}'}}]\n"));
        let reviewer = config.unwrap().reviewers.remove(0);
        let ReviewerKind::Service(service) = reviewer.kind else { panic!("{reviewer:?}") };
        assert_eq!(service.base_url.as_deref(), Some(meant), "{typed:?}");
    }
}

#[test]
fn reviewers_become_reviewers() {
    let config = read(format!(
        "{RULES}reviewers:\n- {{name: main, use: command, command: [./judge.sh, --strict], sees: project, \
         timeout_seconds: 9, concurrency: 2, model: m}}\n- {{name: plain, use: command, command: [judge]}}\n\
         - {{name: real, use: claude, model: sonnet, timeout_seconds: 60}}\n\
         - {{name: cx, use: codex, base_url: 'http://127.0.0.1:1/v1/', key_env: MY_KEY, window_tokens: 9000, \
         price: {{input_usd_per_million: 1.25, output_usd_per_million: 10}}}}\n- {{name: gm, use: gemini}}\n\
         - {{name: oc, use: opencode}}\n- {{name: an, use: anthropic, model: claude-x, key_file: ~/k}}\n\
         - {{name: oa, use: openai, model: gpt-x, key_env: K, reply_tokens: 100}}\n\
         - {{name: rec, use: replay, file: r/rulings.jsonl}}\n- {{name: me, use: self}}\n- {{name: m, use: checks, model: ~}}\n"
    ));
    let kinds: Vec<_> = config.unwrap().reviewers.into_iter().map(|r| (r.name, r.kind)).collect();
    let main = CommandReviewer {
        argv: vec!["./judge.sh".into(), "--strict".into()],
        asked: AskSettings {
            model: Some("m".into()),
            sees: Sees::Project,
            timeout_seconds: Some(9),
            concurrency: Some(2),
            ..AskSettings::default()
        },
    };
    let plain = CommandReviewer { argv: vec!["judge".into()], asked: AskSettings::default() };
    let claude = ProgramReviewer {
        asked: AskSettings {
            model: Some("sonnet".into()),
            timeout_seconds: Some(60),
            ..AskSettings::default()
        },
        ..ProgramReviewer::plain(&claude::FACTS)
    };
    let price = Price { input_microusd: 1_250_000, output_microusd: 10_000_000 };
    let codex = ProgramReviewer {
        base_url: Some("http://127.0.0.1:1/v1".into()),
        key_env: Some("MY_KEY".into()),
        asked: AskSettings { price: Some(price), window_tokens: Some(9000), ..AskSettings::default() },
        ..ProgramReviewer::plain(&codex::FACTS)
    };
    let service = |api, key, model: &str, reply_tokens| ServiceReviewer {
        api,
        base_url: None,
        key,
        reply_tokens,
        asked: AskSettings { model: Some(model.into()), ..AskSettings::default() },
    };
    assert_eq!((PROGRAM_CONCURRENCY, SERVICE_CONCURRENCY), (4, 8));
    let expected = [
        ("main".into(), ReviewerKind::Command(main)),
        ("plain".into(), ReviewerKind::Command(plain)),
        ("real".into(), ReviewerKind::Program(claude)),
        ("cx".into(), ReviewerKind::Program(codex)),
        ("gm".into(), ReviewerKind::Program(ProgramReviewer::plain(&gemini::FACTS))),
        ("oc".into(), ReviewerKind::Program(ProgramReviewer::plain(&opencode::FACTS))),
        (
            "an".into(),
            ReviewerKind::Service(service(
                Api::Anthropic,
                Some(KeySource::File("~/k".into())),
                "claude-x",
                8192,
            )),
        ),
        (
            "oa".into(),
            ReviewerKind::Service(service(Api::OpenAi, Some(KeySource::Variable("K".into())), "gpt-x", 100)),
        ),
        ("rec".into(), ReviewerKind::Replay { file: "r/rulings.jsonl".into() }),
        ("me".into(), ReviewerKind::SelfReview),
        ("m".into(), ReviewerKind::Checks),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn each_setting_comes_from_the_strongest_file_that_gives_it() {
    let project = format!(
        "{RULES}policy:\n  max_attempts: 7\n  blocking: [{{from_round: 2, severity: may}}]\nlimits: {{prompt_bytes: 10}}\n"
    );
    let user = "policy:\n  max_attempts: 9\n  overrides: forbid\nlimits:\n  prompt_bytes: 11\n  reply_bytes: 12\n\
                reviewers: [{name: mine, use: self}]\n";
    let config = files(&project, user).unwrap();
    let expected = Policy {
        attempts: Attempts::AtMost(7),
        blocking: vec![Blocking { from_round: 2, severity: Severity::May }],
        overrides: Overrides::Forbid,
        ..Policy::default()
    };
    assert_eq!(config.policy, expected);
    assert_eq!(config.limits, Limits { prompt_bytes: 10, reply_bytes: 12, ..Limits::default() });
    assert_eq!(
        origins(&config),
        [
            "root = /p (default)",
            "config = countersign.yml (default)",
            "reviewers = [mine] (user /home/me/config.yml:7)",
            "reviewer = auto (default)",
            "agents_may_decide = false (default)",
            "policy.max_attempts = 7 (project countersign.yml:4)",
            "policy.blocking = [{from_round: 2, severity: may}] (project countersign.yml:5)",
            "policy.max_stalled_rounds = 3 (default)",
            "policy.reuse_days = 30 (default)",
            "policy.accept_bare_verdicts = false (default)",
            "policy.overrides = forbid (user /home/me/config.yml:3)",
            "policy.gate_files = person (default)",
            "policy.decisions = terminal (default)",
            "policy.budget_tokens = none (default)",
            "policy.budget_usd = none (default)",
            "policy.on_no_verdict = hold (default)",
            "policy.day_budget_tokens = none (default)",
            "policy.day_budget_usd = none (default)",
            "limits.max_inline_files = any number (default)",
            "limits.prompt_bytes = 10 (project countersign.yml:6)",
            "limits.reply_bytes = 12 (user /home/me/config.yml:6)",
            "limits.reviewers_at_once = 4 (default)",
            "limits.keep_contents_days = 30 (default)",
            "redaction.enabled = true (default)",
            "redaction.patterns = [] (default)",
            "qr.ceiling_rounds = 5 (default)",
            "qr.item_failures_max = 5 (default)",
            "qr.blocking = [{from_round: 1, severity: may}, {from_round: 3, severity: should}, {from_round: 5, severity: must}] (default)",
            "qr.state_dir = none (default)",
            "jobs.sees = given (default)",
            "review.enabled = true (default)",
            "review.command = /review-task (default)",
            "review.prompt = none (default)",
            "review.model = none (default)",
            "review.parser = none (default)",
            "review.parser_model = none (default)",
            "review.max_revisions = 3 (default)",
            "review.trigger = script_completion for tasks, session_idle for hooks (default)",
            "review.pipeline = two_call (default)",
            "context.task_definition = true (default)",
            "context.diff = true (default)",
            "context.tests = true (default)",
            "context.lint = false (default)",
            "context.session_log = false (default)",
            "commands.test = none (default)",
            "commands.lint = none (default)",
            "commands.setup = none (default)",
            "commands.keep = [node_modules, target, .venv], where the project has no files there (default)",
            "commands.tests_in = checkout (default)",
            "notify.enabled = true (default)",
            "notify.desktop = true (default)",
            "notify.bell = true (default)",
            "notify.sound_enabled = false (default)",
            "notify.sound_name = none (default)",
            "notify.on_review_failed = true (default)",
            "notify.on_person_needed = true (default)",
            "notify.on_no_verdict = true (default)",
            "notify.on_task_complete = false (default)",
            "notify.quiet_hours_start = none (default)",
            "notify.quiet_hours_end = none (default)",
            "notify.webhook = none (default)",
            "notify.command = none (default)",
        ]
    );
}

/// QR-12.
#[test]
fn qr_12_reviews_in_items_are_set_by_the_projects_file_alone() {
    use countersign_core::criterion::Severity;
    assert_eq!(files(RULES, "").unwrap().qr, Default::default());
    let written = "qr: {ceiling_rounds: 7, item_failures_max: 2, blocking: [{from_round: 2, severity: must}], state_dir: s}\n";
    let config = files(&format!("{RULES}{written}"), "").unwrap();
    let gate = &config.qr.gate;
    assert_eq!((gate.ceiling_rounds, gate.item_failures_max), (7, 2));
    assert_eq!((gate.threshold(1), gate.blocking.len()), (Severity::Must, 1));
    assert_eq!(config.qr.state_dir.as_deref(), Some(std::path::Path::new("s")));
    assert!(files(RULES, "qr: {ceiling_rounds: 7}\n").is_err());
    let twice = "qr: {blocking: [{from_round: 2, severity: must}, {from_round: 2, severity: may}]}\n";
    let problems = files(&format!("{RULES}{twice}"), "").unwrap_err();
    assert_eq!(problems.listed[0].code, "duplicate-round");
}

#[test]
fn only_the_users_own_file_lets_agents_decide() {
    assert!(!files(RULES, "").unwrap().agents_may_decide);
    let allowed = files(RULES, "agents_may_decide: true\n").unwrap();
    assert!(allowed.agents_may_decide);
    let origin = "agents_may_decide = true (user /home/me/config.yml:1)".to_owned();
    assert!(origins(&allowed).contains(&origin), "{:?}", origins(&allowed));
    let problems = files(&format!("{RULES}agents_may_decide: true\n"), "").unwrap_err();
    assert_eq!(problems.listed[0].message, "`agents_may_decide` cannot be in a project's file");
    assert!(files(RULES, "agents_may_decide: maybe\n").is_err());
    assert!(files(RULES, "agents_may_decide:\n").is_err());
}

#[test]
fn patterns_of_secrets_add_up() {
    let pattern = |name: &str| format!("patterns: [{{name: {name}, pattern: 'corp-[a-z0-9]{{20}}'}}]");
    let project = format!("{RULES}redaction: {{enabled: false, {}}}\n", pattern("ours"));
    let config = files(&project, &format!("redaction: {{{}}}\n", pattern("mine"))).unwrap();
    assert!(!config.redaction.enabled);
    let names: Vec<_> = config.redaction.patterns.iter().map(|pattern| pattern.name.as_str()).collect();
    assert_eq!(names, ["ours", "mine"]);
    let origin = "redaction.patterns = [ours, mine] (project countersign.yml:3)".to_owned();
    assert!(origins(&config).contains(&origin), "{:?}", origins(&config));
}

#[test]
fn the_projects_reviewers_replace_the_users() {
    let user = "reviewers: [{name: mine, use: self}]\n";
    let names = |project: &str| -> Vec<String> {
        files(project, user).unwrap().reviewers.into_iter().map(|reviewer| reviewer.name).collect()
    };
    assert_eq!(names(RULES), ["mine"]);
    assert_eq!(names(&format!("{RULES}reviewers: [{{name: ours, use: checks}}]\n")), ["ours"]);
    assert_eq!(names(&format!("{RULES}reviewers: []\n")), Vec::<String>::new());
}

#[test]
fn flags_win_over_the_environment() {
    let user = "reviewers: [{name: one, use: self}, {name: two, use: checks}]\n";
    let reviewer = |flag: Option<&str>, variable: Option<&str>| {
        let flags = Flags { reviewer: flag.map(Into::into), ..Flags::default() };
        let environment = Environment { reviewer: variable.map(Into::into), ..Environment::default() };
        layered(RULES, user, &flags, &environment).map(|config| {
            let origin =
                config.settings().iter().find(|s| s.name == "reviewer").map(|s| s.origin.to_string());
            (config.reviewer, origin.unwrap())
        })
    };
    let said = |flag, variable| reviewer(flag, variable).unwrap_err().to_string();
    assert_eq!(reviewer(None, None), Ok((None, "default".into())));
    assert_eq!(reviewer(Some("one"), Some("two")), Ok((Some("one".into()), "flag --reviewer".into())));
    assert_eq!(
        reviewer(None, Some("two")),
        Ok((Some("two".into()), "environment COUNTERSIGN_REVIEWER".into()))
    );
    assert_eq!(reviewer(Some("auto"), Some("two")), Ok((None, "flag --reviewer".into())));
    assert_eq!(reviewer(None, Some("")), Ok((None, "default".into())));
    assert_eq!(
        said(Some("oen"), None),
        "flag --reviewer:1:1: no reviewer is called `oen`\n  did you mean `one`?"
    );
    assert_eq!(
        said(None, Some("nobody")),
        "environment COUNTERSIGN_REVIEWER:1:1: no reviewer is called `nobody`\n  known: `one`, `two`; without configuration: claude, codex, gemini, opencode, command:PROGRAM, replay:FILE, self, checks"
    );
}

#[test]
fn the_users_file_has_no_rules_and_takes_no_program_from_the_project() {
    let said = |user: &str| files(RULES, user).unwrap_err().to_string().replace("/home/me/", "");
    assert_eq!(
        said("rules: []\n"),
        "config.yml:1:1: `rules` cannot be in the user's own file\n  rules belong in the project's countersign.yml"
    );
    assert_eq!(said("version: 2\n"), "config.yml:1:10: `version` must be the number 1, not 2");
    assert_eq!(
        said("reviewers: [{name: a, use: command, command: [./judge.sh]}]\n"),
        "config.yml:1:46: `./judge.sh` is a relative path, so the program would come from the project that is reviewed; write a full path, or only a program name"
    );
    assert_eq!(said("[\n"), "config.yml:1:1: unclosed bracket '['");
    for harmless in ["", "# nothing yet\n", "version: 1\n", "policy:\n"] {
        assert!(files(RULES, harmless).is_ok(), "{harmless}");
    }
}

#[test]
fn problems_of_both_files_come_together() {
    let problems = files("version: 1\nrules: 3\n", "policy: {max_attempts: 0}\n").unwrap_err().to_string();
    assert_eq!(
        problems,
        "/home/me/config.yml:1:24: `max_attempts` must be a whole number from 1 to 4294967295, not 0\n\
         countersign.yml:2:8: `rules` must be a list, not 3"
    );
}

/// SVC-5.
#[test]
fn svc_5_reviews_of_tasks_are_set_by_the_projects_file_alone() {
    let written = "review: {command: ' /mine ', model: m, max_revisions: 5, trigger: explicit, pipeline: structured}\n\
                   context: {tests: false, lint: true}\n\
                   commands: {test: ./t, setup: ' npm ci ', keep: [web/node_modules/, out], tests_in: worktree}\n";
    let service = read(format!("{RULES}{written}").as_str()).unwrap().service;
    assert_eq!((service.command.as_str(), service.model.as_deref()), ("/mine", Some("m")));
    assert_eq!((service.max_revisions, service.enabled), (5, true));
    assert_eq!((service.trigger, service.pipeline), (Trigger::Explicit, Pipeline::Structured));
    assert_eq!(service.context, ContextConfig { tests: false, lint: true, ..ContextConfig::default() });
    assert_eq!((service.test.as_deref(), service.lint), (Some("./t"), None));
    assert_eq!(service.commands.setup.as_deref(), Some("npm ci"));
    assert_eq!(service.commands.keep.unwrap(), ["web/node_modules", "out"]);
    assert_eq!(service.commands.tests_in, TestsIn::Worktree);
    for (wrong, words) in [
        ("review: {command: ' '}", "`command` is empty"),
        ("review: {command: /}", "`command` is empty"),
        ("review: {max_revisions: 0}", "`max_revisions` must be a whole number from 1"),
        ("review: {triger: explicit}", "unknown key `triger`"),
        ("commands: {test: ''}", "`test` is empty"),
        ("commands: {setup: ''}", "`setup` is empty"),
        ("commands: {keep: [../x]}", "`keep` cannot have `../x`: it must stay inside the project"),
        ("commands: {keep: ['out/*']}", "`keep` cannot have `out/*`: it is a path, not a pattern"),
        ("commands: {keep: out}", "`keep` must be a list"),
        ("commands: {tests_in: folder}", "tests_in"),
    ] {
        let problems = read(format!("{RULES}{wrong}\n").as_str()).unwrap_err().to_string();
        assert!(problems.contains(words), "{wrong}: {problems}");
    }
    assert!(
        files(RULES, "review: {enabled: false}\n").is_err(),
        "nobody switches a project's reviews off from home"
    );
}

#[test]
fn issue_20_what_is_excluded_everywhere_is_excluded_in_every_rule() {
    let rules = RULES.replace("rules:", "exclude: [\"vendor/**\"]\nrules:");
    let config = read(rules).unwrap();
    assert!(config.rules.iter().all(|rule| rule.exclude == ["vendor/**"]));
}

/// The names that source document 004 uses, beside ours.
#[test]
fn issue_19_the_documents_names_of_settings_are_spellings() {
    let rules = "version: 1\nrules: [{name: r, for: [a], criteria: [{name: A, ask: q}]}]\n";
    let documents = "include_task_definition: false, include_git_diff: false, include_test_results: false, \
        include_lint_results: true, include_session_log: true";
    let ours = "task_definition: false, diff: false, tests: false, lint: true, session_log: true";
    let review = "command: /look, max_revisions: 5, trigger: explicit";
    let expected = read(format!("{rules}review: {{{review}}}\ncontext: {{{ours}}}\n")).unwrap().service;
    assert_eq!((expected.max_revisions, expected.context.lint), (5, true));
    for text in [
        format!("review: {{{review}}}\ncontext: {{{documents}}}\n"),
        format!("review: {{{review}, context: {{{documents}}}}}\n"),
        format!("review: {{{review}, context: {{{ours}}}}}\n"),
    ] {
        let found = read(format!("{rules}{text}")).unwrap_or_else(|problems| panic!("{text}: {problems}"));
        assert_eq!(found.service, expected, "{text}");
    }
    for (text, says) in [
        ("context: {diff: true, include_git_diff: false}\n", "diff"),
        ("review: {context: {diff: true}}\ncontext: {diff: true}\n", "`context` is there twice"),
        ("context: {include_git_diffs: true}\n", "include_git_diffs"),
    ] {
        let problems = read(format!("{rules}{text}")).unwrap_err().to_string();
        assert!(problems.contains(says), "{text}: {problems}");
    }
}
