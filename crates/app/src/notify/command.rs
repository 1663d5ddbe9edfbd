//! A program of the user's that is told.

use super::message::Message;
use super::{Came, ways};
use crate::project::Project;
use countersign_engine::process::{Call, GuardProgram};
use countersign_engine::reviewer::Command;

/// Runs the program with the message on its standard input and in its environment.
pub async fn run(guard: &GuardProgram, project: &Project, message: &Message) -> Came {
    let Some(argv) = &project.config.notify.command else { return Came::not_there("no command") };
    // As a reviewer that is a program of the user's: files of the project by their paths.
    let command = Command { argv: argv.clone(), model: None }.from_anywhere(project.root.path());
    let mut words = command.argv.into_iter();
    let Some(program) = words.next() else { return Came::not_there("no command") };
    let mut call = Call::new(&program);
    call.args = words.map(Into::into).collect();
    call.cwd = project.root.path().to_owned();
    call.env = message.environment();
    call.stdin = format!("{}\n", message.json()).into_bytes();
    ways::run(guard, &program, call).await
}
