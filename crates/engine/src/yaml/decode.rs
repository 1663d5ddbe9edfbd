//! The tree as a serde deserializer, so that the written types need no reading code of their own; and its faults.
//! It does not stop at the first problem: unknown keys are noted and skipped, and an `At` that cannot be read is noted
//! and left empty. The caller must look at the faults before the value.

use super::at::AT;
use super::diagnostic::{did_you_mean, listed, quoted};
use super::tree::{Node, Value};
use serde::de::value::{StrDeserializer, UsizeDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

/// Reads a value from the tree, with all problems.
pub(super) fn decode<'n, T: Deserialize<'n>>(root: &'n Node, text: &'n str) -> (Option<T>, Vec<Fault>) {
    let context = Context { text, faults: RefCell::default() };
    let read = T::deserialize(Reader { node: root, label: Label::Root, context: &context });
    let mut faults = context.faults.into_inner();
    let value = read.map_err(|fault| faults.push(fault)).ok();
    (value, faults)
}

struct Context<'n> {
    text: &'n str,
    faults: RefCell<Vec<Fault>>,
}

#[derive(Clone, Copy)]
struct Reader<'n, 'c> {
    node: &'n Node,
    label: Label<'n>,
    context: &'c Context<'n>,
}

impl<'n, 'c> Reader<'n, 'c> {
    fn complete(self, fault: Fault) -> Fault {
        let raw = self.context.text.get(self.node.span.clone()).unwrap_or_default();
        fault.complete(self.label, &self.node.span, raw)
    }

    fn inner(self, node: &'n Node, label: Label<'n>) -> Self {
        Self { node, label, ..self }
    }

    fn visit<V: Visitor<'n>>(
        self,
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visit_int(*value, visitor),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items { rest: items.iter(), list: self }),
            Value::Map(entries) => {
                visitor.visit_map(Entries { rest: entries.iter(), fields, value: None, map: self })
            }
        }
    }
}

fn visit_int<'n, V: Visitor<'n>>(value: i128, visitor: V) -> Result<V::Value, Fault> {
    if let Ok(value) = i64::try_from(value) {
        return visitor.visit_i64(value);
    }
    match u64::try_from(value) {
        Ok(value) => visitor.visit_u64(value),
        Err(_) => visitor.visit_i128(value),
    }
}

impl<'n> Deserializer<'n> for Reader<'n, '_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(None, visitor).map_err(|fault| self.complete(fault))
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match name {
            AT => visitor.visit_seq(AtParts { given: 0, reader: self }),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        // Derived code would take a list for its fields in order.
        let read = match &self.node.value {
            Value::List(_) => Err(serde::de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.visit(Some(fields), visitor),
        };
        read.map_err(|fault| self.complete(fault))
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let variant = match &self.node.value {
            Value::Text(name) => Variant { name, name_reader: self, value: None },
            Value::Map(entries) => match entries.as_slice() {
                [(key, node)] => {
                    let value = Some(self.inner(node, Label::Key(key.name())));
                    Variant { name: key.name(), name_reader: self, value }
                }
                _ => return Err(self.complete(Fault::not_one_key(entries.len()))),
            },
            other => return Err(self.complete(Fault::not_a_choice(&unexpected(other), variants))),
        };
        visitor.visit_enum(variant).map_err(|fault| self.complete(fault))
    }

    forward_to_deserialize_any! {
        <V: Visitor<'n>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Int(value) => i64::try_from(*value).map_or(Unexpected::Other("a number"), Unexpected::Signed),
        Value::Float(value) => Unexpected::Float(*value),
        Value::Text(text) => Unexpected::Str(text),
        Value::List(_) => Unexpected::Seq,
        Value::Map(_) => Unexpected::Map,
    }
}

/// The parts of an [`At`](super::at::At): where it begins, where it ends, its value.
struct AtParts<'n, 'c> {
    given: u8,
    reader: Reader<'n, 'c>,
}

impl<'n> SeqAccess<'n> for AtParts<'n, '_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'n>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let bound = |at: usize| -> UsizeDeserializer<Fault> { at.into_deserializer() };
        let Reader { node, context, .. } = self.reader;
        self.given += 1;
        match self.given {
            1 => seed.deserialize(bound(node.span.start)).map(Some),
            2 => seed.deserialize(bound(node.span.end)).map(Some),
            _ => {
                let read = seed.deserialize(self.reader);
                Ok(read.map_err(|fault| context.faults.borrow_mut().push(fault)).ok())
            }
        }
    }
}

struct Items<'n, 'c> {
    rest: std::slice::Iter<'n, Node>,
    list: Reader<'n, 'c>,
}

impl<'n> SeqAccess<'n> for Items<'n, '_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'n>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(node) = self.rest.next() else { return Ok(None) };
        seed.deserialize(self.list.inner(node, self.list.label.item())).map(Some)
    }
}

struct Entries<'n, 'c> {
    rest: std::slice::Iter<'n, (Node, Node)>,
    fields: Option<&'static [&'static str]>,
    value: Option<(&'n Node, &'n Node)>,
    map: Reader<'n, 'c>,
}

impl<'n> MapAccess<'n> for Entries<'n, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'n>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        for (key, node) in self.rest.by_ref() {
            if let Some(fields) = self.fields.filter(|fields| !fields.contains(&key.name())) {
                let fault = Fault::unknown_key(key.name(), fields).placed(&key.span);
                self.map.context.faults.borrow_mut().push(fault);
                continue;
            }
            self.value = Some((key, node));
            return seed.deserialize(self.map.inner(key, Label::Key(key.name()))).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'n>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        match self.value.take() {
            Some((key, node)) => seed.deserialize(self.map.inner(node, Label::Key(key.name()))),
            None => Err(serde::de::Error::custom("is read out of order")),
        }
    }
}

/// One word of several, alone or as the only key of a mapping.
struct Variant<'n, 'c> {
    name: &'n str,
    name_reader: Reader<'n, 'c>,
    value: Option<Reader<'n, 'c>>,
}

impl<'n, 'c> EnumAccess<'n> for Variant<'n, 'c> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'n>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let name: StrDeserializer<'n, Fault> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|fault| self.name_reader.complete(fault))?;
        Ok((variant, self))
    }
}

impl<'n> VariantAccess<'n> for Variant<'n, '_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.value {
            None => Ok(()),
            Some(value) => Err(value.complete(Fault::takes_no_value(self.name))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'n>>(self, seed: T) -> Result<T::Value, Fault> {
        match self.value {
            Some(value) => seed.deserialize(value),
            None => Err(self.name_reader.complete(Fault::needs_a_value(self.name))),
        }
    }

    fn tuple_variant<V: Visitor<'n>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        Err(serde::de::Error::invalid_type(Unexpected::TupleVariant, &visitor))
    }

    fn struct_variant<V: Visitor<'n>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(serde::de::Error::invalid_type(Unexpected::StructVariant, &visitor))
    }
}

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
