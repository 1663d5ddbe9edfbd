//! Child processes, each under a guard of its own.
//!
//! An agent program starts shells, servers and sessions that neither a kill on drop nor a group kill reaches. So every
//! program runs below a guard process (this binary again) that adopts its orphans and ends all of them when the program has
//! ended or the lifeline is cut: by a timeout, by a cancel, or by our death. On Linux a second process watches the guard,
//! for a program that stops or kills it, and orphans of both come to us.
//!
//! ```text
//! us ──socket (lifeline: stdin bytes down, report up)──► watcher ──► guard ──► program ──► its children
//!  ◄──────────────── stdout, stderr (inherited) ────────────┴──────────┴─────────┘
//! ```

mod ancestors;
mod guard;
mod guarded;
mod own;
mod run;
mod tree;
#[cfg(target_os = "linux")]
mod watcher;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use ancestors::{Ancestor, ancestors, is_below_guard};
pub use guard::guard_main;
pub use guarded::all_ended;
pub use own::{adopt_orphans, spawn};
pub use run::run;

/// The first argument that makes our binary a guard.
pub const GUARD_ARG: &str = "__guard";

/// The binary that can be a guard. A test binary is not it, so it is an argument.
#[derive(Clone, Debug)]
pub struct GuardProgram(pub PathBuf);

/// How long a program has between TERM and KILL.
const DEFAULT_GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub struct Call {
    /// The program: a path, or a name on the PATH.
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables beside those we have.
    pub env: Vec<(OsString, OsString)>,
    /// Whether those are all it gets.
    pub only_env: bool,
    pub stdin: Vec<u8>,
    pub timeout: Duration,
    /// The most that is kept of what it writes.
    pub stdout_limit_bytes: usize,
    /// What becomes of one that writes more.
    pub surplus: Surplus,
    /// Who else hears what it writes, as it comes.
    pub tap: Option<Tap>,
    /// How much is kept of the end of its error output.
    pub stderr_tail_bytes: usize,
    /// How long it has between TERM and KILL.
    pub grace: Duration,
    /// A folder that the guard takes away where it ends the program: by then we may be gone.
    pub scratch: Option<PathBuf>,
}

impl Call {
    /// A call with nothing but a program.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: vec![],
            cwd: PathBuf::from("."),
            env: vec![],
            only_env: false,
            stdin: vec![],
            timeout: Duration::from_secs(240),
            stdout_limit_bytes: 1024 * 1024,
            surplus: Surplus::Ends,
            tap: None,
            stderr_tail_bytes: 4096,
            grace: DEFAULT_GRACE,
            scratch: None,
        }
    }
}

/// What becomes of a program that writes more than is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surplus {
    /// It is ended: half a reply is none.
    Ends,
    /// The end of its output is kept: what tests and builds say last is what counts.
    Forgets,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    NotStarted {
        reason: String,
    },
    TimedOut,
    TooMuchOutput {
        limit_bytes: usize,
    },
    Cancelled,
    /// Its guard ended without a report, or another process cut its lifeline.
    GuardLost,
}

/// A program that has ended, with everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub how: ProcessEnd,
    /// What it wrote, up to the limit.
    pub stdout: Vec<u8>,
    pub stderr_tail: String,
    pub elapsed: Duration,
}

/// Gets every piece of a program's output and error output while it runs, so it must be quick.
#[derive(Clone)]
pub struct Tap(Arc<Listener>);

type Listener = dyn Fn(&[u8]) + Send + Sync;

impl Tap {
    /// Calls a function with each piece.
    pub fn new(write: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    pub fn write(&self, piece: &[u8]) {
        (self.0)(piece);
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

impl ProcessEnd {
    /// The line of this end. [`How::GuardLost`] says that the lifeline was cut: the process that cut it knows why.
    fn report(&self) -> String {
        match self {
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::NotStarted { reason } => format!("not-started {}\n", reason.replace('\n', " ")),
            _ => "cut\n".to_owned(),
        }
    }

    /// Parses a line; an incomplete line is no report.
    fn parse(line: &str) -> Option<Self> {
        let line = line.strip_suffix('\n')?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "exited" => rest.parse().ok().map(Self::Exited),
            "signalled" => rest.parse().ok().map(Self::Signalled),
            "not-started" => Some(Self::NotStarted { reason: rest.to_owned() }),
            "cut" => Some(Self::GuardLost),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_back_as_they_were_said_and_halves_do_not() {
        let reports = [
            ProcessEnd::Exited(0),
            ProcessEnd::Exited(-1),
            ProcessEnd::Signalled(9),
            ProcessEnd::NotStarted { reason: "no such file".into() },
            ProcessEnd::GuardLost,
        ];
        for report in reports {
            assert_eq!(ProcessEnd::parse(&report.report()), Some(report));
        }
        for line in ["", "exited 0", "exited\n", "exited x\n", "done 0\n"] {
            assert_eq!(ProcessEnd::parse(line), None, "{line:?}");
        }
    }
}
