//! One item of a phase: what is checked, in which scope, and its status; and how it stands in the state file.

use super::ordered::{Json, Text, add, twice};
use super::scope::Scope;
use super::severity;
use countersign_core::criterion::Severity;
use countersign_core::text::hides;
use countersign_engine::yaml::quoted;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::HashSet;
use std::fmt;

const ID_CHARS_MAX: usize = 200;
/// The five fields of the document; every other field is an extra.
const FIELDS: [&str; 5] = ["id", "scope", "check", "status", "finding"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It has no ruling in this round.
    Todo,
    Pass,
    Fail,
}

impl Status {
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Todo, Self::Pass, Self::Fail].into_iter().find(|status| status.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Todo => "TODO",
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
        }
    }
}

/// One item. Unknown fields of the file are kept, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    pub scope: Scope,
    pub check: String,
    pub status: Status,
    pub finding: Option<String>,
    pub severity: Severity,
    /// In how many rounds it failed.
    pub fail_count: u32,
    pub accepted: bool,
    pub acceptance_reason: Option<String>,
    pub(super) found: Vec<(String, Json)>,
}

impl Item {
    pub(super) fn new(
        id: impl Into<String>,
        scope: Scope,
        check: impl Into<String>,
        severity: Severity,
    ) -> Self {
        Self {
            id: id.into(),
            scope,
            check: check.into(),
            status: Status::Todo,
            finding: None,
            severity,
            fail_count: 0,
            accepted: false,
            acceptance_reason: None,
            found: vec![],
        }
    }

    fn implied_fail_count(&self) -> u32 {
        u32::from(self.status == Status::Fail)
    }

    /// The extras as they are written: first those that were found, then those that differ from their defaults.
    fn extras(&self) -> Vec<(String, Json)> {
        let was_found = |key: &str| self.found.iter().any(|(known, _)| known == key);
        let current = |key: &str, value: &Json| match key {
            "severity" => severity::written(value, self.severity),
            "fail_count" => Json::Number(self.fail_count.into()),
            "accepted" => Json::Bool(self.accepted),
            "acceptance_reason" => self.acceptance_reason.clone().map_or(Json::Null, Json::Text),
            _ => value.clone(),
        };
        let mut extras: Vec<_> =
            self.found.iter().map(|(key, value)| (key.clone(), current(key, value))).collect();
        let differs = [
            ("severity", self.severity != severity::DEFAULT),
            ("fail_count", self.fail_count != self.implied_fail_count()),
            ("accepted", self.accepted),
            ("acceptance_reason", self.acceptance_reason.is_some()),
        ];
        let more = differs.into_iter().filter(|(key, differs)| *differs && !was_found(key));
        extras.extend(more.map(|(key, _)| (key.to_owned(), current(key, &Json::Null))));
        extras
    }
}

/// Why a text cannot be an id: ids stand in lists, in commands and in subjects.
pub(super) fn id_problem(id: &str) -> Option<String> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/' | '#');
    if id.is_empty() {
        return Some("an id is empty".to_owned());
    }
    if id.chars().count() > ID_CHARS_MAX {
        return Some(format!("the id {} has more than {ID_CHARS_MAX} characters", quoted(id)));
    }
    if id.starts_with('-') || !id.chars().all(|c| allowed(c) && !hides(c)) {
        return Some(format!(
            "the id {} is invalid: use letters, digits and - _ . : / #, and do not begin with -",
            quoted(id)
        ));
    }
    None
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("scope", self.scope.as_str())?;
        map.serialize_entry("check", &self.check)?;
        map.serialize_entry("status", self.status.name())?;
        map.serialize_entry("finding", &self.finding)?;
        for (key, value) in self.extras() {
            map.serialize_entry(&key, &value)?;
        }
        map.end()
    }
}

/// Reads an item whose id is not among those seen before.
pub(super) struct ItemSeed<'s>(pub &'s mut HashSet<String>);

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ItemSeed<'_> {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an item, an object with id, scope, check, status and finding")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Item, A::Error> {
        let mut item = Item::new("", Scope::whole(), "", severity::DEFAULT);
        let mut fail_count = None;
        let mut known: HashSet<&'static str> = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if let Some(field) = FIELDS.into_iter().find(|field| *field == key)
                && !known.insert(field)
            {
                return Err(twice(&key));
            }
            match key.as_str() {
                "id" => item.id = new_id(&mut entries, self.0)?,
                "scope" => item.scope = scope(&mut entries)?,
                "check" => item.check = words(&mut entries)?,
                "status" => item.status = status(&mut entries)?,
                "finding" => item.finding = text_or_null(&mut entries)?,
                _ => {
                    let value = extra(&mut item, &mut fail_count, &key, &mut entries)?;
                    add(&mut item.found, key, value)?;
                }
            }
        }
        if let Some(missing) = ["id", "scope", "check"].into_iter().find(|field| !known.contains(field)) {
            let whose = if item.id.is_empty() { String::new() } else { format!(" {}", quoted(&item.id)) };
            return Err(A::Error::custom(format!("the item{whose} has no `{missing}`")));
        }
        item.fail_count = fail_count.unwrap_or(item.implied_fail_count());
        Ok(item)
    }
}

/// Reads an extra, and sets the field that it stands for.
fn extra<'de, A: MapAccess<'de>>(
    item: &mut Item,
    fail_count: &mut Option<u32>,
    key: &str,
    entries: &mut A,
) -> Result<Json, A::Error> {
    Ok(match key {
        "severity" => {
            let (value, severity) = severity::found(entries)?;
            item.severity = severity;
            value
        }
        "fail_count" => Json::Number((*fail_count.insert(entries.next_value()?)).into()),
        "accepted" => {
            item.accepted = entries.next_value()?;
            Json::Bool(item.accepted)
        }
        "acceptance_reason" => {
            item.acceptance_reason = text_or_null(entries)?;
            item.acceptance_reason.clone().map_or(Json::Null, Json::Text)
        }
        _ => entries.next_value()?,
    })
}

fn new_id<'de, A: MapAccess<'de>>(entries: &mut A, seen: &mut HashSet<String>) -> Result<String, A::Error> {
    let read = |id: Option<&str>| {
        let id = id?;
        Some(match id_problem(id) {
            Some(problem) => Err(problem),
            None if !seen.insert(id.to_owned()) => Err(format!("two items have the id {}", quoted(id))),
            None => Ok(id.to_owned()),
        })
    };
    entries.next_value_seed(Text { expected: "an id, a text such as \"plan-001\"", read })
}

fn scope<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<Scope, A::Error> {
    let expected = "a scope, a text such as \"*\" or \"file:src/a.rs\"";
    entries.next_value_seed(Text { expected, read: |text: Option<&str>| text.map(Scope::parse) })
}

fn status<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<Status, A::Error> {
    let read = |text: Option<&str>| text.map_or(Some(Status::Todo), Status::named).map(Ok);
    entries.next_value_seed(Text { expected: "a status: TODO, PASS or FAIL", read })
}

fn text_or_null<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<Option<String>, A::Error> {
    let read = |text: Option<&str>| Some(Ok(text.map(str::to_owned)));
    entries.next_value_seed(Text { expected: "a text or null", read })
}

fn words<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<String, A::Error> {
    let read =
        |text: Option<&str>| text.filter(|text| !text.trim().is_empty()).map(|text| Ok(text.to_owned()));
    entries.next_value_seed(Text { expected: "a text that says what to verify", read })
}
