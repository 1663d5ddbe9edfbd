//! The descendants of a process, found by their parents, and signals to them.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::HashSet;

/// Signals every descendant of a process, and counts them.
pub(super) fn signal_below(root: Pid, signal: Signal) -> usize {
    let all = processes();
    signal_all(&all, &below(&all, vec![root]), signal)
}

/// Kills the rest of a session, and counts it. The orphans of a killed guard have another parent, and still its session.
pub(super) fn kill_session(leader: Pid) -> usize {
    let all = processes();
    let members: Vec<Pid> =
        all.iter().filter(|process| process.session == Some(leader)).map(|process| process.pid).collect();
    signal_all(&all, &members, Signal::KILL)
}

/// Signals processes, and groups that consist of them alone: one that forks faster than it is found stays in its group.
pub(super) fn signal_all(all: &[Process], targets: &[Pid], signal: Signal) -> usize {
    let targets: HashSet<Pid> = all
        .iter()
        .filter(|process| !process.is_dead)
        .map(|process| process.pid)
        .filter(|pid| targets.contains(pid))
        .collect();
    let mut groups: HashSet<Pid> = HashSet::new();
    let mut others: HashSet<Pid> = HashSet::new();
    for process in all {
        if let Some(group) = process.group {
            let side = if targets.contains(&process.pid) { &mut groups } else { &mut others };
            side.insert(group);
        }
    }
    for group in groups.difference(&others) {
        let _ = kill_process_group(*group, signal);
    }
    for pid in &targets {
        let _ = kill_process(*pid, signal);
    }
    targets.len()
}

#[derive(Clone, Debug)]
pub(super) struct Process {
    pub pid: Pid,
    pub parent: Option<Pid>,
    pub group: Option<Pid>,
    pub session: Option<Pid>,
    /// When it began, in ticks of the kernel. With its number it names a process for good.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub started: u64,
    /// It has ended, and its parent has not asked how.
    pub is_dead: bool,
}

/// All descendants of some processes. Orphans are found only on systems with sub-reapers: there the guard is theirs.
pub(super) fn below(all: &[Process], roots: Vec<Pid>) -> Vec<Pid> {
    let (mut found, mut next) = (roots, 0);
    let given = found.len();
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|process| process.parent == Some(parent)).map(|process| process.pid));
        next += 1;
    }
    found.split_off(given)
}

#[cfg(target_os = "linux")]
pub(super) fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    let process =
        |entry: std::fs::DirEntry| process(Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?);
    entries.flatten().filter_map(process).collect()
}

#[cfg(target_os = "linux")]
pub(super) fn process(pid: Pid) -> Option<Process> {
    read(pid, &std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?)
}

/// Reads a line of `/proc/PID/stat`. The name in it may contain anything, also `)`.
#[cfg(target_os = "linux")]
fn read(pid: Pid, stat: &str) -> Option<Process> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let mut number = || fields.next()?.parse().ok();
    let (parent, group, session): (i32, i32, i32) = (number()?, number()?, number()?);
    // Field 22 of the line; the session is field 6.
    let started = fields.nth(15)?.parse().ok()?;
    // A process that ends at this moment has -1 for its group and session.
    let known = |raw: i32| Some(raw).filter(|raw| *raw > 0).and_then(Pid::from_raw);
    let [parent, group, session] = [parent, group, session].map(known);
    Some(Process { pid, parent, group, session, started, is_dead })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn processes() -> Vec<Process> {
    let listing = std::process::Command::new("ps").args(["-axo", "pid=,ppid=,pgid=,sess="]).output();
    let listing =
        listing.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let row = |line: &str| {
        let mut numbers = line.split_whitespace().map(|word| word.parse().ok().and_then(Pid::from_raw));
        let (pid, parent, group) = (numbers.next()??, numbers.next()?, numbers.next()?);
        let session = numbers.next().flatten();
        Some(Process { pid, parent, group, session, started: 0, is_dead: false })
    };
    listing.lines().filter_map(row).collect()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let one = Pid::from_raw(12).unwrap();
        let seen = |stat: &str| {
            let rest = "0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 99";
            read(one, &format!("{stat} {rest}")).map(|process| {
                (process.parent, process.group, process.session, process.started, process.is_dead)
            })
        };
        let pid = Pid::from_raw;
        assert_eq!(seen("12 (sh) S 7 12 9"), Some((pid(7), pid(12), pid(9), 4711, false)));
        assert_eq!(seen("12 (a) S 1 (b)) R 34 1 5"), Some((pid(34), pid(1), pid(5), 4711, false)));
        assert_eq!(seen("12 (sh) Z 7 12 9"), Some((pid(7), pid(12), pid(9), 4711, true)), "dead");
        assert_eq!(seen("12 (sh) X 0 -1 -1"), Some((None, None, None, 4711, true)), "it ends now");
        assert!(read(one, "nonsense").is_none());
        let me = process(rustix::process::getpid()).unwrap();
        assert!(me.started > 0 && me.parent == rustix::process::getppid());
    }

    #[test]
    fn children_and_grandchildren_are_found() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sh -c 'echo $$; exec sleep 1000' & wait"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
            .unwrap();
        let grandchild = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
        let found = below(&processes(), vec![rustix::process::getpid()]);
        let direct = Pid::from_raw(child.id().cast_signed()).unwrap();
        assert!(found.contains(&direct) && found.contains(&grandchild), "{found:?}");
        let _ = kill_process(grandchild, Signal::KILL);
        child.wait().unwrap();
    }
}
