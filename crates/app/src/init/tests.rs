//! Projects as lists of files, what is found in them, and the file that follows.

use super::compose::{Reviewer, compose};
use super::detect::{DetectedProject, detect};
use super::{hold, patterns};
use countersign_core::plan::glob_set;
use std::path::Path;

const MANIFESTS: &[(&str, &str)] = &[
    ("package.json", r#"{"scripts": {"test": "vitest run", "lint": "eslint ."}}"#),
    ("new/package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#),
    ("pyproject.toml", "[project]\nname = \"x\"\n[tool.ruff]\nline-length = 100\n"),
    ("Makefile", "CC := cc\n.PHONY: lint test\nall test: x\n\tlint: no\n"),
    ("odd dir/go.mod", "module x\n"),
];

fn files(names: &str) -> Vec<String> {
    names.split_whitespace().map(|name| name.replace('~', " ")).collect()
}

fn found(names: &str) -> DetectedProject {
    let manifest = |path: &str| {
        let known = MANIFESTS.iter().find(|(name, _)| *name == path);
        known.map(|(_, text)| (*text).to_owned())
    };
    detect(&files(names), &manifest)
}

#[test]
fn commands_follow_from_files() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("", &[], &[]),
        ("README.md LICENSE", &[], &[]),
        ("Cargo.toml src/a.rs", &["Rust"], &["cargo test", "cargo clippy --all-targets -- -D warnings"]),
        ("package.json a.js", &["JavaScript"], &["npm test", "npm run lint"]),
        ("new/package.json", &["JavaScript"], &[]),
        ("pyproject.toml a.py", &["Python"], &["pytest", "ruff check ."]),
        ("pytest.ini", &["Python"], &["pytest"]),
        ("requirements.txt a.py", &["Python"], &[]),
        ("requirements.txt tests/test_a.py", &["Python"], &["pytest"]),
        ("package.json tsconfig.json a.ts", &["JavaScript", "TypeScript"], &["npm test", "npm run lint"]),
        (
            "new/package.json new/tsconfig.json",
            &["JavaScript", "TypeScript"],
            &["cd new && npx --no-install tsc --noEmit"],
        ),
        ("main.tf", &["Terraform"], &["terraform fmt -check -recursive"]),
        ("api/openapi.yaml", &["OpenAPI"], &[]),
        ("mkdocs.yml docs/a.md", &["MkDocs"], &["mkdocs build --strict -q -d \"$(mktemp -d)\""]),
        ("go.mod main.go", &["Go"], &["go test ./...", "go vet ./..."]),
        ("Makefile", &["Make"], &["make test"]),
        ("a/b/go.mod a/go.mod", &["Go"], &["cd a && go test ./...", "cd a && go vet ./..."]),
        ("odd~dir/go.mod", &["Go"], &[]),
        ("vendor/x/go.mod node_modules/y/package.json", &[], &[]),
        (
            "Cargo.toml go.mod",
            &["Rust", "Go"],
            &["cargo test", "cargo clippy --all-targets -- -D warnings", "go test ./...", "go vet ./..."],
        ),
    ];
    for (names, languages, commands) in table {
        let found = found(names);
        assert_eq!(found.languages.iter().map(|one| one.name).collect::<Vec<_>>(), *languages, "{names}");
        assert_eq!(
            found.commands.iter().map(|one| one.command.as_str()).collect::<Vec<_>>(),
            *commands,
            "{names}"
        );
    }
}

#[test]
fn patterns_go_around_what_is_foreign() {
    type Of = fn(DetectedProject) -> Vec<String>;
    let table: &[(Of, &str, &[&str])] = &[
        (|found| found.json, "", &[]),
        (|found| found.json, "a.md tsconfig.json", &[]),
        (|found| found.json, "a.json b/c.json", &["**/*.json"]),
        (|found| found.json, "a.json tsconfig.json data/b.json", &["a.json", "data/**/*.json"]),
        (|found| found.json, "a.json tests/bad.json data/b.json", &["*.json", "data/**/*.json"]),
        (|found| found.json, "p/a/x.json p/b/fixtures/y.json p/b/z.json", &["p/a/**/*.json", "p/b/*.json"]),
        (|found| found.yaml, "a.yml b.yaml chart/templates/c.yaml", &["*.{yaml,yml}"]),
        (|found| found.documents, "README.md docs/a.md vendor/x/README.md", &["*.md", "docs/**/*.md"]),
        (|found| found.documents, "a.md b[1].md", &["**/*.md"]),
        (|found| found.documents, "vendor/a.md b[1].md", &["*.md"]),
        (|found| found.json, "tsconfig.json b[1].json {x}/!a.json", &["b?1?.json", "?x?/**/*.json"]),
        (|found| found.code, "a.rs tests/b.rs x.png", &["**/*.rs"]),
        (|found| found.json, "a.ipynb b.md", &["**/*.ipynb"]),
        (|found| found.text, "a.rs tests/b.md LICENSE", &["**/*.{md,rs}"]),
    ];
    for (kind, names, expected) in table {
        assert_eq!(kind(patterns::found(&files(names))), *expected, "{names}");
    }
    let many: String = (0..60).map(|i| format!("p{i}/a.json p{i}/tests/b.json ")).collect();
    assert_eq!(patterns::found(&files(&many)).json, ["**/*.json"]);
}

/// Every suggestion switched on: all `#` removed.
fn switched_on(text: &str) -> String {
    let on = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with("  ") || !rest.starts_with(' ') => rest.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(|line| on(line) + "\n").collect()
}

const PROJECTS: &[&str] = &[
    "",
    "LICENSE logo.png",
    "README.md docs/a.md",
    "Cargo.toml README.md src/main.rs",
    "package.json tsconfig.json src/a.ts src/b.tsx",
    "pyproject.toml docs/guide.md app/a.py tests/test_a.py config/x.yml config/x.yaml",
    "odd~dir/go.mod odd~dir/main.go it's.md \"quoted\".md b[1].md {x}.json ünï/ä.yml",
    "Makefile tests/bad.json vendor/x.md",
];

#[test]
fn every_file_loads_and_so_do_its_suggestions() {
    let reviewers = [
        None,
        Some(Reviewer::Command(vec!["./my judge.sh".into(), "--model=\"x\"".into(), "a: #b".into()])),
        Some(Reviewer::Replay("rulings.jsonl".into())),
        Some(Reviewer::SelfReview),
    ];
    for names in PROJECTS {
        for reviewer in &reviewers {
            let text = compose(&found(names), reviewer.as_ref(), &[]);
            for text in [switched_on(&text), text] {
                let config = hold(Path::new("/p/countersign.yml"), &text, &files(names));
                let config = config.unwrap_or_else(|failure| panic!("{names}\n{failure:#?}\n{text}"));
                assert!(text.lines().all(|line| line.trim_end() == line && line.len() <= 200), "{text}");
                assert!(config.rules.iter().all(|rule| !rule.criteria.is_empty()));
            }
        }
        let on = switched_on(&compose(&found(names), None, &[]));
        let config = hold(Path::new("/p/countersign.yml"), &on, &files(names)).unwrap();
        assert_eq!(config.reviewers.len(), 1, "{on}");
        assert!(config.rules.iter().any(|rule| rule.name == "change"), "{on}");
    }
}

#[test]
fn no_rule_is_for_what_is_foreign() {
    let names = "Makefile tests/bad.json vendor/x.md a.json";
    let config =
        hold(Path::new("/p/countersign.yml"), &compose(&found(names), None, &[]), &files(names)).unwrap();
    let patterns: Vec<String> = config
        .rules
        .iter()
        .filter(|rule| rule.name != "text")
        .flat_map(|rule| match &rule.scope {
            countersign_core::rule::Scope::Files { patterns, .. } => patterns.clone(),
            _ => vec![],
        })
        .collect();
    let set = glob_set(&patterns).unwrap();
    assert!(set.is_match("a.json") && !set.is_match("tests/bad.json") && !set.is_match("vendor/x.md"));
}

#[test]
fn the_file_reads_well() {
    insta::assert_snapshot!("rust", compose(&found("Cargo.toml README.md docs/a.md src/main.rs"), None, &[]));
    insta::assert_snapshot!("empty", compose(&found(""), None, &[]));
    let python = found("pyproject.toml README.md app/a.py tests/test_a.py tests/bad.json data/a.json x.yml");
    let reviewer = Reviewer::Command(vec!["./judge.sh".into(), "--strict".into()]);
    insta::assert_snapshot!("python_with_a_reviewer", compose(&python, Some(&reviewer), &[]));
    insta::assert_snapshot!("documents", compose(&found("README.md guide/a.md"), None, &[]));
}

/// Issue 20: every pack is a rule that can be used, with 5 to 8 criteria, and with pairs of cases about them.
#[test]
fn issue_20_packs_are_rules_with_cases() {
    let names = "src/a.rs README.md docs/spec/a.md db/migrations/1.sql api/openapi.yaml";
    let mut ids = std::collections::BTreeSet::new();
    for pack in &super::packs::PACKS {
        let packed = pack.for_files(&found(names), &files(names)).unwrap();
        let text = compose(&found(names), Some(&Reviewer::SelfReview), &[packed]);
        let config = hold(Path::new("/p/countersign.yml"), &text, &files(names)).unwrap();
        let rule = config.rules.iter().find(|rule| rule.name == pack.name).unwrap();
        assert!((5..=8).contains(&rule.criteria.len()), "{}", pack.name);
        let criteria: Vec<&str> = rule.criteria.iter().map(|criterion| criterion.name.as_str()).collect();
        let cases: Vec<serde_json::Value> =
            pack.cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(cases.len() >= 6, "{}", pack.name);
        for pair in cases.chunks(2) {
            let [bad, ok] = pair else { panic!("{}: a case without its twin", pack.name) };
            assert_eq!(
                (bad["label"]["met"].as_bool(), ok["label"]["met"].as_bool()),
                (Some(false), Some(true))
            );
            for same in ["v", "kind", "criterion", "split", "source", "pair"] {
                assert!(!bad[same].is_null() && bad[same] == ok[same], "{same} of {}", bad["id"]);
            }
            assert_ne!(bad["files"], ok["files"]);
            assert!(criteria.contains(&bad["criterion"].as_str().unwrap()), "{}", bad["id"]);
            assert!([bad, ok].iter().all(|case| ids.insert(case["id"].to_string())));
        }
    }
    let nothing = super::packs::pack("api").unwrap().for_files(&found("a.rs"), &files("a.rs"));
    assert!(nothing.err().unwrap().contains("no file of that kind"));
}
