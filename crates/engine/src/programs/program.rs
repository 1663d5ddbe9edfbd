//! The row of an agent program and queries over all rows. All code that differs by program goes through here, so a program
//! with a row is known everywhere.

use super::marks::COMMON;
use super::{Facts, Hook, Mark, ServerEntry, Vendor};
use std::ffi::OsString;
use std::fmt;

/// An agent program: everything that differs from the next one.
pub struct Program {
    /// Its name on the PATH, of its process, in `use:` and in `--agent`.
    pub name: &'static str,
    /// Who makes its models, where that is one.
    pub vendor: Option<Vendor>,
    /// Variables that it sets for whatever its agent starts.
    pub marks: &'static [Mark],
    /// Its files in a project that choose tools, hooks or commands; one that ends in `/` stands for all below it.
    pub gate_files: &'static [&'static str],
    /// How it is asked and put to work, where that is known.
    pub reviewer: Option<&'static Facts>,
    /// The entry in its settings that has it start our server.
    pub server: Option<ServerEntry>,
    /// How it calls us when its agent stops.
    pub hook: Option<Hook>,
}

impl Program {
    /// A program that is known by its marks alone.
    pub(super) const fn marks_only(name: &'static str, marks: &'static [Mark]) -> Self {
        Self { name, vendor: None, marks, gate_files: &[], reviewer: None, server: None, hook: None }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A table of programs, in the order in which they are preferred where nothing is configured.
#[derive(Clone, Copy, Debug)]
pub struct Programs(pub &'static [&'static Program]);

impl Programs {
    /// Every row.
    pub fn all(self) -> impl Iterator<Item = &'static Program> {
        self.0.iter().copied()
    }

    /// The row of this name.
    pub fn named(self, name: &str) -> Option<&'static Program> {
        self.all().find(|program| program.name == name)
    }

    /// Those that can be asked and put to work.
    pub fn reviewers(self) -> impl Iterator<Item = &'static Facts> {
        self.all().filter_map(|program| program.reviewer)
    }

    /// The one of this name that can be asked and put to work.
    pub fn reviewer(self, name: &str) -> Option<&'static Facts> {
        self.named(name)?.reviewer
    }

    /// Those that can be told of us in their settings.
    pub fn agents(self) -> impl Iterator<Item = &'static Program> {
        self.all().filter(|program| program.server.is_some() || program.hook.is_some())
    }

    /// The hooks there are.
    pub fn hooks(self) -> impl Iterator<Item = Hook> {
        self.all().filter_map(|program| program.hook)
    }

    /// The names of those that can be asked, for help and hints.
    pub fn reviewer_names(self) -> String {
        self.reviewers().map(|facts| facts.name).collect::<Vec<_>>().join(", ")
    }

    /// The names people give the author of work, and whose model they mean.
    pub fn authors(self) -> impl Iterator<Item = (&'static str, Vendor)> {
        let vendors = self.all().filter_map(|program| Some((program.name, program.vendor?)));
        vendors.flat_map(|(name, vendor)| [(name, vendor), (vendor.name(), vendor)])
    }

    /// Every mark, with its program where only one sets it.
    pub fn marks(self) -> impl Iterator<Item = (&'static Mark, Option<&'static Program>)> {
        let own = self.all().flat_map(|program| program.marks.iter().map(move |mark| (mark, Some(program))));
        own.chain(COMMON.iter().map(|mark| (mark, None)))
    }

    /// The marks among variables.
    pub fn marked(
        self,
        variables: &[(OsString, OsString)],
    ) -> impl Iterator<Item = (&'static Mark, Option<&'static Program>)> {
        self.marks().filter(|(mark, _)| variables.iter().any(|(name, value)| mark.is(name, value)))
    }
}

/// Names in a sentence: `a, b and c`.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>, and: &str) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} {and} {last}", before.join(", ")),
        None => String::new(),
    }
}
