//! The codes of the database columns. A code of another version is kept and shown as it is.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`")] $(#[$variant_doc])* $variant,)*
            /// A code of another version.
            Other(String),
        }

        impl $name {
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

        impl From<String> for $name {
            fn from(word: String) -> Self {
                Self::from(word.as_str())
            }
        }

        impl From<$name> for String {
            fn from(code: $name) -> Self {
                code.word().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

codes! {
    TaskState {
        Pending = "pending",
        /// also after a run was killed
        Running = "running",
        Success = "success",
        Failed = "failed",
        /// a person marked it as done
        Skipped = "skipped",
    }
}

codes! {
    ErrorCode {
        Timeout = "TIMEOUT",
        RateLimit = "RATE_LIMIT",
        Syntax = "SYNTAX",
        TestFailure = "TEST_FAILURE",
        LintFailure = "LINT_FAILURE",
        TaskFailed = "TASK_FAILED",
        /// the agent reports that it cannot go on
        TaskBlocked = "TASK_BLOCKED",
        /// a step before or after the agent failed
        HookFailure = "HOOK_FAILURE",
        Unknown = "UNKNOWN",
        BudgetExceeded = "BUDGET_EXCEEDED",
        /// only a person lets it run again
        ReviewRejected = "REVIEW_REJECTED",
        Interrupted = "INTERRUPTED",
        /// the environment failed, not the work
        Infrastructure = "INFRASTRUCTURE",
    }
}

codes! {
    ReviewStatus {
        /// by a verdict or by a person
        Passed = "passed",
        /// passed after the reviewer changed files
        Fixed = "fixed",
        Failed = "failed",
        Skipped = "skipped",
        Rejected = "rejected",
        NotRun = "not_run",
        Error = "error",
    }
}

impl ErrorCode {
    /// The word in the column that other tools read: they know a closed list, and stop at any other word.
    pub(super) fn shared_word(&self) -> &str {
        match self.word() {
            "REVIEW_FAILED" | "MERGE_CONFLICT" => Self::HookFailure.word(),
            "MERGE_REFUSED" | "MAIN_MOVED" => Self::Infrastructure.word(),
            word => word,
        }
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
