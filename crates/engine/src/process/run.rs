//! Our side of a guarded program: hand over its input, read its output, cut the line in time.

use super::guard::NO_WATCHER;
use super::guarded::{GUARD_MARGIN, Guarded};
use super::output::{read_limited, read_tail};
use super::own::{self, Own};
use super::report::Report;
use super::{Call, Ended, GUARD_ARG, GuardProgram, How, Surplus};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, debug_span};

const REPORT_BYTES: u64 = 4096;
/// How long the rest of the output may take when nothing writes any more.
const REST: Duration = Duration::from_secs(1);

/// Runs a program to its end. Whatever happens, nothing of it is left when this returns; if this future is
/// dropped, the guard sees the end of the line and does the same.
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
    let spoken =
        talk(line.into_split(), &call, &mut guarded, pipes, (&mut stdout, &mut stderr), cancel).await;
    let how = match spoken {
        Spoken::Cut(how) => how,
        Spoken::Reported(report) => How::from(report),
    };
    guarded.end().await;
    let stderr_tail = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Ended { how, stdout, stderr_tail, elapsed: started.elapsed() })
}

fn start(guard: &GuardProgram, call: &Call) -> io::Result<(Child, Option<Own>, UnixStream)> {
    // Both ends close on exec; the guard gets its end as standard input and the program another one, so no
    // process but the guard can keep the line open.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = Command::new(&guard.0);
    if call.only_env {
        command.env_clear();
    }
    command
        .arg(GUARD_ARG)
        .arg(NO_WATCHER.to_string())
        .arg(call.grace.as_millis().to_string())
        .arg(call.scratch.clone().unwrap_or_default())
        .arg(&call.program)
        .args(&call.args)
        .current_dir(&call.cwd)
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (child, own) = own::spawn_named(&mut command)?;
    Ok((child, own, UnixStream::from_std(ours)?))
}

/// How the conversation with the guard ended.
enum Spoken {
    /// We cut the line.
    Cut(How),
    /// The guard said how the program ended, or ended without a word.
    Reported(Option<Report>),
}

async fn talk(
    (reports, mut lifeline): (OwnedReadHalf, OwnedWriteHalf),
    call: &Call,
    guarded: &mut Guarded,
    (out, err): (Option<ChildStdout>, Option<ChildStderr>),
    (stdout, stderr): (&mut Vec<u8>, &mut Vec<u8>),
    cancel: &CancellationToken,
) -> Spoken {
    let length = (call.stdin.len() as u64).to_le_bytes();
    let too_much = CancellationToken::new();
    let write = async {
        let _ = lifeline.write_all(&length).await;
        let _ = lifeline.write_all(&call.stdin).await;
        // Held open: its end is the program's end.
        std::future::pending::<()>().await;
    };
    let read_out = async {
        let (limit, tap) = (call.stdout_limit_bytes, call.tap.as_ref());
        match (out, call.surplus) {
            (Some(out), Surplus::Forgets) => read_tail(out, limit, tap, stdout).await,
            (Some(out), Surplus::Ends) => {
                if read_limited(out, limit, tap, stdout).await {
                    too_much.cancel();
                }
            }
            (None, _) => {}
        }
    };
    let read_err = async {
        if let Some(err) = err {
            read_tail(err, call.stderr_tail_bytes, call.tap.as_ref(), stderr).await;
        }
    };
    // The guard goes last, and with it every writer: the end of the output after its report means that it is complete.
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
    let all = async { tokio::join!(report, read_out, read_err).0 };
    tokio::pin!(all);
    let cut = tokio::select! {
        report = &mut all => {
            // Output over the limit counts also where the program ended by itself at the same moment.
            return match too_much.is_cancelled() {
                true => Spoken::Cut(How::TooMuchOutput { limit_bytes: call.stdout_limit_bytes }),
                false => Spoken::Reported(report),
            };
        }
        () = write => How::GuardLost,
        () = lost.cancelled() => How::GuardLost,
        () = too_much.cancelled() => How::TooMuchOutput { limit_bytes: call.stdout_limit_bytes },
        () = tokio::time::sleep(call.timeout) => How::TimedOut,
        () = cancel.cancelled() => How::Cancelled,
    };
    let _ = lifeline.shutdown().await;
    match cut {
        How::GuardLost => guarded.end_lost().await,
        _ => resume(),
    }
    // Whatever is still to be read is bounded, by size and now by time.
    if timeout(call.grace + GUARD_MARGIN, &mut all).await.is_err() {
        guarded.end_from_here().await;
        let _ = timeout(REST, &mut all).await;
    }
    Spoken::Cut(cut)
}

async fn read_report(reports: OwnedReadHalf) -> Option<Report> {
    let mut line = String::new();
    BufReader::new(reports.take(REPORT_BYTES)).read_line(&mut line).await.ok()?;
    Report::parse(&line)
}
