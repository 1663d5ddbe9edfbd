//! Why git did not do something, in its own words.

use countersign_core::text;

/// How much of git's own words is shown.
const WORDS_BYTES: usize = 2 * 1024;

pub(super) type Result<T, E = GitError> = std::result::Result<T, E>;

/// Why git did not do something.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It could not be started.
    #[error("git could not be started: {0}; install git, or put it on the PATH")]
    NotStarted(std::io::Error),
    /// It ended with an error.
    #[error("`git {command}` failed: {words}")]
    Failed {
        /// What was to be done.
        command: String,
        /// Its exit code, where it ended by itself.
        code: Option<i32>,
        /// What it says.
        words: String,
    },
    /// It took too long and was ended.
    #[error("`git {command}` did not end within {seconds} seconds")]
    TimedOut {
        /// What was to be done.
        command: String,
        /// The limit.
        seconds: u64,
    },
    /// It said more than we read.
    #[error("`git {command}` wrote more than {limit_bytes} bytes")]
    TooMuchOutput {
        /// What was to be done.
        command: String,
        /// The limit.
        limit_bytes: u64,
    },
    /// It said something we do not understand.
    #[error("`git {0}` answered with something unexpected: {1}")]
    Unexpected(String, String),
}

impl GitError {
    /// It ended with an error, and this is what it said.
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

    /// It said something we do not understand.
    pub fn unexpected(command: &str, words: impl Into<String>) -> Self {
        Self::Unexpected(command.to_owned(), words.into())
    }
}
