//! YAML text to a tree of values with their places.
//! Two passes. The first only measures: it finds every syntax error, and stops at what would not fit, so that
//! a small file whose aliases multiply cannot take memory. The second builds the tree.

use super::diagnostic::{Diagnostic, quoted, visible};
use super::source::{Place, Source};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, MessageFormatter, Options, Spanned, UserMessageFormatter};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Node {
    pub span: Range<usize>,
    pub value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    /// The keys are texts.
    Map(Vec<(Node, Node)>),
}

impl Node {
    pub fn name(&self) -> &str {
        match &self.value {
            Value::Text(name) => name,
            _ => "",
        }
    }
}

/// The tree of a file, or the one thing that is wrong with its syntax.
pub(super) fn parse(source: &Arc<Source>) -> Result<Node, Diagnostic> {
    let text = source.text();
    let problem = |error: serde_saphyr::Error| syntax_problem(source, &error);
    serde_saphyr::with_deserializer_from_str_with_options(text, options(), |d| Measure::whole(d))
        .map_err(problem)?;
    serde_saphyr::from_str_with_options(text, options()).map_err(problem)
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_recorded_anchor_events: MAX_NODES,
            max_recorded_anchor_bytes: MAX_TEXT_BYTES,
            // A guess from counting; the first pass measures.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES },
        // `yes` is a text; a gate must not guess.
        strict_booleans: true,
        // Merged and tagged values have no reliable place.
        merge_keys: serde_saphyr::MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::PassThrough,
        emit_comments: false,
        with_snippet: false,
    }
}

fn syntax_problem(source: &Arc<Source>, error: &serde_saphyr::Error) -> Diagnostic {
    use serde_saphyr::Error as E;
    let place = Place::new(source, error.location().map_or(0..0, |at| bytes_of(source, at)));
    let problem = |code, message: &str| Diagnostic::new(code, place.clone(), message);
    match error {
        E::AliasError { error, .. } => Diagnostic { place, ..syntax_problem(source, error) },
        E::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().map_or_else(String::new, |key| format!(" {}", quoted(key)));
            problem("duplicate-key", &format!("the key{key} is given twice")).with_hint("keep one of the two")
        }
        E::MultipleDocuments { .. } => problem("yaml", "a second document begins here")
            .with_hint("a file is one YAML document; remove the `---`"),
        E::MergeKeyNotAllowed { .. } => problem("yaml", "merge keys (`<<`) are not supported")
            .with_hint("write the keys out, or share a whole value with an alias"),
        E::RecursiveReferencesRequireWeakTypes { .. } => {
            problem("yaml", "the alias is inside its own anchor")
        }
        E::NullIntoString { .. } | E::Unexpected { .. } => problem("yaml", "a key must be a word"),
        E::Budget { .. }
        | E::AliasReplayLimitExceeded { .. }
        | E::AliasReplayStackDepthExceeded { .. }
        | E::AliasExpansionLimitExceeded { .. } => too_complex(place),
        E::Message { msg, .. } if msg == TOO_COMPLEX => too_complex(place),
        E::UnknownAnchor { .. } => problem("yaml", "no anchor (`&name`) of this name comes before the alias"),
        // The parser's own words, which may quote the file.
        other => match visible(&UserMessageFormatter.format_message(other)) {
            message if message.contains("recursion limit") => too_complex(place),
            message => with_syntax_hint(problem("yaml", &message)),
        },
    }
}

fn too_complex(place: Place) -> Diagnostic {
    let limits = format!(
        "the limits are {MAX_NODES} values, {MAX_DEPTH} levels of nesting and {MAX_TEXT_BYTES} bytes of text"
    );
    Diagnostic::new("too-complex", place, TOO_COMPLEX).with_hint(limits)
}

/// A hint for the two most common mistakes.
fn with_syntax_hint(problem: Diagnostic) -> Diagnostic {
    let hint = match problem.message.as_str() {
        m if m.contains("mapping values are not allowed") => "text that holds `: ` needs quotes",
        m if m.contains("did not find expected") => {
            "check the indentation: keys of one mapping begin in one column"
        }
        _ => return problem,
    };
    problem.with_hint(hint)
}

/// Syntax errors come with line and column only, everything else with bytes.
fn bytes_of(source: &Source, at: Location) -> Range<usize> {
    span_of(at).unwrap_or_else(|| {
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let start = source.offset(number(at.line()), number(at.column()));
        start..start
    })
}

fn span_of(at: Location) -> Option<Range<usize>> {
    let start = usize::try_from(at.span().byte_offset()?).ok()?;
    let len = usize::try_from(at.span().byte_len()?).ok()?;
    Some(start..start.saturating_add(len))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, defined, .. } = Spanned::<Value>::deserialize(deserializer)?;
        let mut span = span_of(defined).unwrap_or_default();
        // A block list or mapping has no first character of its own; its first entry shows where it is.
        if span.is_empty() {
            match &value {
                Value::List(items) => span = items.first().map_or(span, |item| item.span.clone()),
                Value::Map(entries) => span = entries.first().map_or(span, |(key, _)| key.span.clone()),
                _ => {}
            }
        }
        Ok(Self { span, value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, mut value)) = map.next_entry::<Spanned<String>, Node>()? {
            let key = Node { span: span_of(key.defined).unwrap_or_default(), value: Value::Text(key.value) };
            // An empty value has no place of its own, so the key is shown.
            if value.span.is_empty() {
                value.span = key.span.clone();
            }
            entries.push((key, value));
        }
        Ok(Value::Map(entries))
    }
}

/// Values in a file, also through aliases.
const MAX_NODES: usize = 50_000;
/// Values within values. What is written by hand needs eight.
const MAX_DEPTH: usize = 32;
/// Bytes of text, also through aliases.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

const TOO_COMPLEX: &str = "the file is too large when its aliases (`*name`) are expanded";

struct Left {
    nodes: usize,
    text_bytes: usize,
}

struct Measure<'l> {
    left: &'l mut Left,
    depth: usize,
}

impl Measure<'_> {
    /// Reads all of a document, or says that it holds too much.
    pub fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        let mut left = Left { nodes: MAX_NODES, text_bytes: MAX_TEXT_BYTES };
        Measure { left: &mut left, depth: 0 }.deserialize(deserializer)
    }

    fn take_text<E: Error>(&mut self, text: &str) -> Result<(), E> {
        let left = self.left.text_bytes.checked_sub(text.len());
        self.left.text_bytes = left.ok_or_else(|| E::custom(TOO_COMPLEX))?;
        Ok(())
    }

    fn inner(&mut self) -> Measure<'_> {
        Measure { left: &mut *self.left, depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Measure<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let nodes = self.left.nodes.checked_sub(1).filter(|_| self.depth <= MAX_DEPTH);
        self.left.nodes = nodes.ok_or_else(|| D::Error::custom(TOO_COMPLEX))?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Measure<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i128<E>(self, _: i128) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(mut self, value: &str) -> Result<(), E> {
        self.take_text(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self.inner())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.take_text(&key)?;
            map.next_value_seed(self.inner())?;
        }
        Ok(())
    }
}
