//! Policy, limits and redaction put together key by key, with the origin of every one, and the tools for the other sections.

use super::layer::{Layer, Sections};
use super::reviewers::Sees;
use super::written::{WrittenBlocking, WrittenRedaction, WrittenSecret};
use crate::yaml::{At, Count, Given, ProblemList};
use countersign_core::cost::{Budget, MICRO, dollars};
use countersign_core::policy::{Attempts, Blocking, DEFAULT_MAX_ATTEMPTS, GatePolicy, OnNoVerdict, Policy};
use countersign_core::redact::{OwnPattern, Problem, problem};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

/// How large a question or an answer may be unless a file says otherwise.
pub(crate) const DEFAULT_BYTES: u32 = 1024 * 1024;
/// How many reviewers may be at work at once unless a file says otherwise.
pub(super) const DEFAULT_REVIEWERS_AT_ONCE: u32 = 4;
/// For how many days judged contents are kept unless a file says otherwise.
pub(super) const DEFAULT_KEEP_CONTENTS_DAYS: u32 = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Up to this many files a question carries their contents; above, it lists their paths. None where no file says so.
    pub max_inline_files: Option<usize>,
    pub prompt_bytes: usize,
    pub reply_bytes: usize,
    pub reviewers_at_once: usize,
    /// For how many days judged contents are kept; 0 for not at all.
    pub keep_contents_days: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_inline_files: None,
            prompt_bytes: DEFAULT_BYTES as usize,
            reply_bytes: DEFAULT_BYTES as usize,
            reviewers_at_once: DEFAULT_REVIEWERS_AT_ONCE as usize,
            keep_contents_days: DEFAULT_KEEP_CONTENTS_DAYS,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QrConfig {
    pub gate: GatePolicy,
    /// Where the state files are, relative to the root, where the project says so.
    pub state_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobsConfig {
    /// What reviewers of steps may look at.
    pub sees: Sees,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// No file, variable or flag gives it.
    Default,
    /// The user's own file, at a line from 1.
    User(PathBuf, usize),
    /// The project's file, at a line from 1.
    Project(PathBuf, usize),
    Environment(&'static str),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(file, line) => write!(f, "user {}:{line}", file.display()),
            Self::Project(file, line) => write!(f, "project {}:{line}", file.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

fn as_text<S: Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(origin)
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

/// The name of a setting, and where a file keeps it.
pub(super) type Key<W> = (&'static str, fn(&Sections) -> &Given<W>);

/// A [`Key`] from one spelling, so that the name and the place cannot disagree.
macro_rules! key {
    ($section:ident.$key:ident) => {
        (concat!(stringify!($section), ".", stringify!($key)), |sections| &sections.$section.$key)
    };
}
pub(super) use key;

/// Picks every value from the first layer that gives one, and records which.
pub(super) struct Merge<'l> {
    /// The strongest first.
    pub layers: &'l [Layer],
    pub settings: Vec<Setting>,
}

impl Merge<'_> {
    pub fn policy(&mut self) -> Policy {
        let default = Policy::default();
        Policy {
            attempts: Attempts::AtMost(self.count(key!(policy.max_attempts), DEFAULT_MAX_ATTEMPTS)),
            blocking: self.blocking(key!(policy.blocking), default.blocking),
            max_stalled_rounds: self.count(key!(policy.max_stalled_rounds), default.max_stalled_rounds),
            unchanged_stops: default.unchanged_stops,
            reuse_days: self.count(key!(policy.reuse_days), default.reuse_days),
            accept_bare_verdicts: self
                .switch(key!(policy.accept_bare_verdicts), default.accept_bare_verdicts),
            overrides: self.word(key!(policy.overrides), default.overrides),
            gate_files: self.word(key!(policy.gate_files), default.gate_files),
            decisions: self.word(key!(policy.decisions), default.decisions),
            budget: Budget {
                tokens: self.tokens(key!(policy.budget_tokens)),
                microusd: self.dollars(key!(policy.budget_usd)),
            },
        }
    }

    pub fn on_no_verdict(&mut self) -> OnNoVerdict {
        self.word(key!(policy.on_no_verdict), OnNoVerdict::default())
    }

    pub fn day_budget(&mut self) -> Budget {
        Budget {
            tokens: self.tokens(key!(policy.day_budget_tokens)),
            microusd: self.dollars(key!(policy.day_budget_usd)),
        }
    }

    /// Whether agents may decide like people; a project's file cannot say so.
    pub fn agents_may_decide(&mut self) -> bool {
        self.switch(("agents_may_decide", |sections| &sections.agents_may_decide), false)
    }

    pub fn limits(&mut self) -> Limits {
        let default = Limits::default();
        Limits {
            max_inline_files: self.pick(
                key!(limits.max_inline_files),
                default.max_inline_files,
                |count| Some(count.get() as usize),
                |count| count.map_or_else(|| "any number".to_owned(), |count| count.to_string()),
            ),
            prompt_bytes: self.size(key!(limits.prompt_bytes), default.prompt_bytes),
            reply_bytes: self.size(key!(limits.reply_bytes), default.reply_bytes),
            reviewers_at_once: self.size(key!(limits.reviewers_at_once), default.reviewers_at_once),
            keep_contents_days: self.pick(
                key!(limits.keep_contents_days),
                default.keep_contents_days,
                |days| days.get(),
                u32::to_string,
            ),
        }
    }

    pub fn qr(&mut self) -> QrConfig {
        let default = GatePolicy::default();
        let gate = GatePolicy {
            ceiling_rounds: self.count(key!(qr.ceiling_rounds), default.ceiling_rounds),
            item_failures_max: self.count(key!(qr.item_failures_max), default.item_failures_max),
            blocking: self.blocking(key!(qr.blocking), default.blocking),
        };
        let show = |folder: &Option<PathBuf>| shown(&folder.as_ref().map(|folder| folder.display()));
        let folder = |folder: &String| Some(PathBuf::from(folder));
        QrConfig { gate, state_dir: self.pick(key!(qr.state_dir), None, folder, show) }
    }

    pub fn jobs(&mut self) -> JobsConfig {
        JobsConfig { sees: self.word(key!(jobs.sees), Sees::Given) }
    }

    /// One of a few words, shown as it is written.
    pub fn word<T: Copy + Serialize>(&mut self, key: Key<T>, default: T) -> T {
        let show = |value: &T| match serde_json::to_value(value) {
            Ok(Value::String(word)) => word,
            other => format!("{other:?}"),
        };
        self.pick(key, default, |value| *value, show)
    }

    pub fn switch(&mut self, key: Key<bool>, default: bool) -> bool {
        self.pick(key, default, |value| *value, bool::to_string)
    }

    /// A text, without white space around it.
    pub fn text(&mut self, key: Key<String>) -> Option<String> {
        self.pick(key, None, |text| Some(text.trim().to_owned()), shown)
    }

    pub fn count(&mut self, key: Key<Count>, default: u32) -> u32 {
        self.pick(key, default, |count| count.get(), u32::to_string)
    }

    fn size(&mut self, key: Key<Count>, default: usize) -> usize {
        self.pick(key, default, |count| count.get() as usize, usize::to_string)
    }

    fn tokens(&mut self, key: Key<Count>) -> Option<u64> {
        self.pick(key, None, |count| Some(count.get().into()), shown)
    }

    fn dollars(&mut self, key: Key<Dollars>) -> Option<u64> {
        self.pick(key, None, |usd| Some(usd.micro()), |usd| shown(&usd.map(dollars)))
    }

    fn blocking(&mut self, key: Key<Vec<At<WrittenBlocking>>>, default: Vec<Blocking>) -> Vec<Blocking> {
        let show = |lines: &Vec<Blocking>| {
            let line = |b: &Blocking| format!("{{from_round: {}, severity: {}}}", b.from_round, b.severity);
            format!("[{}]", lines.iter().map(line).collect::<Vec<_>>().join(", "))
        };
        self.pick(key, default, |lines| blocking(lines), show)
    }

    pub fn pick<W, T>(
        &mut self,
        (name, key): Key<W>,
        default: T,
        meaning: fn(&W) -> T,
        show: fn(&T) -> String,
    ) -> T {
        let mut given =
            self.layers.iter().filter_map(|layer| Some((layer, key(&layer.sections).0.as_ref()?)));
        let (value, origin) = match given.next() {
            Some((layer, at)) => (at.value.as_ref().map_or(default, meaning), layer.origin(&at.span)),
            None => (default, Origin::Default),
        };
        self.settings.push(Setting { name, value: show(&value), origin });
        value
    }
}

pub(super) fn shown<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}

fn blocking(lines: &[At<WrittenBlocking>]) -> Vec<Blocking> {
    let line = |at: &At<WrittenBlocking>| {
        let line = at.value.as_ref()?;
        let from_round = line.from_round.as_ref()?.value?.get();
        Some(Blocking { from_round, severity: line.severity.as_ref()?.value?.meaning() })
    };
    lines.iter().filter_map(line).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactionConfig {
    pub enabled: bool,
    /// Patterns beside the built-in ones.
    pub patterns: Vec<OwnPattern>,
}

/// Reports every pattern that cannot be used.
pub(super) fn check_patterns(sink: &mut ProblemList, written: &WrittenRedaction) {
    let mut names = Vec::new();
    for at in written.patterns.items() {
        let Some(secret) = &at.value else { continue };
        let owner = ("this pattern", &at.span);
        let name = sink.name(secret.name.as_ref(), owner);
        let pattern = sink.required(secret.pattern.as_ref(), "pattern", owner);
        if let (Some(name), Some((pattern, span))) = (&name, pattern) {
            let own = OwnPattern { name: name.name.clone(), pattern: pattern.clone() };
            match problem(&own) {
                None => {}
                Some(wrong @ (Problem::Name | Problem::BuiltIn(_))) => {
                    sink.report("bad-name", &name.span, wrong.to_string());
                }
                Some(wrong) => sink.report("bad-pattern", span, wrong.to_string()),
            }
        }
        names.extend(name);
    }
    sink.unique("the pattern", str::to_owned, names.iter());
}

impl Merge<'_> {
    /// The redaction in force. Patterns add up: a project cannot take away what its user keeps secret.
    pub fn redaction(&mut self) -> RedactionConfig {
        let enabled = self.switch(key!(redaction.enabled), true);
        let own = |at: &At<WrittenSecret>| {
            let WrittenSecret { name, pattern } = at.value.as_ref()?;
            Some(OwnPattern {
                name: name.as_ref()?.value.clone()?,
                pattern: pattern.as_ref()?.value.clone()?,
            })
        };
        let all = self.layers.iter().flat_map(|layer| layer.sections.redaction.patterns.items());
        let patterns: Vec<OwnPattern> = all.filter_map(own).collect();
        let given =
            |layer: &Layer| layer.sections.redaction.patterns.0.as_ref().map(|at| layer.origin(&at.span));
        let origin = self.layers.iter().find_map(given).unwrap_or(Origin::Default);
        let names: Vec<_> = patterns.iter().map(|pattern| pattern.name.as_str()).collect();
        let value = format!("[{}]", names.join(", "));
        self.settings.push(Setting { name: "redaction.patterns", value, origin });
        RedactionConfig { enabled, patterns }
    }
}

const MAX_DOLLARS: u32 = 1_000_000;

/// Dollars, from none to a million, counted in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dollars(u64);

impl Dollars {
    pub fn micro(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(DollarsVisitor)
    }
}

struct DollarsVisitor;

impl Visitor<'_> for DollarsVisitor {
    type Value = Dollars;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an amount of dollars from 0 to {MAX_DOLLARS}, like 0.50")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Dollars, E> {
        let within = u64::try_from(value).ok().filter(|value| *value <= MAX_DOLLARS.into());
        let dollars = within.map(|value| Dollars(value * MICRO));
        dollars.ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Dollars, E> {
        Err(E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Dollars, E> {
        if !(0.0..=f64::from(MAX_DOLLARS)).contains(&value) {
            return Err(E::invalid_value(Unexpected::Float(value), &self));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
        #[expect(clippy::cast_precision_loss, reason = "a million is exact")]
        Ok(Dollars((value * MICRO as f64).round() as u64))
    }
}

impl JsonSchema for Dollars {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "dollars".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": MAX_DOLLARS })
    }
}
