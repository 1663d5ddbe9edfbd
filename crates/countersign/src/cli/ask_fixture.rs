//! The human gate alone, so that tests can drive it through a terminal. Debug builds only.

use super::Failure;
use crate::ask::{ask, go_on};
use crate::output::Answer;
use clap::Args;
use countersign_app::author::actor;
use countersign_core::criterion::Severity;
use countersign_core::outcome::Outcome;
use countersign_core::progress::Issue;
use countersign_doors::run::human::GateSummary;
use countersign_doors::run::run::PersonAnswer;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub struct AskFixtureOptions {
    /// What is asked about, as JSON
    pub file: PathBuf,
}

#[derive(Deserialize)]
struct Fixture {
    issues: Vec<(Severity, String, String)>,
    #[serde(default)]
    diff: String,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    go_on: bool,
    #[serde(default)]
    panics: bool,
}

pub async fn run(options: &AskFixtureOptions, cancel: &CancellationToken) -> Result<Answer, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let text = std::fs::read_to_string(&options.file).map_err(|error| failed(&error))?;
    let fixture: Fixture = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    if fixture.panics {
        let _screen = crate::terminal::Screen::open().map_err(|error| failed(&error))?;
        panic!("on purpose");
    }
    if fixture.go_on {
        let goes_on = go_on("TASK-003", "it\nfailed", cancel).await.map_err(|error| failed(&error))?;
        let text = format!("goes on: {goes_on}\n");
        return Ok(Answer::new(Outcome::Passed, text, json!({})));
    }
    let issue = |(severity, text, place)| Issue { severity, text, place: Some(place) };
    let shown = GateSummary {
        task: "TASK-003".into(),
        name: "Add API endpoints".into(),
        issues: fixture.issues.into_iter().map(issue).collect(),
        verdict: "REVIEW_FAILED".into(),
    };
    match ask(&shown, &fixture.diff, &fixture.files, cancel).await.map_err(|error| failed(&error))? {
        PersonAnswer::Decided((verb, reason)) => {
            let text = format!("said: {} by {}: {reason}\n", verb.name(), actor().words());
            Ok(Answer::new(Outcome::Passed, text, json!({})))
        }
        PersonAnswer::NotPresent => Ok(Answer::new(Outcome::AwaitingPerson, "said: nothing\n", json!({}))),
        PersonAnswer::Interrupted => Err(Failure::interrupted()),
    }
}
