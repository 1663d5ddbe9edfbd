//! `countersign completions`: a completion script.

use super::help;
use crate::output::Answer;
use clap::Args;
use countersign_app::answer::v1::{self, Completions};

#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// The shell
    pub shell: clap_complete::Shell,
}

pub fn run(options: &CompletionsOptions) -> Answer {
    let mut script = vec![];
    clap_complete::generate(options.shell, &mut help::command(), "countersign", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let own = Completions { shell: options.shell.to_string(), script: script.clone() };
    Answer::of(v1::Answer::passed(own), script)
}
