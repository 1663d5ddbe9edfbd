//! A command that runs or ran, never longer than a test can wait.

use serde_json::Value;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// No command of a test takes longer; one that does has hung.
const LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(5);

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; -1 for a signal.
    pub code: i32,
    /// Its answer.
    pub stdout: String,
    /// Progress, warnings, hints.
    pub stderr: String,
}

impl Ran {
    /// The answer as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }

    /// Asserts how it ended, and shows everything if it did not.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// The same command for a user whom permissions bind: where tests run as root, it is root without its privileges.
pub fn bound_by_permissions(command: &Command) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let mut bound = match is_root {
        true => {
            let mut bound = Command::new("setpriv");
            bound.args(["--bounding-set=-all", "--inh-caps=-all"]).arg(command.get_program());
            bound
        }
        false => Command::new(command.get_program()),
    };
    bound.args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    bound
}

/// The most memory that a running process had so far, in KiB.
pub fn peak_memory_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A command that is running.
pub struct Running {
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Running {
    /// Starts it, reading along so that it never waits for a reader.
    pub fn start(command: &mut Command) -> Self {
        Self::reading(command, Stdio::null())
    }

    /// The same with something on its standard input.
    pub fn fed(command: &mut Command, input: &[u8]) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(input).unwrap();
        file.rewind().unwrap();
        Self::reading(command, file.into())
    }

    fn reading(command: &mut Command, input: Stdio) -> Self {
        let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = read(child.stdout.take().unwrap());
        let stderr = read(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it at once.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Ran {
        let deadline = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("still running after {LIMIT:?}: {}", self.stderr.join().unwrap());
            }
            std::thread::sleep(PAUSE);
        };
        let (stdout, stderr) = (self.stdout.join().unwrap(), self.stderr.join().unwrap());
        Ran { code: status.code().unwrap_or(-1), stdout, stderr }
    }
}

fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = vec![];
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits until something is so; a test that waits too long fails with the words.
#[track_caller]
pub fn eventually(words: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {LIMIT:?}: {words}");
        std::thread::sleep(PAUSE);
    }
}
