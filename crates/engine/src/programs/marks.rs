//! The marks of agent programs: variables that each sets for its agent's commands, as measured in the real programs.

use std::ffi::OsStr;

/// A variable by which an agent program is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name.
    pub name: &'static str,
    /// The one value that counts, where others use the name too.
    pub value: Option<&'static str>,
}

impl Mark {
    /// A variable that is a mark whatever its value.
    pub const fn new(name: &'static str) -> Self {
        Self { name, value: None }
    }

    /// Whether a variable is this mark.
    pub fn is(&self, name: &OsStr, value: &OsStr) -> bool {
        name == self.name && self.value.is_none_or(|only| value == only)
    }
}

/// Marks that several programs set.
pub(super) const COMMON: &[Mark] = &[Mark::new("AI_AGENT")];
