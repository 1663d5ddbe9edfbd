//! The table of doors: what `show`, `decide`, `watch`, `validate` and whoever looks for a review need to know of each. A
//! new door is a row.

mod jobs;
pub mod qr;
mod run;
mod service;

use crate::Failure;
use crate::project::Project;
use countersign_core::ids::{ReviewId, Subject};
use countersign_engine::config::{Config, Diagnostic, Problems};
use countersign_engine::engine::DISPUTES;
use countersign_engine::ledger::{Ledger, Stored};
use serde_json::Value;
use std::path::Path;
use std::pin::Pin;

/// The door of reviews that are asked for on the command line.
pub const CLI: &str = "cli";
/// The door of work that agents hand in by a tool.
pub const MCP: &str = "mcp";
/// The door of work that programs hand in over HTTP.
pub const HTTP: &str = "http";

/// What is still under way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Looks for the review that is meant by a name.
pub type Find = for<'a> fn(&'a Project, &'a Ledger, &'a str) -> Pending<'a, Option<ReviewId>>;
/// Does what follows from a decision about a review.
pub type Decided = for<'a> fn(&'a Project, &'a Ledger, &'a Stored) -> Pending<'a, ()>;

/// A way in which work is handed in, and what differs by it.
#[derive(Clone, Copy, Debug)]
pub struct Door {
    /// The first part of its subjects.
    pub name: &'static str,
    /// Whether that part may be left out where a subject is typed.
    pub may_be_left_out: bool,
    /// What the author does to have work judged again.
    pub again: &'static str,
    /// The review that is meant by a name of the door's own.
    pub find: Option<Find>,
    /// What follows from a decision about one of its reviews.
    pub decided: Option<Decided>,
    /// Looks at its files, asking nobody.
    pub check: Option<fn(&Look<'_>) -> Checked>,
}

impl Door {
    /// A door without files or names of its own.
    pub const fn plain(name: &'static str) -> Self {
        Self {
            name,
            may_be_left_out: false,
            again: "hand it in again",
            find: None,
            decided: None,
            check: None,
        }
    }
}

/// Where the files of doors are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The root of the project.
    pub root: &'a Path,
    /// The folder the command was given in.
    pub here: &'a Path,
    /// The configuration, where it can be read.
    pub config: Option<&'a Config>,
}

/// The files of a door, as they are.
#[derive(Debug, Default)]
pub struct Checked {
    /// Whether there are any: a project with some needs no configuration.
    pub is_there: bool,
    /// What is valid, in lines for people.
    pub words: String,
    /// The same for programs.
    pub keys: Vec<(&'static str, Value)>,
    /// What is wrong.
    pub problems: Option<Problems>,
    /// What is allowed and probably not meant.
    pub warnings: Vec<Diagnostic>,
}

/// A table of doors. Where two of them know a name, the later row counts.
#[derive(Clone, Copy, Debug)]
pub struct Doors<'d>(pub &'d [Door]);

/// Every door there is.
pub const DOORS: Doors<'static> = Doors(&[
    Door { may_be_left_out: true, ..Door::plain(CLI) },
    Door::plain(MCP),
    Door::plain(HTTP),
    jobs::DOOR,
    run::DOOR,
    service::DOOR,
    qr::DOOR,
    Door::plain(countersign_doors::service::hook::DOOR),
    Door::plain(DISPUTES),
]);

impl Doors<'_> {
    /// The door of a subject; one without a row is a plain one.
    pub fn of(&self, subject: &Subject) -> Door {
        let known = self.0.iter().find(|door| door.name == subject.door()).copied();
        known.unwrap_or(Door::plain(""))
    }

    /// The review that is meant by a name of a door's own.
    pub async fn find(
        &self,
        project: &Project,
        ledger: &Ledger,
        typed: &str,
    ) -> Result<Option<ReviewId>, Failure> {
        for find in self.0.iter().rev().filter_map(|door| door.find) {
            if let Some(id) = find(project, ledger, typed).await? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Does what follows from a decision about a review.
    pub async fn decided(&self, project: &Project, ledger: &Ledger, stored: &Stored) -> Result<(), Failure> {
        match self.of(&stored.review.subject).decided {
            Some(decided) => decided(project, ledger, stored).await,
            None => Ok(()),
        }
    }

    /// Whether a subject is meant by what was typed: whole, without a door that may be left out, or its beginning up to
    /// a `/`.
    pub fn is_meant(&self, subject: &str, typed: &str) -> bool {
        let short =
            |door: &Door| door.may_be_left_out && subject == Subject::new(door.name, [typed]).as_str();
        match typed.ends_with('/') {
            true => subject.starts_with(typed),
            false => subject == typed || self.0.iter().any(short),
        }
    }

    /// Looks at the files of every door.
    pub fn check(&self, look: &Look<'_>) -> Vec<Checked> {
        self.0.iter().filter_map(|door| door.check).map(|check| check(look)).collect()
    }
}

#[cfg(test)]
mod tests;
