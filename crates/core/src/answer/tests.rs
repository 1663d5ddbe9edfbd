//! The table of replies: what each leads to, and that none is an unearned pass.

use super::*;
use crate::criterion::Severity;
use proptest::prelude::*;

/// A reply as the engine reads it.
fn read(reply: &[u8]) -> Result<Reply, Defect> {
    interpret(&read_value(reply)?)
}

fn criteria() -> Vec<Criterion> {
    vec![
        Criterion::must("Complete", "?"),
        Criterion { severity: Severity::May, ..Criterion::must("Clear", "?") },
    ]
}

/// What a reply leads to, in one word.
fn judge(reply: &str, accept_bare: bool) -> String {
    let criteria = criteria();
    let criteria: Vec<&Criterion> = criteria.iter().collect();
    match read(reply.as_bytes()).and_then(|reply| rule(reply, &criteria, accept_bare)) {
        Ok(Answer { bare: Some(passed), .. }) => format!("bare {passed}"),
        Ok(Answer { rulings, .. }) => match rulings.iter().all(|ruling| ruling.passed) {
            true => "pass".to_owned(),
            false => "fail".to_owned(),
        },
        Err(defect) => format!("{}: {defect}", defect.why().name()),
    }
}

fn reply(passed: &str, complete: &str, clear: &str) -> String {
    format!(
        r#"{{"passed": {passed}, "feedback": "f", "criteria_results": [
            {{"criterion": "Complete", "passed": {complete}}}, {{"criterion": "Clear", "passed": {clear}, "feedback": null}}]}}"#
    )
}

/// Promise 1, 004.9.5, JOBS-6 (a contradiction is detected and leads to no verdict).
#[test]
fn jobs_6_table_of_replies() {
    let valid = reply("true", "true", "true");
    let one = r#"{"criterion": "Complete", "passed": true}"#;
    let two = r#"{"criterion": "**Clear:**", "passed": true}"#;
    let with =
        |results: &str| format!(r#"{{"passed": true, "feedback": "f", "criteria_results": [{results}]}}"#);
    let deep =
        format!(r#"{{"passed": true, "feedback": "f", "x": {}1{}}}"#, "[".repeat(500), "]".repeat(500));
    let table: Vec<(String, &str)> = vec![
        (valid.clone(), "pass"),
        (reply("false", "false", "true"), "fail"),
        (reply("false", "true", "false"), "fail"),
        (reply("true", "true", "false"), "contradictory: `passed` is true, and criterion 'Clear' failed"),
        (reply("false", "true", "true"), "contradictory: `passed` is false, and every criterion passed"),
        (with(&format!("{one}, {two}")), "pass"),
        (with(one), "garbled: criterion 'Clear' is not answered"),
        (with(&format!(r#"{one}, {{"criterion": "Clear", "passed": true, "findings": []}}"#)), "pass"),
        (
            with(&format!(
                r#"{one}, {{"criterion": "Clear", "passed": true, "findings": [{{"message": "m"}}]}}"#
            )),
            "contradictory: criterion 'Clear' passed, and it has findings",
        ),
        (
            with(&format!(r#"{one}, {{"criterion": "Clear", "passed": true, "findings": "none"}}"#)),
            "garbled: the `findings` of a criterion are not a list",
        ),
        (with(&format!("{one}, {two}, {one}")), "garbled: criterion 'Complete' is answered twice"),
        (
            with(&format!(r#"{one}, {two}, {{"criterion": "Nice", "passed": true}}"#)),
            "garbled: criterion 'Nice' was not asked",
        ),
        (
            with(r#"{"criterion": "Complete"}"#),
            "garbled: an entry of `criteria_results` lacks its criterion or its result",
        ),
        (with("null"), "garbled: an entry of `criteria_results` lacks its criterion or its result"),
        (format!("```json\n{valid}\n```"), "pass"),
        (format!("```\n{valid}\n```\n"), "pass"),
        (format!("Here you are:\n```json\n{valid}\n```"), "garbled: the reply is not one JSON object"),
        (
            format!("```json\n{valid}\n```\n```json\n{valid}\n```"),
            "garbled: the reply is not one JSON object",
        ),
        (format!("{valid}\n{valid}"), "garbled: the reply is not one JSON object"),
        (format!("{valid} PASSED"), "garbled: the reply is not one JSON object"),
        (format!("[{valid}]"), "garbled: the reply is not a JSON object"),
        (reply("NaN", "true", "true"), "garbled: the reply is not one JSON object"),
        (reply("\"yes\"", "true", "true"), "garbled: `passed` is neither true nor false"),
        (reply("1", "true", "true"), "garbled: `passed` is neither true nor false"),
        (
            reply("true", "\"yes\"", "true"),
            "garbled: an entry of `criteria_results` lacks its criterion or its result",
        ),
        (
            valid.replace("\"feedback\": \"f\"", "\"passed\": true"),
            "garbled: the reply is not one JSON object: the key `passed` is there twice",
        ),
        (
            valid.replace("\"feedback\": null", "\"passed\": false"),
            "garbled: the reply is not one JSON object: the key `passed` is there twice",
        ),
        (valid.replace("\"f\"", "7"), "garbled: `feedback` is not text"),
        (deep, "garbled: the reply is not one JSON object: recursion limit exceeded"),
        (r#"{"passed": true}"#.into(), "garbled: criterion 'Complete' is not answered"),
        (
            r#"{"passed": true, "feedback": "ok", "criteria_results": []}"#.into(),
            "garbled: criterion 'Complete' is not answered",
        ),
        (r#"{"passed": false, "feedback": "bad"}"#.into(), "bare false"),
        ("{}".into(), "bare false"),
        ("passed".into(), "garbled: the reply is not one JSON object"),
        ("true".into(), "garbled: the reply is not a JSON object"),
        ("null".into(), "garbled: the reply is not a JSON object"),
        (" \n".into(), "garbled: the reply is empty"),
        (valid[..valid.len() - 2].into(), "garbled: the reply is not one JSON object"),
    ];
    for (reply, expected) in table {
        let got = judge(&reply, false);
        let exact = !expected.ends_with("one JSON object")
            && !expected.contains("is there twice")
            && !expected.contains("recursion");
        assert!(
            if exact { got == expected } else { got.starts_with(expected) },
            "{reply}\n got: {got}\nwant: {expected}"
        );
    }
}

#[test]
fn a_bare_pass_counts_only_where_the_user_says_so() {
    assert_eq!(judge(r#"{"passed": true}"#, true), "bare true");
    assert_eq!(judge(r#"{"passed": false}"#, true), "bare false");
    assert!(judge(&reply("true", "true", "false"), true).starts_with("contradictory"));
}

#[test]
fn req_004_9_1_to_4_reading_has_defaults() {
    // 004.9.1 the three fields, 004.9.2 passed, 004.9.3 feedback, 004.9.4 criteria_results.
    let empty = read(b"{}").unwrap();
    assert_eq!(
        empty,
        Reply { passed: false, feedback: "No feedback provided".into(), criteria_results: vec![] }
    );
    let full = read(reply("true", "true", "false").as_bytes()).unwrap();
    assert!(full.passed && full.feedback == "f" && full.criteria_results.len() == 2);
}

#[test]
fn req_004_9_5_what_cannot_be_interpreted_is_an_error() {
    for data in
        [Value::Null, Value::Bool(true), serde_json::json!([]), serde_json::json!({ "passed": "yes" })]
    {
        assert!(interpret(&data).is_err(), "{data}");
    }
    assert!(read(b"\xff\xfe").is_err());
}

#[test]
fn long_feedback_is_cut_and_says_so() {
    let long = format!(r#"{{"passed": false, "feedback": "{}"}}"#, "x".repeat(100_000));
    let reply = read(long.as_bytes()).unwrap();
    assert!(reply.feedback.len() < 9000 && reply.feedback.ends_with("[cut: 8192 of 100000 bytes shown]"));
}

proptest! {
    /// No bytes at all are an unearned pass: an answer that passes has a passing ruling per criterion.
    #[test]
    fn nothing_passes_by_accident(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..200) {
        let criteria = criteria();
        let criteria: Vec<&Criterion> = criteria.iter().collect();
        let valid = reply("true", "true", "true");
        for reply in [bytes.as_slice(), &valid.as_bytes()[..cut.min(valid.len() - 1)]] {
            if let Ok(answer) = read(reply).and_then(|reply| rule(reply, &criteria, false)) {
                prop_assert!(answer.fits(&criteria, false));
                prop_assert_eq!(answer.bare, Some(false));
            }
        }
    }
}

#[test]
fn an_answer_fits_what_was_asked_and_nothing_else() {
    let criterion = Criterion::must("A", "?");
    let ruling = || Ruling::new("A", true, None);
    let bare = |rulings| Answer { rulings, bare: Some(true), ..Answer::default() };
    assert!(Answer::from_rulings(vec![ruling()]).fits(&[&criterion], false));
    assert!(!Answer::from_rulings(vec![]).fits(&[], false), "nothing asked is nothing answered");
    assert!(bare(vec![]).fits(&[&criterion], true) && !bare(vec![]).fits(&[&criterion], false));
    assert!(!bare(vec![ruling()]).fits(&[&criterion], true), "either rulings or a claim");
}

/// Issue 15, item 4: a ruling on record says its findings under that key, and one that was recorded without them opens.
#[test]
fn rulings_on_record_open_with_findings_and_without() {
    let old = r#"{"criterion":"A","passed":false,"feedback":"f"}"#;
    let ruling: Ruling = serde_json::from_str(old).unwrap();
    assert_eq!(ruling, Ruling::new("A", false, Some("f".into())));
    assert_eq!(serde_json::to_string(&ruling).unwrap(), old, "what has no findings is recorded as before");
    let stated = StatedFlaw { message: "m".into(), file: None, line: Some(2), end_line: None };
    let mut answer = Answer { rulings: vec![ruling], ..Answer::default() };
    answer.rulings[0].flaws = vec![stated.flaw()];
    let asked = Asked { about: "a".into(), files: vec!["a".into()], root: "/p".into() };
    answer.check_locations(&asked, |_| Some(Source { text: "x\ny\n".into(), changed: None, touched: None }));
    let written = serde_json::to_value(&answer).unwrap();
    let finding = &written["rulings"][0]["findings"][0];
    assert_eq!(finding["location"], serde_json::json!({ "file": "a", "line": 2, "end_line": null }));
    assert_eq!(serde_json::from_value::<Answer>(written).unwrap(), answer);
}

/// What the schema requires (004.2.5) and a reply lacks; null is no value.
#[test]
fn issue_19_req_004_2_5_what_a_reply_lacks() {
    let table = [
        (serde_json::json!({ "passed": true, "feedback": "" }), None),
        (serde_json::json!({ "passed": false, "feedback": "", "criteria_results": null }), None),
        (serde_json::json!({ "feedback": "" }), Some("`passed` is missing")),
        (serde_json::json!({ "passed": true }), Some("`feedback` is missing")),
        (serde_json::json!({ "passed": null, "feedback": null }), Some("`passed` is missing")),
        (serde_json::json!({}), Some("`passed` is missing")),
        // Another defect, which reading names.
        (serde_json::json!([]), None),
    ];
    for (reply, expected) in table {
        assert_eq!(lacks(&reply).map(|defect| defect.to_string()).as_deref(), expected, "{reply}");
    }
}
