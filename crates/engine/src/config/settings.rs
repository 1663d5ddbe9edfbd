//! Policy and limits put together key by key, with the origin of every one.

use super::dollars::Dollars;
use super::layer::Layer;
use super::reviewers::Owner;
use super::written::WrittenBlocking;
use crate::yaml::{At, Count, Given, Place};
use countersign_core::cost::{Budget, dollars};
use countersign_core::policy::{Attempts, Blocking, GatePolicy, OnNoVerdict, Policy};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

/// How large a question or an answer may be unless a file says otherwise.
pub(crate) const DEFAULT_BYTES: u32 = 1024 * 1024;
/// How many reviewers may be at work at once unless a file says otherwise.
pub(super) const DEFAULT_REVIEWERS_AT_ONCE: u32 = 4;

/// How much of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Up to this many files a question carries their contents; above, it lists their paths. None where no file says so.
    pub max_inline_files: Option<usize>,
    /// How large a question may be.
    pub prompt_bytes: usize,
    /// How large an answer may be.
    pub reply_bytes: usize,
    /// How many reviewers may be at work at once.
    pub reviewers_at_once: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_inline_files: None,
            prompt_bytes: DEFAULT_BYTES as usize,
            reply_bytes: DEFAULT_BYTES as usize,
            reviewers_at_once: DEFAULT_REVIEWERS_AT_ONCE as usize,
        }
    }
}

/// Decomposed reviews in state files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QrConfig {
    /// What blocks when, and where a loop ends.
    pub gate: GatePolicy,
    /// Where the state files are, relative to the root, where the project says so.
    pub state_dir: Option<PathBuf>,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// The user's own file.
    User {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The project's file.
    Project {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment(&'static str),
    /// A flag of the command.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { file, line } => write!(f, "user {}:{line}", file.display()),
            Self::Project { file, line } => write!(f, "project {}:{line}", file.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

fn as_text<S: Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(origin)
}

impl Origin {
    pub(super) fn file(owner: Owner, place: &Place) -> Self {
        let (file, line) = (place.file().to_owned(), place.line());
        match owner {
            Owner::Project => Self::Project { file, line },
            Owner::User => Self::User { file, line },
        }
    }
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// Its name: its keys, joined by dots.
    pub name: &'static str,
    /// Its value, as text.
    pub value: String,
    /// Where it comes from.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub origin: Origin,
}

/// Picks every value from the first layer that gives one, and remembers which.
pub(super) struct Merge<'l> {
    /// The strongest first.
    pub layers: &'l [Layer],
    pub settings: Vec<Setting>,
}

impl Merge<'_> {
    /// The policy in force.
    pub fn policy(&mut self) -> Policy {
        let default = Policy::default();
        let attempts = match default.attempts {
            Attempts::Once => 1,
            Attempts::AtMost(n) => n,
        };
        Policy {
            attempts: Attempts::AtMost(self.count(
                "policy.max_attempts",
                |l| &l.policy.max_attempts,
                attempts,
            )),
            blocking: self.pick(
                "policy.blocking",
                |l| &l.policy.blocking,
                default.blocking,
                |l| blocking(l),
                |v| show_blocking(v),
            ),
            max_stalled_rounds: self.count(
                "policy.max_stalled_rounds",
                |l| &l.policy.max_stalled_rounds,
                default.max_stalled_rounds,
            ),
            unchanged_stops: default.unchanged_stops,
            reuse_days: self.count("policy.reuse_days", |l| &l.policy.reuse_days, default.reuse_days),
            accept_bare_verdicts: self.pick(
                "policy.accept_bare_verdicts",
                |l| &l.policy.accept_bare_verdicts,
                default.accept_bare_verdicts,
                |value| *value,
                bool::to_string,
            ),
            overrides: self.word("policy.overrides", |l| &l.policy.overrides, default.overrides),
            gate_files: self.word("policy.gate_files", |l| &l.policy.gate_files, default.gate_files),
            budget: Budget {
                tokens: self.tokens("policy.budget_tokens", |l| &l.policy.budget_tokens),
                microusd: self.dollars("policy.budget_usd", |l| &l.policy.budget_usd),
            },
        }
    }

    /// What becomes of an agent that waits where there is no verdict.
    pub fn on_no_verdict(&mut self) -> OnNoVerdict {
        self.word("policy.on_no_verdict", |l| &l.policy.on_no_verdict, OnNoVerdict::default())
    }

    /// What all reviews of a day may cost.
    pub fn day_budget(&mut self) -> Budget {
        Budget {
            tokens: self.tokens("policy.day_budget_tokens", |l| &l.policy.day_budget_tokens),
            microusd: self.dollars("policy.day_budget_usd", |l| &l.policy.day_budget_usd),
        }
    }

    /// Whether agents may decide like people; a project's file cannot say so.
    pub fn agents_may_decide(&mut self) -> bool {
        self.pick("agents_may_decide", |l| &l.agents_may_decide, false, |value| *value, bool::to_string)
    }

    /// The limits in force.
    pub fn limits(&mut self) -> Limits {
        let default = Limits::default();
        Limits {
            max_inline_files: self.pick(
                "limits.max_inline_files",
                |l| &l.limits.max_inline_files,
                default.max_inline_files,
                |count| Some(count.get() as usize),
                |count| count.map_or_else(|| "any number".to_owned(), |count| count.to_string()),
            ),
            prompt_bytes: self.size("limits.prompt_bytes", |l| &l.limits.prompt_bytes, default.prompt_bytes),
            reply_bytes: self.size("limits.reply_bytes", |l| &l.limits.reply_bytes, default.reply_bytes),
            reviewers_at_once: self.size(
                "limits.reviewers_at_once",
                |l| &l.limits.reviewers_at_once,
                default.reviewers_at_once,
            ),
        }
    }

    /// Decomposed reviews.
    pub fn qr(&mut self) -> QrConfig {
        let default = GatePolicy::default();
        QrConfig {
            gate: GatePolicy {
                ceiling_rounds: self.count(
                    "qr.ceiling_rounds",
                    |l| &l.qr.ceiling_rounds,
                    default.ceiling_rounds,
                ),
                item_failures_max: self.count(
                    "qr.item_failures_max",
                    |l| &l.qr.item_failures_max,
                    default.item_failures_max,
                ),
                blocking: self.pick(
                    "qr.blocking",
                    |l| &l.qr.blocking,
                    default.blocking,
                    |l| blocking(l),
                    |v| show_blocking(v),
                ),
            },
            state_dir: self.pick(
                "qr.state_dir",
                |l| &l.qr.state_dir,
                None,
                |folder| Some(PathBuf::from(folder)),
                |folder| folder.as_ref().map_or("none".to_owned(), |folder| folder.display().to_string()),
            ),
        }
    }

    /// One of a few words, shown as it is written.
    fn word<T: Copy + Serialize>(
        &mut self,
        name: &'static str,
        key: fn(&Layer) -> &Given<T>,
        default: T,
    ) -> T {
        let show = |value: &T| match serde_json::to_value(value) {
            Ok(Value::String(word)) => word,
            other => format!("{other:?}"),
        };
        self.pick(name, key, default, |value| *value, show)
    }

    fn count(&mut self, name: &'static str, key: fn(&Layer) -> &Given<Count>, default: u32) -> u32 {
        self.pick(name, key, default, |count| count.get(), u32::to_string)
    }

    fn tokens(&mut self, name: &'static str, key: fn(&Layer) -> &Given<Count>) -> Option<u64> {
        let show = |tokens: &Option<u64>| tokens.map_or("none".to_owned(), |tokens| tokens.to_string());
        self.pick(name, key, None, |count| Some(count.get().into()), show)
    }

    fn dollars(&mut self, name: &'static str, key: fn(&Layer) -> &Given<Dollars>) -> Option<u64> {
        self.pick(name, key, None, |usd| Some(usd.micro()), |usd| usd.map_or("none".to_owned(), dollars))
    }

    fn size(&mut self, name: &'static str, key: fn(&Layer) -> &Given<Count>, default: usize) -> usize {
        self.pick(name, key, default, |count| count.get() as usize, usize::to_string)
    }

    pub(super) fn pick<W, T>(
        &mut self,
        name: &'static str,
        key: fn(&Layer) -> &Given<W>,
        default: T,
        meaning: fn(&W) -> T,
        show: fn(&T) -> String,
    ) -> T {
        let given = self.layers.iter().find_map(|layer| key(layer).0.as_ref().map(|at| (layer, at)));
        let (value, origin) = match given {
            Some((layer, at)) => {
                let origin = Origin::file(layer.owner, &layer.sink.place(&at.span));
                (at.value.as_ref().map_or(default, meaning), origin)
            }
            None => (default, Origin::Default),
        };
        self.settings.push(Setting { name, value: show(&value), origin });
        value
    }
}

/// The lines that could be read; what could not is reported already.
fn blocking(lines: &[At<WrittenBlocking>]) -> Vec<Blocking> {
    let line = |at: &At<WrittenBlocking>| {
        let line = at.value.as_ref()?;
        let from_round = line.from_round.as_ref()?.value?.get();
        Some(Blocking { from_round, severity: line.severity.as_ref()?.value?.meaning() })
    };
    lines.iter().filter_map(line).collect()
}

fn show_blocking(lines: &[Blocking]) -> String {
    let line = |b: &Blocking| format!("{{from_round: {}, severity: {}}}", b.from_round, b.severity);
    format!("[{}]", lines.iter().map(line).collect::<Vec<_>>().join(", "))
}
