//! JSON that is kept as it was found, with its keys in order and none of them twice; and a reader of texts in it.

use countersign_engine::yaml::quoted;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::{Serialize, Serializer};
use serde_json::Number;
use std::fmt;

const KEYS_MAX: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    #[serde(serialize_with = "as_map")]
    Object(Vec<(String, Json)>),
}

fn as_map<S: Serializer>(entries: &[(String, Json)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
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
        Number::from_f64(value).map(Json::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Json, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(values)).map(Json::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = vec![];
        while let Some(key) = entries.next_key::<String>()? {
            add(&mut object, key, entries.next_value()?)?;
        }
        Ok(Json::Object(object))
    }
}

/// Reads a text or `null` (given as none) by a function, which answers none where the value is not as expected.
pub(super) struct Text<F> {
    pub expected: &'static str,
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

/// Adds an entry whose key is not there yet.
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

pub(super) fn twice<E: Error>(key: &str) -> E {
    E::custom(format!("the key {} appears twice", quoted(key)))
}
