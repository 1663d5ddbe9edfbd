//! What was gathered, put together: flags over environment over project over user over defaults.

use super::find::{Environment, FILE_NAME, Flags, Gathered};
use super::layer::{self, Layer};
use super::notify::NotifyConfig;
use super::reviewers::{AUTO, ReviewerConfig, ReviewerKind, is_short_form};
use super::rules::{CheckProblem, RuleSource};
use super::service::{ServiceConfig, Trigger};
use super::settings::{JobsConfig, Limits, Merge, Origin, QrConfig, RedactionConfig, Setting, shown};
use crate::programs::PROGRAMS;
use crate::yaml::{Diagnostic, Place, Problems, Source, closest, did_you_mean, quoted};
use countersign_core::cost::Budget;
use countersign_core::policy::{OnNoVerdict, Overrides, Policy};
use countersign_core::rule::Rule;
use std::path::PathBuf;

/// The code of the mistake that no reviewer has a name.
pub const UNKNOWN_REVIEWER: &str = "unknown-reviewer";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub root: PathBuf,
    /// The project's file. Without one there are no rules; see [`Config::require_file`].
    pub file: Option<PathBuf>,
    /// The reviewer that a flag or the environment asks for; otherwise the first that can answer.
    pub reviewer: Option<String>,
    /// Who may be asked, in order of preference.
    pub reviewers: Vec<ReviewerConfig>,
    pub rules: Vec<Rule>,
    /// Where each rule was written, in the same order.
    pub rule_sources: Vec<RuleSource>,
    pub policy: Policy,
    /// What becomes of an agent that waits where there is no verdict.
    pub on_no_verdict: OnNoVerdict,
    pub day_budget: Budget,
    pub limits: Limits,
    pub redaction: RedactionConfig,
    pub qr: QrConfig,
    pub jobs: JobsConfig,
    pub service: ServiceConfig,
    /// Who is notified when a review needs a person, and how.
    pub notify: NotifyConfig,
    /// Whether agents that are connected over MCP may decide like people. Only the user's own file says so.
    pub agents_may_decide: bool,
    settings: Vec<Setting>,
}

impl Config {
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Who may override, where a file says so.
    pub fn overrides(&self) -> Option<Overrides> {
        self.says("policy.overrides").then_some(self.policy.overrides)
    }

    /// When tasks are reviewed, where a file says so.
    pub fn trigger(&self) -> Option<Trigger> {
        self.says("review.trigger").then_some(self.service.trigger)
    }

    /// Whether a file says something about a setting, whatever that is.
    pub fn says(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.name == name && setting.origin != Origin::Default)
    }

    /// The project's file, for commands that cannot do without rules.
    pub fn require_file(&self) -> Result<&PathBuf, Diagnostic> {
        self.file.as_ref().ok_or_else(|| {
            let place = Place::start_of(&Source::new(self.root.join(FILE_NAME), ""));
            Diagnostic::new("no-configuration", place, "there is no configuration here or in a folder above")
                .with_hint("`countersign init` writes one")
        })
    }
}

/// The configuration in force, or everything that is wrong with it.
pub fn resolve(
    gathered: &Gathered,
    flags: &Flags,
    environment: &Environment,
    check_problem: CheckProblem<'_>,
) -> Result<Config, Problems> {
    let mut problems: Vec<Diagnostic> = gathered.project_problem.iter().cloned().collect();
    let project = gathered.project.as_ref().map(|file| layer::project(file, check_problem));
    let user = gathered.user.as_ref().map(layer::user);
    let readable = |layer: Result<Layer, Diagnostic>| layer.map_err(|problem| problems.push(problem)).ok();
    let mut layers: Vec<Layer> = project.into_iter().chain(user).filter_map(readable).collect();
    let all_readable = problems.is_empty();
    problems.extend(layers.iter_mut().flat_map(|layer| std::mem::take(&mut layer.sink.problems)));

    let (rules, rule_sources) = layers.iter().flat_map(|layer| layer.rules.iter().cloned()).unzip();
    let mut merge = Merge { layers: &layers, settings: places(gathered) };
    let reviewers = reviewers(&mut merge);
    let reviewer = chosen_reviewer(&mut merge, flags, environment);
    // The settings are listed in the order in which they are merged.
    let config = Config {
        root: gathered.root.clone(),
        file: gathered.project.as_ref().map(|file| file.path.clone()),
        reviewer: reviewer.as_ref().map(|(name, _)| name.clone()),
        reviewers: reviewers.clone().unwrap_or_default(),
        rules,
        rule_sources,
        agents_may_decide: merge.agents_may_decide(),
        policy: merge.policy(),
        on_no_verdict: merge.on_no_verdict(),
        day_budget: merge.day_budget(),
        limits: merge.limits(),
        redaction: merge.redaction(),
        qr: merge.qr(),
        jobs: merge.jobs(),
        service: merge.service(),
        notify: merge.notify(),
        settings: merge.settings,
    };
    if reviewers.is_some() && all_readable {
        problems.extend(reviewer_problems(&config, reviewer.as_ref().map(|(_, origin)| origin)));
    }
    match Problems::of(problems) {
        Some(problems) => Err(problems),
        None => Ok(config),
    }
}

/// Reviewers that are named and not in the list, and those without a price under a budget in dollars.
fn reviewer_problems(config: &Config, named_by: Option<&Origin>) -> Vec<Diagnostic> {
    let (reviewers, rules) = (&config.reviewers, config.rules.iter().zip(&config.rule_sources));
    let named = rules.filter_map(|(rule, source)| rule.reviewer.as_deref().zip(source.reviewer.clone()));
    let unknown = named.filter_map(|(name, place)| unknown_reviewer(name, reviewers, place));
    let mut problems: Vec<_> = unknown.collect();
    if config.policy.budget.microusd.or(config.day_budget.microusd).is_some() {
        problems.extend(reviewers.iter().filter_map(without_price));
    }
    if let (Some(name), Some(origin)) = (config.reviewer.as_deref(), named_by)
        && !is_short_form(name)
    {
        let place = Place::new(&Source::new(origin.to_string(), name), 0..name.len());
        problems.extend(unknown_reviewer(name, reviewers, place).map(|problem| {
            let configured = reviewers.iter().map(|reviewer| reviewer.name.as_str());
            if let Some(near) = closest(name, configured.chain(PROGRAMS.reviewers().map(|one| one.name))) {
                return problem.with_hint(format!("did you mean {}?", quoted(near)));
            }
            let hint = problem.hint.clone().unwrap_or_default();
            problem.with_hint(format!(
                "{hint}; without configuration: {}, command:PROGRAM, replay:FILE, self, checks",
                PROGRAMS.reviewer_names()
            ))
        }));
    }
    problems
}

fn places(gathered: &Gathered) -> Vec<Setting> {
    let file = gathered.project.as_ref().map(|file| file.path.display());
    let (root, origin) = (gathered.root.display().to_string(), gathered.root_origin.clone());
    vec![
        Setting { name: "root", value: root, origin },
        Setting { name: "config", value: shown(&file), origin: gathered.project_origin.clone() },
    ]
}

/// The first list there is; `None` if it could not be understood.
fn reviewers(merge: &mut Merge<'_>) -> Option<Vec<ReviewerConfig>> {
    let given = merge.layers.iter().find_map(|layer| Some((layer.reviewers.clone()?, layer)));
    let (reviewers, origin) = match given {
        Some((at, layer)) => (at.value?, layer.origin(&at.span)),
        None => (Vec::new(), Origin::Default),
    };
    let names: Vec<_> = reviewers.iter().map(|reviewer| reviewer.name.as_str()).collect();
    merge.settings.push(Setting { name: "reviewers", value: format!("[{}]", names.join(", ")), origin });
    Some(reviewers)
}

/// The reviewer that a flag or a variable names.
fn chosen_reviewer(
    merge: &mut Merge<'_>,
    flags: &Flags,
    environment: &Environment,
) -> Option<(String, Origin)> {
    let named = [
        (flags.reviewer.as_ref(), Origin::Flag("--reviewer")),
        (environment.reviewer.as_ref(), Origin::Environment("COUNTERSIGN_REVIEWER")),
    ];
    let named = named.into_iter().find_map(|(name, origin)| Some((name.filter(|n| !n.is_empty())?, origin)));
    let (value, origin) = match &named {
        Some((name, origin)) => ((*name).clone(), origin.clone()),
        None => (AUTO.to_owned(), Origin::Default),
    };
    merge.settings.push(Setting { name: "reviewer", value, origin });
    named.filter(|(name, _)| *name != AUTO).map(|(name, origin)| (name.clone(), origin))
}

fn without_price(reviewer: &ReviewerConfig) -> Option<Diagnostic> {
    let asked = reviewer.kind.asked()?;
    // It is told how much a question may cost, and says what it did cost.
    let says_cost = matches!(&reviewer.kind, ReviewerKind::Program(one) if one.program.caps_cost);
    if says_cost || asked.price.is_some() {
        return None;
    }
    let message = format!("a budget in dollars needs to know what {} costs", quoted(&reviewer.name));
    let hint = "give it a `price`, or use `budget_tokens`";
    Some(Diagnostic::new("no-price", reviewer.place.clone(), message).with_hint(hint))
}

fn unknown_reviewer(name: &str, reviewers: &[ReviewerConfig], place: Place) -> Option<Diagnostic> {
    let known: Vec<&str> = reviewers.iter().map(|reviewer| reviewer.name.as_str()).collect();
    if known.contains(&name) {
        return None;
    }
    let hint = match known.as_slice() {
        [] => "no `reviewers` are configured".into(),
        known => did_you_mean(name, known, "known"),
    };
    let message = format!("no reviewer is called {}", quoted(name));
    Some(Diagnostic::new(UNKNOWN_REVIEWER, place, message).with_hint(hint))
}
