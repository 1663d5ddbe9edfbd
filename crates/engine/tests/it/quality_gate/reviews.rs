//! 004.7: all reviews of a step.

use super::*;
use countersign_engine::quality_gate::{QualityGateError, ReviewResult};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Barrier;

fn about(results: &[ReviewResult]) -> Vec<(&str, Option<&str>)> {
    results.iter().map(|result| (result.review_run_each.as_str(), result.target_file.as_deref())).collect()
}

#[tokio::test]
async fn req_004_7_1_to_5_every_review_on_every_target() {
    let cli = Scripted::always(fail());
    let project = Project::typical();
    // 004.7.2
    assert_eq!(gate(&cli).evaluate_reviews(&[], &project.work).await.unwrap(), []);
    assert_eq!(blind_gate().evaluate_reviews(&[], &project.work).await.unwrap(), []);
    assert!(cli.heard().is_empty());
    // 004.7.1: all of them.
    let reviews = [review("step", None), review("docs", None), review("plan", None)];
    let failed = gate(&cli).evaluate_reviews(&reviews, &project.work).await.unwrap();
    let expected = [("step", None), ("docs", Some("docs/a.md")), ("docs", Some("docs/b.md")), ("plan", None)];
    assert_eq!(about(&failed), expected);
    let files = |heard: &ParsedOutput| {
        let headers = heard.payload.lines().filter_map(|line| line.strip_prefix("-------------------- "));
        headers.map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut shown: Vec<_> = cli.heard().iter().map(files).collect();
    shown.sort();
    // 004.7.3 the step once over all, 004.7.4 each file of `docs`, 004.7.5 the file of `plan` once.
    let each =
        [vec!["docs/a.md"], vec!["docs/a.md", "docs/b.md", "plan.md"], vec!["docs/b.md"], vec!["plan.md"]];
    assert_eq!(shown, each);
}

/// Answers only when this many questions have been asked: one by one they would never be answered.
struct Meeting {
    barrier: Barrier,
}

impl ReviewerCli for Meeting {
    fn ask<'a>(&'a self, _: CliQuestion<'a>) -> Asked<'a> {
        Box::pin(async move {
            self.barrier.wait().await;
            Ok(fail())
        })
    }
}

/// 004.7.6. The clock is the test's, so that questions asked one by one end as timeouts and not as a hung test.
#[tokio::test(start_paused = true)]
async fn req_004_7_6_all_evaluations_run_concurrently() {
    let cli = Arc::new(Meeting { barrier: Barrier::new(21) });
    let gate = QualityGate::new(Some(cli), None);
    let reviews = [review("docs", None), review("step", None)];
    let project = Project::many(20);
    // In a task of its own, as a server would: the future can be sent.
    let running = tokio::spawn(async move { gate.evaluate_reviews(&reviews, &project.work).await });
    assert_eq!(running.await.unwrap().unwrap().len(), 21);
}

#[tokio::test]
async fn req_004_7_7_only_failed_reviews_come_back() {
    let cli = Scripted::new(|_, heard| Ok(if heard.payload.contains("bbb") { fail() } else { pass() }));
    let project = Project::typical();
    let reviews = [review("plan", None), review("docs", None)];
    let failed = gate(&cli).evaluate_reviews(&reviews, &project.work).await.unwrap();
    assert_eq!(about(&failed), [("docs", Some("docs/b.md"))], "004.7.7");
    let failed = serde_json::to_value(&failed[0]).unwrap();
    assert_eq!(
        failed,
        json!({ "review_run_each": "docs", "target_file": "docs/b.md", "passed": false, "feedback": "said",
            "criteria_results": fail()["criteria_results"] })
    );
    let all_pass = gate(&Scripted::always(pass())).evaluate_reviews(&reviews, &project.work).await.unwrap();
    assert_eq!(all_pass, []);
}

#[tokio::test]
async fn req_004_7_8_the_guidance_of_a_review_reaches_its_own_evaluations() {
    let cli = Scripted::always(pass());
    let reviews = [review("docs", Some("Mind the docs.")), review("plan", Some("Mind the plan."))];
    gate(&cli).evaluate_reviews(&reviews, &Project::typical().work).await.unwrap();
    let heard = cli.heard();
    assert_eq!(heard.len(), 3);
    for heard in heard {
        let of_plan = heard.payload.contains("the plan");
        assert_eq!(heard.system_prompt.contains("Mind the plan."), of_plan, "004.7.8");
        assert_eq!(heard.system_prompt.contains("Mind the docs."), !of_plan, "004.7.8");
    }
}

#[tokio::test]
async fn a_review_of_nothing_there_is_is_an_error_before_anybody_is_asked() {
    let cli = Scripted::always(pass());
    let project = Project::typical();
    for quality_criteria in [criteria(), vec![]] {
        let unknown = StepReview { quality_criteria, ..review("docz", None) };
        let reviews = [review("step", None), unknown];
        let error = gate(&cli).evaluate_reviews(&reviews, &project.work).await.unwrap_err();
        let words = "`run_each: docz` is neither `step` nor an output; outputs: docs, plan";
        assert_eq!(error.to_string(), words);
    }
    assert!(cli.heard().is_empty());
}

#[tokio::test]
async fn a_declared_output_without_files_has_nothing_to_evaluate() {
    let mut project = Project::typical().named("docs", OutputKind::Files, OutputValue::Files(vec![]));
    project.work.output_specs.insert("extra".into(), OutputKind::File);
    let cli = Scripted::always(fail());
    let reviews = [review("docs", None), review("extra", None)];
    assert_eq!(gate(&cli).evaluate_reviews(&reviews, &project.work).await.unwrap(), []);
    assert!(cli.heard().is_empty());
}

#[tokio::test]
async fn an_error_loses_no_verdict() {
    let cli = Scripted::new(|_, heard| match &heard.payload {
        payload if payload.contains("aaa") => Err(CliError::new("gone")),
        payload if payload.contains("bbb") => Ok(fail()),
        _ => Ok(pass()),
    });
    let reviews = [review("docs", None), review("plan", None)];
    let error = gate(&cli).evaluate_reviews(&reviews, &Project::typical().work).await.unwrap_err();
    let words = "evaluations without a verdict: 1 of 3: docs/a.md: the reviewer CLI failed: gone";
    assert_eq!(error.to_string(), words);
    let QualityGateError::Unfinished(unfinished) = error else { panic!("{error}") };
    assert_eq!(about(&unfinished.verdicts), [("docs", Some("docs/b.md")), ("plan", None)]);
    let failed: Vec<_> = unfinished.failed().cloned().collect();
    assert_eq!(about(&failed), [("docs", Some("docs/b.md"))]);
    let unanswered = &unfinished.unanswered[0];
    assert_eq!(unanswered.target_file.as_deref(), Some("docs/a.md"));
    assert!(matches!(unanswered.error, QualityGateError::Cli(_)));
}

/// Passes everything, and edits the plan while it is asked.
struct Editing(std::path::PathBuf);

impl ReviewerCli for Editing {
    fn ask<'a>(&'a self, _: CliQuestion<'a>) -> Asked<'a> {
        std::fs::write(&self.0, "another plan").unwrap();
        Box::pin(async { Ok(pass()) })
    }
}

/// As in every door: an answer is about the bytes that were looked at.
#[tokio::test]
async fn issue_15_what_changes_while_it_is_judged_has_no_verdict() {
    let project = Project::typical();
    let cli = Arc::new(Editing(project.folder.path().join("plan.md")));
    let gate = QualityGate::new(Some(cli), None);
    let error = gate.evaluate_reviews(&[review("docs", None)], &project.work).await.unwrap_err();
    let QualityGateError::Unfinished(unfinished) = error else { panic!("{error}") };
    assert_eq!((unfinished.verdicts.len(), unfinished.unanswered.len()), (0, 2));
    project.write("plan.md", "the plan\n");
    let error = gate.evaluate(&criteria(), &project.work, None).await.unwrap_err();
    assert!(matches!(error, QualityGateError::NoVerdict(_)), "{error}");
}

/// Counts the questions asked and those under way; none is ever answered.
#[derive(Default)]
struct Counting {
    asked: AtomicUsize,
    under_way: AtomicUsize,
}

impl Counting {
    fn counts(&self) -> (usize, usize) {
        (self.asked.load(Ordering::SeqCst), self.under_way.load(Ordering::SeqCst))
    }
}

struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ReviewerCli for Counting {
    fn ask<'a>(&'a self, _: CliQuestion<'a>) -> Asked<'a> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.under_way.fetch_add(1, Ordering::SeqCst);
            let _under_way = UnderWay(&self.under_way);
            std::future::pending().await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_on_after_the_end() {
    let cli = Arc::new(Counting::default());
    let gate = QualityGate::new(Some(cli.clone()), None);
    let project = Project::typical();
    let reviews = [review("docs", None)];
    // The caller gives up.
    let given_up = gate.evaluate_reviews(&reviews, &project.work);
    assert!(tokio::time::timeout(Duration::from_secs(10), given_up).await.is_err());
    assert_eq!(cli.counts(), (2, 0));
    // Every evaluation runs out of time, at the same time.
    let error = gate.evaluate_reviews(&reviews, &project.work).await.unwrap_err();
    assert!(error.to_string().starts_with("evaluations without a verdict: 2 of 2"), "{error}");
    assert_eq!(cli.counts(), (4, 0));
}
