//! The material of a phase, and which of it a scope shows: all, a part of a plan, or a file; nothing is an error. Pure.

use super::item::Item;
use super::plan::{Kind, Part, Plan};
use super::scope::Scope;
use countersign_core::digest::{Digest, Parts};
use countersign_engine::yaml::quoted;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The path in the project, or a name of its own for a file outside.
    pub path: String,
    pub from: PathBuf,
    pub text: String,
}

impl Artifact {
    pub fn is_called(&self, path: &str) -> bool {
        self.path == path || self.from == Path::new(path)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Materials {
    pub(super) artifacts: Vec<Artifact>,
    pub(super) plan: Plan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows<'m> {
    Everything,
    Part(&'m Part),
    File(&'m str),
}

impl Materials {
    pub fn new(artifacts: Vec<Artifact>) -> Result<Self, String> {
        let mut plan = Plan::default();
        for artifact in &artifacts {
            plan.add(&artifact.path, &artifact.text)?;
        }
        Ok(Self { artifacts, plan })
    }

    pub fn digest(&self) -> Digest {
        let mut parts = Parts::new("qr artifacts/1");
        parts.count(self.artifacts.len());
        for artifact in &self.artifacts {
            parts.text(&artifact.from.to_string_lossy()).text(&artifact.text);
        }
        parts.digest()
    }

    /// The digest of what a scope shows of the artifacts. None where it names a file, or shows nothing.
    pub(super) fn content(&self, scope: &Scope) -> Option<Digest> {
        match self.shows(scope, &|_| false).ok()? {
            Shows::Everything => {
                let artifacts = self.artifacts.iter();
                Some(content_of(artifacts.map(|one| (one.path.clone(), Digest::of(one.text.as_bytes())))))
            }
            Shows::Part(part) => Some(content_of([(part.name(), Digest::of(part.text.as_bytes()))])),
            Shows::File(_) => None,
        }
    }

    /// What a scope shows; `exists` says whether there is a file at a path.
    pub(super) fn shows<'m>(
        &'m self,
        scope: &'m Scope,
        exists: &dyn Fn(&str) -> bool,
    ) -> Result<Shows<'m>, String> {
        let is_there =
            |path: &str| self.artifacts.iter().any(|artifact| artifact.is_called(path)) || exists(path);
        let file = |path: &'m str| match is_there(path) {
            true => Ok(Shows::File(path)),
            false => Err(format!("there is no file {}", quoted(path))),
        };
        match scope.part() {
            _ if scope.shows_everything() => self.everything(),
            Some(("file", rest)) => file(scope.file().unwrap_or(rest)),
            Some((kind, name)) => match Kind::named(kind) {
                Some(kind) => self.plan.find(kind, name).map(Shows::Part),
                None if is_there(scope.as_str()) => Ok(Shows::File(scope.as_str())),
                None => Err(format!(
                    "unknown kind of scope {}: scopes are `*`, `milestone:`, `code_intent:`, `code_change:`, `file:`, \
                     `function:` and `component:`",
                    quoted(kind)
                )),
            },
            None => file(scope.as_str()),
        }
    }

    fn everything(&self) -> Result<Shows<'_>, String> {
        match self.artifacts.as_slice() {
            [] => Err("there is no artifact: name one with --artifact FILE".to_owned()),
            _ => Ok(Shows::Everything),
        }
    }

    pub(super) fn nowhere(&self, items: &[&Item], exists: &dyn Fn(&str) -> bool) -> Vec<String> {
        let wrong = |item: &&Item| {
            let words = self.shows(&item.scope, exists).err()?;
            Some(format!("the scope {} of {} does not exist: {words}", quoted(item.scope.as_str()), item.id))
        };
        items.iter().filter_map(wrong).take(NOWHERE_MAX).collect()
    }
}

const NOWHERE_MAX: usize = 20;

/// The digest of shown texts, by their names.
pub(super) fn content_of(files: impl IntoIterator<Item = (String, Digest)>) -> Digest {
    let mut files: Vec<(String, Digest)> = files.into_iter().collect();
    files.sort();
    let mut parts = Parts::new("qr content/1");
    parts.count(files.len());
    for (name, digest) in &files {
        parts.text(name).text(digest.as_str());
    }
    parts.digest()
}

pub fn meant(scope: &Scope, shows: Shows<'_>) -> String {
    match (shows, scope.lines()) {
        (Shows::Everything, _) if scope.is_macro() => "This is about everything that is shown.".to_owned(),
        (Shows::Everything, _) => format!("This is about {}, which is somewhere in what is shown.", scope),
        (Shows::Part(part), _) => format!("This is about the {} {}, and nothing else.", part.kind, part.id),
        (Shows::File(path), Some((first, last))) if first == last => {
            format!("This is about line {first} of {path}; the rest of the file is context.")
        }
        (Shows::File(path), Some((first, last))) => {
            format!("This is about lines {first} to {last} of {path}; the rest of the file is context.")
        }
        (Shows::File(path), None) => format!("This is about {path}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::criterion::Severity;

    fn materials() -> Materials {
        let text = "## Milestone M1: a\n\nText.\n\n- CI-1: intent\n".to_owned();
        Materials::new(vec![Artifact { path: "plan.md".into(), from: "/p/plan.md".into(), text }]).unwrap()
    }

    fn words(scope: &str) -> String {
        let materials = materials();
        let scope = Scope::parse(scope).unwrap();
        let exists = |path: &str| path == "src/a.rs" || path == "odd:name";
        match materials.shows(&scope, &exists) {
            Ok(shows) => meant(&scope, shows),
            Err(words) => words,
        }
    }

    #[test]
    fn every_kind_of_scope_shows_something_or_says_why_not() {
        for (scope, expected) in [
            ("*", "This is about everything that is shown."),
            ("function:parse", "This is about function:parse, which is somewhere in what is shown."),
            ("component:Ui", "This is about component:Ui, which is somewhere in what is shown."),
            ("milestone:M1", "This is about the milestone M1, and nothing else."),
            ("milestone:m1", "This is about the milestone M1, and nothing else."),
            ("code_intent:CI-1", "This is about the code_intent CI-1, and nothing else."),
            ("file:src/a.rs", "This is about src/a.rs."),
            ("file:plan.md", "This is about plan.md."),
            (
                "file:src/a.rs:45-52",
                "This is about lines 45 to 52 of src/a.rs; the rest of the file is context.",
            ),
            ("file:src/a.rs:L7", "This is about line 7 of src/a.rs; the rest of the file is context."),
            ("src/a.rs", "This is about src/a.rs."),
            ("odd:name", "This is about odd:name."),
            ("milestone:M2", "the plan has no milestone `M2`; it has: `M1`"),
            ("code_change:CC-1", "the plan has no code_change `CC-1` and no other code_change"),
            ("file:src/b.rs", "there is no file `src/b.rs`"),
            ("src/b.rs", "there is no file `src/b.rs`"),
        ] {
            assert_eq!(words(scope), expected, "{scope}");
        }
        assert!(words("step:1").starts_with("unknown kind of scope `step`"));
        let none = Materials::default();
        assert!(none.shows(&Scope::whole(), &|_| true).is_err(), "nothing is never everything");
    }

    #[test]
    fn a_scope_that_does_not_exist_names_its_item() {
        let item = |id: &str, scope: &str| Item::new(id, Scope::parse(scope).unwrap(), "c", Severity::Must);
        let items = [item("plan-001", "*"), item("plan-002", "milestone:M7")];
        let items: Vec<&Item> = items.iter().collect();
        let said = materials().nowhere(&items, &|_| false);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("the scope `milestone:M7` of plan-002 does not exist: "), "{said:?}");
    }
}
