//! Problems with the shape of a value, as the decoder finds and words them.

use super::diagnostic::{did_you_mean, listed, quoted};
use serde::de::{Error, Expected, Unexpected};
use std::fmt;
use std::ops::Range;

/// What a value is called in a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Label<'n> {
    Root,
    Key(&'n str),
    Item(&'n str),
}

impl Label<'_> {
    pub fn item(self) -> Self {
        match self {
            Self::Root => Self::Root,
            Self::Key(name) | Self::Item(name) => Self::Item(name),
        }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("the file"),
            Self::Key(name) => f.write_str(&quoted(name)),
            Self::Item(name) => write!(f, "an entry of {}", quoted(name)),
        }
    }
}

/// A problem whose place may not be known yet.
#[derive(Debug)]
pub(super) struct Fault {
    pub code: &'static str,
    pub message: String,
    pub hint: Option<String>,
    pub span: Option<Range<usize>>,
    /// The message lacks its subject, the value's name.
    predicate: bool,
    /// What was wanted, where quotes make the difference.
    quotes: Quotes,
}

#[derive(Debug, PartialEq)]
enum Quotes {
    Fine,
    Missing,
    TooMany,
}

impl Fault {
    fn predicate(code: &'static str, message: String) -> Self {
        Self { code, message, hint: None, span: None, predicate: true, quotes: Quotes::Fine }
    }

    fn with_hint(self, hint: String) -> Self {
        Self { hint: Some(hint), ..self }
    }

    pub fn unknown_key(key: &str, known: &[&str]) -> Self {
        let message = format!("unknown key {}", quoted(key));
        let hint = did_you_mean(key, known, "known here");
        Self { predicate: false, ..Self::predicate("unknown-key", message) }.with_hint(hint)
    }

    pub fn takes_no_value(name: &str) -> Self {
        let hint = format!("write just {}", quoted(name));
        Self::predicate("wrong-type", "takes no value".into()).with_hint(hint)
    }

    pub fn needs_a_value(name: &str) -> Self {
        let message = format!("cannot be just {}", quoted(name));
        let hint = format!("write {} and put its value after the colon", quoted(&format!("{name}: …")));
        Self::predicate("wrong-type", message).with_hint(hint)
    }

    pub fn not_one_key(keys: usize) -> Self {
        Self::predicate("wrong-type", format!("must be a mapping with one key, not {keys}"))
    }

    pub fn not_a_choice(found: &Unexpected<'_>, known: &[&str]) -> Self {
        let message = format!("must be one of {}, not {}", listed(known), describe(found));
        Self::predicate("wrong-type", message)
    }

    /// The fault at this place, unless it knows better.
    pub fn placed(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }

    /// The fault with subject, place and, where quotes are the whole problem, that hint.
    pub fn complete(mut self, label: Label<'_>, span: &Range<usize>, raw: &str) -> Self {
        if self.span.is_some() {
            return self;
        }
        if std::mem::take(&mut self.predicate) {
            self.message = format!("{label} {}", self.message);
        }
        match std::mem::replace(&mut self.quotes, Quotes::Fine) {
            Quotes::Missing => {
                self.hint = Some(format!("if you mean text, write {}", quoted(&format!("\"{raw}\""))))
            }
            Quotes::TooMany => self.hint = Some("remove the quotes".into()),
            Quotes::Fine => {}
        }
        self.placed(span)
    }
}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::predicate("wrong-value", message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = plain_words(expected);
        let quotes = match found {
            Unexpected::Bool(_) | Unexpected::Signed(_) | Unexpected::Unsigned(_) | Unexpected::Float(_)
                if expected == "text" =>
            {
                Quotes::Missing
            }
            Unexpected::Str(text) if expected.contains("number") && text.parse::<u64>().is_ok() => {
                Quotes::TooMany
            }
            Unexpected::Str("true" | "false") if expected == "true or false" => Quotes::TooMany,
            _ => Quotes::Fine,
        };
        let message = format!("must be {expected}, not {}", describe(&found));
        Self { quotes, ..Self::predicate("wrong-type", message) }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let message = format!("must be {}, not {}", plain_words(expected), describe(&found));
        Self::predicate("wrong-value", message)
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let hint = did_you_mean(variant, known, "known");
        Self::predicate("unknown-value", format!("cannot be {}", quoted(variant))).with_hint(hint)
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::unknown_key(field, known)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::predicate("missing-key", format!("has no {}", quoted(field)))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// The words of serde, in the words of YAML.
fn plain_words(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "a string" => "text".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        other => other.to_owned(),
    }
}

fn describe(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Unit | Unexpected::Option => "empty".into(),
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(text) => format!("the text {}", quoted(text)),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a mapping".into(),
        other => other.to_string(),
    }
}
