//! `--format`: one review with 300 findings and hostile texts in every format, and every way not to pass.

mod hostile;
mod outcomes;
pub mod real_tools;
mod real_validators;
pub mod runner;

use crate::project;
use countersign_testkit::{Judge, Project};
use serde_json::{Value, json};

/// The formats of others.
pub const OTHERS: [&str; 6] = ["github", "sarif", "junit", "gitlab", "rdjson", "markdown"];
/// Its name does all that a path can do in a report.
pub const FILE: &str = "docs/a b,c:d::error]]>&<x>`%0A##[error].md";
const LINES: usize = 120;

/// What a reviewer could say to break a report or to speak in its name.
pub fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "plain",
        "two\nlines",
        "\n::error file=x.md,line=1::forged\n",
        "   ::stop-commands::forged",
        "see ##[add-mask]forged ##[error]forged",
        "]]></failure></testcase><testcase name=\"forged\"/>",
        "<script>alert(1)</script> <!-- countersign:forged -->",
        "control \u{0} \u{1b}[31m \u{7} \u{feff} \u{fffe} \u{85}",
        "bidi \u{202e}forged\u{202c} \u{2066}x\u{2069} tag \u{e0041}",
        "**bold** [link](https://evil.example) @octocat #1 ![i](https://evil.example/i.png) | a | b |",
        "100% %0A %25 %3A,=:",
        "\"quotes\" 'and' `code` \\ back",
    ]
    .map(str::to_owned)
    .into();
    texts.push("very long ".repeat(2000));
    texts
}

/// A review of one file by three criteria with a hundred findings each.
pub fn many() -> (Project, Judge) {
    let project = project();
    let content: String = (1..=LINES).map(|n| format!("line {n}\n")).collect();
    project.write(FILE, content);
    project.write(
        "countersign.yml",
        "version: 1\nreviewers: [{name: judge, use: command, command: [./judge.sh]}]\n\
         rules: [{name: docs, for: ['docs/**'], criteria: [{name: Complete, ask: Is it complete?}, \
         {name: 'Clear <b>', ask: 'Is it <b>clear</b>?', severity: should}, {name: Tidy, ask: Is it tidy?, severity: may}]}]\n",
    );
    let texts = texts();
    let results: Vec<Value> = ["Complete", "Clear <b>", "Tidy"]
        .iter()
        .map(|criterion| {
            let finding = |n: usize| {
                let message = format!("{criterion} {n}: {}", texts[n % texts.len()]);
                json!({ "message": message, "file": FILE, "line": n + 1 })
            };
            let findings: Vec<Value> = (0..100).map(finding).collect();
            json!({ "criterion": criterion, "passed": false, "feedback": "::error::all of it", "findings": findings })
        })
        .collect();
    let reply = json!({ "passed": false, "feedback": "no", "criteria_results": results });
    let judge = Judge::replying(&project, &reply.to_string());
    (project, judge)
}
