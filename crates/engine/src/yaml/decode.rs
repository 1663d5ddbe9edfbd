//! The tree as a serde deserializer, so that the written types need no reading code of their own.
//! It does not stop at the first problem: unknown keys are noted and skipped, and an `At` that cannot be read is noted
//! and left empty. The caller must look at the faults before the value.

use super::at::AT;
use super::fault::{Fault, Label};
use super::tree::{Node, Value};
use serde::de::value::{StrDeserializer, UsizeDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::cell::RefCell;

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
