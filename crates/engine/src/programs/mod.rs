//! Agent programs: how each is called, and what it means by what it says. One module a program, pure.
//!
//! What they have in common is here: the environment they get, the ways in which they fail, and the shape of
//! the [`Facts`] that make one program differ from the next.

mod api;
pub mod claude;
pub mod codex;
mod environment;
mod facts;
pub mod gemini;
mod heard;
mod marks;
pub mod opencode;
pub mod stop;
mod working;

pub use api::Api;
pub use environment::{environment, kept};
pub use facts::{Credentials, Facts, Form, Record, Setup, Vendor};
pub use heard::{Called, Heard, Kind, Problem, Said, Usage, not_exited, sum_known};
pub use marks::{MARKS, Mark, NAMES};
pub use working::{ModelArgument, Working};

/// The programs there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

impl Program {
    /// All of them, in the order in which they are preferred where nothing is configured.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// What is particular about it.
    pub fn facts(self) -> &'static Facts {
        match self {
            Self::Claude => &claude::FACTS,
            Self::Codex => &codex::FACTS,
            Self::Gemini => &gemini::FACTS,
            Self::Opencode => &opencode::FACTS,
        }
    }

    /// Whether it can look around in a project without taking orders from it. opencode cannot: it takes every
    /// AGENTS.md that lies beside a file it reads for instructions, and nothing turns that off.
    pub fn may_see_project(self) -> bool {
        self != Self::Opencode
    }

    /// The program with this name on the PATH.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.facts().name == name)
    }
}

/// The first words of every prompt are ours: programs take one that begins with `/` or `@` for a command of
/// their own.
pub(crate) fn prompt(payload: &str, reads_files: bool) -> String {
    let files = if reads_files {
        " Files that are named and not shown are in the current folder, under the same relative paths; nothing \
         outside of it can be read."
    } else {
        ""
    };
    format!("The work to be judged follows.{files}\n\n{payload}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_never_begins_with_what_is_judged() {
        for payload in ["/cost", "@/etc/hostname", "", "!ls"] {
            for reads_files in [true, false] {
                let prompt = prompt(payload, reads_files);
                assert!(prompt.starts_with("The work to be judged follows."));
                assert!(prompt.ends_with(&format!("\n\n{payload}\n")));
            }
        }
    }

    #[test]
    fn every_program_is_known_by_its_name() {
        for program in Program::ALL {
            assert_eq!(Program::named(program.facts().name), Some(program));
        }
        assert_eq!(Program::named("vi"), None);
    }
}
