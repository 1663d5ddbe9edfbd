//! Runs a command of the project, such as its tests, within its time, and keeps the end of its output.

use crate::process::{self, Call, GuardProgram, ProcessEnd, Surplus, Tap};
use countersign_core::text;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const OUTPUT_BYTES: usize = 256 * 1024;
/// How much of the beginning is kept beside the end.
const BEGINNING_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandResult {
    pub end: End,
    /// The end of its output and error output, as text.
    pub output: String,
    /// Where that is not all of it: the beginning, and the number of all bytes.
    pub cut: Option<(String, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Passed,
    Failed(String),
    TimedOut,
    Cancelled,
}

impl CommandResult {
    pub fn passed(&self) -> bool {
        self.end == End::Passed
    }

    /// The output in so many bytes, without its middle where it is longer.
    pub fn shown(&self, max_bytes: usize) -> Cow<'_, str> {
        match &self.cut {
            None => text::cut_middle(&self.output, max_bytes),
            Some((beginning, bytes)) => text::cut_between(beginning, &self.output, *bytes, max_bytes),
        }
    }

    /// What went wrong, with the output.
    pub fn trouble(&self, what: &str, max_bytes: usize) -> String {
        let how = match &self.end {
            End::Passed => "passed".to_owned(),
            End::Failed(how) => format!("failed: {how}"),
            End::TimedOut => "took too long".to_owned(),
            End::Cancelled => "was stopped".to_owned(),
        };
        format!("{what} {how}\n{}", self.shown(max_bytes).trim_end())
    }
}

/// A command as people write it, in one line.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    pub line: &'a str,
    pub folder: &'a Path,
    pub timeout: Duration,
    pub environment: &'a [(OsString, OsString)],
    pub tap: Option<Tap>,
}

/// Runs a command. No process of it runs any more when this returns.
pub async fn run(
    guard: &GuardProgram,
    command: Command<'_>,
    cancel: &CancellationToken,
) -> std::io::Result<CommandResult> {
    let mut call = Call::new("/bin/sh");
    // Both streams in the order in which they were written, as a person would see them.
    call.args = ["-c", "exec 2>&1\neval \"$0\"", command.line].map(Into::into).to_vec();
    call.cwd = command.folder.to_owned();
    call.env = command.environment.to_vec();
    call.only_env = true;
    call.timeout = command.timeout;
    call.stdout_limit_bytes = OUTPUT_BYTES;
    call.surplus = Surplus::Forgets;
    let beginning = Arc::new(Mutex::new(Beginning::default()));
    call.tap = Some(beginning_tap(beginning.clone(), command.tap));
    let ended = process::run(guard, call, cancel).await?;
    let end = match ended.how {
        ProcessEnd::Exited(0) => End::Passed,
        ProcessEnd::Exited(code) => End::Failed(format!("exit code {code}")),
        ProcessEnd::Signalled(signal) => End::Failed(format!("ended by signal {signal}")),
        ProcessEnd::NotStarted { reason } => End::Failed(format!("could not be started: {reason}")),
        ProcessEnd::TimedOut => End::TimedOut,
        ProcessEnd::TooMuchOutput { .. } | ProcessEnd::GuardLost => {
            End::Failed("its output was lost".to_owned())
        }
        ProcessEnd::Cancelled => End::Cancelled,
    };
    let Beginning { kept, bytes } =
        std::mem::take(&mut *beginning.lock().unwrap_or_else(PoisonError::into_inner));
    let cut = (bytes > ended.stdout.len()).then(|| (String::from_utf8_lossy(&kept).into_owned(), bytes));
    Ok(CommandResult { end, output: String::from_utf8_lossy(&ended.stdout).into_owned(), cut })
}

/// The beginning of an output, and how many bytes were written in all.
#[derive(Default)]
struct Beginning {
    kept: Vec<u8>,
    bytes: usize,
}

fn beginning_tap(beginning: Arc<Mutex<Beginning>>, also: Option<Tap>) -> Tap {
    Tap::new(move |piece| {
        let mut beginning = beginning.lock().unwrap_or_else(PoisonError::into_inner);
        let room = BEGINNING_BYTES.saturating_sub(beginning.kept.len());
        beginning.kept.extend_from_slice(&piece[..piece.len().min(room)]);
        beginning.bytes += piece.len();
        drop(beginning);
        if let Some(tap) = &also {
            tap.write(piece);
        }
    })
}
