//! Runs a program below its guard: passes its input, reads its output, cuts the lifeline in time.

use super::guarded::{GUARD_MARGIN, Guarded};
use super::own::{self, Own};
use super::{Call, Ended, GUARD_ARG, GuardProgram, ProcessEnd, Surplus, Tap};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, debug_span};

const REPORT_BYTES: u64 = 4096;
const PIECE_BYTES: usize = 64 * 1024;
/// How long the rest of the output may take when nothing writes any more.
const REST: Duration = Duration::from_secs(1);

/// Runs a program to its end. Nothing of it is left when this returns; if this future is dropped, the guard sees the end
/// of the lifeline and ends the program.
pub async fn run(guard: &GuardProgram, call: Call, cancel: &CancellationToken) -> io::Result<Ended> {
    // The program alone: arguments may hold the question.
    let span = debug_span!("process", program = %Path::new(&call.program).display());
    let ended = run_guarded(guard, call, cancel).instrument(span.clone()).await;
    match &ended {
        Ok(ended) => debug!(parent: &span, how = ?ended.how, elapsed = ?ended.elapsed, "ended"),
        Err(error) => debug!(parent: &span, %error, "not started"),
    }
    ended
}

async fn run_guarded(guard: &GuardProgram, call: Call, cancel: &CancellationToken) -> io::Result<Ended> {
    let started = Instant::now();
    let (mut child, own, line) = start(guard, &call)?;
    let pipes = (child.stdout.take(), child.stderr.take());
    let mut guarded = Guarded::new(child, own, call.grace);
    let (mut stdout, mut stderr) = (vec![], vec![]);
    let kept = (&mut stdout, &mut stderr);
    let how = supervise(line.into_split(), &call, &mut guarded, pipes, kept, cancel).await;
    guarded.end().await;
    let stderr_tail = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Ended { how, stdout, stderr_tail, elapsed: started.elapsed() })
}

fn start(guard: &GuardProgram, call: &Call) -> io::Result<(Child, Option<Own>, UnixStream)> {
    // Both ends close on exec, and the program gets another standard input, so only the guard keeps the line open.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = Command::new(&guard.0);
    if call.only_env {
        command.env_clear();
    }
    command
        .arg(GUARD_ARG)
        .arg(call.grace.as_millis().to_string())
        .arg(call.scratch.clone().unwrap_or_default())
        .arg(&call.program)
        .args(&call.args)
        .current_dir(&call.cwd)
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (child, own) = own::spawn_recorded(&mut command)?;
    Ok((child, own, UnixStream::from_std(ours)?))
}

/// Passes input and output and waits for the report; cuts the lifeline on a timeout, too much output or a cancel.
async fn supervise(
    (reports, mut lifeline): (OwnedReadHalf, OwnedWriteHalf),
    call: &Call,
    guarded: &mut Guarded,
    pipes: (Option<ChildStdout>, Option<ChildStderr>),
    kept: (&mut Vec<u8>, &mut Vec<u8>),
    cancel: &CancellationToken,
) -> ProcessEnd {
    let write = async {
        let _ = lifeline.write_all(&(call.stdin.len() as u64).to_le_bytes()).await;
        let _ = lifeline.write_all(&call.stdin).await;
        // Held open: its end is the program's end.
        std::future::pending::<()>().await;
    };
    let lost = CancellationToken::new();
    let resume = guarded.resumer();
    let report = async {
        let report = read_report(reports).await;
        match report {
            // What is above the guard ends now, and with it the output. A program may have stopped it.
            Some(_) => resume(),
            None => lost.cancel(),
        }
        report
    };
    let too_much = CancellationToken::new();
    let too_much_output = ProcessEnd::TooMuchOutput { limit_bytes: call.stdout_limit_bytes };
    // The guard goes last, and with it every writer: the end of the output after its report means that it is complete.
    let all = async { tokio::join!(report, read_output(call, pipes, kept, &too_much)).0 };
    tokio::pin!(all);
    let cut = tokio::select! {
        report = &mut all => return match too_much.is_cancelled() {
            // Output over the limit counts also where the program ended by itself at the same moment.
            true => too_much_output,
            // Nothing here cut the line, so whatever did was not an orderly end.
            false => report.unwrap_or(ProcessEnd::GuardLost),
        },
        () = write => ProcessEnd::GuardLost,
        () = lost.cancelled() => ProcessEnd::GuardLost,
        () = too_much.cancelled() => too_much_output,
        () = tokio::time::sleep(call.timeout) => ProcessEnd::TimedOut,
        () = cancel.cancelled() => ProcessEnd::Cancelled,
    };
    let _ = lifeline.shutdown().await;
    match cut {
        ProcessEnd::GuardLost => guarded.end_lost().await,
        _ => resume(),
    }
    // Whatever is still to be read is bounded, by size and now by time.
    if timeout(call.grace + GUARD_MARGIN, &mut all).await.is_err() {
        guarded.end_from_here().await;
        let _ = timeout(REST, &mut all).await;
    }
    cut
}

/// Reads both pipes to their ends; cancels `too_much` where the program writes more than it may.
async fn read_output(
    call: &Call,
    (out, err): (Option<ChildStdout>, Option<ChildStderr>),
    (stdout, stderr): (&mut Vec<u8>, &mut Vec<u8>),
    too_much: &CancellationToken,
) {
    let tap = call.tap.as_ref();
    let read_out = async {
        let Some(out) = out else { return };
        let is_cut = read_bounded(out, call.stdout_limit_bytes, call.surplus, tap, stdout).await;
        if is_cut && call.surplus == Surplus::Ends {
            too_much.cancel();
        }
    };
    let read_err = async {
        if let Some(err) = err {
            read_bounded(err, call.stderr_tail_bytes, Surplus::Forgets, tap, stderr).await;
        }
    };
    tokio::join!(read_out, read_err);
}

async fn read_report(reports: OwnedReadHalf) -> Option<ProcessEnd> {
    let mut line = String::new();
    BufReader::new(reports.take(REPORT_BYTES)).read_line(&mut line).await.ok()?;
    ProcessEnd::parse(&line)
}

/// Reads to the end, or up to the limit where a surplus ends the program. True if `into` is not all of the output:
/// more was written, or reading failed. An incomplete output is no reply, even where its beginning would be one.
async fn read_bounded(
    mut from: impl AsyncRead + Unpin,
    limit_bytes: usize,
    surplus: Surplus,
    tap: Option<&Tap>,
    into: &mut Vec<u8>,
) -> bool {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let Ok(n) = from.read(&mut piece).await else { return true };
        if n == 0 {
            return false;
        }
        if let Some(tap) = tap {
            tap.write(&piece[..n]);
        }
        into.extend_from_slice(&piece[..n]);
        let surplus_bytes = into.len().saturating_sub(limit_bytes);
        match surplus {
            Surplus::Forgets => drop(into.drain(..surplus_bytes)),
            Surplus::Ends if surplus_bytes > 0 => {
                into.truncate(limit_bytes);
                return true;
            }
            Surplus::Ends => {}
        }
    }
}
