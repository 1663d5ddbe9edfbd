//! 300 findings with hostile texts, held against each format.

use super::runner::commands;
use super::{FILE, OTHERS, many};
use countersign_testkit::Project;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// The same review in every format, each in a file.
fn written(project: &Project) {
    let files: Vec<String> =
        OTHERS.iter().map(|name| format!("{name}={}", project.home().join(name).display())).collect();
    let mut args = vec!["review", "--subject", "x"];
    files.iter().for_each(|file| args.extend(["--format", file]));
    project.run(&args).exits(1);
}

fn read(project: &Project, name: &str) -> String {
    fs::read_to_string(project.home().join(name)).unwrap()
}

#[track_caller]
fn fits(schema: &str, value: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn is_shown(text: &str) {
    let steering = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}')
    };
    assert_eq!(text.chars().find(|c| steering(*c)), None);
}

#[test]
fn issue_20_300_findings_in_every_format() {
    let (project, _judge) = many();
    written(&project);
    for name in OTHERS {
        is_shown(&read(&project, name));
    }
    let sarif: Value = serde_json::from_str(&read(&project, "sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 300);
    let hashes: BTreeSet<String> = results
        .iter()
        .map(|result| result["partialFingerprints"]["primaryLocationLineHash"].to_string())
        .collect();
    assert_eq!(hashes.len(), 300, "every finding has a fingerprint of its own");
    let count = |level: &str| results.iter().filter(|result| result["level"] == level).count();
    assert_eq!((count("error"), count("warning"), count("note")), (200, 0, 100));
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], "docs/Clear <b>");
    assert!(rule["help"]["text"].as_str().unwrap().starts_with("Is it <b>clear</b>?"), "{rule}");
    let uri = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(!uri.as_str().unwrap().contains([' ', ':', '%', '<']) || uri.as_str().unwrap().contains("%20"));

    let gitlab: Value = serde_json::from_str(&read(&project, "gitlab")).unwrap();
    fits(include_str!("schemas/gitlab.json"), &gitlab);
    assert_eq!(gitlab.as_array().unwrap().len(), 300);
    let severities: BTreeSet<&str> =
        gitlab.as_array().unwrap().iter().filter_map(|entry| entry["severity"].as_str()).collect();
    assert_eq!(severities, ["critical", "info", "major"].into());

    let rdjson: Value = serde_json::from_str(&read(&project, "rdjson")).unwrap();
    fits(include_str!("schemas/rdjson.json"), &rdjson);
    assert_eq!(rdjson["diagnostics"].as_array().unwrap().len(), 300);
    assert_eq!(rdjson["diagnostics"][0]["location"]["path"], FILE);

    let junit = read(&project, "junit");
    assert!(junit.contains("tests=\"301\" failures=\"201\" errors=\"0\" skipped=\"0\""), "{}", &junit[..200]);
    assert!(!junit.contains("]]>") && !junit.contains("name=\"forged\""));

    let markdown = read(&project, "markdown");
    assert!(
        markdown.starts_with("<!-- countersign:. -->\n### ❌ Countersign: needs work"),
        "{}",
        &markdown[..200]
    );
    assert!(markdown.len() <= 60_000 && markdown.contains("more are not shown here"), "{}", markdown.len());
    let markdown = markdown.replace("\\<", "").replace("\\]", "");
    for forged in ["<script", "<!-- countersign:forged", "](https", "@octocat", "https://"] {
        assert!(!markdown.contains(forged), "{forged}");
    }
}

#[test]
fn issue_20_a_log_on_github_has_our_commands_and_no_others() {
    let (project, _judge) = many();
    let mut command = project.command(&["review", "--format", "github"]);
    let ran = command.env("GITHUB_ACTIONS", "true").output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let log = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    let found = commands(&log);
    let count = |name: &str| found.iter().filter(|command| command.name == name).count();
    assert_eq!((count("error"), count("warning"), count("notice")), (10, 0, 10), "what a step shows");
    assert_eq!(found.len(), 20, "{found:?}");
    assert_eq!(found[0].properties["title"], "countersign");
    assert!(found[0].data.contains("281 more are not shown"), "{}", found[0].data);
    assert_eq!(found[1].properties["file"], FILE);
    assert_eq!(found[1].properties["line"], "1");
    // The same as text has none at all.
    let ran = project.command(&["review"]).env("GITHUB_ACTIONS", "true").output().unwrap();
    let log = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(log.contains("forged"));
    assert_eq!(commands(&log), []);
}

#[test]
fn issue_20_fingerprints_stay_when_lines_move() {
    let (project, _judge) = many();
    let hashes = |n: usize| -> BTreeSet<String> {
        let file = project.home().join("s.sarif");
        project
            .run(&["review", "--subject", &n.to_string(), "--format", &format!("sarif={}", file.display())])
            .exits(1);
        let sarif: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        results.iter().map(|result| result["partialFingerprints"].to_string()).collect()
    };
    let before = hashes(1);
    let moved = format!("\n\n{}", project.read(FILE));
    project.write(FILE, moved);
    // The reviewer names the same lines at their new place.
    let reply = project.read(".reply");
    let mut reply: Value = serde_json::from_str(&reply).unwrap();
    for result in reply["criteria_results"].as_array_mut().unwrap() {
        for finding in result["findings"].as_array_mut().unwrap() {
            let line = finding["line"].as_u64().unwrap();
            finding["line"] = json!(line + 2);
        }
    }
    project.write(".reply", reply.to_string());
    assert_eq!(before, hashes(2));
}
