//! Runs a test command with its output live on the terminal and counts the tests on the way.

use crate::cargo::{self, cannot_start};
use crate::failure::Failure;
use crate::libtest::Tally;
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How long the output may stay open after cargo ended. Longer means a test left a process behind.
const DRAIN_SECONDS: u64 = 10;

/// How many lines may wait for a slow terminal before the tests have to wait too.
const LINES_WAITING: usize = 1024;

enum Event {
    Line(Vec<u8>),
    OutputEnded(std::io::Result<()>),
    Exited(std::io::Result<ExitStatus>),
}

/// Runs one step, shows and reads its output, and refuses a success that proves nothing.
///
/// Both output streams share one pipe: only then do cargo's `Running` lines (stderr) stay in order with the
/// tests (stdout) they belong to.
pub fn run(step: &str, command: Command) -> Result<Tally, Failure> {
    cargo::step(step, || watch(step, command))
}

fn watch(step: &str, mut command: Command) -> Result<Tally, Failure> {
    let (reader, writer) = std::io::pipe().map_err(|error| cannot_start(step, &error))?;
    let second = writer.try_clone().map_err(|error| cannot_start(step, &error))?;
    command.stdout(writer).stderr(second);
    let mut child = command.spawn().map_err(|error| cannot_start(step, &error))?;
    // The command holds our ends of the pipe; while one is open the output never ends.
    drop(command);

    let (sender, events) = sync_channel(LINES_WAITING);
    let lines = sender.clone();
    std::thread::spawn(move || read_lines(reader, &lines));
    std::thread::spawn(move || sender.send(Event::Exited(child.wait())));

    let mut tally = Tally::default();
    let status = follow(&events, &mut tally).map_err(|text| Failure::Problem(format!("`{step}`: {text}")))?;
    tally.finish();
    cargo::succeeded(step, status)?;
    match tally.doubt() {
        Some(doubt) => Err(Failure::Problem(format!("`{step}`: {doubt}"))),
        None => Ok(tally),
    }
}

/// Sends every line, then the end. A receiver that is gone needs no more lines.
fn read_lines(reader: PipeReader, events: &SyncSender<Event>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        let event = match reader.read_until(b'\n', &mut line) {
            Ok(0) => Event::OutputEnded(Ok(())),
            Ok(_) => Event::Line(line),
            Err(error) => Event::OutputEnded(Err(error)),
        };
        let ended = matches!(event, Event::OutputEnded(_));
        if events.send(event).is_err() || ended {
            return;
        }
    }
}

/// Shows and counts until cargo has exited and its output has ended.
fn follow(events: &Receiver<Event>, tally: &mut Tally) -> Result<ExitStatus, String> {
    let mut out = std::io::stdout();
    let mut exited: Option<(ExitStatus, Instant)> = None;
    let mut output_ended = false;
    loop {
        if let Some((status, _)) = exited
            && output_ended
        {
            return Ok(status);
        }
        let event = match exited {
            None => events.recv().map_err(|_| "the output was lost".to_owned())?,
            Some((_, deadline)) => {
                let left = deadline.saturating_duration_since(Instant::now());
                events.recv_timeout(left).map_err(|_| {
                    format!(
                        "a test left a process behind: its output is still open {DRAIN_SECONDS} s after the end"
                    )
                })?
            }
        };
        match event {
            Event::Line(line) => {
                out.write_all(&line).map_err(|error| format!("cannot show the output: {error}"))?;
                tally.line(&String::from_utf8_lossy(&line));
            }
            Event::OutputEnded(Ok(())) => output_ended = true,
            Event::OutputEnded(Err(error)) => return Err(format!("cannot read the output: {error}")),
            Event::Exited(Ok(status)) => {
                exited = Some((status, Instant::now() + Duration::from_secs(DRAIN_SECONDS)));
            }
            Event::Exited(Err(error)) => return Err(format!("cannot wait for the end: {error}")),
        }
    }
}
