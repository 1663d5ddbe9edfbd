//! The table of doors, for `show`, `decide`, `watch`, `validate` and the search for reviews. A new door is a row.

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

pub const CLI: &str = "cli";
/// `review --gate`: a review that a plain question opened has rules and a policy that its caller chose.
pub const GATE: &str = "gate";
pub const MCP: &str = "mcp";
pub const HTTP: &str = "http";

pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

pub type Find = for<'a> fn(&'a Project, &'a Ledger, &'a str) -> Pending<'a, Option<ReviewId>>;
pub type Decided = for<'a> fn(&'a Project, &'a Ledger, &'a Stored) -> Pending<'a, ()>;

#[derive(Clone, Copy, Debug)]
pub struct Door {
    /// The first part of its subjects.
    pub name: &'static str,
    /// Whether users may leave that part out.
    pub may_be_left_out: bool,
    /// What the author does to have the work judged again.
    pub again: &'static str,
    pub find: Option<Find>,
    pub decided: Option<Decided>,
    pub check: Option<fn(&Look<'_>) -> Checked>,
}

impl Door {
    /// A door without files and names of its own.
    pub const fn plain(name: &'static str) -> Self {
        Self {
            name,
            may_be_left_out: false,
            again: "submit it again",
            find: None,
            decided: None,
            check: None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    pub root: &'a Path,
    pub here: &'a Path,
    /// The configuration, if it is valid.
    pub config: Option<&'a Config>,
}

#[derive(Debug, Default)]
pub struct Checked {
    /// Whether there are files: such a project needs no configuration.
    pub is_there: bool,
    /// The valid files, in lines for people.
    pub words: String,
    /// The same for programs.
    pub keys: Vec<(&'static str, Value)>,
    pub problems: Option<Problems>,
    pub warnings: Vec<Diagnostic>,
}

/// A table of doors. Where two of them have a name, the later row counts.
#[derive(Clone, Copy, Debug)]
pub struct Doors<'d>(pub &'d [Door]);

pub const DOORS: Doors<'static> = Doors(&[
    Door { may_be_left_out: true, ..Door::plain(CLI) },
    Door { may_be_left_out: true, ..Door::plain(GATE) },
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
    /// The door of a subject; a plain one without a row.
    pub fn of(&self, subject: &Subject) -> Door {
        self.0.iter().find(|door| door.name == subject.door()).copied().unwrap_or(Door::plain(""))
    }

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

    pub async fn decided(&self, project: &Project, ledger: &Ledger, stored: &Stored) -> Result<(), Failure> {
        match self.of(&stored.review.subject).decided {
            Some(decided) => decided(project, ledger, stored).await,
            None => Ok(()),
        }
    }

    /// Whether a typed text names a subject: as a whole, without the door, or by its beginning up to a `/`.
    pub fn is_meant(&self, subject: &str, typed: &str) -> bool {
        // Without its project too.
        let within = subject.split_once(':').map_or(subject, |(_, within)| within);
        let short = |door: &Door| door.may_be_left_out && within == Subject::new(door.name, [typed]).as_str();
        match typed.ends_with('/') {
            true => subject.starts_with(typed) || within.starts_with(typed),
            false => subject == typed || within == typed || self.0.iter().any(short),
        }
    }

    pub fn check(&self, look: &Look<'_>) -> Vec<Checked> {
        self.0.iter().filter_map(|door| door.check).map(|check| check(look)).collect()
    }
}

#[cfg(test)]
mod tests;
