//! Everything that can go wrong here, and the exit code it ends with.

use std::fmt;

#[derive(Debug)]
pub enum Failure {
    Usage(String),
    /// A step ran and failed: its exit code is ours.
    Step {
        step: String,
        /// The exit code of the program; none when a signal ended it.
        code: Option<i32>,
    },
    /// Anything else, with the next step in the text.
    Problem(String),
}

impl Failure {
    /// The exit code of xtask: 2 for usage, a failed program's own code, else 1. Never 0.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Step { code, .. } => {
                code.and_then(|code| u8::try_from(code).ok()).filter(|&code| code != 0).unwrap_or(1)
            }
            Self::Problem(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) => write!(out, "{text}\nTry `cargo xtask --help`."),
            Self::Step { step, code: Some(code) } => write!(out, "`{step}` failed with exit code {code}"),
            Self::Step { step, code: None } => write!(out, "`{step}` was ended by a signal"),
            Self::Problem(text) => out.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_never_exits_zero() {
        let step = |code| Failure::Step { step: "cargo test".into(), code };
        let table = [
            (step(Some(101)), 101),
            (step(Some(0)), 1),
            (step(Some(256)), 1),
            (step(Some(-1)), 1),
            (step(None), 1),
            (Failure::Usage(String::new()), 2),
            (Failure::Problem(String::new()), 1),
        ];
        for (failure, expected) in table {
            assert_eq!(failure.exit_code(), expected, "{failure:?}");
        }
    }
}
