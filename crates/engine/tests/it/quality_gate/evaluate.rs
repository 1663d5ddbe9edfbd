//! 004.6, 004.8 and 004.9: one evaluation, its time, and reading a reply.

use super::*;
use countersign_engine::quality_gate::{QualityGateError, QualityGateResult};
use tokio::time::Instant;

#[tokio::test]
async fn req_004_6_1_no_criteria_pass_by_themselves() {
    let cli = Scripted::always(fail());
    let project = Project::typical();
    // 004.6.1: before the missing CLI is looked at (004.6.2), and nobody is asked.
    for gate in [blind_gate(), gate(&cli)] {
        let result = gate.evaluate(&[], &project.work, None).await.unwrap();
        let feedback = "No quality criteria defined - auto-passing".to_owned();
        assert_eq!(result, QualityGateResult { passed: true, feedback, criteria_results: vec![] });
        let none = StepReview { quality_criteria: vec![], ..review("step", None) };
        assert_eq!(gate.evaluate_reviews(&[none], &project.work).await.unwrap(), []);
    }
    assert!(cli.heard().is_empty());
}

#[tokio::test]
async fn req_004_6_2_without_a_cli_evaluating_is_an_error() {
    let error = blind_gate().evaluate(&criteria(), &Project::typical().work, None).await.unwrap_err();
    assert!(matches!(error, QualityGateError::NoCli));
    assert!(error.to_string().contains("no reviewer CLI"));
}

#[tokio::test]
async fn req_004_6_3_and_004_8_1_to_3_the_time_follows_the_number_of_files() {
    // 004.8.1 the base, 004.8.2 up to five files, 004.8.3 thirty seconds for each beyond.
    for (files, seconds) in [(0, 240), (1, 240), (5, 240), (6, 270), (25, 840)] {
        assert_eq!(QualityGate::compute_timeout(files).as_secs(), seconds, "{files} files");
        // 004.6.3: this is what the reviewer is given.
        let cli = Scripted::always(pass());
        gate(&cli).evaluate(&criteria(), &Project::many(files).work, None).await.unwrap();
        assert_eq!(cli.heard()[0].timeout.as_secs(), seconds, "{files} files");
    }
    // A review of single files has the time of one file each.
    let cli = Scripted::always(pass());
    gate(&cli).evaluate_reviews(&[review("docs", None)], &Project::many(7).work).await.unwrap();
    assert!(cli.heard().iter().all(|heard| heard.timeout.as_secs() == 240));
}

/// A reviewer that never answers.
struct Hanging;

impl ReviewerCli for Hanging {
    fn ask<'a>(&'a self, _: CliQuestion<'a>) -> Asked<'a> {
        Box::pin(std::future::pending())
    }
}

/// 004.6.3: the gate itself stops waiting. The clock is the test's: no time passes.
#[tokio::test(start_paused = true)]
async fn req_004_6_3_a_reviewer_that_hangs_is_an_error_when_its_time_is_up() {
    let project = Project::many(7);
    let gate = QualityGate::new(Some(Arc::new(Hanging)), None);
    let start = Instant::now();
    let error = gate.evaluate(&criteria(), &project.work, None).await.unwrap_err();
    assert_eq!(error.to_string(), "the reviewer CLI did not answer within 300 seconds");
    assert_eq!(start.elapsed().as_secs(), 300);
}

#[tokio::test]
async fn req_004_6_4_an_error_of_the_cli_is_an_error_of_the_gate() {
    let cli = Scripted::new(|_, _| Err(CliError::new("exit code 1: \u{1b}[31mno credit")));
    let error = gate(&cli).evaluate(&criteria(), &Project::typical().work, None).await.unwrap_err();
    assert!(matches!(error, QualityGateError::Cli(_)), "004.6.4");
    assert_eq!(error.to_string(), "the reviewer CLI failed: exit code 1: \\u{1b}[31mno credit");
    assert_eq!(cli.heard().len(), 1, "an error is not a reply that could be mended");
}

#[test]
fn req_004_9_1_to_5_reading_a_reply() {
    let parse = |value: Value| QualityGate::parse_result(&value);
    // 004.9.1: all three are taken as they are; reading does not judge.
    let read = parse(ruled(true, true, false)).unwrap();
    assert_eq!((read.passed, read.feedback.as_str(), read.criteria_results.len()), (true, "said", 2));
    assert_eq!(read.criteria_results[1].feedback.as_deref(), Some("hm"));
    assert_eq!(read.criteria_results[0].feedback, None);
    // 004.9.2, 004.9.3, 004.9.4: defaults.
    let feedback = "No feedback provided".to_owned();
    let nothing = QualityGateResult { passed: false, feedback, criteria_results: vec![] };
    assert_eq!(parse(json!({})).unwrap(), nothing);
    // 004.9.5
    for garbled in [
        json!(null),
        json!("passed"),
        json!([pass()]),
        json!({ "passed": "yes" }),
        json!({ "passed": true, "feedback": 1 }),
        json!({ "passed": true, "criteria_results": "all" }),
        json!({ "passed": true, "criteria_results": [{ "criterion": "Clear" }] }),
    ] {
        let error = parse(garbled.clone()).unwrap_err();
        assert!(matches!(error, QualityGateError::Uninterpretable(_)), "{garbled}: {error}");
    }
}
