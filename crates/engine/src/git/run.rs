//! Starting git: one process, its output bounded, its time too; and why it did not do something.

use crate::installed::TrustedPlaces;
use crate::process;
use countersign_core::text;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

/// How long one command may take by default.
const TIMEOUT_SECONDS: u64 = 120;
/// The most one command may say, unless it is read as a stream.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
const STDERR_BYTES: usize = 8 * 1024;
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;

/// Settings that hold for every command, whatever the user or the repository has configured.
const SETTINGS: &str = "-c core.quotepath=off -c core.fsmonitor=false -c color.ui=false -c gc.auto=0 \
    -c maintenance.auto=false -c submodule.recurse=false -c advice.addEmbeddedRepo=false \
    -c core.hooksPath=/dev/null";

/// Variables that lead git to another repository or change what it does. A git hook that started us sets some of them.
/// `GIT_CONFIG_COUNT` takes the numbered settings with it.
pub const FOREIGN: &str = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES \
    GIT_COMMON_DIR GIT_NAMESPACE GIT_PREFIX GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_CEILING_DIRECTORIES \
    GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_REPLACE_REF_BASE GIT_INTERNAL_SUPER_PREFIX GIT_IMPLICIT_WORK_TREE \
    GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS \
    GIT_ICASE_PATHSPECS GIT_ATTR_SOURCE GIT_TRACE";

/// The mark of every process that we start.
const CALL_MARK: &str = "COUNTERSIGN_CALL";

/// What git gets of our environment where it gets nothing else: what it needs to sign in.
const ALONE: [&str; 4] = ["HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK"];
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin";

#[derive(Clone, Debug)]
pub struct Git {
    folder: PathBuf,
    variables: Vec<(OsString, OsString)>,
    input: Option<Vec<u8>>,
    timeout_seconds: u64,
    /// Whether it gets neither our environment nor the settings of the user and the system.
    is_alone: bool,
}

impl Git {
    /// Git in a folder. Hooks do not run.
    pub fn at(folder: &Path) -> Self {
        let (variables, input, timeout_seconds) = (vec![], None, TIMEOUT_SECONDS);
        Self { folder: folder.to_owned(), variables, input, timeout_seconds, is_alone: false }
    }

    /// The same without our environment and without the settings of the user and the system.
    pub fn alone(self) -> Self {
        let git = Self { is_alone: true, ..self };
        git.with("PATH", SYSTEM_PATH).with("GIT_CONFIG_GLOBAL", "/dev/null").with("GIT_CONFIG_NOSYSTEM", "1")
    }

    /// The same in another folder.
    pub(super) fn within(self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..self }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The same with another limit of time.
    pub fn within_seconds(self, timeout_seconds: u64) -> Self {
        Self { timeout_seconds, ..self }
    }

    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// The same for a command that reads this.
    pub fn with_input(self, input: impl Into<Vec<u8>>) -> Self {
        Self { input: Some(input.into()), ..self }
    }

    /// Runs a command, and gives back what it says.
    pub async fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Vec<u8>> {
        let (said, ended) = self.collect(args, OUTPUT_BYTES_MAX).await;
        ended.map(|()| said)
    }

    async fn collect<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        limit_bytes: u64,
    ) -> (Vec<u8>, Result<()>) {
        let mut said = vec![];
        let keep = |piece: &[u8]| {
            said.extend_from_slice(piece);
            Ok(())
        };
        let ended = self.stream(args, limit_bytes, keep).await;
        (said, ended)
    }

    /// Runs a command, and gives back its lines as text, without the last line break.
    pub async fn text<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<String> {
        let said = self.run(args).await?;
        Ok(String::from_utf8_lossy(&said).trim_end_matches('\n').to_owned())
    }

    /// Runs a command whose exit code 1 is an answer: nothing, no such thing.
    pub async fn maybe<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Option<String>> {
        match self.text(args).await {
            Ok(said) => Ok(Some(said)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Runs a command that ends with 0 or 1, and returns which, with its output.
    pub async fn exit_and_text<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Result<(i32, String)> {
        let (code, said) = self.exit_and_bytes(args).await?;
        Ok((code, String::from_utf8_lossy(&said).into_owned()))
    }

    /// The same with its output as it is.
    pub(super) async fn exit_and_bytes<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Result<(i32, Vec<u8>)> {
        let (said, ended) = self.collect(args, ANSWER_BYTES_MAX).await;
        match ended {
            Ok(()) => Ok((0, said)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok((1, said)),
            Err(error) => Err(error),
        }
    }

    /// Runs a command and hands over what it says piece by piece, keeping nothing.
    pub async fn stream<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        limit_bytes: u64,
        take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let command = words(&args);
        let mut child = self.start(&args).map_err(GitError::NotStarted)?;
        let seconds = self.timeout_seconds;
        let talk = talk(&mut child, self.input.as_deref(), &command, limit_bytes, take);
        match tokio::time::timeout(Duration::from_secs(seconds), talk).await {
            Ok(ended) => ended,
            Err(_) => {
                end(&mut child).await;
                Err(GitError::TimedOut { command, seconds })
            }
        }
    }

    /// Waits for what a process of ours does, as long as one command may take.
    pub(super) async fn in_time<T>(
        &self,
        command: &str,
        child: &mut Child,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let seconds = self.timeout_seconds;
        match tokio::time::timeout(Duration::from_secs(seconds), work).await {
            Ok(done) => done,
            Err(_) => {
                end(child).await;
                Err(GitError::TimedOut { command: command.to_owned(), seconds })
            }
        }
    }

    pub(super) fn start(&self, args: &[OsString]) -> std::io::Result<Child> {
        let mut command = Command::new(program());
        command.arg("--no-pager").args(SETTINGS.split_whitespace());
        if self.is_alone {
            command.env_clear().envs(ALONE.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        for name in FOREIGN.split_whitespace() {
            command.env_remove(name);
        }
        command
            .args(args)
            .current_dir(&self.folder)
            // Replaced objects would show other contents under the same id.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // What a setting of the repository starts, such as a filter, is no person, whoever started us.
            .env(CALL_MARK, "git")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_EDITOR", "true")
            .env("LC_ALL", "C")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is meant for us: a commit half made would have to be repaired by the user.
            .process_group(0)
            .kill_on_drop(true);
        process::spawn(&mut command)
    }
}

/// Where git is. Looked up once, because a run of tasks starts it very often. A git in a place of the system comes before
/// any other: the `PATH` may have been changed by the author of the work.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(other) = std::env::var_os("COUNTERSIGN_TEST_GIT").filter(|_| cfg!(debug_assertions)) {
            return other.into();
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        // A relative folder on the PATH is left to the system.
        let folders = std::env::split_paths(&path).take_while(|folder| folder.is_absolute());
        let path = std::env::join_paths(folders).unwrap_or_default();
        let places = TrustedPlaces::new(Path::new("/nowhere"), []);
        let (found, refused) = places.find("git", Path::new("/"), Some(&path));
        let other = || refused.into_iter().next().map(|(file, _)| file);
        found.or_else(other).unwrap_or_else(|| PathBuf::from("git"))
    })
}

pub(super) async fn end(child: &mut Child) {
    if let Some(group) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill().await;
}

async fn talk(
    child: &mut Child,
    input: Option<&[u8]>,
    command: &str,
    limit_bytes: u64,
    take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let lost = |error: std::io::Error| GitError::unexpected(command, error.to_string());
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(GitError::unexpected(command, "it has no output"));
    };
    let stdin = child.stdin.take();
    let write_in = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A command that does not read all of it says why by its exit code.
            let _ = stdin.write_all(input).await;
        }
    };
    // Where reading stops, the pipe is dropped, and git ends by itself.
    let read_out = pass_on(stdout, command, limit_bytes, take);
    let (streamed, stderr, ()) = tokio::join!(read_out, tail(stderr), write_in);
    streamed?;
    let status = child.wait().await.map_err(lost)?;
    match status.success() {
        true => Ok(()),
        false => Err(GitError::failed(command, status.code(), &stderr)),
    }
}

async fn pass_on(
    mut from: impl AsyncRead + Unpin,
    command: &str,
    limit_bytes: u64,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        let read = from.read(&mut buffer).await;
        match read.map_err(|error| GitError::unexpected(command, error.to_string()))? {
            0 => return Ok(()),
            n => {
                bytes += n as u64;
                if bytes > limit_bytes {
                    return Err(GitError::TooMuchOutput { command: command.to_owned(), limit_bytes });
                }
                take(&buffer[..n])?;
            }
        }
    }
}

pub(super) async fn tail(mut from: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut kept = vec![];
    let mut buffer = vec![0; STDERR_BYTES];
    while let Ok(n @ 1..) = from.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..n]);
        kept.drain(..kept.len().saturating_sub(STDERR_BYTES));
    }
    kept
}

/// The subcommand, for messages.
fn words(args: &[OsString]) -> String {
    let named = args.iter().map(|arg| arg.to_string_lossy());
    let mut named = named.skip_while(|arg| arg.starts_with('-') || arg.contains('='));
    countersign_core::text::visible_line(named.next().as_deref().unwrap_or("")).into_owned()
}

/// How much of git's own words is shown.
const WORDS_BYTES: usize = 2 * 1024;

pub(super) type Result<T, E = GitError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git could not be started: {0}; install git, or put it on the PATH")]
    NotStarted(std::io::Error),
    #[error("`git {command}` failed: {words}")]
    Failed { command: String, code: Option<i32>, words: String },
    #[error("`git {command}` did not end within {seconds} seconds")]
    TimedOut { command: String, seconds: u64 },
    #[error("`git {command}` wrote more than {limit_bytes} bytes")]
    TooMuchOutput { command: String, limit_bytes: u64 },
    #[error("`git {0}` answered with something unexpected: {1}")]
    Unexpected(String, String),
}

impl GitError {
    pub(super) fn failed(command: &str, code: Option<i32>, stderr: &[u8]) -> Self {
        let said = String::from_utf8_lossy(stderr);
        let words = text::visible_line(text::cut_front(said.trim(), WORDS_BYTES)).into_owned();
        let words = match (words.is_empty(), code) {
            (false, _) => words,
            (true, Some(code)) => format!("exit code {code}"),
            (true, None) => "it was ended by a signal".to_owned(),
        };
        Self::Failed { command: command.to_owned(), code, words }
    }

    pub fn unexpected(command: &str, words: impl Into<String>) -> Self {
        Self::Unexpected(command.to_owned(), words.into())
    }
}
