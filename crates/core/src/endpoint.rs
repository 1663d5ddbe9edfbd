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
    /// What the files of the programs were. It tells of an update, which asks nothing again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ProgramFile>,
    /// Programs of the same name that were passed over at a gate, because their place is not trusted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Whether it is asked as gates ask: programs at trusted places, scripts of the project from the trusted commit, variables
    /// with their trusted values. Which ones they are makes no other place then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
    /// Whether the question had only the paths of its files, because of limits that are tighter than usual.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// The digest of the configuration by which it was asked, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Digest>,
}

/// The file of a program at the time of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFile {
    /// The file itself, where the path is a link or leads over one.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The version, as far as the files beside it say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
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
        self.files.extend(other.files);
        self.skipped.extend(other.skipped);
        self.trusted |= other.trusted;
        self.listed |= other.listed;
        self.configuration = self.configuration.or(other.configuration);
        self
    }

    /// What an answer keeps of the place it was asked at; none where there is nothing to compare. An update of a
    /// program or another configuration is the same place.
    pub fn mark(&self) -> Option<Digest> {
        let mark = self.mark_in_full()?;
        Some(if self.listed { Self::mark_of_listed(&mark) } else { mark })
    }

    /// The mark of the same place, where the question has only the paths of its files.
    pub fn mark_of_listed(mark: &Digest) -> Digest {
        Parts::new("listed/1").text(mark.as_str()).digest()
    }

    fn mark_in_full(&self) -> Option<Digest> {
        if self.programs.is_empty() && self.services.is_empty() && self.variables.is_empty() {
            return None;
        }
        if self.trusted {
            let mut parts = Parts::new("trusted place/1");
            parts.count(self.services.len());
            for service in &self.services {
                parts.text(service);
            }
            return Some(parts.digest());
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
            Endpoint { trusted: true, ..program("/usr/bin/claude") },
            Endpoint { trusted: true, ..service("https://api.example") },
            Endpoint { listed: true, ..program("/usr/bin/claude") },
            Endpoint { listed: true, trusted: true, ..program("/usr/bin/claude") },
        ];
        let marks: Vec<_> = all.iter().map(Endpoint::mark).collect();
        for (i, mark) in marks.iter().enumerate() {
            assert_eq!(marks.iter().position(|other| other == mark), Some(i));
        }
        assert_eq!(marks[0], None);
    }

    #[test]
    fn a_trusted_place_is_the_same_wherever_its_programs_are() {
        let at =
            |path: &str, trusted| Endpoint { programs: vec![path.into()], trusted, ..Endpoint::default() };
        assert_eq!(at("/opt/1/claude", true).mark(), at("/opt/2/claude", true).mark());
        assert_ne!(at("/opt/1/claude", false).mark(), at("/opt/2/claude", false).mark());
        assert_eq!(Endpoint { trusted: true, ..Endpoint::default() }.mark(), None);
    }

    #[test]
    fn an_update_of_a_program_is_no_other_place() {
        let file = |digest: &str, version: &str| ProgramFile {
            path: "/opt/claude/cli.js".into(),
            digest: Some(Digest::of(digest.as_bytes())),
            version: Some(version.into()),
        };
        let before = Endpoint { programs: vec!["/usr/bin/claude".into()], ..Endpoint::default() };
        let after = Endpoint {
            files: vec![file("new", "2.0.1")],
            skipped: vec!["/tmp/claude".into()],
            configuration: Some(Digest::of(b"rules")),
            ..before.clone()
        };
        assert_eq!(before.mark(), after.mark());
        let alone = Endpoint { configuration: Some(Digest::of(b"rules")), ..Endpoint::default() };
        assert_eq!((alone.mark(), alone.is_empty()), (None, false));
        // Records of older versions lack the keys.
        let old: Endpoint = serde_json::from_str(r#"{"programs":["/usr/bin/claude"]}"#).unwrap();
        assert_eq!(old, before);
        let text = serde_json::to_string(&after).unwrap();
        assert_eq!(serde_json::from_str::<Endpoint>(&text).unwrap(), after);
    }
}
