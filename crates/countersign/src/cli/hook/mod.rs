//! `countersign hook`: what agent programs call when an agent is about to stop.
//!
//! Whatever is wrong with the hook itself ends in exit code 1, which holds nobody: 2 would, and an agent held by a mistake
//! has nothing to mend. Holding is said in JSON, and only where a review says so.

mod judging;
mod look;

use super::arguments::{HookOptions, HookProgram};
use super::{Failure, Global};
use crate::output::{Answer, Printer, write_out};
use crate::project::Project;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_doors::service::hook::Hook;
use countersign_doors::service::hook::input::{self, Stopping};
use look::Looked;
use std::io::Read;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// The exit code of a hook that failed: every program takes it for an error that holds nobody.
pub const FAILED: u8 = 1;
/// The most that is read; an agent's last message is in it.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The mark of everything we start: who works below it is judged by whoever started it.
const OWN_CALL: &str = "COUNTERSIGN_CALL";

/// Failures of hooks are for people, whatever was typed.
pub fn printer() -> Printer {
    Printer::new(&Global::default(), "hook")
}

/// Answers a program whose agent is about to stop.
pub async fn run(
    global: &Global,
    options: &HookOptions,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let hook = hook(options.program);
    let bytes =
        tokio::task::spawn_blocking(read).await.map_err(|error| Failure::internal(error.to_string()))??;
    if std::env::var_os(OWN_CALL).is_some() {
        return Ok(silent());
    }
    let stopping = input::read(hook, &bytes).map_err(|words| {
        Failure::usage(words).hint("this command is for agent programs: countersign init --agent NAME --hook")
    })?;
    drop(bytes);
    let here = folder(hook, &stopping);
    let Looked::Changed(work) = look::look(here, global).await? else { return Ok(silent()) };
    let Some(judged) = judging::judge(hook, &stopping, *work, cancel).await? else { return Ok(silent()) };
    let written = write_out(&judged.say.output(hook));
    // A program that was gone, or told to stop, has not heard it: the next call gets the same answer.
    match written && !cancel.is_cancelled() {
        true => judged.delivered().await?,
        false => judged.close().await,
    }
    Ok(silent())
}

/// The hook was installed: what an agent commits from now on is seen. What keeps it from reviewing is said.
pub async fn installed(global: &Global) -> Vec<String> {
    let begun = look::begin_here(global).await.err().map(|failure| {
        format!(
            "it is not known where work begins, so the first call of the hook decides: {}",
            failure.message
        )
    });
    let unwanted = Project::find(global, None).ok().and_then(|project| judging::unwanted(&project));
    let unwanted = unwanted.map(|why| format!("{why}: write `review: {{trigger: session_idle}}`"));
    begun.into_iter().chain(unwanted).collect()
}

/// The end of a hook that has said what there was to say.
fn silent() -> Answer {
    Answer { printed: true, ..Answer::new(Outcome::Passed, "", serde_json::Value::Null) }
}

fn hook(program: HookProgram) -> Hook {
    match program {
        HookProgram::Claude => Hook::Claude,
        HookProgram::Codex => Hook::Codex,
        HookProgram::Gemini => Hook::Gemini,
    }
}

/// Where the project is looked for: the one the session belongs to, wherever the agent went.
fn folder(hook: Hook, stopping: &Stopping) -> PathBuf {
    let named = hook.project_variable().and_then(std::env::var_os).map(PathBuf::from);
    named.filter(|folder| folder.is_absolute()).unwrap_or_else(|| stopping.folder.clone())
}

fn read() -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![];
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    match bytes.len() as u64 > INPUT_BYTES_MAX {
        true => Err(Failure::usage(format!("the input of the hook has more than {INPUT_BYTES_MAX} bytes"))),
        false => Ok(bytes),
    }
}

/// Something a person may want to know, on standard error: programs show it in their logs.
fn note(words: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "countersign: {}", visible_line(words));
}
