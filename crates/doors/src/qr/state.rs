//! The state of a phase, as its file holds it. Every dialect of the file can be read; unknown keys are kept.

use super::item::{Item, ItemSeed, Status};
use super::ordered::{Json, Text, add, twice};
use super::phase::Phase;
use super::transition::Refused;
use countersign_engine::yaml::{Diagnostic, Place, Source, did_you_mean, quoted};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;

pub(super) const ITEMS_MAX: usize = 100_000;
const SCHEMA_VERSION: &str = "1.0";
pub(super) const HINT: &str = "correct the file, or begin the phase again: countersign qr reset";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub phase: Phase,
    /// The round, from 1. Only a fix begins another.
    pub iteration: u32,
    pub items: Vec<Item>,
    phase_name: String,
    schema_version: Json,
    /// All other keys, as they were found; the round too where it was written.
    found: Vec<(String, Json)>,
}

impl State {
    pub fn new(phase: Phase, items: Vec<Item>) -> Self {
        Self {
            phase,
            iteration: 1,
            items,
            phase_name: phase.name().to_owned(),
            schema_version: Json::Text(SCHEMA_VERSION.to_owned()),
            found: vec![],
        }
    }

    /// Reads a state file, whose name has to be that of its phase.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, Diagnostic> {
        let source = Source::new(path, text);
        let state: Self =
            serde_json::from_str(source.text()).map_err(|error| problem(&source, &error).with_hint(HINT))?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match Phase::of_file_name(name) {
            Some(phase) if phase != state.phase => {
                let message =
                    format!("the file is about {}, and its name says {phase}", quoted(&state.phase_name));
                Err(Diagnostic::new("phase-mismatch", place_of(&source, "\"phase\""), message)
                    .with_hint(HINT))
            }
            _ => Ok(state),
        }
    }

    pub(super) fn text(&self) -> String {
        // Texts, numbers and lists under keys that are texts can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    pub fn item(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.id == id)
    }

    pub fn count(&self, status: Status) -> usize {
        self.items.iter().filter(|item| item.status == status).count()
    }

    pub(super) fn find(&self, id: &str) -> Result<&Item, Refused> {
        self.item(id).ok_or_else(|| self.unknown(id))
    }

    pub(super) fn find_mut(&mut self, id: &str) -> Result<&mut Item, Refused> {
        let at = self.items.iter().position(|item| item.id == id).ok_or_else(|| self.unknown(id))?;
        Ok(&mut self.items[at])
    }

    fn unknown(&self, id: &str) -> Refused {
        let known: Vec<&str> = self.items.iter().map(|item| item.id.as_str()).collect();
        let meant = did_you_mean(id, &known, "there are");
        Refused::UnknownItem(format!("no item has the id {}: {meant}", quoted(id)))
    }

    pub fn by_id(&self) -> HashMap<&str, &Item> {
        self.items.iter().map(|item| (item.id.as_str(), item)).collect()
    }
}

pub(super) fn problem(source: &std::sync::Arc<Source>, error: &serde_json::Error) -> Diagnostic {
    let text = source.text();
    let start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = start + error.column().saturating_sub(1);
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    let code = if error.is_data() { "bad-state" } else { "bad-json" };
    Diagnostic::new(code, Place::new(source, at..at + 1), message)
}

fn place_of(source: &std::sync::Arc<Source>, words: &str) -> Place {
    let at = source.text().find(words).unwrap_or_default();
    Place::new(source, at..at + words.len())
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &self.schema_version)?;
        map.serialize_entry("phase", &self.phase_name)?;
        map.serialize_entry("items", &self.items)?;
        for (key, value) in &self.found {
            match key.as_str() {
                "iteration" => map.serialize_entry(key, &self.iteration)?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        if self.iteration > 1 && !self.found.iter().any(|(key, _)| key == "iteration") {
            map.serialize_entry("iteration", &self.iteration)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StateVisitor)
    }
}

struct StateVisitor;

impl<'de> Visitor<'de> for StateVisitor {
    type Value = State;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state file, an object with phase and items")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<State, A::Error> {
        let mut version = None;
        let mut phase = None;
        let mut items = None;
        let mut iteration = 1;
        let mut found = vec![];
        while let Some(key) = entries.next_key::<String>()? {
            let again = match key.as_str() {
                "schema_version" => version.replace(entries.next_value_seed(Version)?).is_some(),
                "phase" => phase.replace(named(&mut entries)?).is_some(),
                "items" => items.replace(entries.next_value_seed(Items)?).is_some(),
                "iteration" => {
                    iteration = entries.next_value_seed(Round)?;
                    add(&mut found, key.clone(), Json::Number(iteration.into()))?;
                    false
                }
                _ => {
                    add(&mut found, key.clone(), entries.next_value()?)?;
                    false
                }
            };
            if again {
                return Err(twice(&key));
            }
        }
        let (phase, phase_name) = phase.ok_or_else(|| A::Error::custom("the file has no `phase`"))?;
        let items = items.ok_or_else(|| A::Error::custom("the file has no `items`"))?;
        let schema_version = version.unwrap_or_else(|| Json::Text(SCHEMA_VERSION.to_owned()));
        Ok(State { phase, iteration, items, phase_name, schema_version, found })
    }
}

struct Items;

impl<'de> DeserializeSeed<'de> for Items {
    type Value = Vec<Item>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Item>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items {
    type Value = Vec<Item>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Item>, A::Error> {
        let mut seen = HashSet::new();
        let mut items = vec![];
        while let Some(item) = list.next_element_seed(ItemSeed(&mut seen))? {
            if items.len() == ITEMS_MAX {
                return Err(A::Error::custom(format!("there are more than {ITEMS_MAX} items")));
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// A phase, and the name it was found under.
fn named<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<(Phase, String), A::Error> {
    let read = |name: Option<&str>| {
        let name = name?;
        let phase = Phase::named(name).ok_or_else(|| phase_problem(name));
        Some(phase.map(|phase| (phase, name.to_owned())))
    };
    entries.next_value_seed(Text { expected: "the name of a phase", read })
}

pub fn phase_problem(name: &str) -> String {
    let known = Phase::ALL.map(Phase::name);
    format!("unknown phase {}: {}", quoted(name), did_you_mean(name, &known, "there are"))
}

struct Version;

impl<'de> DeserializeSeed<'de> for Version {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Version {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the version \"1.0\"")
    }

    fn visit_u64<E: Error>(self, version: u64) -> Result<Json, E> {
        known_version((version == 1).then(|| Json::Number(1.into())), &version)
    }

    fn visit_f64<E: Error>(self, version: f64) -> Result<Json, E> {
        let number = serde_json::Number::from_f64(version).filter(|_| version == 1.0);
        known_version(number.map(Json::Number), &version)
    }

    fn visit_str<E: Error>(self, version: &str) -> Result<Json, E> {
        let is_known = version.split('.').next() == Some("1");
        known_version(is_known.then(|| Json::Text(version.to_owned())), &version)
    }
}

fn known_version<E: Error>(known: Option<Json>, found: &dyn fmt::Display) -> Result<Json, E> {
    let found = quoted(&found.to_string());
    known.ok_or_else(|| E::custom(format!("the file has version {found}, and only \"1.0\" is known")))
}

struct Round;

impl<'de> DeserializeSeed<'de> for Round {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_u32(self)
    }
}

impl Visitor<'_> for Round {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a round, a whole number from 1")
    }

    fn visit_u64<E: Error>(self, round: u64) -> Result<u32, E> {
        let read = u32::try_from(round).ok().filter(|round| *round > 0);
        read.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Unsigned(round), &self))
    }
}

#[cfg(test)]
mod tests;
