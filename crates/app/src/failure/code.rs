//! The kinds of failures, for programs: a closed list, so that no caller searches in messages.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    Ambiguous,
    Arguments,
    Base,
    /// It waits for a person.
    Blocked,
    /// A phase has used up its rounds.
    Ceiling,
    /// There is no change to judge.
    Change,
    Configuration,
    ContentType,
    /// Too many rounds had no verdict.
    CoolingOff,
    /// The phase has its items already.
    Decomposed,
    /// Uncommitted work is in the way.
    Dirty,
    /// What was kept of a judged file is not what was written.
    Edited,
    Fixer,
    /// A request comes from another origin.
    Foreign,
    /// Another process holds the review.
    HeldUp,
    /// A defect of ours, or of the machine.
    Internal,
    Interrupted,
    Io,
    /// An item failed too often.
    ItemCap,
    Ledger,
    Locked,
    /// A path takes another method.
    Method,
    NoAnswer,
    NoEvent,
    NoRule,
    /// A phase has no state file.
    NoState,
    NoStateDir,
    NoTask,
    NoVerdict,
    NotFound,
    /// A judged file is not kept, or not any more.
    NotKept,
    /// A call cannot be taken now.
    NotTaken,
    /// No person has trusted how work is judged here.
    NotTrusted,
    /// A path cannot be judged.
    Path,
    PeopleOnly,
    /// Rules and work do not fit together.
    Plan,
    Refused,
    /// The results of a self-review are not complete.
    Results,
    Run,
    /// The work has changed since.
    Stale,
    /// The state of a run cannot be used.
    State,
    Stopped,
    Taken,
    Timeout,
    Token,
    TooLarge,
    /// Two files are for the same phase.
    TwoFiles,
    Usage,
}

impl Code {
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}
