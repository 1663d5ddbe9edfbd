//! Plan files, understood well enough to know their parts: milestones, code intents and code changes.
//!
//! Plans are written by people and by programs, in Markdown or as JSON, and nobody checks their form. So reading
//! is liberal: whatever is no part of a plan is left alone. Resolving a name is not: one that means nothing, or
//! two things, is an error that says what there is. Pure.

mod json;
mod markdown;

use countersign_engine::yaml::{listed, quoted};
use std::fmt;

/// How many parts of a plan are known.
pub const PARTS_MAX: usize = 10_000;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A milestone.
    Milestone,
    /// What a change of code is meant to do.
    CodeIntent,
    /// A change of code.
    CodeChange,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Milestone, Self::CodeIntent, Self::CodeChange];

    /// Its name in scopes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Milestone => "milestone",
            Self::CodeIntent => "code_intent",
            Self::CodeChange => "code_change",
        }
    }

    /// The kind that scopes call by this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One part of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: Kind,
    /// Its id: letters, digits, `.`, `_` and `-`.
    pub id: String,
    /// The file it stands in.
    pub file: String,
    /// Its first and last line, where that is known.
    pub lines: Option<(u32, u32)>,
    /// Its text.
    pub text: String,
}

impl Part {
    /// Whether this is what somebody means by a name. A milestone that only has a number goes by `M` and the
    /// number, and by the number.
    fn is_called(&self, name: &str) -> bool {
        let number = self.id.strip_prefix('M').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        self.id.eq_ignore_ascii_case(name) || self.kind == Kind::Milestone && number == Some(name)
    }

    /// What it is called where it is shown alone.
    pub fn name(&self) -> String {
        format!("{} ({} {})", self.file, self.kind, self.id)
    }

    /// Where it stands, for messages.
    fn place(&self) -> String {
        match self.lines {
            Some((first, _)) => format!("{}:{first}", self.file),
            None => self.file.clone(),
        }
    }
}

/// The parts of all plans that are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The parts, in the order of their files.
    pub parts: Vec<Part>,
}

impl Plan {
    /// Adds the parts of a file: of a JSON object, or of Markdown. A file without any is no plan, and that is
    /// all right.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), String> {
        let is_json = file.to_ascii_lowercase().ends_with(".json");
        let parts = if is_json { json::parts(file, text)? } else { markdown::parts(file, text) };
        let room = PARTS_MAX.saturating_sub(self.parts.len());
        if parts.len() > room {
            return Err(format!("`{file}`: the plan has more than {PARTS_MAX} parts"));
        }
        self.parts.extend(parts);
        Ok(())
    }

    /// The parts of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.kind == kind)
    }

    /// The part that is meant, or what is wrong with the name and what there is.
    pub fn find(&self, kind: Kind, name: &str) -> Result<&Part, String> {
        let meant: Vec<&Part> = self.of(kind).filter(|part| part.is_called(name)).collect();
        let words = match meant.as_slice() {
            [only] => return Ok(only),
            [] => {
                let known: Vec<&str> = self.of(kind).map(|part| part.id.as_str()).collect();
                match known.as_slice() {
                    [] => format!("the plan has no {kind} {}, nor any other", quoted(name)),
                    // Ids are all alike, so none of them is the likely one.
                    known => format!("the plan has no {kind} {}: there are: {}", quoted(name), listed(known)),
                }
            }
            [first, second, ..] => format!(
                "the plan has {kind} {} twice, in {} and in {}",
                quoted(name),
                first.place(),
                second.place()
            ),
        };
        Err(words)
    }
}

/// Whether a text can be an id.
fn is_id(text: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=100).contains(&text.len()) && text.chars().all(good) && text.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
