//! What all formats show: the outcome, what was found and what was not judged. A new state of a finding is a row of
//! [`Kind`], and the line that makes its items in `sources`.

use countersign_core::criterion::Severity;
use countersign_core::digest::Parts;
use countersign_core::outcome::Outcome;
use std::collections::HashMap;

/// How many hex digits of a digest name a finding.
const FINGERPRINT_DIGITS: usize = 32;
/// The rule of what is no finding of a reviewer.
pub const OWN: &str = "countersign";

/// An answer, as formats show it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// None while it is not known.
    pub outcome: Option<Outcome>,
    /// The verdict in one line.
    pub headline: String,
    pub review: Option<String>,
    pub items: Vec<Item>,
    /// What a reviewer looked at and passed.
    pub passed: Vec<Passed>,
    /// Sentences beside the verdict: what was looked at, decisions, warnings.
    pub notes: Vec<String>,
    /// What to do next.
    pub next: Vec<String>,
    /// The path of the project in its repository; empty for the repository itself.
    pub folder: String,
}

/// One thing that a reader has to know.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: Kind,
    /// The rule; [`OWN`] where it is none of the project's.
    pub rule: String,
    pub criterion: String,
    /// What the criterion asks.
    pub help: String,
    pub severity: Option<Severity>,
    pub message: String,
    pub place: Option<Place>,
    /// What was judged, in words.
    pub target: String,
    /// The same for the same finding after lines have moved.
    pub fingerprint: String,
    pub reviewer: Option<String>,
}

/// A place in a file, by its path in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: String,
    pub line: Option<u64>,
    pub end_line: Option<u64>,
}

/// A criterion that passed.
#[derive(Clone, Debug)]
pub struct Passed {
    pub rule: String,
    pub criterion: String,
    pub target: String,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A finding that blocks.
    Blocks,
    /// A finding that does not block.
    Advice,
    /// A finding that is already there, in the baseline, or excepted with a reason.
    Accepted,
    /// A question without an answer.
    NoVerdict,
    /// The outcome itself, where it is no pass.
    Outcome,
    /// A command that failed.
    Error,
    /// Files that no reviewer can see.
    NotSeen,
    /// The same, where the rules let them pass.
    PassedUnseen,
    /// Files that no rule is about.
    NotCovered,
    /// A command that judges nothing.
    NotJudged,
    /// What a format had no room for.
    LeftOut,
}

/// How loud an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warning,
    Note,
}

impl Item {
    /// Something that is no finding of a reviewer. `identity` tells it from others of its kind.
    pub fn own(kind: Kind, identity: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            rule: OWN.to_owned(),
            criterion: kind.row().1.to_owned(),
            help: kind.row().2.to_owned(),
            severity: None,
            message: message.into(),
            place: None,
            target: String::new(),
            fingerprint: identity.to_owned(),
            reviewer: None,
        }
    }

    pub fn level(&self) -> Level {
        match (self.kind.row().0, self.severity) {
            // Advice is as loud as its criterion.
            (Level::Warning, Some(Severity::May)) => Level::Note,
            (level, _) => level,
        }
    }

    /// The id of its rule: `docs/Complete`.
    pub fn rule_id(&self) -> String {
        format!("{}/{}", self.rule, self.criterion)
    }

    /// What its rule asks, or its name where that is not known.
    pub fn help_or_name(&self) -> String {
        if self.help.trim().is_empty() { self.rule_id() } else { self.help.clone() }
    }
}

impl Kind {
    /// How loud it is, its name where it has no criterion, and what that means.
    fn row(self) -> (Level, &'static str, &'static str) {
        match self {
            Self::Blocks => (Level::Error, "finding", "A criterion that blocks failed."),
            Self::Advice => (Level::Warning, "advice", "A criterion failed that does not block."),
            Self::Accepted => {
                (Level::Note, "accepted", "A finding that does not block, for the reason it names.")
            }
            Self::NoVerdict => {
                (Level::Error, "no_verdict", "A question has no valid answer, so there is no verdict.")
            }
            Self::Outcome => (Level::Error, "outcome", "The work has not passed."),
            Self::Error => (Level::Error, "error", "The command failed before there was a verdict."),
            Self::NotSeen => (Level::Error, "not_seen", "A rule is about a file that no reviewer can see."),
            Self::PassedUnseen => (
                Level::Note,
                "passed_unseen",
                "No reviewer can see these files, and the rules let them pass.",
            ),
            Self::NotCovered => (Level::Note, "not_covered", "No rule is about these files."),
            Self::NotJudged => (Level::Note, "not_judged", "This command asked no reviewer."),
            Self::LeftOut => (Level::Note, "left_out", "This format has no room for more."),
        }
    }
}

impl Report {
    /// Whether this is a pass, or a recorded decision in place of one.
    pub fn passes(&self) -> bool {
        self.outcome.is_some_and(|outcome| outcome.exit_code() == 0)
    }

    /// Whether there is a verdict, or a decision in place of one.
    pub fn is_judged(&self) -> bool {
        self.passes() || self.outcome == Some(Outcome::NeedsWork)
    }

    /// The path of a file of the project in its repository.
    pub fn in_folder(&self, file: &str) -> String {
        if self.folder.is_empty() { file.to_owned() } else { format!("{}/{file}", self.folder) }
    }

    pub fn outcome_name(&self) -> &'static str {
        self.outcome.map_or("under_way", Outcome::name)
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.items.iter().filter(|item| item.kind == kind).count()
    }

    /// Completes a report: an outcome that is no pass is an item, paths are those of the repository, and every item has a
    /// fingerprint of its own.
    pub fn finished(mut self) -> Self {
        let is_said = self.outcome == Some(Outcome::NeedsWork) && self.count(Kind::Blocks) > 0;
        if !self.passes() && !is_said && self.count(Kind::Error) == 0 {
            let mut words = self.headline.clone();
            self.next.iter().for_each(|step| words.push_str(&format!("\nnext: {step}")));
            let name = self.outcome_name();
            self.items
                .insert(0, Item { criterion: name.to_owned(), ..Item::own(Kind::Outcome, name, words) });
        }
        let folder = self.folder.clone();
        for place in self.items.iter_mut().filter_map(|item| item.place.as_mut()) {
            if !folder.is_empty() {
                place.path = format!("{folder}/{}", place.path);
            }
        }
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        for item in &mut self.items {
            let nth = seen.entry((item.rule_id(), item.fingerprint.clone())).or_default();
            let mut parts = Parts::new("report/1");
            parts.text(&self.folder).text(&item.rule_id()).text(&item.fingerprint).count(*nth);
            *nth += 1;
            item.fingerprint = parts.digest().as_str().chars().take(FINGERPRINT_DIGITS).collect();
        }
        self
    }

    /// The items, the loudest first, and as the last one how many had no room.
    pub fn at_most(&self, max: usize) -> Vec<Item> {
        let mut items = self.items.clone();
        items.sort_by_key(Item::level);
        if items.len() > max {
            let left_out = items.len() - (max - 1);
            items.truncate(max - 1);
            items.push(left_out_item(left_out, max));
        }
        items
    }
}

/// The line about what a format had no room for.
fn left_out_item(left_out: usize, max: usize) -> Item {
    let words = format!("{left_out} more are not shown here, because this format takes {max} at most");
    let own = Item::own(Kind::LeftOut, "left_out", words);
    Item { fingerprint: "countersign-left-out".to_owned(), ..own }
}
