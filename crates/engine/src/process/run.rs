//! Our side of a guarded program: hand over its input, read its output, cut the line in time.

use super::output::{read_limited, read_tail};
use super::report::Report;
use super::{Call, Ended, GUARD_ARG, GuardProgram, How};
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// What the guard itself needs on top of the grace: KILL, reaping, reporting.
const GUARD_MARGIN: Duration = Duration::from_secs(6);
const REPORT_BYTES: u64 = 4096;

/// Runs a program to its end. Whatever happens, nothing of it is left when this returns; if this future is
/// dropped, the guard sees the end of the line and does the same.
pub async fn run(guard: &GuardProgram, call: Call, cancel: &CancellationToken) -> io::Result<Ended> {
    let started = Instant::now();
    let (mut child, line) = start(guard, &call)?;
    let (reports, lifeline) = line.into_split();
    let (mut stdout, mut stderr) = (vec![], vec![]);
    let cut = {
        let out = child.stdout.take();
        let err = child.stderr.take();
        let talk = talk(reports, lifeline, &call, out, err, (&mut stdout, &mut stderr), cancel);
        talk.await
    };
    let how = match cut {
        Spoken::Cut(how) => how,
        Spoken::Reported(report) => How::from(report),
    };
    // The guard goes last, after its report; one that does not is ended.
    if timeout(GUARD_MARGIN, child.wait()).await.is_err() {
        let _ = child.start_kill();
    }
    let stderr_tail = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Ended { how, stdout, stderr_tail, elapsed: started.elapsed() })
}

fn start(guard: &GuardProgram, call: &Call) -> io::Result<(Child, UnixStream)> {
    // Both ends close on exec; the guard gets its end as standard input and the program another one, so no
    // process but the guard can keep the line open.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let child = Command::new(&guard.0)
        .arg(GUARD_ARG)
        .arg(call.grace.as_millis().to_string())
        .arg(&call.program)
        .args(&call.args)
        .current_dir(&call.cwd)
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    Ok((child, UnixStream::from_std(ours)?))
}

/// How the conversation with the guard ended.
enum Spoken {
    /// We cut the line.
    Cut(How),
    /// The guard said how the program ended, or ended without a word.
    Reported(Option<Report>),
}

async fn talk(
    reports: OwnedReadHalf,
    mut lifeline: OwnedWriteHalf,
    call: &Call,
    out: Option<tokio::process::ChildStdout>,
    err: Option<tokio::process::ChildStderr>,
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
        if let Some(out) = out
            && read_limited(out, call.stdout_limit_bytes, stdout).await
        {
            too_much.cancel();
        }
    };
    let read_err = async {
        if let Some(err) = err {
            read_tail(err, call.stderr_tail_bytes, stderr).await;
        }
    };
    // The guard goes last, and with it every writer: its report means that the output is complete.
    let all = async { tokio::join!(read_report(reports), read_out, read_err).0 };
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
        () = too_much.cancelled() => How::TooMuchOutput { limit_bytes: call.stdout_limit_bytes },
        () = tokio::time::sleep(call.timeout) => How::TimedOut,
        () = cancel.cancelled() => How::Cancelled,
    };
    let _ = lifeline.shutdown().await;
    // Whatever is still to be read is bounded, by size and now by time.
    let _ = timeout(call.grace + GUARD_MARGIN, &mut all).await;
    Spoken::Cut(cut)
}

async fn read_report(reports: OwnedReadHalf) -> Option<Report> {
    let mut line = String::new();
    reports.take(REPORT_BYTES).read_to_string(&mut line).await.ok()?;
    Report::parse(&line)
}
