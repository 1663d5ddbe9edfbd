//! Values that know where they were written, and whole numbers with bounds: a limit cannot be nothing, negative or beyond
//! what we can count.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// The name by which the decoder knows that a place is asked for beside the value.
pub(super) const AT: &str = "countersign::yaml::At";

/// A value and its bytes in the file. No value: it could not be read, which is reported already.
#[derive(Clone, Debug)]
pub struct At<T> {
    pub span: Range<usize>,
    pub value: Option<T>,
}

/// An optional key whose value may not be left empty: `max_attempts:` with nothing after it is a slip, and a
/// gate does not read slips as defaults.
#[derive(Clone, Debug)]
pub struct Given<T>(pub Option<At<T>>);

/// A list whose entries know their places.
pub type List<T> = At<Vec<At<T>>>;

impl<T> Given<T> {
    /// What was given and could be read.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref().and_then(|at| at.value.as_ref())
    }
}

impl<T> Given<Vec<T>> {
    /// The entries of a list; none where there is no list.
    pub fn items(&self) -> &[T] {
        self.get().map(Vec::as_slice).unwrap_or_default()
    }
}

impl<T> Default for Given<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(AT, AtVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        At::deserialize(deserializer).map(|at| Self(Some(at)))
    }
}

/// A mapping whose keys are names of the user's own, in the order of the file.
#[derive(Clone, Debug)]
pub struct OrderedMap<T>(pub Vec<(At<String>, At<T>)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrderVisitor(PhantomData))
    }
}

struct InOrderVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrderVisitor<T> {
    type Value = OrderedMap<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMap<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(OrderedMap(entries))
    }
}

struct AtVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtVisitor<T> {
    type Value = At<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<At<T>, A::Error> {
        let mut bound = || parts.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &"a place"));
        let span = bound()?..bound()?;
        Ok(At { span, value: parts.next_element()? })
    }
}

/// Editors need not know that places are kept.
macro_rules! same_schema {
    ($wrapper:ident) => {
        impl<T: JsonSchema> JsonSchema for $wrapper<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    };
}

same_schema!(At);
same_schema!(Given);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const MIN: u32, const MAX: u32>(u32);

/// Something there is at least one of.
pub type Count = Whole<1, { u32::MAX }>;
/// A number that may also be none at all.
pub type CountOrNone = Whole<0, { u32::MAX }>;

impl<const MIN: u32, const MAX: u32> Whole<MIN, MAX> {
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u32(WholeVisitor)
    }
}

struct WholeVisitor<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Visitor<'_> for WholeVisitor<MIN, MAX> {
    type Value = Whole<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match MIN == MAX {
            true => write!(f, "the number {MIN}"),
            false => write!(f, "a whole number from {MIN} to {MAX}"),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        let within = u32::try_from(value).ok().filter(|value| (MIN..=MAX).contains(value));
        within.map(Whole).ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        let within = u32::try_from(value).ok().filter(|value| (MIN..=MAX).contains(value));
        within.map(Whole).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("whole_{MIN}_to_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}
