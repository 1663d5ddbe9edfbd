//! What a process cost: wall time, its own CPU time and its children's, the most memory it had.
//!
//! CPU times are read after a process has ended and before it is waited for, when the kernel still has them;
//! they come in hundredths of a second. The peak of the memory is gone by then, so it is looked at while the
//! process runs ([`run`]) or while it cannot get rid of its answer ([`peak_of_quick`]).

use anyhow::{Context, ensure};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The kernel counts CPU time for others to read in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;
/// How often the memory of a running process is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// Long enough for a quick command to have done everything but write its answer.
const SETTLED: Duration = Duration::from_millis(200);

/// What a process cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub wall: Duration,
    /// User and system time of all its threads.
    pub own: Duration,
    /// The same of the children it waited for, and of theirs.
    pub children: Duration,
    pub peak_bytes: u64,
}

/// Runs a command to its end. It must succeed.
pub fn run(command: &mut Command) -> anyhow::Result<Cost> {
    run_fed(command, Path::new("/dev/null"))
}

/// The same with a file as its standard input.
pub fn run_fed(command: &mut Command, input: &Path) -> anyhow::Result<Cost> {
    let started = Instant::now();
    let mut child = command.stdin(File::open(input)?).stdout(Stdio::null()).spawn()?;
    let over = AtomicBool::new(false);
    let (waited, peak_bytes) = thread::scope(|scope| {
        let looking = scope.spawn(|| watch_peak(child.id(), &over));
        let waited = wait_without_reaping(&child).map(|()| started.elapsed());
        over.store(true, Ordering::Relaxed);
        (waited, looking.join().unwrap_or_default())
    });
    let wall = waited?;
    let times = cpu(child.id());
    finish(command, &mut child)?;
    let (own, children) = times?;
    Ok(Cost { wall, own, children, peak_bytes })
}

/// The median wall time of a command that is run many times, after one run that does not count.
pub fn median_wall(runs: usize, command: impl FnMut() -> Command) -> anyhow::Result<Duration> {
    median_wall_fed(runs, Path::new("/dev/null"), command)
}

/// The CPU time of a command with all that it starts, on average over many runs: the kernel tells hundredths of a second, of
/// all children together.
pub fn children_cpu(
    runs: usize,
    input: &Path,
    mut command: impl FnMut() -> Command,
) -> anyhow::Result<Duration> {
    let (_, before) = cpu(std::process::id())?;
    for _ in 0..runs {
        let mut command = command();
        let mut child = command.stdin(File::open(input)?).stdout(Stdio::null()).spawn()?;
        finish(&command, &mut child)?;
    }
    let (_, after) = cpu(std::process::id())?;
    Ok((after - before) / u32::try_from(runs)?)
}

/// The median wall time of a command with a file as its standard input.
pub fn median_wall_fed(
    runs: usize,
    input: &Path,
    mut command: impl FnMut() -> Command,
) -> anyhow::Result<Duration> {
    let mut times = vec![];
    for _ in 0..=runs {
        let mut command = command();
        let started = Instant::now();
        let mut child = command.stdin(File::open(input)?).stdout(Stdio::null()).spawn()?;
        finish(&command, &mut child)?;
        times.push(started.elapsed());
    }
    let counted = &mut times[1..];
    counted.sort();
    Ok(counted[counted.len() / 2])
}

/// The median wall times of two commands that are run in turn, after one run of each that does not count: what the machine
/// does beside them slows down both.
pub fn median_walls(
    runs: usize,
    input: &Path,
    commands: [&dyn Fn() -> Command; 2],
) -> anyhow::Result<[Duration; 2]> {
    let mut times = [vec![], vec![]];
    for _ in 0..=runs {
        for (command, times) in commands.iter().zip(&mut times) {
            let mut command = command();
            let started = Instant::now();
            let mut child = command.stdin(File::open(input)?).stdout(Stdio::null()).spawn()?;
            finish(&command, &mut child)?;
            times.push(started.elapsed());
        }
    }
    Ok(times.map(|mut times| {
        let counted = &mut times[1..];
        counted.sort();
        counted[counted.len() / 2]
    }))
}

/// The most memory a quick command has until it writes its answer: its standard output is a pipe that is full.
pub fn peak_of_quick(command: &mut Command) -> anyhow::Result<u64> {
    let (mut reader, writer) = std::io::pipe()?;
    fill(&writer)?;
    let mut child = command.stdin(Stdio::null()).stdout(writer).spawn()?;
    // The other end stays open in the command until it is replaced.
    command.stdout(Stdio::null());
    thread::sleep(SETTLED);
    let peak = peak_bytes(child.id()).context("it ended before its answer was read");
    reader.read_to_end(&mut vec![])?;
    finish(command, &mut child)?;
    peak
}

fn fill(mut pipe: &std::io::PipeWriter) -> anyhow::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
    loop {
        match pipe.write(&[b' '; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(fcntl_setfl(pipe, flags)?)
}

fn finish(command: &Command, child: &mut Child) -> anyhow::Result<()> {
    let status = child.wait()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

fn wait_without_reaping(child: &Child) -> anyhow::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("no process id")?;
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    Ok(())
}

fn watch_peak(pid: u32, over: &AtomicBool) -> u64 {
    let mut peak = 0;
    while !over.load(Ordering::Relaxed) {
        peak = peak_bytes(pid).unwrap_or(peak);
        thread::sleep(LOOK);
    }
    peak
}

/// The most memory a process has had until now.
pub fn peak_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The CPU times of a process so far: its own, and those of the children it waited for.
pub fn cpu(pid: u32) -> anyhow::Result<(Duration, Duration)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, after_name) = stat.rsplit_once(')').context("unknown form of /proc/*/stat")?;
    // utime, stime, cutime and cstime are the 14th to 17th word; the name before was the 2nd.
    let words = after_name.split_whitespace().skip(11).take(4);
    let ticks: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>()?;
    let [user, system, of_children, system_of_children] = ticks[..] else {
        anyhow::bail!("unknown form of /proc/*/stat");
    };
    let time = |ticks: f64| Duration::from_secs_f64(ticks / TICKS_PER_SECOND);
    Ok((time(user + system), time(of_children + system_of_children)))
}
