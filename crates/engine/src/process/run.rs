//! Our side of a guarded program: hand over its input, read its output, cut the line in time.

use super::output::{read_limited, read_tail};
use super::report::Report;
use super::tree;
use super::{Call, Ended, GUARD_ARG, GuardProgram, How, Surplus};
use rustix::process::Pid;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// What the guard itself needs on top of the grace: KILL, reaping, reporting. Far more than it takes, since a guard that
/// is ended before its time leaves behind what left its session, and a busy machine lets it wait.
const GUARD_MARGIN: Duration = Duration::from_secs(30);
const REPORT_BYTES: u64 = 4096;
/// How often, and in what steps, what a lost guard left behind is looked for.
const SWEEPS: usize = 50;
const SWEEP_EVERY: Duration = Duration::from_millis(20);

/// Runs a program to its end. Whatever happens, nothing of it is left when this returns; if this future is
/// dropped, the guard sees the end of the line and does the same.
pub async fn run(guard: &GuardProgram, call: Call, cancel: &CancellationToken) -> io::Result<Ended> {
    let started = Instant::now();
    let (mut child, line) = start(guard, &call)?;
    let (reports, lifeline) = line.into_split();
    // The guard leads a session of its own, under its own number.
    let session = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let (mut stdout, mut stderr) = (vec![], vec![]);
    let pipes = (child.stdout.take(), child.stderr.take());
    let spoken = talk(reports, lifeline, &call, session, pipes, (&mut stdout, &mut stderr), cancel).await;
    let how = match spoken {
        Spoken::Cut(how) => how,
        Spoken::Reported(report) => How::from(report),
    };
    // The guard goes last, after its report; one that does not is ended.
    if timeout(GUARD_MARGIN, child.wait()).await.is_err() {
        let _ = child.start_kill();
        if let Some(session) = session {
            sweep(session).await;
        }
    }
    let stderr_tail = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Ended { how, stdout, stderr_tail, elapsed: started.elapsed() })
}

/// Ends what a lost guard left behind, as far as it stayed in the guard's session.
async fn sweep(session: Pid) {
    for _ in 0..SWEEPS {
        if tree::kill_session(session) == 0 {
            return;
        }
        tokio::time::sleep(SWEEP_EVERY).await;
    }
}

fn start(guard: &GuardProgram, call: &Call) -> io::Result<(Child, UnixStream)> {
    // Both ends close on exec; the guard gets its end as standard input and the program another one, so no
    // process but the guard can keep the line open.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = Command::new(&guard.0);
    if call.only_env {
        command.env_clear();
    }
    let child = command
        .arg(GUARD_ARG)
        .arg(call.grace.as_millis().to_string())
        .arg(call.scratch.clone().unwrap_or_default())
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
    session: Option<Pid>,
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
    // The guard goes last, and with it every writer: its report means that the output is complete.
    let lost = CancellationToken::new();
    let report = async {
        let report = read_report(reports).await;
        if report.is_none() {
            lost.cancel();
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
    if let Some(session) = session.filter(|_| cut == How::GuardLost) {
        sweep(session).await;
    }
    // Whatever is still to be read is bounded, by size and now by time.
    let _ = timeout(call.grace + GUARD_MARGIN, &mut all).await;
    Spoken::Cut(cut)
}

async fn read_report(reports: OwnedReadHalf) -> Option<Report> {
    let mut line = String::new();
    reports.take(REPORT_BYTES).read_to_string(&mut line).await.ok()?;
    Report::parse(&line)
}
