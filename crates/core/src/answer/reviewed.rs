//! The review of a task: data that a parser read out of a free text, as an answer. Words are not searched for anywhere.

use super::{Answer, Defect, Flaw, Ruling, cut, garbled, optional};
use crate::criterion::Criterion;
use crate::prompt::{Field, Kind, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const REVIEW_CRITERION: &str = "review";
/// The most issues that are taken from a review; more are counted.
pub const MAX_ISSUES: usize = 100;

/// The free text of a review, for a reviewer that can only answer in a form.
pub const REVIEW_TEXT: Shape =
    Shape(&[Field::required("review", Kind::Text, "your whole review, in your own words")]);

/// What a parser makes of it.
pub const PARSED_REVIEW: Shape = Shape(&[
    Field::required(
        "result",
        Kind::OneOf(&["APPROVED", "NEEDS_REVISION", "REJECTED"]),
        "what the review concludes: APPROVED only if it lets the work pass as it is, without any condition; \
         REJECTED if it says that a person has to step in; NEEDS_REVISION for everything else, also where it \
         does not conclude or cannot be understood",
    ),
    Field::optional("issues", Kind::Texts, "each specific issue the review found"),
    Field::optional("summary", Kind::Text, "the review in one or two sentences"),
    Field::optional(
        "blocking",
        Kind::Bool,
        "true only if the review says that a person is needed before anybody works on",
    ),
]);

/// How a review of a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewResult {
    /// No reviewer has answered yet.
    Pending,
    /// The work passes.
    Approved,
    /// It goes back.
    NeedsRevision,
    /// A person has to look at it.
    Rejected,
}

impl ReviewResult {
    const SAID: [Self; 3] = [Self::Approved, Self::NeedsRevision, Self::Rejected];

    /// As it is written to disk.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::NeedsRevision => "needs_revision",
            Self::Rejected => "rejected",
        }
    }

    /// A word in either case.
    pub fn of(word: &str) -> Option<Self> {
        let all = Self::SAID.into_iter().chain([Self::Pending]);
        all.into_iter().find(|one| one.word().eq_ignore_ascii_case(word))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewed {
    pub result: ReviewResult,
    #[serde(default)]
    pub issues: Vec<String>,
    #[serde(default)]
    pub summary: String,
    /// Whether a person is needed, whatever the attempt.
    #[serde(default)]
    pub blocking: bool,
}

impl Reviewed {
    pub fn passes(&self) -> bool {
        self.result == ReviewResult::Approved && !self.blocking
    }

    /// Whether a person must look at it before work goes on.
    pub fn needs_person(&self) -> bool {
        self.result == ReviewResult::Rejected || self.blocking
    }

    /// What the author reads: the summary, then a line for each issue.
    pub fn feedback(&self) -> String {
        let summary = (!self.summary.trim().is_empty()).then(|| self.summary.trim().to_owned());
        let issues = self.issues.iter().map(|issue| format!("- {}", issue.trim()));
        let lines: Vec<String> = summary.into_iter().chain(issues).collect();
        match lines.is_empty() {
            true => format!("the review says {} and nothing else", self.result.word()),
            false => cut(&lines.join("\n")),
        }
    }
}

/// Reads the data of the parser: missing keys have the defaults of the source document, any other defect is an error.
pub fn read_reviewed(value: &Value) -> Result<Reviewed, Defect> {
    if !value.is_object() {
        return garbled("the reply is not a JSON object");
    }
    let result = match optional(value, "result", Value::as_str, "`result` is not text")? {
        None => ReviewResult::NeedsRevision,
        Some(word) => match ReviewResult::of(word.trim()) {
            Some(result) if ReviewResult::SAID.contains(&result) => result,
            _ => return garbled("`result` is none of APPROVED, NEEDS_REVISION, REJECTED"),
        },
    };
    let summary = optional(value, "summary", Value::as_str, "`summary` is not text")?;
    let summary = summary.map(cut).unwrap_or_default();
    let blocking = optional(value, "blocking", Value::as_bool, "`blocking` is neither true nor false")?;
    let blocking = blocking.unwrap_or(false);
    let list = optional(value, "issues", Value::as_array, "`issues` is not a list")?;
    let issues = issues(list.map_or(&[], Vec::as_slice))?;
    if result == ReviewResult::Approved && blocking {
        return Err(Defect::Contradictory("`result` is APPROVED, and `blocking` is true".to_owned()));
    }
    Ok(Reviewed { result, issues, summary, blocking })
}

fn issues(list: &[Value]) -> Result<Vec<String>, Defect> {
    let mut issues = vec![];
    for issue in list {
        let Value::String(text) = issue else { return garbled("an entry of `issues` is not text") };
        if !text.trim().is_empty() && issues.len() < MAX_ISSUES {
            issues.push(cut(text.trim()));
        }
    }
    if list.len() > MAX_ISSUES {
        issues.push(format!("[cut: {MAX_ISSUES} of {} issues shown]", list.len()));
    }
    Ok(issues)
}

/// The answer to the one question of a task's review.
pub fn rule_reviewed(reviewed: Reviewed, criteria: &[&Criterion]) -> Result<Answer, Defect> {
    let [criterion] = criteria else {
        return garbled(format!("a task's review answers one criterion, and {} were asked", criteria.len()));
    };
    let passed = reviewed.passes();
    let feedback = reviewed.feedback();
    let issues = reviewed.issues.iter().filter(|_| !passed);
    let flaws = issues.map(|issue| Flaw::new(issue, None)).collect();
    let ruling = Ruling { flaws, ..Ruling::new(&criterion.name, passed, Some(feedback.clone())) };
    Ok(Answer { rulings: vec![ruling], feedback, reviewed: Some(reviewed), ..Answer::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> String {
        match read_reviewed(&value) {
            Ok(reviewed) => {
                let Reviewed { result, issues, summary, blocking } = reviewed;
                format!("{} {issues:?} {summary:?} {blocking}", result.word())
            }
            Err(Defect::Garbled(words)) => format!("garbled: {words}"),
            Err(Defect::Contradictory(words)) => format!("contradictory: {words}"),
        }
    }

    /// SVC-6.
    #[test]
    fn svc_6_what_the_parser_may_say_and_what_it_may_not() {
        let table = [
            (json!({}), "needs_revision [] \"\" false"),
            (json!({ "result": null, "issues": null }), "needs_revision [] \"\" false"),
            (json!({ "result": "APPROVED" }), "approved [] \"\" false"),
            (json!({ "result": "approved", "summary": "fine" }), "approved [] \"fine\" false"),
            (
                json!({ "result": " needs_revision ", "issues": ["a", " ", "b "] }),
                "needs_revision [\"a\", \"b\"] \"\" false",
            ),
            (json!({ "result": "REJECTED", "blocking": true }), "rejected [] \"\" true"),
            (json!({ "result": "NEEDS_REVISION", "blocking": true }), "needs_revision [] \"\" true"),
            (
                json!({ "result": "APPROVED", "blocking": true }),
                "contradictory: `result` is APPROVED, and `blocking` is true",
            ),
            (
                json!({ "result": "PENDING" }),
                "garbled: `result` is none of APPROVED, NEEDS_REVISION, REJECTED",
            ),
            (
                json!({ "result": "not approved" }),
                "garbled: `result` is none of APPROVED, NEEDS_REVISION, REJECTED",
            ),
            (
                json!({ "result": "APPROVED." }),
                "garbled: `result` is none of APPROVED, NEEDS_REVISION, REJECTED",
            ),
            (json!({ "result": "" }), "garbled: `result` is none of APPROVED, NEEDS_REVISION, REJECTED"),
            (json!({ "result": true }), "garbled: `result` is not text"),
            (json!({ "result": ["APPROVED"] }), "garbled: `result` is not text"),
            (
                json!({ "result": "APPROVED", "blocking": "false" }),
                "garbled: `blocking` is neither true nor false",
            ),
            (json!({ "result": "APPROVED", "issues": "none" }), "garbled: `issues` is not a list"),
            (json!({ "result": "APPROVED", "issues": [1] }), "garbled: an entry of `issues` is not text"),
            (json!({ "result": "APPROVED", "summary": 1 }), "garbled: `summary` is not text"),
            (json!(["APPROVED"]), "garbled: the reply is not a JSON object"),
            (json!("APPROVED"), "garbled: the reply is not a JSON object"),
            (json!(null), "garbled: the reply is not a JSON object"),
        ];
        for (value, expected) in table {
            assert_eq!(read(value.clone()), expected, "{value}");
        }
    }

    /// SVC-6.
    #[test]
    fn svc_6_only_approved_without_blocking_passes() {
        let criterion = Criterion::must(REVIEW_CRITERION, "?");
        for result in [
            ReviewResult::Pending,
            ReviewResult::Approved,
            ReviewResult::NeedsRevision,
            ReviewResult::Rejected,
        ] {
            for blocking in [false, true] {
                let reviewed = Reviewed { result, issues: vec![], summary: String::new(), blocking };
                let answer = rule_reviewed(reviewed, &[&criterion]).unwrap();
                assert!(answer.fits(&[&criterion], false));
                assert_eq!(answer.rulings[0].passed, result == ReviewResult::Approved && !blocking);
            }
        }
        let two = [&criterion, &criterion];
        let reviewed = read_reviewed(&json!({ "result": "APPROVED" })).unwrap();
        assert!(rule_reviewed(reviewed.clone(), &two).is_err());
        assert!(rule_reviewed(reviewed.clone(), &[]).is_err());
        for (result, flaws) in [(ReviewResult::NeedsRevision, 2), (ReviewResult::Approved, 0)] {
            let reviewed = Reviewed { result, issues: vec!["a".into(), "b".into()], ..reviewed.clone() };
            let answer = rule_reviewed(reviewed, &[&criterion]).unwrap();
            assert_eq!(answer.rulings[0].flaws.len(), flaws, "issues are the findings of a failure");
        }
    }

    #[test]
    fn more_issues_than_anybody_reads_are_counted() {
        let many: Vec<String> = (0..150).map(|n| n.to_string()).collect();
        let reviewed = read_reviewed(&json!({ "issues": many })).unwrap();
        assert_eq!(reviewed.issues.len(), MAX_ISSUES + 1);
        assert_eq!(reviewed.issues[MAX_ISSUES], "[cut: 100 of 150 issues shown]");
        assert!(
            Reviewed { issues: vec![], ..reviewed }
                .feedback()
                .contains("the review says needs_revision and nothing else")
        );
    }
}
