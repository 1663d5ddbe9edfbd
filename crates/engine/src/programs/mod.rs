//! Agent programs: one folder and one row of [`PROGRAMS`] each, with everything that differs between them: command lines,
//! how their output is parsed, marks, hook, settings. Pure: processes are started in `reviewer` and `worker`.
//!
//! Common to all is the environment they get, the ways in which they fail, and the shape of the rows. Authors,
//! `init --agent`, `doctor`, `use:` and help go through the table.

pub mod claude;
pub mod codex;
mod copilot;
mod environment;
mod facts;
pub mod gemini;
#[cfg(test)]
pub(crate) mod made_up;
pub mod opencode;
mod program;
mod qwen;
mod reply;
mod steering;
pub mod stop;

pub use environment::{environment, kept};
pub use facts::{Api, Credentials, Facts, Form, Patience, Record, Setup, Vendor};
pub use program::{
    Dialect, FileFormat, HOOK_SECONDS, Hook, Mark, ModelArgument, Program, Programs, ServerEntry, ServerForm,
    ServerVariables, Working, listed,
};
pub use reply::{Kind, ParsedOutput, Problem, ProgramName, ReplyBody, Usage, not_exited};
pub(crate) use reply::{events, kind_in, microusd, says_no_credit, sum_known};
pub use steering::{gate_environment, needs_trust, steers};

/// Every program there is. A new one is a folder and a row here.
pub const PROGRAMS: Programs = Programs(&[
    &claude::PROGRAM,
    &codex::PROGRAM,
    &gemini::PROGRAM,
    &opencode::PROGRAM,
    &qwen::PROGRAM,
    &copilot::PROGRAM,
]);

/// The first words of every prompt are ours: programs take one that begins with `/` or `@` for a command.
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
        for program in PROGRAMS.all() {
            assert!(
                std::ptr::eq(PROGRAMS.named(program.name).unwrap(), program),
                "{program:?} has a name of its own"
            );
            assert!(program.reviewer.is_none_or(|facts| facts.name == program.name));
            assert!(program.hook.is_none_or(|hook| hook.program.name == program.name));
        }
        assert!(PROGRAMS.named("vi").is_none());
        assert!(PROGRAMS.reviewer("qwen").is_none());
    }
}
