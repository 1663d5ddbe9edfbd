//! Everything below a process, found by asking who its parent is.

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Sends a signal to every descendant of this process. Those that are gone meanwhile do not mind.
pub(super) fn signal_descendants(signal: Signal) {
    for pid in descendants(getpid()) {
        let _ = kill_process(pid, signal);
    }
}

/// Kills whatever is left of a session, and says how much that was. For the tree of a guard that was itself
/// killed: its orphans have another parent by then, and still the session it led.
pub(super) fn kill_session(leader: Pid) -> usize {
    let members: Vec<Pid> = processes()
        .into_iter()
        .filter(|process| process.session == Some(leader))
        .map(|process| process.pid)
        .collect();
    for pid in &members {
        let _ = kill_process(*pid, Signal::KILL);
    }
    members.len()
}

/// A process, as far as it matters here.
struct Process {
    pid: Pid,
    parent: Option<Pid>,
    session: Option<Pid>,
}

/// All descendants of a process. As the sub-reaper of its tree, a guard has every orphan of it as a child,
/// so nothing is missed for having changed its session or lost its parent. Where there is no sub-reaper it is
/// the children and what they have not let go of.
fn descendants(root: Pid) -> Vec<Pid> {
    let all = processes();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|process| process.parent == Some(parent)).map(|process| process.pid));
        next += 1;
    }
    found.split_off(1)
}

/// Every process there is.
#[cfg(target_os = "linux")]
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    let process = |entry: std::fs::DirEntry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        read(pid, &std::fs::read_to_string(entry.path().join("stat")).ok()?)
    };
    entries.flatten().filter_map(process).collect()
}

/// Reads a line of `/proc/PID/stat`. The name in it may contain anything, also `)`. The dead are left out:
/// whoever waits for them takes them away.
#[cfg(target_os = "linux")]
fn read(pid: Pid, stat: &str) -> Option<Process> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    let mut number = || fields.next()?.parse().ok();
    let (parent, _group, session): (i32, i32, i32) = (number()?, number()?, number()?);
    (state != "Z").then(|| Process { pid, parent: Pid::from_raw(parent), session: Pid::from_raw(session) })
}

#[cfg(not(target_os = "linux"))]
fn processes() -> Vec<Process> {
    let listing = std::process::Command::new("ps").args(["-axo", "pid=,ppid=,sess="]).output();
    let listing =
        listing.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let row = |line: &str| {
        let mut numbers = line.split_whitespace().map(|word| word.parse().ok().and_then(Pid::from_raw));
        Some(Process { pid: numbers.next()??, parent: numbers.next()?, session: numbers.next().flatten() })
    };
    listing.lines().filter_map(row).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let one = Pid::from_raw(12).unwrap();
        let seen = |stat: &str| read(one, stat).map(|process| (process.parent, process.session));
        assert_eq!(seen("12 (sh) S 7 12 9 0"), Some((Pid::from_raw(7), Pid::from_raw(9))));
        assert_eq!(seen("12 (a) S 1 (b)) R 34 1 5"), Some((Pid::from_raw(34), Pid::from_raw(5))));
        assert_eq!(seen("12 (sh) Z 7 12 9 0"), None, "dead");
        assert_eq!(seen("nonsense"), None);
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
        let found = descendants(getpid());
        let direct = Pid::from_raw(child.id().cast_signed()).unwrap();
        assert!(found.contains(&direct) && found.contains(&grandchild), "{found:?}");
        let _ = kill_process(grandchild, Signal::KILL);
        child.wait().unwrap();
    }
}
