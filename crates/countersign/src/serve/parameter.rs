//! The query of a request, checked against the parameters of its route.

use super::refusal::Refusal;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The largest number that every program can read.
pub const WHOLE_MAX: u64 = (1 << 53) - 1;

/// What no text may hold, as a pattern of a schema.
pub const WITHOUT_NUL: &str = r"^[^\u0000]*$";

pub struct Parameter {
    pub name: &'static str,
    pub place: ParameterIn,
    pub kind: Kind,
    pub words: &'static str,
}

impl Parameter {
    pub const fn query(name: &'static str, kind: Kind, words: &'static str) -> Self {
        Self { name, place: ParameterIn::Query, kind, words }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterIn {
    Query,
    Header,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Whole { min: u64, max: u64 },
    Flag,
    Text { max_chars: usize },
}

impl Kind {
    /// As the description has it.
    pub fn schema(self) -> Value {
        match self {
            Self::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Text { max_chars } => {
                json!({ "type": "string", "minLength": 1, "maxLength": max_chars, "pattern": WITHOUT_NUL })
            }
        }
    }

    fn admits(self, text: &str) -> bool {
        match self {
            Self::Whole { min, max } => whole(text).is_some_and(|number| (min..=max).contains(&number)),
            Self::Flag => matches!(text, "true" | "false"),
            Self::Text { max_chars } => {
                (1..=max_chars).contains(&text.chars().count()) && !text.contains('\0')
            }
        }
    }

    fn words(self) -> String {
        match self {
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::Flag => "true or false".to_owned(),
            Self::Text { max_chars } => format!("a text of 1 to {max_chars} characters"),
        }
    }
}

/// Digits and nothing else.
fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The parameters of a request, each of them known and as it should be.
#[derive(Debug, Default)]
pub struct Parameters(BTreeMap<&'static str, String>);

impl Parameters {
    pub fn read(known: &'static [Parameter], query: Option<&str>) -> Result<Self, Refusal> {
        let mut read = Self::default();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (decoded(name), decoded(value)) else {
                return Err(Refusal::malformed("the query is not percent-encoded UTF-8"));
            };
            let fits = |known: &&Parameter| known.name == name && known.place == ParameterIn::Query;
            let Some(parameter) = known.iter().find(fits) else {
                return Err(Refusal::malformed(format!("unknown parameter `{name}`")));
            };
            read.take(parameter, value)?;
        }
        Ok(read)
    }

    /// Takes a value; the same parameter twice is two questions.
    pub fn take(&mut self, parameter: &'static Parameter, value: String) -> Result<(), Refusal> {
        if !parameter.kind.admits(&value) {
            let words = parameter.kind.words();
            return Err(Refusal::malformed(format!("`{}` must be {words}", parameter.name)));
        }
        match self.0.insert(parameter.name, value) {
            Some(_) => Err(Refusal::malformed(format!("`{}` is given twice", parameter.name))),
            None => Ok(()),
        }
    }

    pub fn whole(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(whole)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// The decoded text of a query, in which a plus is a space; none where it is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Parameter] = &[
        Parameter::query("limit", Kind::Whole { min: 1, max: 200 }, ""),
        Parameter::query("open", Kind::Flag, ""),
        Parameter::query("subject", Kind::Text { max_chars: 3 }, ""),
        Parameter { name: "Last-Event-ID", place: ParameterIn::Header, kind: Kind::Flag, words: "" },
    ];

    #[test]
    fn known_parameters_are_read() {
        let read = Parameters::read(KNOWN, Some("limit=7&open=true&subject=%C3%A4+b")).unwrap();
        assert_eq!(
            (read.whole("limit"), read.flag("open"), read.text("subject")),
            (Some(7), true, Some("ä b"))
        );
        let none = Parameters::read(KNOWN, None).unwrap();
        assert_eq!((none.whole("limit"), none.flag("open"), none.text("subject")), (None, false, None));
    }

    #[test]
    fn everything_else_is_refused() {
        for (query, says) in [
            ("limit=0", "`limit` must be a whole number from 1 to 200"),
            ("limit=201", "`limit` must"),
            ("limit=-1", "`limit` must"),
            ("limit=+1", "`limit` must"),
            ("limit=", "`limit` must"),
            ("limit", "`limit` must"),
            ("limit=99999999999999999999", "`limit` must"),
            ("open=1", "`open` must be true or false"),
            ("subject=", "`subject` must be a text of 1 to 3 characters"),
            ("subject=abcd", "`subject` must"),
            ("subject=%00", "`subject` must"),
            ("subject=%ff", "not percent-encoded UTF-8"),
            ("open=true&open=true", "`open` is given twice"),
            ("other=1", "unknown parameter `other`"),
            ("Last-Event-ID=true", "unknown parameter"),
        ] {
            let refused = Parameters::read(KNOWN, Some(query)).unwrap_err();
            assert!(refused.failure.message.contains(says), "{query}: {}", refused.failure.message);
            assert_eq!(refused.status, 400, "{query}");
        }
    }
}
