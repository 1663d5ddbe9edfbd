//! Errors, for programs.

use crate::Failure;
use countersign_engine::config::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// What to do where the problem itself does not say.
const GENERAL_HINT: &str = "`countersign help configuration` describes every key";

/// What went wrong and what to do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// `usage` `configuration` `review` `integrity` `internal` `interrupted`.
    pub kind: &'static str,
    /// The first mistake, or the failure itself.
    #[serde(flatten)]
    pub first: Mistake,
    /// All mistakes of a file; the first is also above.
    pub problems: Vec<Mistake>,
    /// How many more there are (at most 50 are listed).
    pub problems_left_out: usize,
}

/// One mistake.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Mistake {
    /// A short stable word, such as `unknown-key`, `path`, `refused`, `not_found`.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do, or null.
    pub hint: Option<String>,
    /// The file it is in, or null.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
}

impl From<&Failure> for Problem {
    fn from(failure: &Failure) -> Self {
        let problems: Vec<Mistake> = failure.diagnostics.iter().map(Mistake::from).collect();
        let own = || Mistake {
            code: failure.code.name(),
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            file: None,
            line: None,
            column: None,
        };
        let first = problems.first().cloned().unwrap_or_else(own);
        Self { kind: failure.kind(), first, problems, problems_left_out: failure.left_out }
    }
}

impl From<&Diagnostic> for Mistake {
    fn from(diagnostic: &Diagnostic) -> Self {
        let place = &diagnostic.place;
        Self {
            code: diagnostic.code.to_owned(),
            message: diagnostic.message.clone(),
            hint: Some(hint_of(diagnostic).to_owned()),
            file: Some(place.file().display().to_string()),
            line: diagnostic.has_line().then(|| place.line()),
            column: diagnostic.has_line().then(|| place.column()),
        }
    }
}

/// What to do about a mistake.
pub fn hint_of(diagnostic: &Diagnostic) -> &str {
    diagnostic.hint.as_deref().unwrap_or(GENERAL_HINT)
}
