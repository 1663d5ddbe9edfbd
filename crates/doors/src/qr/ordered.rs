//! JSON of others, kept as it was found: keys in their order, and none of them twice.

use countersign_engine::yaml::quoted;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;
use std::fmt;

/// How many keys of its own an object may have.
const KEYS_MAX: usize = 1000;

/// A value somebody else wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// Keys and values, in their order.
    Object(Vec<(String, Json)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => value.serialize(serializer),
            Self::Number(value) => value.serialize(serializer),
            Self::Text(value) => value.serialize(serializer),
            Self::List(values) => values.serialize(serializer),
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Number::from_f64(value).map(Json::Number).ok_or_else(|| E::custom("a number that is none"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
        let mut list = vec![];
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = vec![];
        while let Some(key) = entries.next_key::<String>()? {
            add(&mut object, key, entries.next_value()?)?;
        }
        Ok(Json::Object(object))
    }
}

/// Reads a text, or nothing, by a function that has no answer where it is not what is expected.
pub(super) struct Text<F> {
    /// What must stand there.
    pub expected: &'static str,
    /// What it means; none is `null`.
    pub read: F,
}

impl<'de, T, F: FnOnce(Option<&str>) -> Option<Result<T, String>>> DeserializeSeed<'de> for Text<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<T, F: FnOnce(Option<&str>) -> Option<Result<T, String>>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        let expected = self.expected;
        let read = (self.read)(None).ok_or_else(|| E::invalid_type(Unexpected::Unit, &expected))?;
        read.map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let expected = self.expected;
        let read =
            (self.read)(Some(text)).unwrap_or_else(|| Err(format!("{} is not {expected}", quoted(text))));
        read.map_err(E::custom)
    }
}

/// Keeps an entry; one key means one thing.
pub(super) fn add<E: Error>(entries: &mut Vec<(String, Json)>, key: String, value: Json) -> Result<(), E> {
    if entries.iter().any(|(known, _)| *known == key) {
        return Err(twice(&key));
    }
    if entries.len() == KEYS_MAX {
        return Err(E::custom(format!("an object has more than {KEYS_MAX} keys")));
    }
    entries.push((key, value));
    Ok(())
}

/// The problem of a key that stands twice.
pub(super) fn twice<E: Error>(key: &str) -> E {
    E::custom(format!("the key {} is there twice", quoted(key)))
}
