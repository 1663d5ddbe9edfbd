//! `countersign hook`: agent programs call it when an agent is about to stop.
//!
//! A failure here, ours or of a file of the project, holds the agent like a missing verdict: otherwise an agent could
//! break the hook to get past it. The answer that holds is JSON. Only where there is nothing to review, and where the
//! installed command has a mistake, it ends with exit code 1, which holds no agent; it never ends with 2.

use super::help::hooks;
use super::{Failure, Global, last_resort};
use crate::formats::{Format, Outputs};
use crate::output::{Answer, Printer, write_out};
use clap::Args;
use countersign_app::author::shell_mark;
use countersign_app::hook::{self as stops, Stop, Tries};
use countersign_core::text::{cut_noted, visible_line};
use countersign_doors::service::hook::answer::failed;
use countersign_doors::service::hook::input::{self, InputError, Stopping};
use countersign_engine::programs::{Hook, PROGRAMS};
use std::io::Read;
use tokio_util::sync::CancellationToken;

const HOOK_HELP: &str = "\
Examples:
  countersign init --agent claude --hook           let the program call it whenever an agent stops
  countersign init --agent claude --hook --remove  remove it again

The agent program describes the stop on standard input. The hook reviews the changes since the last pass and answers in
the form of that program: the agent gets the findings and continues. Exit code 1 means that the hook itself failed; it
does not hold the agent. `countersign help hooks` explains the rest.";

#[derive(Debug, Args)]
#[command(after_help = HOOK_HELP)]
pub struct HookOptions {
    /// The program that calls
    #[arg(value_parser = hooks(PROGRAMS))]
    pub program: Hook,
}

/// The exit code of a hook that failed: agent programs treat it as an error and do not hold the agent.
pub const FAILED: u8 = 1;
/// The largest input; it holds the last message of the agent.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
const WHY_BYTES_MAX: usize = 2000;
const FOR_PROGRAMS: &str = "this command is for agent programs: countersign init --agent NAME --hook";

/// Failures of hooks are for people, whatever the options.
pub fn printer() -> Printer {
    let outputs = Outputs::to_stdout(Format::Text);
    Printer { outputs, quiet: false, verbose: false, command: "hook" }
}

pub async fn run(
    global: &Global,
    options: &HookOptions,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let hook = options.program;
    let stopping = match stopping(hook).await {
        Err(InputError::OtherEvent(words)) => return Err(Failure::usage(words).hint(FOR_PROGRAMS)),
        Err(InputError::NotUnderstood(words)) => Err(Failure::usage(words).hint(FOR_PROGRAMS)),
        Ok(stopping) => Ok(stopping),
    };
    let known = stopping.as_ref().ok();
    let place = stops::place(hook, known);
    if stops::is_real(place.as_deref(), note).await {
        return Ok(Answer::silent());
    }
    let Some(place) = place else {
        return Err(stopping.err().unwrap_or_else(nothing_here));
    };
    let tries = Tries::of(hook, known, &place);
    let ended = match stopping {
        Ok(stopping) => {
            let mark = shell_mark(hook);
            let (config, by_shell) = (global.config.clone(), mark.is_some());
            let stopping = match mark {
                Some(mark) => called_by_agent(hook, &mark, stopping),
                None => stopping,
            };
            answered(Stop { hook, stopping, place, config, by_shell }, cancel.clone()).await
        }
        Err(failure) => Err(failure),
    };
    match ended {
        Ok(()) => tries.over(),
        Err(failure) => hold_or_tell(hook, &failure, &tries),
    }
    Ok(Answer::silent())
}

/// An agent that calls its hook could say each time that its user wrote to it. Refusing it would let an agent go that sets
/// such a variable for its hook, so it is judged, without new attempts; and a pass in another session changes nothing.
fn called_by_agent(hook: Hook, mark: &str, stopping: Stopping) -> Stopping {
    let program = hook.program.name;
    note(&format!("{mark}: {program} itself did not call this hook, so it gives no new attempts"));
    Stopping { was_held: true, ..stopping }
}

async fn answered(stop: Stop, cancel: CancellationToken) -> Result<(), Failure> {
    let (hook, until) = (stop.hook, cancel.clone());
    let judged = caught(async move { stops::stopped(stop, note, &until).await });
    let Some(judged) = judged.await? else { return Ok(()) };
    let written = write_out(&judged.say.output(hook));
    // A program that ended or was stopped did not read the answer: the next call gets the same one.
    let read = written && !cancel.is_cancelled();
    let noted = caught(async move {
        match read {
            true => judged.delivered().await,
            false => {
                judged.close().await;
                Ok(())
            }
        }
    });
    // The answer is out: a failed record makes no second answer.
    noted.await.unwrap_or_else(|failure| note(&failure.to_string()));
    Ok(())
}

/// Runs a future; a panic in it is a failure like others.
async fn caught<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    tokio::select! {
        // A thread of a library may panic too, and its result would never come.
        () = last_resort::panicked() => Err(Failure::internal("the hook failed: this is a defect of Countersign")),
        ended = tokio::spawn(work) => {
            ended.unwrap_or_else(|error| Err(Failure::internal(format!("the hook failed: {error}"))))
        }
    }
}

/// Holds the agent because of a failure, or tells the person where it was held often enough.
fn hold_or_tell(hook: Hook, failure: &Failure, tries: &Tries) {
    let words = failure.to_string();
    let why = visible_line(cut_noted(words.trim(), WHY_BYTES_MAX).as_ref()).into_owned();
    let hint = failure.hint.as_deref().map(visible_line);
    note(&why);
    hint.iter().for_each(|hint| note(hint));
    write_out(&failed(&why, hint.as_deref(), tries.one_more()).output(hook));
}

async fn stopping(hook: Hook) -> Result<Stopping, InputError> {
    let bytes = tokio::task::spawn_blocking(read).await;
    input::read(hook, &bytes.unwrap_or_else(|error| Err(error.to_string()))?)
}

fn nothing_here() -> Failure {
    Failure::usage(
        "this is not a git repository, and no countersign.yml is here: a hook has nothing to review",
    )
    .hint("a hook reviews changes, so it needs a git repository")
}

fn read() -> Result<Vec<u8>, String> {
    let mut bytes = vec![];
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("standard input cannot be read: {error}"))?;
    match bytes.len() as u64 > INPUT_BYTES_MAX {
        true => Err(format!("the input of the hook has more than {INPUT_BYTES_MAX} bytes")),
        false => Ok(bytes),
    }
}

/// A note for people on standard error: programs show it in their logs.
fn note(words: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "countersign: {}", visible_line(words));
}
