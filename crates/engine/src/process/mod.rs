//! temp
#![allow(missing_docs)]
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
#[derive(Clone, Debug)]
pub struct GuardProgram(pub PathBuf);
pub struct Call {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: Vec<(OsString, OsString)>,
    pub stdin: Vec<u8>,
    pub timeout: Duration,
    pub stdout_limit_bytes: usize,
    pub stderr_tail_bytes: usize,
    pub grace: Duration,
}
impl Call {
    pub fn new(p: impl Into<OsString>) -> Self {
        Self {
            program: p.into(),
            args: vec![],
            cwd: PathBuf::new(),
            env: vec![],
            stdin: vec![],
            timeout: Duration::from_secs(1),
            stdout_limit_bytes: 0,
            stderr_tail_bytes: 0,
            grace: Duration::from_secs(2),
        }
    }
}
pub struct Ended {
    pub how: How,
    pub stdout: Vec<u8>,
    pub stderr_tail: String,
    pub elapsed: Duration,
}
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    Exited(i32),
    Signalled(i32),
    NotStarted { reason: String },
    TimedOut,
    TooMuchOutput { limit_bytes: usize },
    Cancelled,
    GuardLost,
}
pub async fn run(_g: &GuardProgram, _c: Call, _x: &CancellationToken) -> std::io::Result<Ended> {
    Err(std::io::Error::other("x"))
}
