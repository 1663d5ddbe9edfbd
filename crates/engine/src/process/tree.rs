//! Everything below a process, found by asking who its parent is.

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Sends a signal to every descendant of this process. Those that are gone meanwhile do not mind.
pub(super) fn signal_descendants(signal: Signal) {
    for pid in descendants(getpid()) {
        let _ = kill_process(pid, signal);
    }
}

/// All descendants of a process. As the sub-reaper of its tree, a guard has every orphan of it as a child,
/// so nothing is missed for having changed its session or lost its parent. Where there is no sub-reaper it is
/// the children and what they have not let go of.
fn descendants(root: Pid) -> Vec<Pid> {
    let parents = parents();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// Every process with its parent.
#[cfg(target_os = "linux")]
fn parents() -> Vec<(Pid, Pid)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    let entry = |entry: std::fs::DirEntry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((pid, parent(&stat)?))
    };
    entries.flatten().filter_map(entry).collect()
}

/// The parent in a line of `/proc/PID/stat`. The name before it may contain anything, also `)`.
#[cfg(target_os = "linux")]
fn parent(stat: &str) -> Option<Pid> {
    let (_, after_name) = stat.rsplit_once(')')?;
    Pid::from_raw(after_name.split_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(not(target_os = "linux"))]
fn parents() -> Vec<(Pid, Pid)> {
    let listing = std::process::Command::new("ps").args(["-axo", "pid=,ppid="]).output();
    let listing =
        listing.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let row = |line: &str| {
        let mut numbers = line.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?));
        Some((numbers.next()?, numbers.next()?))
    };
    listing.lines().filter_map(row).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent("12 (sh) S 7 12 12 0"), Pid::from_raw(7));
        assert_eq!(parent("12 (a) S 1 (b)) R 34 1"), Pid::from_raw(34));
        assert_eq!(parent("nonsense"), None);
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
