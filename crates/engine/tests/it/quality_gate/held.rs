//! A reply is held against the criteria: the verdict is computed, and what cannot be used is asked again once.

use super::*;
use countersign_engine::quality_gate::{QualityGateError, QualityGateResult};

async fn evaluated(cli: &Arc<Scripted>) -> Result<QualityGateResult, QualityGateError> {
    gate(cli).evaluate(&criteria(), &Project::typical().work, None).await
}

#[tokio::test]
async fn a_valid_reply_is_the_verdict_in_the_order_of_the_criteria() {
    let cli = Scripted::always(json!({ "passed": false, "feedback": "no", "criteria_results": [
        { "criterion": "**clear:**", "passed": false, "feedback": "line 3" },
        { "criterion": "Complete", "passed": true },
    ]}));
    let result = evaluated(&cli).await.unwrap();
    let seen: Vec<_> = result
        .criteria_results
        .iter()
        .map(|r| (r.criterion.as_str(), r.passed, r.feedback.as_deref()))
        .collect();
    assert_eq!(seen, [("Complete", true, None), ("Clear", false, Some("line 3"))]);
    assert!(!result.passed);
    assert!(evaluated(&Scripted::always(pass())).await.unwrap().passed);
}

#[tokio::test]
async fn a_reply_that_fails_without_rulings_is_a_failed_review() {
    // Without `passed` it breaks the schema (004.2.5): it is asked for once more, and then has the default (004.9.2).
    for (reply, asked) in
        [(json!({ "passed": false, "feedback": "no" }), 1), (json!({ "feedback": "no" }), 2)]
    {
        let cli = Scripted::always(reply);
        let result = evaluated(&cli).await.unwrap();
        assert_eq!((result.passed, result.feedback.as_str()), (false, "no"));
        assert_eq!((result.criteria_results.len(), cli.heard().len()), (0, asked));
    }
}

#[tokio::test]
async fn what_cannot_be_used_is_asked_again_once_with_the_defect_named() {
    let one = |name: &str| json!({ "criterion": name, "passed": true });
    let with = |results: Vec<Value>| json!({ "passed": true, "feedback": "f", "criteria_results": results });
    for (reply, defect) in [
        (ruled(true, true, false), "`passed` is true, and criterion 'Clear' failed"),
        (ruled(false, true, true), "`passed` is false, and every criterion passed"),
        (json!({ "passed": true, "feedback": "fine" }), "criterion 'Complete' is not answered"),
        (with(vec![one("Complete")]), "criterion 'Clear' is not answered"),
        (with(vec![one("Complete"), one("Clear"), one("Nice")]), "criterion 'Nice' was not asked"),
        (with(vec![one("Complete"), one("Clear"), one("Clear")]), "criterion 'Clear' is answered twice"),
        (json!("fine"), "the reply is not a JSON object"),
    ] {
        let first = reply.clone();
        let mended = Scripted::new(move |n, _| Ok(if n == 0 { first.clone() } else { fail() }));
        assert!(!evaluated(&mended).await.unwrap().passed);
        let heard = mended.heard();
        assert_eq!(heard.len(), 2, "{defect}");
        assert!(!heard[0].system_prompt.contains(defect));
        assert!(heard[1].system_prompt.starts_with(&heard[0].system_prompt));
        assert!(heard[1].system_prompt.contains(defect), "{defect}");
        assert_eq!(heard[1].payload, heard[0].payload);

        let never = Scripted::always(reply);
        let error = evaluated(&never).await.unwrap_err();
        assert!(matches!(error, QualityGateError::Unusable(_)), "{error}");
        assert!(error.to_string().ends_with(defect), "{error}");
        assert_eq!(never.heard().len(), 2, "{defect}");
    }
}

#[tokio::test]
async fn two_criteria_of_one_name_are_an_error_before_anybody_is_asked() {
    let cli = Scripted::always(pass());
    let mut doubled = review("step", None);
    doubled.quality_criteria.push(("**clear**".into(), "?".into()));
    let project = Project::typical();
    let one = gate(&cli).evaluate(&doubled.quality_criteria, &project.work, None).await.unwrap_err();
    assert_eq!(one.to_string(), "criteria 'Clear' and '**clear**' have the same name");
    let reviews = [review("plan", None), doubled];
    let all = gate(&cli).evaluate_reviews(&reviews, &project.work).await.unwrap_err();
    assert!(matches!(all, QualityGateError::DoubledCriterion { .. }));
    assert!(cli.heard().is_empty());
}
