//! Where a reviewer is asked: program, service address and the variables that steer it. It is no part of a question's key,
//! so an update of a program asks nothing again; a ruling is reused only where the place is the same now.

use crate::digest::{Digest, Parts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a reviewer is asked. Empty for reviewers that have no place: our checks, recordings, the author.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Endpoint {
    /// The programs that are started, by their paths as found; links are not followed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// Variables that steer the program, with the digests of their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Digest>,
}

impl Endpoint {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This place and another one, for a reviewer that is asked in two calls.
    pub fn and(mut self, other: Self) -> Self {
        self.programs.extend(other.programs);
        self.services.extend(other.services);
        self.variables.extend(other.variables);
        self
    }

    /// What an answer keeps of the place it was asked at; none where there is nothing to compare.
    pub fn mark(&self) -> Option<Digest> {
        if self.is_empty() {
            return None;
        }
        let mut parts = Parts::new("place/1");
        for list in [&self.programs, &self.services] {
            parts.count(list.len());
            for word in list {
                parts.text(word);
            }
        }
        parts.count(self.variables.len());
        for (name, value) in &self.variables {
            parts.text(name).text(value.as_str());
        }
        Some(parts.digest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart_by_each_part() {
        let program = |path: &str| Endpoint { programs: vec![path.into()], ..Endpoint::default() };
        let service = |url: &str| Endpoint { services: vec![url.into()], ..Endpoint::default() };
        let variable = |name: &str, value: &str| Endpoint {
            variables: [(name.to_owned(), Digest::of(value.as_bytes()))].into(),
            ..Endpoint::default()
        };
        let all = [
            Endpoint::default(),
            program("/usr/bin/claude"),
            program("/tmp/claude"),
            service("/usr/bin/claude"),
            service("https://api.example"),
            variable("HOME", "/root"),
            variable("HOME", "/tmp"),
            program("/usr/bin/claude").and(service("https://api.example")),
        ];
        let marks: Vec<_> = all.iter().map(Endpoint::mark).collect();
        for (i, mark) in marks.iter().enumerate() {
            assert_eq!(marks.iter().position(|other| other == mark), Some(i));
        }
        assert_eq!(marks[0], None);
    }
}
