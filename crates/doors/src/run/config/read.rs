//! Reads the settings of a run from YAML, and reports every mistake at its place.

use super::raw::{Keys, RawCommands, RawExecutor, RawPostDone, RawRun, RawSection};
use super::{Loaded, RunConfig};
use crate::run::layout::Layout;
use countersign_engine::yaml::{
    self, At, Diagnostic, Document, FileBytes, Place, ProblemList, Problems, Source, listed, quoted,
    read_file,
};
use std::path::Path;

const HINT: &str = "`countersign help run` describes every key";
const UNKNOWN: &str = "unknown-key";

/// Reads the settings of a project: its file, and over it the section of `countersign.yml`, if that is given.
pub fn load(root: &Path, section: Option<&FileBytes>) -> Result<Loaded, Problems> {
    let (new, old) = (Layout::settings(root), Layout::old_settings(root));
    let file = [&new, &old].into_iter().find(|path| path.symlink_metadata().is_ok());
    let mut loaded = Loaded { config: RunConfig::default(), file: file.cloned(), warnings: vec![] };
    let mut problems = Vec::new();
    if let Some(path) = file {
        match read_file(path).map_err(Problems::from).and_then(|file| parse(&file)) {
            Ok((config, warnings)) => (loaded.config, loaded.warnings) = (config, warnings),
            Err(wrong) => problems.push(wrong),
        }
    }
    if file == Some(&new) && old.symlink_metadata().is_ok() {
        let place = Place::start_of(&Source::new(&old, ""));
        let message = format!("this file is ignored, because {} exists", new.display());
        let warning = Diagnostic::new("second-file", place, message).with_hint("remove one of the two");
        loaded.warnings.push(warning);
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

/// The settings with those under `run:` of a `countersign.yml` over them. Mistakes elsewhere in that file are reported
/// by its own reader; unknown keys are errors, as everywhere in it.
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
    let keys = yaml::read::<Keys>(file).map_err(hinted)?.value;
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

/// The settings that a file gives, over those that hold without it.
fn merge(raw: &RawRun, under: RunConfig, sink: &mut ProblemList) -> RunConfig {
    let mut config = under;
    let numbers = [
        (&mut config.max_retries, number(&raw.max_retries)),
        (&mut config.retry_delay_seconds, number(&raw.retry_delay_seconds)),
        (&mut config.task_timeout_minutes, number(&raw.task_timeout_minutes)),
        (&mut config.review_timeout_minutes, number(&raw.review_timeout_minutes)),
        (&mut config.check_timeout_seconds, number(&raw.check_timeout_seconds)),
        (&mut config.max_consecutive_failures, number(&raw.max_consecutive_failures)),
        (&mut config.max_concurrent, number(&raw.max_concurrent)),
    ];
    numbers.into_iter().for_each(|(to, from)| *to = from.unwrap_or(*to));
    set(&mut config.hitl_review, &raw.hitl_review);
    set(&mut config.skip_permissions, &raw.skip_permissions);
    set(&mut config.on_task_failure, &raw.on_task_failure);
    set(&mut config.review_policy, &raw.review_policy);
    merge_switches(raw, &mut config);
    merge_texts(raw, &mut config);
    if let Some(At { span, value: Some(prefix) }) = &raw.spec_prefix {
        match Layout::new("", prefix) {
            Ok(_) => config.spec_prefix.clone_from(prefix),
            Err(wrong) => {
                let message = format!("{} cannot be a prefix", quoted(prefix));
                sink.report_with_hint("bad-prefix", span, message, wrong.to_string());
            }
        }
    }
    for (to, from, key) in [
        (&mut config.task_budget_usd, &raw.task_budget_usd, "task_budget_usd"),
        (&mut config.budget_usd, &raw.budget_usd, "budget_usd"),
    ] {
        let Some(At { span, value: Some(usd) }) = from else { continue };
        if usd.is_finite() && *usd >= 0.0 {
            *to = Some(*usd);
        } else {
            let message = format!("`{key}` must be an amount of dollars, not {usd}");
            let hint = "such as `2.50`; omit the key for no limit";
            sink.report_with_hint("wrong-value", span, message, hint);
        }
    }
    config
}

/// An empty text means the default, as it always has in these files.
fn merge_texts(raw: &RawRun, config: &mut RunConfig) {
    let none = RawCommands::default();
    let commands = raw.commands.as_ref().and_then(|at| at.value.as_ref()).unwrap_or(&none);
    for (to, from) in [
        (&mut config.claude_model, &raw.claude_model),
        (&mut config.command_template, &raw.command_template),
        (&mut config.review_command, &raw.review_command),
        (&mut config.review_model, &raw.review_model),
        (&mut config.review_command_template, &raw.review_command_template),
        (&mut config.main_branch, &raw.main_branch),
        (&mut config.callback_url, &raw.callback_url),
        (&mut config.commands.test, &commands.test),
        (&mut config.commands.lint, &commands.lint),
        (&mut config.commands.lint_fix, &commands.lint_fix),
    ] {
        *to = text(from).or(to.take());
    }
    if let Some(command) = text(&raw.claude_command) {
        config.claude_command = command;
    }
}

/// The switches under `hooks:`, and over them those at the top.
fn merge_switches(raw: &RawRun, config: &mut RunConfig) {
    let hooks = raw.hooks.as_ref().and_then(|at| at.value.as_ref());
    let before = hooks.and_then(|hooks| hooks.pre_start.as_ref()?.value.as_ref());
    let none = RawPostDone::default();
    let after = hooks.and_then(|hooks| hooks.post_done.as_ref()?.value.as_ref()).unwrap_or(&none);
    let create_git_branch = before.map_or(&None, |before| &before.create_git_branch);
    for (to, at_the_top, inside) in [
        (&mut config.create_git_branch, &raw.create_git_branch, create_git_branch),
        (&mut config.run_tests, &raw.run_tests, &after.run_tests),
        (&mut config.run_lint, &raw.run_lint, &after.run_lint),
        (&mut config.lint_blocking, &raw.lint_blocking, &after.lint_blocking),
        (&mut config.run_review, &raw.run_review, &after.run_review),
        (&mut config.auto_commit, &raw.auto_commit, &after.auto_commit),
    ] {
        set(to, inside);
        set(to, at_the_top);
    }
}

fn set<T: Copy>(to: &mut T, from: &Option<At<T>>) {
    if let Some(value) = from.as_ref().and_then(|at| at.value) {
        *to = value;
    }
}

fn number<const MIN: u32>(field: &Option<At<yaml::Whole<MIN, { u32::MAX }>>>) -> Option<u32> {
    field.as_ref().and_then(|at| at.value).map(yaml::Whole::get)
}

fn text(field: &Option<At<String>>) -> Option<String> {
    field.as_ref().and_then(|at| at.value.clone()).filter(|text| !text.trim().is_empty())
}
