//! What kind of failure it is, for programs: a closed list, so that no caller searches in sentences.

use serde::{Serialize, Serializer};

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Several things are called so.
    Ambiguous,
    /// What a program sent cannot be used.
    Arguments,
    /// What a change is compared with cannot be found.
    Base,
    /// It waits for a person.
    Blocked,
    /// A phase has used up its rounds.
    Ceiling,
    /// There is no change that can be judged.
    Change,
    /// The configuration cannot be used.
    Configuration,
    /// A request has a body of another type.
    ContentType,
    /// Too many rounds had no verdict.
    CoolingOff,
    /// The phase has its items already.
    Decomposed,
    /// Work that is not committed is in the way.
    Dirty,
    /// The fixer of a loop failed.
    Fixer,
    /// A request comes from elsewhere.
    Foreign,
    /// Another process does not go on.
    HeldUp,
    /// A defect of ours, or of the machine.
    Internal,
    /// It was interrupted.
    Interrupted,
    /// A file cannot be read or written.
    Io,
    /// An item failed too often.
    ItemCap,
    /// The ledger cannot be used.
    Ledger,
    /// Another process keeps a file locked.
    Locked,
    /// A path takes another method.
    Method,
    /// There is no answer that can be used.
    NoAnswer,
    /// There was never such an event.
    NoEvent,
    /// No rule is for what was handed in.
    NoRule,
    /// A phase has no state file.
    NoState,
    /// There is no state directory.
    NoStateDir,
    /// There is no such task.
    NoTask,
    /// There is no verdict.
    NoVerdict,
    /// There is no such thing.
    NotFound,
    /// A call cannot be taken now.
    NotTaken,
    /// A path cannot be judged.
    Path,
    /// It is for people.
    PeopleOnly,
    /// Rules and work do not fit together.
    Plan,
    /// The review does not take it.
    Refused,
    /// The results of a self-review are not complete.
    Results,
    /// A run broke off.
    Run,
    /// The work has changed since.
    Stale,
    /// The state of a run cannot be used.
    State,
    /// The review is stopped.
    Stopped,
    /// The name is taken.
    Taken,
    /// A request took too long.
    Timeout,
    /// The token is missing or wrong.
    Token,
    /// A request is too large.
    TooLarge,
    /// Two files are for the same phase.
    TwoFiles,
    /// The command was typed wrong.
    Usage,
}

impl Code {
    /// The word that programs read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ambiguous => "ambiguous",
            Self::Arguments => "arguments",
            Self::Base => "base",
            Self::Blocked => "blocked",
            Self::Ceiling => "ceiling",
            Self::Change => "change",
            Self::Configuration => "configuration",
            Self::ContentType => "content_type",
            Self::CoolingOff => "cooling_off",
            Self::Decomposed => "decomposed",
            Self::Dirty => "dirty",
            Self::Fixer => "fixer",
            Self::Foreign => "foreign",
            Self::HeldUp => "held_up",
            Self::Internal => "internal",
            Self::Interrupted => "interrupted",
            Self::Io => "io",
            Self::ItemCap => "item_cap",
            Self::Ledger => "ledger",
            Self::Locked => "locked",
            Self::Method => "method",
            Self::NoAnswer => "no_answer",
            Self::NoEvent => "no_event",
            Self::NoRule => "no_rule",
            Self::NoState => "no_state",
            Self::NoStateDir => "no_state_dir",
            Self::NoTask => "no_task",
            Self::NoVerdict => "no_verdict",
            Self::NotFound => "not_found",
            Self::NotTaken => "not_taken",
            Self::Path => "path",
            Self::PeopleOnly => "people_only",
            Self::Plan => "plan",
            Self::Refused => "refused",
            Self::Results => "results",
            Self::Run => "run",
            Self::Stale => "stale",
            Self::State => "state",
            Self::Stopped => "stopped",
            Self::Taken => "taken",
            Self::Timeout => "timeout",
            Self::Token => "token",
            Self::TooLarge => "too_large",
            Self::TwoFiles => "two_files",
            Self::Usage => "usage",
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
