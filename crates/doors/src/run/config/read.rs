//! Reads the settings of a run from YAML, and reports every mistake at its place: `spec-runner.config.yaml`,
//! `executor:` of the older file, and `run:` of `countersign.yml`. An empty value means the default, as it always has.

use super::{Commands, Loaded, OnFailure, ReviewPolicy, RunConfig};
use crate::run::layout::{BadPrefix, Layout, SETTINGS};
use countersign_engine::yaml::{
    self, At, Count, CountOrNone, Diagnostic, Document, FileBytes, OrderedMap, Place, ProblemList, Problems,
    Source, listed, quoted, read_file,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

const HINT: &str = "`countersign help run` describes every key";
const UNKNOWN: &str = "unknown-key";

/// The keys of the settings. Those after `hooks` may stand under it too.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping of settings")]
struct RawRun {
    max_retries: Option<At<CountOrNone>>,
    retry_delay_seconds: Option<At<CountOrNone>>,
    task_timeout_minutes: Option<At<Count>>,
    review_timeout_minutes: Option<At<Count>>,
    check_timeout_seconds: Option<At<Count>>,
    max_consecutive_failures: Option<At<Count>>,
    max_concurrent: Option<At<Count>>,
    on_task_failure: Option<At<OnFailure>>,
    hitl_review: Option<At<bool>>,
    review_policy: Option<At<ReviewPolicy>>,
    claude_command: Option<At<String>>,
    claude_model: Option<At<String>>,
    command_template: Option<At<String>>,
    review_command: Option<At<String>>,
    review_model: Option<At<String>>,
    review_command_template: Option<At<String>>,
    // Read only so that another value is refused.
    #[expect(dead_code, reason = "files of other tools have it")]
    skip_permissions: Option<At<bool>>,
    task_budget_usd: Option<At<f64>>,
    budget_usd: Option<At<f64>>,
    main_branch: Option<At<String>>,
    integration_pr: Option<At<bool>>,
    callback_url: Option<At<String>>,
    spec_prefix: Option<At<String>>,
    commands: Option<At<RawCommands>>,
    hooks: Option<At<RawHooks>>,
    create_git_branch: Option<At<bool>>,
    run_tests: Option<At<bool>>,
    run_lint: Option<At<bool>>,
    lint_blocking: Option<At<bool>>,
    run_review: Option<At<bool>>,
    auto_commit: Option<At<bool>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `test`, `lint` and `lint_fix`")]
struct RawCommands {
    test: Option<At<String>>,
    lint: Option<At<String>>,
    lint_fix: Option<At<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `pre_start` and `post_done`")]
struct RawHooks {
    pre_start: Option<At<RawPreStart>>,
    post_done: Option<At<RawPostDone>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `create_git_branch`")]
struct RawPreStart {
    create_git_branch: Option<At<bool>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(
    expecting = "a mapping with `run_tests`, `run_lint`, `lint_blocking`, `run_review` and `auto_commit`"
)]
struct RawPostDone {
    run_tests: Option<At<bool>>,
    run_lint: Option<At<bool>>,
    lint_blocking: Option<At<bool>>,
    run_review: Option<At<bool>>,
    auto_commit: Option<At<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a mapping with `executor`")]
struct RawExecutor {
    executor: Option<At<RawRun>>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a mapping")]
struct RawSection {
    run: Option<At<RawRun>>,
}

/// Reads the settings of a project: its file, and over it the section of `countersign.yml`, if that is given.
pub fn load(root: &Path, section: Option<&FileBytes>) -> Result<Loaded, Problems> {
    let [new, old] = SETTINGS.map(|name| root.join(name));
    let path = [&new, &old].into_iter().find(|path| path.symlink_metadata().is_ok());
    let file = path.map(|path| read_file(path)).transpose().map_err(Problems::from);
    let mut loaded = match file {
        Ok(file) => load_from(file.as_ref(), section)?,
        Err(wrong) => {
            let of_section = load_from(None, section).err();
            let all = [Some(wrong.clone()), of_section].into_iter().flatten();
            return Err(Problems::together(all).unwrap_or(wrong));
        }
    };
    if path == Some(&new) && old.symlink_metadata().is_ok() {
        let place = Place::start_of(&Source::new(&old, ""));
        let message = format!("this file is ignored, because {} exists", new.display());
        let warning = Diagnostic::new("second-file", place, message).with_hint("remove one of the two");
        loaded.warnings.push(warning);
    }
    Ok(loaded)
}

/// The same from files that were read, wherever they are.
pub fn load_from(file: Option<&FileBytes>, section: Option<&FileBytes>) -> Result<Loaded, Problems> {
    let path = file.map(|file| file.path.clone());
    let mut loaded = Loaded { config: RunConfig::default(), file: path, warnings: vec![] };
    let mut problems = Vec::new();
    match file.map(parse).transpose() {
        Ok(Some((config, warnings))) => (loaded.config, loaded.warnings) = (config, warnings),
        Ok(None) => {}
        Err(wrong) => problems.push(wrong),
    }
    if let Some(section) = section {
        match parse_section(section, loaded.config.clone()) {
            Ok(config) => loaded.config = config,
            Err(wrong) => problems.push(wrong),
        }
    }
    Problems::together(problems).map_or(Ok(loaded), Err)
}

/// Reads a file of settings, in either shape. Unknown keys are warnings: existing projects have them.
pub(super) fn parse(file: &FileBytes) -> Result<(RunConfig, Vec<Diagnostic>), Problems> {
    let keys = top_keys(file)?;
    let (mut sink, raw, mixed) = if keys.iter().any(|key| key.value.as_deref() == Some("executor")) {
        let Document { sink, value, .. } = yaml::read::<RawExecutor>(file).map_err(hinted)?;
        let raw = value.and_then(|file| file.executor).and_then(|at| at.value);
        (sink, raw, settings_among(keys, file)?)
    } else {
        let Document { sink, value, .. } = yaml::read::<RawRun>(file).map_err(hinted)?;
        (sink, value, vec![])
    };
    if let Some(first) = mixed.first() {
        let names = listed(mixed.iter().filter_map(|key| key.value.as_deref()));
        let message =
            format!("{names} at the top level, but the settings of this file are under `executor:`");
        let hint = "move all settings under `executor:`, or remove `executor:` and keep all at the top level";
        sink.report_with_hint("mixed-shapes", &first.span, message, hint);
    }
    let config = merge(&raw.unwrap_or_default(), RunConfig::default(), &mut sink);
    let is_mixed = |one: &Diagnostic| mixed.iter().any(|key| key.span == one.place.span());
    let (warnings, problems): (Vec<_>, Vec<_>) = sink
        .problems
        .into_iter()
        .filter(|one| one.code != UNKNOWN || !is_mixed(one))
        .partition(|one| one.code == UNKNOWN);
    let problems = Problems::of(problems.into_iter().map(hint).collect());
    problems.map_or_else(|| Ok((config, warnings.into_iter().map(unused).collect())), Err)
}

/// The settings with those under `run:` of a `countersign.yml` over them. Only mistakes of this section are reported.
pub(super) fn parse_section(file: &FileBytes, under: RunConfig) -> Result<RunConfig, Problems> {
    let Document { mut sink, value, .. } = yaml::read::<RawSection>(file).map_err(hinted)?;
    let keys = top_keys(file)?;
    // From our key to the next one: a mapping knows where it begins, not where it ends.
    let mut starts = keys.iter().skip_while(|key| key.value.as_deref() != Some("run"));
    let Some(from) = starts.next().map(|key| key.span.start) else { return Ok(under) };
    let to = starts.next().map_or(usize::MAX, |key| key.span.start);
    let raw = value.and_then(|section| section.run).and_then(|at| at.value).unwrap_or_default();
    let config = merge(&raw, under, &mut sink);
    let inside = |one: &Diagnostic| (from..to).contains(&one.place.span().start);
    let problems = sink.problems.into_iter().filter(inside).map(hint).collect();
    Problems::of(problems).map_or(Ok(config), Err)
}

fn top_keys(file: &FileBytes) -> Result<Vec<At<String>>, Problems> {
    let keys = yaml::read::<OrderedMap<IgnoredAny>>(file).map_err(hinted)?.value;
    Ok(keys.into_iter().flat_map(|keys| keys.0).map(|(key, _)| key).collect())
}

/// The keys that are settings: those that are known at the top of a file.
fn settings_among(mut keys: Vec<At<String>>, file: &FileBytes) -> Result<Vec<At<String>>, Problems> {
    let problems = yaml::read::<RawRun>(file).map_err(hinted)?.sink.problems;
    let is_unknown =
        |key: &At<String>| problems.iter().any(|one| one.code == UNKNOWN && one.place.span() == key.span);
    keys.retain(|key| !is_unknown(key));
    Ok(keys)
}

fn hint(mut problem: Diagnostic) -> Diagnostic {
    problem.hint.get_or_insert_with(|| HINT.to_owned());
    problem
}

fn hinted(problem: Diagnostic) -> Problems {
    hint(problem).into()
}

fn unused(warning: Diagnostic) -> Diagnostic {
    let meant = warning.hint.filter(|hint| hint.starts_with("did you mean"));
    let hint = meant.unwrap_or_else(|| "this key is ignored".to_owned());
    Diagnostic { hint: Some(hint), ..warning }
}

/// The settings that a file gives, over those that hold without it. Switches at the top win over those under `hooks:`.
fn merge(raw: &RawRun, under: RunConfig, sink: &mut ProblemList) -> RunConfig {
    let hooks = value(&raw.hooks);
    let before = hooks.and_then(|hooks| value(&hooks.pre_start)).map(|hook| &hook.create_git_branch);
    let (no_hook, no_command) = (RawPostDone::default(), RawCommands::default());
    let after = hooks.and_then(|hooks| value(&hooks.post_done)).unwrap_or(&no_hook);
    let commands = value(&raw.commands).unwrap_or(&no_command);
    let switch = |top, hook, under| or(top, or(hook, under));
    refuse_callback(sink, &raw.callback_url);
    RunConfig {
        max_retries: number(&raw.max_retries, under.max_retries),
        retry_delay_seconds: number(&raw.retry_delay_seconds, under.retry_delay_seconds),
        task_timeout_minutes: number(&raw.task_timeout_minutes, under.task_timeout_minutes),
        review_timeout_minutes: number(&raw.review_timeout_minutes, under.review_timeout_minutes),
        check_timeout_seconds: number(&raw.check_timeout_seconds, under.check_timeout_seconds),
        max_consecutive_failures: number(&raw.max_consecutive_failures, under.max_consecutive_failures),
        max_concurrent: number(&raw.max_concurrent, under.max_concurrent),
        on_task_failure: or(&raw.on_task_failure, under.on_task_failure),
        hitl_review: or(&raw.hitl_review, under.hitl_review),
        review_policy: or(&raw.review_policy, under.review_policy),
        claude_command: text(&raw.claude_command, None).unwrap_or(under.claude_command),
        claude_model: text(&raw.claude_model, under.claude_model),
        command_template: text(&raw.command_template, under.command_template),
        review_command: text(&raw.review_command, under.review_command),
        review_model: text(&raw.review_model, under.review_model),
        review_command_template: text(&raw.review_command_template, under.review_command_template),
        spec_prefix: prefix(sink, &raw.spec_prefix).unwrap_or(under.spec_prefix),
        task_budget_usd: dollars(sink, &raw.task_budget_usd, "task_budget_usd").or(under.task_budget_usd),
        budget_usd: dollars(sink, &raw.budget_usd, "budget_usd").or(under.budget_usd),
        main_branch: text(&raw.main_branch, under.main_branch),
        integration_pr: or(&raw.integration_pr, under.integration_pr),
        commands: Commands {
            test: text(&commands.test, under.commands.test),
            lint: text(&commands.lint, under.commands.lint),
            lint_fix: text(&commands.lint_fix, under.commands.lint_fix),
        },
        create_git_branch: switch(&raw.create_git_branch, before.unwrap_or(&None), under.create_git_branch),
        run_tests: switch(&raw.run_tests, &after.run_tests, under.run_tests),
        run_lint: switch(&raw.run_lint, &after.run_lint, under.run_lint),
        lint_blocking: switch(&raw.lint_blocking, &after.lint_blocking, under.lint_blocking),
        run_review: switch(&raw.run_review, &after.run_review, under.run_review),
        auto_commit: switch(&raw.auto_commit, &after.auto_commit, under.auto_commit),
    }
}

/// No address is called from here, so that one must not be waited for.
fn refuse_callback(sink: &mut ProblemList, field: &Option<At<String>>) {
    if let Some(At { span, value: Some(url) }) = field
        && !url.trim().is_empty()
    {
        let message = "`callback_url` is not called";
        let hint = "remove it; `notify: {webhook: {url: …}}` in countersign.yml calls an address when a person is needed";
        sink.report_with_hint("callback", span, message, hint);
    }
}

fn prefix(sink: &mut ProblemList, field: &Option<At<String>>) -> Option<String> {
    let Some(At { span, value: Some(prefix) }) = field else { return None };
    let report = |wrong: BadPrefix| {
        let message = format!("{} cannot be a prefix", quoted(prefix));
        sink.report_with_hint("bad-prefix", span, message, wrong.to_string());
    };
    Layout::new("", prefix).map_err(report).ok().map(|_| prefix.clone())
}

fn dollars(sink: &mut ProblemList, field: &Option<At<f64>>, key: &str) -> Option<f64> {
    let Some(At { span, value: Some(usd) }) = field else { return None };
    if usd.is_finite() && *usd >= 0.0 {
        return Some(*usd);
    }
    let message = format!("`{key}` must be an amount of dollars, not {usd}");
    sink.report_with_hint("wrong-value", span, message, "such as `2.50`; omit the key for no limit");
    None
}

fn value<T>(field: &Option<At<T>>) -> Option<&T> {
    field.as_ref().and_then(|at| at.value.as_ref())
}

fn or<T: Copy>(field: &Option<At<T>>, under: T) -> T {
    value(field).copied().unwrap_or(under)
}

fn number<const MIN: u32>(field: &Option<At<yaml::Whole<MIN, { u32::MAX }>>>, under: u32) -> u32 {
    value(field).map_or(under, |number| number.get())
}

/// An empty text means the default, as it always has in these files.
fn text(field: &Option<At<String>>, under: Option<String>) -> Option<String> {
    value(field).filter(|text| !text.trim().is_empty()).cloned().or(under)
}
