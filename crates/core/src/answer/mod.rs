//! Answers: from the bytes of a reply to rulings that hold. Whether a round passes is decided in `judge`.
//!
//! Reading is lenient only where the source document says so (missing keys have defaults). Ruling is strict: every
//! criterion must be answered exactly once, by name, and the overall result must agree with the rulings.

mod flaw;
mod location;
mod marked;
mod remark;
mod reviewed;
mod rows;
mod touched;

pub use flaw::{Flaw, MAX_FLAWS, StatedFlaw, bounded_flaws, with_flaws};
pub use location::{Asked, Claim, Fingerprint, Location, Source, changed_lines};
pub use marked::{Marked, MarkedRuling, Marker, read_marked, rule_marked};
pub use remark::{Remark, objection, remarks, severity_word};
pub use reviewed::{
    MAX_ISSUES, PARSED_REVIEW, REVIEW_CRITERION, REVIEW_TEXT, ReviewResult, Reviewed, read_reviewed,
    rule_reviewed,
};
pub use rows::{Row, self_rulings};
pub use touched::touched_lines;

use crate::criterion::{Criterion, fold_name};
use crate::outcome::NoVerdict;
use crate::prompt::{Field, RESPONSE};
use crate::strict_json;
use crate::text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

pub const NO_FEEDBACK: &str = "No feedback provided";
/// The feedback of a review that asks nothing.
pub const NO_CRITERIA: &str = "No quality criteria defined - auto-passing";
/// Longer feedback is cut, with a note.
pub const MAX_FEEDBACK_BYTES: usize = 8 * 1024;

/// One criterion's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub criterion: String,
    pub passed: bool,
    /// What the reviewer says about it.
    #[serde(default)]
    pub feedback: Option<String>,
    /// What it found, one by one, as far as the reviewer said so. A ruling that passes has none.
    #[serde(default, rename = "findings", skip_serializing_if = "Vec::is_empty")]
    pub flaws: Vec<Flaw>,
}

impl Ruling {
    /// A ruling that states nothing one by one.
    pub fn new(criterion: &str, passed: bool, feedback: Option<String>) -> Self {
        Self { criterion: criterion.to_owned(), passed, feedback, flaws: vec![] }
    }

    /// What the reviewer says about it, with the places that it names beside.
    pub fn words(&self) -> Option<String> {
        match self.flaws.is_empty() {
            true => self.feedback.clone(),
            false => Some(with_flaws(self.feedback.as_deref().unwrap_or_default(), &self.flaws)),
        }
    }
}

/// What a reply says, read and not yet compared with the criteria.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// Its overall result; false where it names none.
    pub passed: bool,
    pub feedback: String,
    /// Its rulings by criterion; empty where it gave none.
    pub criteria_results: Vec<Ruling>,
}

/// A valid answer to an assignment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// A ruling per criterion, in the order asked; empty for a bare verdict.
    pub rulings: Vec<Ruling>,
    pub feedback: String,
    /// The overall result of a reply that gave no rulings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare: Option<bool>,
    /// How many secrets were replaced in the question and in the answer.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub redacted: usize,
    /// What a review of a task says beyond pass and fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<Reviewed>,
    /// What a failure without rulings found, one by one, as far as the reviewer said so.
    #[serde(default, rename = "findings", skip_serializing_if = "Vec::is_empty")]
    pub flaws: Vec<Flaw>,
    /// Criteria that pass here and failed before on the same bytes, with other notes of the author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// It cannot be read, or does not answer what was asked.
    #[error("{0}")]
    Garbled(String),
    /// Its whole and its parts disagree.
    #[error("{0}")]
    Contradictory(String),
}

impl Defect {
    pub fn why(&self) -> NoVerdict {
        match self {
            Self::Garbled(_) => NoVerdict::Garbled,
            Self::Contradictory(_) => NoVerdict::Contradictory,
        }
    }
}

fn garbled<T>(message: impl Into<String>) -> Result<T, Defect> {
    Err(Defect::Garbled(message.into()))
}

/// Reads a reply as JSON: exactly one value, alone or in one code fence, whatever it should be.
pub fn read_value(reply: &[u8]) -> Result<Value, Defect> {
    let Ok(reply) = std::str::from_utf8(reply) else { return garbled("the reply is not UTF-8") };
    let reply = unfence(reply.trim());
    if reply.is_empty() {
        return garbled("the reply is empty");
    }
    strict_json::parse(reply).or_else(|error| garbled(format!("the reply is not one JSON object: {error}")))
}

pub(crate) fn unfence(reply: &str) -> &str {
    let inner = reply.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        Some((info, body)) if info.trim().chars().all(char::is_alphanumeric) && !body.contains("```") => {
            body.trim()
        }
        _ => reply,
    }
}

/// Interprets structured data as a reply (004.9): missing keys have defaults, wrong types are errors.
pub fn interpret(value: &Value) -> Result<Reply, Defect> {
    if !value.is_object() {
        return garbled("the reply is not a JSON object");
    }
    let passed = optional(value, "passed", Value::as_bool, "`passed` is neither true nor false")?;
    let feedback = optional(value, "feedback", Value::as_str, "`feedback` is not text")?;
    let results = optional(value, "criteria_results", Value::as_array, "`criteria_results` is not a list")?;
    Ok(Reply {
        passed: passed.unwrap_or(false),
        feedback: cut(feedback.unwrap_or(NO_FEEDBACK)),
        criteria_results: results.into_iter().flatten().map(ruling).collect::<Result<_, _>>()?,
    })
}

/// What the response schema requires of every reply (004.2.5) and this one lacks.
pub fn lacks(value: &Value) -> Option<Defect> {
    let is_missing = |field: &&Field| field.required && value.get(field.name).is_none_or(Value::is_null);
    let missing = RESPONSE.iter().filter(|_| value.is_object()).find(is_missing)?;
    Some(Defect::Garbled(format!("`{}` is missing", missing.name)))
}

/// A key that may be missing or null; `defect` says what is wrong with a value of another type.
fn optional<'v, T>(
    object: &'v Value,
    name: &str,
    read: impl Fn(&'v Value) -> Option<T>,
    defect: &str,
) -> Result<Option<T>, Defect> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map_or_else(|| garbled(defect), |value| Ok(Some(value))),
    }
}

fn ruling(value: &Value) -> Result<Ruling, Defect> {
    let (Some(Value::String(criterion)), Some(Value::Bool(passed))) =
        (value.get("criterion"), value.get("passed"))
    else {
        return garbled("an entry of `criteria_results` lacks its criterion or its result");
    };
    let defect = "the `feedback` of a criterion is neither text nor null";
    let feedback = optional(value, "feedback", Value::as_str, defect)?;
    let flaws = flaw::read_flaws(value.get("findings"))?;
    Ok(Ruling { flaws, ..Ruling::new(criterion, *passed, feedback.map(cut)) })
}

fn cut(feedback: &str) -> String {
    text::cut_noted(feedback, MAX_FEEDBACK_BYTES).into_owned()
}

/// Compares a reply with the criteria that were asked. A reply that fails without rulings is a failure with its feedback;
/// one that passes without rulings is a pass only where `accept_bare` says so.
pub fn rule(reply: Reply, criteria: &[&Criterion], accept_bare: bool) -> Result<Answer, Defect> {
    let Reply { passed, feedback, criteria_results } = reply;
    if criteria_results.is_empty() && (!passed || accept_bare) {
        return Ok(Answer { feedback, bare: Some(passed), ..Answer::default() });
    }
    let rulings = match_rulings(criteria_results, criteria)?;
    let all_passed = rulings.iter().all(|ruling| ruling.passed);
    if passed == all_passed {
        return Ok(Answer { rulings, feedback, ..Answer::default() });
    }
    Err(Defect::Contradictory(match rulings.iter().find(|ruling| !ruling.passed) {
        Some(failed) => format!("`passed` is true, and criterion '{}' failed", failed.criterion),
        None => "`passed` is false, and every criterion passed".to_owned(),
    }))
}

/// Puts rulings in the order of the criteria: each answered exactly once, by name, and none passed with findings.
pub fn match_rulings(results: Vec<Ruling>, criteria: &[&Criterion]) -> Result<Vec<Ruling>, Defect> {
    let places: HashMap<String, usize> =
        criteria.iter().enumerate().map(|(i, criterion)| (fold_name(&criterion.name), i)).collect();
    let mut rulings: Vec<Option<Ruling>> = vec![None; criteria.len()];
    for result in results {
        let Some(&place) = places.get(&fold_name(&result.criterion)) else {
            return garbled(format!("criterion '{}' was not asked", text::cut(&result.criterion, 80)));
        };
        let name = criteria[place].name.clone();
        if rulings[place].is_some() {
            return garbled(format!("criterion '{name}' is answered twice"));
        }
        if result.passed && !result.flaws.is_empty() {
            return Err(Defect::Contradictory(format!("criterion '{name}' passed, and it has findings")));
        }
        rulings[place] = Some(Ruling { criterion: name, ..result });
    }
    if let Some(missing) = rulings.iter().position(Option::is_none) {
        return garbled(format!("criterion '{}' is not answered", criteria[missing].name));
    }
    Ok(rulings.into_iter().flatten().collect())
}

impl Answer {
    /// An answer made of rulings alone, as checks, replays and self-reviews give it.
    pub fn from_rulings(rulings: Vec<Ruling>) -> Self {
        let failed = rulings.iter().filter(|ruling| !ruling.passed).count();
        let feedback = match failed {
            0 => "All criteria pass.".to_owned(),
            n => format!("{n} of {} criteria fail.", rulings.len()),
        };
        Self { rulings, feedback, ..Self::default() }
    }

    /// Passes every text of it on that a reviewer wrote, except the names of files.
    pub(crate) fn words(&mut self, mut each: impl FnMut(&mut String)) {
        each(&mut self.feedback);
        if let Some(reviewed) = &mut self.reviewed {
            each(&mut reviewed.summary);
            reviewed.issues.iter_mut().for_each(&mut each);
        }
        self.rulings.iter_mut().filter_map(|ruling| ruling.feedback.as_mut()).for_each(&mut each);
        for flaw in self.rulings.iter_mut().flat_map(|ruling| &mut ruling.flaws).chain(&mut self.flaws) {
            each(&mut flaw.message);
            flaw.location_dropped.iter_mut().for_each(&mut each);
        }
    }

    /// Writes the characters out that steer a terminal or reorder text, so that no caller has to do it.
    pub fn make_visible(&mut self) {
        self.words(|text| {
            if let Cow::Owned(visible) = text::visible(text) {
                *text = visible;
            }
        });
    }

    pub fn fails(&self) -> bool {
        self.bare == Some(false) || self.rulings.iter().any(|ruling| !ruling.passed)
    }

    /// Whether it fails more than the other one.
    pub fn is_worse_than(&self, other: &Self) -> bool {
        self.failed() > other.failed()
    }

    /// How many criteria fail: all, where the whole failed without rulings.
    fn failed(&self) -> usize {
        match self.bare {
            Some(false) => usize::MAX,
            _ => self.rulings.iter().filter(|ruling| !ruling.passed).count(),
        }
    }

    /// Whether this answers exactly these criteria. What does not is never recorded as an answer.
    pub fn fits(&self, criteria: &[&Criterion], accept_bare: bool) -> bool {
        match self.bare {
            Some(passed) => self.rulings.is_empty() && (!passed || accept_bare),
            None => {
                let ruled = self.rulings.iter().map(|ruling| fold_name(&ruling.criterion));
                !criteria.is_empty() && ruled.eq(criteria.iter().map(|criterion| fold_name(&criterion.name)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
