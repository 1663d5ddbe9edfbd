//! Amounts of money as people write them: `2`, `0.50`.

use countersign_core::cost::MICRO;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;

const MAX: u32 = 1_000_000;

/// Dollars, from none to a million, counted in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dollars(u64);

impl Dollars {
    pub fn micro(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(DollarsVisitor)
    }
}

struct DollarsVisitor;

impl Visitor<'_> for DollarsVisitor {
    type Value = Dollars;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an amount of dollars from 0 to {MAX}, like 0.50")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Dollars, E> {
        let within = u64::try_from(value).ok().filter(|value| *value <= MAX.into());
        let dollars = within.map(|value| Dollars(value * MICRO));
        dollars.ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Dollars, E> {
        Err(E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Dollars, E> {
        if !(0.0..=f64::from(MAX)).contains(&value) {
            return Err(E::invalid_value(Unexpected::Float(value), &self));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
        #[expect(clippy::cast_precision_loss, reason = "a million is exact")]
        Ok(Dollars((value * MICRO as f64).round() as u64))
    }
}

impl JsonSchema for Dollars {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "dollars".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": MAX })
    }
}
