//! Why git did not do something, in its own words.

use countersign_core::text;

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
