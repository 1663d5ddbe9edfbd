//! The parts of plan files: milestones, code intents and code changes. No schema checks plans, so reading is liberal:
//! text that is no part is ignored. Names are strict: an unknown or ambiguous one is an error. Pure.

pub mod criteria;
mod json;
mod markdown;

use countersign_engine::yaml::{listed, quoted};
use std::fmt;

const PARTS_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Milestone,
    CodeIntent,
    CodeChange,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Milestone, Self::CodeIntent, Self::CodeChange];

    pub fn name(self) -> &'static str {
        match self {
            Self::Milestone => "milestone",
            Self::CodeIntent => "code_intent",
            Self::CodeChange => "code_change",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub kind: Kind,
    /// Letters, digits, `.`, `_` and `-`.
    pub id: String,
    pub file: String,
    pub lines: Option<(u32, u32)>,
    pub text: String,
}

impl Part {
    /// Whether this part has a name. A milestone that only has a number is named by the number, with or without `M`.
    fn is_called(&self, name: &str) -> bool {
        let number = self.id.strip_prefix('M').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        self.id.eq_ignore_ascii_case(name) || self.kind == Kind::Milestone && number == Some(name)
    }

    pub fn name(&self) -> String {
        format!("{} ({} {})", self.file, self.kind, self.id)
    }

    fn place(&self) -> String {
        match self.lines {
            Some((first, _)) => format!("{}:{first}", self.file),
            None => self.file.clone(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub parts: Vec<Part>,
}

impl Plan {
    /// Adds the parts of a JSON or Markdown file. A file without parts is no plan and no error.
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

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.kind == kind)
    }

    pub fn find(&self, kind: Kind, name: &str) -> Result<&Part, String> {
        let meant: Vec<&Part> = self.of(kind).filter(|part| part.is_called(name)).collect();
        let words = match meant.as_slice() {
            [only] => return Ok(only),
            [] if self.of(kind).next().is_none() => {
                format!("the plan has no {kind} {} and no other {kind}", quoted(name))
            }
            // Ids are all alike, so none of them is suggested.
            [] => {
                let known = listed(self.of(kind).map(|part| part.id.as_str()));
                format!("the plan has no {kind} {}; it has: {known}", quoted(name))
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

fn is_id(text: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=100).contains(&text.len()) && text.chars().all(good) && text.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
