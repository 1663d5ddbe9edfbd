//! Flaws: the single defects of a failed ruling, in JSON its `findings`. A location is no part of the verdict: a wrong one
//! is dropped with a mark (see [`super::location`]), and the ruling stands.

use super::location::{Claim, Fingerprint, Location};
use super::{Answer, Defect, Ruling, cut, garbled};
use crate::text::visible_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The most flaws that are taken from one ruling; more are counted.
pub const MAX_FLAWS: usize = 100;

/// One thing that is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flaw {
    /// What is wrong.
    pub message: String,
    /// Where, as far as it was checked against the files.
    #[serde(default)]
    pub location: Option<Location>,
    /// The same for the same flaw after lines have moved.
    #[serde(default)]
    pub fingerprint: Fingerprint,
    /// Whether the lines are outside the change that was judged.
    #[serde(default)]
    pub outside_change: bool,
    /// Whether the change left the lines as they were: it neither wrote nor moved them, nor removed what stood beside them.
    #[serde(default)]
    pub untouched: bool,
    /// Whether the change caused it, as far as its reviewer said so. Without that it counts as caused.
    #[serde(default)]
    pub caused_by_change: Option<bool>,
    /// The place the reviewer named, and why it does not hold.
    #[serde(default)]
    pub location_dropped: Option<String>,
    /// The place the reviewer named, before it is checked. Never on record.
    #[serde(skip)]
    pub(crate) claim: Option<Claim>,
}

/// A flaw as a recording or a self-review states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedFlaw {
    pub message: String,
    /// The file; may be left out where the question is about one file.
    #[serde(default)]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default)]
    pub line: Option<u64>,
    /// The last line, where there are several.
    #[serde(default)]
    pub end_line: Option<u64>,
}

impl StatedFlaw {
    /// The flaw with its place not yet checked.
    pub fn flaw(&self) -> Flaw {
        let Self { message, file, line, end_line } = self.clone();
        Flaw::new(&message, Some(Claim { file, line, end_line }))
    }
}

impl Flaw {
    /// A flaw, and the place its reviewer names. The place counts only after it was checked.
    pub fn new(message: &str, claim: Option<Claim>) -> Self {
        let claim = claim.filter(|claim| *claim != Claim::default());
        Self { message: cut(message.trim()), claim, ..Self::default() }
    }

    /// In words: where, what, and what is to be known about the place.
    pub fn words(&self) -> String {
        let message = &self.message;
        match (&self.location, &self.location_dropped) {
            (Some(place), _) => {
                let outside = if self.outside_change { " (outside the change)" } else { "" };
                format!("{}{outside}: {message}", visible_line(&place.to_string()))
            }
            (None, Some(dropped)) => format!("{message} (location dropped: {})", visible_line(dropped)),
            (None, None) => message.clone(),
        }
    }

    /// Whether it was there before the change: its reviewer says so, and the change left its lines as they were.
    pub fn is_already_there(&self) -> bool {
        self.caused_by_change == Some(false) && self.untouched && self.location_dropped.is_none()
    }

    fn is_said_in(&self, text: &str) -> bool {
        let line = self.location.as_ref().and_then(|place| place.line);
        let names = |line: u64| {
            ["line ", ":"].iter().any(|before| {
                let wanted = format!("{before}{line}");
                let mut ends = text.match_indices(&wanted).map(|(at, found)| &text[at + found.len()..]);
                ends.any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
            })
        };
        let is_marked = self.outside_change || self.location_dropped.is_some();
        !is_marked && text.contains(self.message.as_str()) && line.is_none_or(names)
    }
}

/// A feedback, followed by the flaws that it does not name itself, a line each.
pub fn with_flaws(feedback: &str, flaws: &[Flaw]) -> String {
    let unsaid = flaws.iter().filter(|flaw| !flaw.is_said_in(feedback)).map(Flaw::words);
    let said = Some(feedback.to_owned()).filter(|feedback| !feedback.trim().is_empty());
    said.into_iter().chain(unsaid).collect::<Vec<_>>().join("\n")
}

impl Answer {
    /// What is said about a failed ruling; without a ruling, about the failure as a whole.
    pub fn feedback_on(&self, ruling: Option<&Ruling>) -> String {
        match ruling {
            Some(Ruling { feedback: Some(feedback), .. }) if !feedback.trim().is_empty() => feedback.clone(),
            Some(Ruling { flaws, .. }) if !flaws.is_empty() => with_flaws("", flaws),
            _ => self.feedback.clone(),
        }
    }

    /// The flaws of a failed ruling; its whole feedback is one where it states none. `about` is the file or output judged.
    pub fn flaws_on(&self, ruling: Option<&Ruling>, about: &str) -> Vec<Flaw> {
        let stated = ruling.map_or(&self.flaws, |ruling| &ruling.flaws);
        if !stated.is_empty() {
            return stated.clone();
        }
        let message = self.feedback_on(ruling).trim().to_owned();
        let criterion = ruling.map_or("", |ruling| ruling.criterion.as_str());
        let fingerprint = Fingerprint::of_message(criterion, about, &message);
        vec![Flaw { message, fingerprint, ..Flaw::default() }]
    }
}

/// Reads the `findings` of a ruling. A missing message is a defect; a location that cannot be read is dropped.
pub(super) fn read_flaws(value: Option<&Value>) -> Result<Vec<Flaw>, Defect> {
    let list = match value {
        None | Some(Value::Null) => return Ok(vec![]),
        Some(Value::Array(list)) => list,
        Some(_) => return garbled("the `findings` of a criterion are not a list"),
    };
    Ok(bounded_flaws(list.iter().map(read_flaw).collect::<Result<_, _>>()?))
}

/// The first flaws, and how many there are more.
pub fn bounded_flaws(mut flaws: Vec<Flaw>) -> Vec<Flaw> {
    let more = flaws.len().saturating_sub(MAX_FLAWS);
    if more > 0 {
        flaws.truncate(MAX_FLAWS);
        flaws.push(Flaw::new(&format!("and {more} more"), None));
    }
    flaws
}

fn read_flaw(value: &Value) -> Result<Flaw, Defect> {
    let (Value::Object(object), Some(Value::String(message))) = (value, value.get("message")) else {
        return garbled("an entry of `findings` lacks its message");
    };
    if message.trim().is_empty() {
        return garbled("an entry of `findings` has an empty message");
    }
    let flaw = match read_claim(object) {
        Ok(claim) => Flaw::new(message, Some(claim)),
        Err(dropped) => Flaw { location_dropped: Some(dropped), ..Flaw::new(message, None) },
    };
    let caused_by_change = object.get("caused_by_change").and_then(Value::as_bool);
    Ok(Flaw { caused_by_change, ..flaw })
}

fn read_claim(object: &Map<String, Value>) -> Result<Claim, String> {
    let given = |name: &str| object.get(name).filter(|value| !value.is_null());
    let number = |name: &str| match given(name) {
        None => Ok(None),
        Some(value) => {
            value.as_u64().map(Some).ok_or_else(|| format!("`{name}` is not the number of a line"))
        }
    };
    let file = match given("file") {
        None => None,
        Some(Value::String(file)) => Some(cut(file)),
        Some(_) => return Err("`file` is not text".to_owned()),
    };
    Ok(Claim { file, line: number("line")?, end_line: number("end_line")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn findings_are_read_and_a_place_that_is_none_is_dropped() {
        let claim = |file: Option<&str>, line, end_line| Claim { file: file.map(Into::into), line, end_line };
        let flaw = |claim| Flaw::new("m", Some(claim));
        let dropped = |words: &str| Flaw { location_dropped: Some(words.into()), ..Flaw::new("m", None) };
        let table = [
            (json!({ "message": " m\n" }), Ok(Flaw::new("m", None))),
            (
                json!({ "message": "m", "file": null, "line": null, "end_line": null }),
                Ok(Flaw::new("m", None)),
            ),
            (json!({ "message": "m", "file": "a", "line": 3 }), Ok(flaw(claim(Some("a"), Some(3), None)))),
            (json!({ "message": "m", "line": 3, "end_line": 5 }), Ok(flaw(claim(None, Some(3), Some(5))))),
            (json!({ "message": "m", "line": "3" }), Ok(dropped("`line` is not the number of a line"))),
            (
                json!({ "message": "m", "end_line": -1 }),
                Ok(dropped("`end_line` is not the number of a line")),
            ),
            (json!({ "message": "m", "file": 1 }), Ok(dropped("`file` is not text"))),
            (json!({ "file": "a" }), Err("an entry of `findings` lacks its message")),
            (json!("m"), Err("an entry of `findings` lacks its message")),
            (json!({ "message": " " }), Err("an entry of `findings` has an empty message")),
        ];
        for (value, expected) in table {
            let read = read_flaws(Some(&json!([value]))).map_err(|defect| defect.to_string());
            assert_eq!(read, expected.map(|flaw| vec![flaw]).map_err(str::to_owned), "{value}");
        }
        assert_eq!(read_flaws(None), Ok(vec![]));
        assert_eq!(read_flaws(Some(&Value::Null)), Ok(vec![]));
        assert!(read_flaws(Some(&json!({}))).is_err());
        let many = read_flaws(Some(&json!(vec![json!({ "message": "m" }); MAX_FLAWS + 7]))).unwrap();
        assert_eq!((many.len(), many[MAX_FLAWS].message.as_str()), (MAX_FLAWS + 1, "and 7 more"));
    }

    #[test]
    fn what_the_feedback_says_is_not_said_twice() {
        let at = |file: &str, line, message: &str| {
            let location = Location { file: file.into(), line, end_line: None };
            Flaw { location: Some(location), ..Flaw::new(message, None) }
        };
        let outside = Flaw { outside_change: true, ..at("a.md", Some(3), "old") };
        let dropped = Flaw { location_dropped: Some("b.md:9".into()), ..Flaw::new("gone", None) };
        let table = [
            ("a.md:12: x; line 14: y", vec![at("a.md", Some(12), "x"), at("a.md", Some(14), "y")], ""),
            ("a.md: is empty", vec![at("a.md", None, "is empty")], ""),
            ("two places: x, y", vec![at("a.md", Some(1), "x")], "\na.md:1: x"),
            ("a.md:12: x", vec![at("a.md", Some(1), "x")], "\na.md:1: x"),
            ("all of it", vec![Flaw::new("all of it", None)], ""),
            ("a.md:3: old", vec![outside], "\na.md:3 (outside the change): old"),
            ("gone", vec![dropped], "\ngone (location dropped: b.md:9)"),
            ("f", vec![at("a\nb", Some(1), "x")], "\na b:1: x"),
        ];
        for (feedback, flaws, more) in table {
            assert_eq!(with_flaws(feedback, &flaws), format!("{feedback}{more}"), "{feedback}");
        }
        assert_eq!(with_flaws(" ", &[at("a", Some(1), "x")]), "a:1: x");
    }

    #[test]
    fn a_failed_ruling_without_findings_has_one_made_of_its_feedback() {
        let failed = |feedback: Option<&str>| {
            let answer = Answer { feedback: "overall".into(), ..Answer::default() };
            answer.flaws_on(Some(&Ruling::new("C", false, feedback.map(Into::into))), "a.md")
        };
        let [only] = failed(Some("first line\nsecond line\n")).try_into().unwrap();
        assert_eq!(only.message, "first line\nsecond line");
        assert_eq!((&only.location, &only.location_dropped), (&None, &None));
        assert_eq!(only.fingerprint, Fingerprint::of_message("C", "a.md", "first line second line"));
        assert_eq!(failed(None)[0].message, "overall");
        let bare = Answer { feedback: "b".into(), bare: Some(false), ..Answer::default() };
        assert_eq!(bare.flaws_on(None, "")[0].message, "b");
        let text = Answer { flaws: vec![Flaw::new("x", None)], feedback: "MAJOR: x".into(), ..bare.clone() };
        assert_eq!(text.feedback_on(None), "MAJOR: x", "a free text stays as it was written");
        let stated = Ruling { flaws: vec![Flaw::new("m", None)], ..Ruling::new("C", false, None) };
        assert_eq!(bare.flaws_on(Some(&stated), "a.md"), stated.flaws);
        assert_eq!(bare.feedback_on(Some(&stated)), "m");
    }
}
