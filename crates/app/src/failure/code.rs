//! The kinds of failures, for programs: a closed list, so that no caller searches in messages.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Several things have this name.
    Ambiguous,
    /// The arguments of a program are invalid.
    Arguments,
    Base,
    /// It waits for a person.
    Blocked,
    /// A phase has used up its rounds.
    Ceiling,
    /// There is no change to judge.
    Change,
    Configuration,
    /// A request has a body of another type.
    ContentType,
    /// Too many rounds had no verdict.
    CoolingOff,
    /// The phase has its items already.
    Decomposed,
    /// Uncommitted work is in the way.
    Dirty,
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
    /// Another process keeps a file locked.
    Locked,
    /// A path takes another method.
    Method,
    /// There is no answer that can be used.
    NoAnswer,
    NoEvent,
    /// No rule matches the submission.
    NoRule,
    /// A phase has no state file.
    NoState,
    /// There is no state directory.
    NoStateDir,
    NoTask,
    NoVerdict,
    NotFound,
    /// A call cannot be taken now.
    NotTaken,
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
    /// A wrong command or argument.
    Usage,
}

impl Code {
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
