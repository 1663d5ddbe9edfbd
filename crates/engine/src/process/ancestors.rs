//! The processes above this one: what they were started as, and with which variables.

use super::GUARD_ARG;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// More than any chain of shells and programs has.
const MAX_ANCESTORS: usize = 64;

/// A process above this one, as it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestor {
    pub pid: u32,
    /// The name that the kernel has for it.
    pub name: Option<String>,
    /// The file that it executes.
    pub program: Option<PathBuf>,
    /// The folder that it works in now.
    pub folder: Option<PathBuf>,
    pub args: Vec<OsString>,
    /// Its variables; none where they may not be read.
    pub variables: Option<Vec<(OsString, OsString)>>,
}

impl Ancestor {
    /// What a variable was when it was started.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().flatten().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }

    /// Whether it is a guard whose program has this mark of ours.
    fn guards(&self, name: &str, mark: &OsStr) -> bool {
        // Where variables of other processes cannot be read, it is enough that it is a guard.
        let marked = cfg!(not(target_os = "linux")) || self.variable(name) == Some(mark);
        self.args.get(1).is_some_and(|word| word == GUARD_ARG) && marked
    }
}

/// Whether a guard above this process guards a call with this mark: it ends with its call, so the call is under way.
pub fn is_below_guard(name: &str, mark: &OsStr) -> bool {
    ancestors().iter().any(|ancestor| ancestor.guards(name, mark))
}

/// Every process above this one, the nearest first.
pub fn ancestors() -> Vec<Ancestor> {
    let mut found: Vec<Ancestor> = vec![];
    let mut next = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    while let Some(pid) = next.filter(|_| found.len() < MAX_ANCESTORS) {
        let Some((parent, ancestor)) = look(pid) else { break };
        found.push(ancestor);
        next = Some(parent).filter(|parent| *parent > 0);
    }
    found
}

#[cfg(target_os = "linux")]
fn look(pid: u32) -> Option<(u32, Ancestor)> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let stat = std::fs::read(folder.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (before, after_name) = stat.rsplit_once(')')?;
    let name = before.split_once('(').map(|(_, name)| name.to_owned());
    let parent = after_name.split_whitespace().nth(1)?.parse().ok()?;
    let parts = |name: &str| -> Option<Vec<OsString>> {
        let bytes = std::fs::read(folder.join(name)).ok()?;
        let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        Some(parts.map(|part| OsString::from_vec(part.to_vec())).collect())
    };
    let args = parts("cmdline").unwrap_or_default();
    let variables = parts("environ").map(|all| all.into_iter().filter_map(pair).collect());
    let link = |name: &str| std::fs::read_link(folder.join(name)).ok();
    let (program, folder) = (link("exe"), link("cwd"));
    Some((parent, Ancestor { pid, name, program, folder, args, variables }))
}

/// A variable as the kernel shows it.
#[cfg(target_os = "linux")]
fn pair(text: OsString) -> Option<(OsString, OsString)> {
    let bytes = text.into_vec();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (bytes[..at].to_vec(), bytes[at + 1..].to_vec());
    Some((OsString::from_vec(name), OsString::from_vec(value)))
}

#[cfg(not(target_os = "linux"))]
fn look(pid: u32) -> Option<(u32, Ancestor)> {
    let id = pid.to_string();
    let said = std::process::Command::new("ps").args(["-o", "ppid=,command=", "-p", &id]).output().ok()?;
    let said = OsString::from_vec(said.stdout).to_string_lossy().into_owned();
    let mut words = said.split_whitespace();
    let parent = words.next()?.parse().ok()?;
    let args: Vec<OsString> = words.map(OsString::from).collect();
    Some((parent, Ancestor { pid, args, ..Ancestor::default() }))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_started_this_one_is_the_first() {
        let all = ancestors();
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get().cast_unsigned();
        assert_eq!(all[0].pid, parent);
        assert!(!all[0].args.is_empty() && all.len() < MAX_ANCESTORS);
        assert!(all[0].name.is_some() && all[0].program.is_some() && all[0].folder.is_some());
    }

    #[test]
    fn only_a_guard_with_the_mark_is_one() {
        let of = |args: &[&str], mark: Option<&str>| Ancestor {
            pid: 7,
            args: args.iter().map(OsString::from).collect(),
            variables: Some(mark.iter().map(|mark| ("COUNTERSIGN_CALL".into(), mark.into())).collect()),
            ..Ancestor::default()
        };
        for (args, mark, is_one) in [
            (&["/bin/countersign", "__guard", "2000"][..], Some("ca-1"), true),
            (&["/bin/countersign", "__guard", "2000"], Some("ca-2"), false),
            (&["/bin/countersign", "__guard", "2000"], None, false),
            (&["/bin/countersign", "review"], Some("ca-1"), false),
            (&["claude", "-p", "__guard"], Some("ca-1"), false),
            (&[], Some("ca-1"), false),
        ] {
            assert_eq!(
                of(args, mark).guards("COUNTERSIGN_CALL", "ca-1".as_ref()),
                is_one,
                "{args:?} {mark:?}"
            );
        }
    }
}
