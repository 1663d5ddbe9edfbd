//! Whole numbers with bounds, so that a limit cannot be nothing, negative or beyond what we can count.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;

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
