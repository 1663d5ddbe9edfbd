//! The words of the database. Whatever another version wrote is kept and shown as it is.

use std::fmt;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A word this version does not know.
            Other(String),
        }

        impl $name {
            /// The word in the database.
            pub fn word(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

words! {
    /// What became of a task.
    TaskState {
        /// Nobody ran it yet.
        Pending = "pending",
        /// Somebody runs it, or was killed while at it.
        Running = "running",
        /// It is done.
        Success = "success",
        /// It is not.
        Failed = "failed",
        /// It was left out.
        Skipped = "skipped",
    }
}

words! {
    /// Why an attempt failed.
    ErrorCode {
        /// It took too long.
        Timeout = "TIMEOUT",
        /// The model was asked too often.
        RateLimit = "RATE_LIMIT",
        /// What came out cannot be read as code.
        Syntax = "SYNTAX",
        /// The tests failed.
        TestFailure = "TEST_FAILURE",
        /// The linter found something.
        LintFailure = "LINT_FAILURE",
        /// The agent said that it failed.
        TaskFailed = "TASK_FAILED",
        /// The agent said that it cannot go on.
        TaskBlocked = "TASK_BLOCKED",
        /// A step before or after the agent failed.
        HookFailure = "HOOK_FAILURE",
        /// Nobody knows.
        Unknown = "UNKNOWN",
        /// The budget was reached.
        BudgetExceeded = "BUDGET_EXCEEDED",
        /// A person rejected it: nobody but a person tries again.
        ReviewRejected = "REVIEW_REJECTED",
        /// The run was stopped or killed.
        Interrupted = "INTERRUPTED",
        /// Something around it failed, not the work.
        Infrastructure = "INFRASTRUCTURE",
    }
}

words! {
    /// How the review of an attempt ended.
    ReviewStatus {
        /// It passed, by a verdict or by a person's approval.
        Passed = "passed",
        /// It passed after the reviewer changed something.
        Fixed = "fixed",
        /// There are findings that block.
        Failed = "failed",
        /// Somebody decided to go on without.
        Skipped = "skipped",
        /// A person rejected it.
        Rejected = "rejected",
        /// There was none.
        NotRun = "not_run",
        /// There is no verdict.
        Error = "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_stay_what_they_are() {
        for word in ["passed", "fixed", "failed", "skipped", "rejected", "not_run", "error"] {
            assert!(!matches!(ReviewStatus::from(word), ReviewStatus::Other(_)), "{word}");
            assert_eq!(ReviewStatus::from(word).word(), word);
        }
        assert_eq!(ErrorCode::from("REVIEW_REJECTED"), ErrorCode::ReviewRejected);
        assert_eq!(ErrorCode::from("NEW_CODE"), ErrorCode::Other("NEW_CODE".into()));
        assert_eq!(TaskState::from("").word(), "");
    }
}
