//! From the bytes of settings to settings, or to everything that is wrong with them.

use super::written::{KEYS, Keys, WrittenHooks, WrittenOld, WrittenPostDone, WrittenRun, WrittenSection};
use super::{Loaded, RunConfig};
use crate::run::layout::Layout;
use countersign_engine::yaml::{
    self, At, Diagnostic, Document, FileBytes, Place, Problems, Sink, Source, listed, quoted, read_file,
};
use std::ops::Range;
use std::path::Path;

const HINT: &str = "docs/run.md describes every key";

/// Reads the settings of a project: its file, and over it the section of `countersign.yml`, if that is given.
pub fn load(root: &Path, section: Option<&FileBytes>) -> Result<Loaded, Problems> {
    let (new, old) = (Layout::settings(root), Layout::old_settings(root));
    let file = [&new, &old].into_iter().find(|path| path.symlink_metadata().is_ok());
    let mut loaded = Loaded { config: RunConfig::default(), file: file.cloned(), warnings: vec![] };
    let mut problems = Vec::new();
    if let Some(path) = file {
        let read = read_file(path).map_err(Problems::from).and_then(|file| parse(&file));
        match read {
            Ok((config, warnings)) => (loaded.config, loaded.warnings) = (config, warnings),
            Err(wrong) => problems.push(wrong),
        }
    }
    if file == Some(&new) && old.symlink_metadata().is_ok() {
        let place = Place::start_of(&Source::new(&old, ""));
        let message = format!("this file is not looked at, because there is {}", new.display());
        loaded
            .warnings
            .push(Diagnostic::new("second-file", place, message).with_hint("remove one of the two"));
    }
    if let Some(section) = section {
        match parse_section(section, loaded.config.clone()) {
            Ok(config) => loaded.config = config,
            Err(wrong) => problems.push(wrong),
        }
    }
    match Problems::together(problems) {
        None => Ok(loaded),
        Some(problems) => Err(problems),
    }
}

/// Reads a file of settings, in either shape. Keys nobody knows are warnings: existing projects have them.
pub fn parse(file: &FileBytes) -> Result<(RunConfig, Vec<Diagnostic>), Problems> {
    let keys = yaml::read::<Keys>(file).map_err(hinted)?;
    let keys = keys.value.map(|keys| keys.0).unwrap_or_default();
    let top = |name: &str| keys.iter().any(|(key, _)| key.value.as_deref() == Some(name));
    let (sink, written, mixed) = if top("executor") {
        let Document { sink, value, .. } = yaml::read::<WrittenOld>(file).map_err(hinted)?;
        let is_setting = |key: &At<String>| key.value.as_deref().is_some_and(|key| KEYS.contains(&key));
        let beside: Vec<_> = keys.into_iter().map(|(key, _)| key).filter(is_setting).collect();
        (sink, value.and_then(|old| old.executor).and_then(|at| at.value), beside)
    } else {
        let Document { sink, value, .. } = yaml::read::<WrittenRun>(file).map_err(hinted)?;
        (sink, value, vec![])
    };
    let mut reader = Reader { sink };
    if let Some(first) = mixed.first() {
        let names = listed(mixed.iter().filter_map(|key| key.value.as_deref()));
        let message = format!("{names} beside `executor:`, under which the settings of this file are");
        reader.sink.report_with_hint(
            "mixed-shapes",
            &first.span,
            message,
            "move all settings under `executor:`, or take `executor:` away and have all at the top",
        );
    }
    let config = reader.settings(&written.unwrap_or_default(), RunConfig::default());
    let spans: Vec<Range<usize>> = mixed.into_iter().map(|key| key.span).collect();
    let (warnings, problems): (Vec<_>, Vec<_>) = reader
        .sink
        .problems
        .into_iter()
        .filter(|one| one.code != "unknown-key" || !spans.contains(&one.place.span()))
        .partition(|one| one.code == "unknown-key");
    match Problems::of(problems.into_iter().map(hint).collect()) {
        Some(problems) => Err(problems),
        None => Ok((config, warnings.into_iter().map(unused).collect())),
    }
}

/// The settings with those under `run:` of a `countersign.yml` over them. What is wrong elsewhere in that file is for
/// others to say; here keys nobody knows are errors, as everywhere in it.
pub fn parse_section(file: &FileBytes, under: RunConfig) -> Result<RunConfig, Problems> {
    let Document { sink, value, .. } = yaml::read::<WrittenSection>(file).map_err(hinted)?;
    let keys = yaml::read::<Keys>(file).map_err(hinted)?.value.map(|keys| keys.0).unwrap_or_default();
    // From our key to the next one: a mapping knows where it begins, not where it ends.
    let mut starts =
        keys.iter().skip_while(|(key, _)| key.value.as_deref() != Some("run")).map(|(key, _)| &key.span);
    let Some(from) = starts.next().map(|span| span.start) else { return Ok(under) };
    let to = starts.next().map_or(usize::MAX, |span| span.start);
    let written = value.and_then(|section| section.run).and_then(|at| at.value).unwrap_or_default();
    let mut reader = Reader { sink };
    let config = reader.settings(&written, under);
    let inside = |one: &Diagnostic| (from..to).contains(&one.place.span().start);
    match Problems::of(reader.sink.problems.into_iter().filter(inside).map(hint).collect()) {
        Some(problems) => Err(problems),
        None => Ok(config),
    }
}

fn hint(mut problem: Diagnostic) -> Diagnostic {
    problem.hint.get_or_insert_with(|| HINT.to_owned());
    problem
}

fn hinted(problem: Diagnostic) -> Problems {
    hint(problem).into()
}

fn unused(warning: Diagnostic) -> Diagnostic {
    let meant = warning.hint.as_deref().filter(|hint| hint.starts_with("did you mean")).map(str::to_owned);
    let hint = meant.unwrap_or_else(|| "it is left alone and has no effect here".to_owned());
    Diagnostic { hint: Some(hint), ..warning }
}

struct Reader {
    sink: Sink,
}

impl Reader {
    fn settings(&mut self, written: &WrittenRun, under: RunConfig) -> RunConfig {
        let mut config = under;
        let numbers = [
            (&mut config.max_retries, number(&written.max_retries)),
            (&mut config.retry_delay_seconds, number(&written.retry_delay_seconds)),
            (&mut config.task_timeout_minutes, number(&written.task_timeout_minutes)),
            (&mut config.review_timeout_minutes, number(&written.review_timeout_minutes)),
            (&mut config.check_timeout_seconds, number(&written.check_timeout_seconds)),
            (&mut config.max_consecutive_failures, number(&written.max_consecutive_failures)),
            (&mut config.max_concurrent, number(&written.max_concurrent)),
        ];
        numbers.into_iter().for_each(|(to, from)| *to = from.unwrap_or(*to));
        set(&mut config.hitl_review, &written.hitl_review);
        set(&mut config.skip_permissions, &written.skip_permissions);
        switches(&mut config, written);
        set(&mut config.on_task_failure, &written.on_task_failure);
        set(&mut config.review_policy, &written.review_policy);
        self.words(&mut config, written);
        for (to, from, key) in [
            (&mut config.task_budget_usd, &written.task_budget_usd, "task_budget_usd"),
            (&mut config.budget_usd, &written.budget_usd, "budget_usd"),
        ] {
            if let Some(usd) = self.dollars(from.as_ref(), key) {
                *to = Some(usd);
            }
        }
        config
    }

    /// Texts; an empty one is the default, as it always has been in these files.
    fn words(&mut self, config: &mut RunConfig, written: &WrittenRun) {
        let commands = written.commands.as_ref().and_then(|at| at.value.as_ref());
        let of = |pick: fn(&super::written::WrittenCommands) -> &Option<At<String>>| {
            commands.and_then(|commands| text(pick(commands).as_ref()))
        };
        for (to, from) in [
            (&mut config.claude_model, text(written.claude_model.as_ref())),
            (&mut config.command_template, text(written.command_template.as_ref())),
            (&mut config.review_command, text(written.review_command.as_ref())),
            (&mut config.review_model, text(written.review_model.as_ref())),
            (&mut config.review_command_template, text(written.review_command_template.as_ref())),
            (&mut config.main_branch, text(written.main_branch.as_ref())),
            (&mut config.callback_url, text(written.callback_url.as_ref())),
            (&mut config.commands.test, of(|commands| &commands.test)),
            (&mut config.commands.lint, of(|commands| &commands.lint)),
            (&mut config.commands.lint_fix, of(|commands| &commands.lint_fix)),
        ] {
            if from.is_some() {
                *to = from;
            }
        }
        config.claude_command =
            text(written.claude_command.as_ref()).unwrap_or(config.claude_command.clone());
        if let Some(At { span, value: Some(prefix) }) = &written.spec_prefix {
            match Layout::new("", prefix) {
                Ok(_) => config.spec_prefix.clone_from(prefix),
                Err(wrong) => {
                    let message = format!("{} cannot be a prefix", quoted(prefix));
                    self.sink.report_with_hint("bad-prefix", span, message, wrong.to_string());
                }
            }
        }
    }

    fn dollars(&mut self, field: Option<&At<f64>>, key: &str) -> Option<f64> {
        let At { span, value } = field?;
        let usd = (*value)?;
        if usd.is_finite() && usd >= 0.0 {
            return Some(usd);
        }
        let message = format!("`{key}` must be an amount of dollars, not {usd}");
        self.sink.report_with_hint(
            "wrong-value",
            span,
            message,
            "such as `2.50`; leave it away for no limit",
        );
        None
    }
}

/// What is switched on and off: under `hooks:` as existing files have it, or at the top.
fn switches(config: &mut RunConfig, written: &WrittenRun) {
    let hooks = written.hooks.as_ref().and_then(|at| at.value.as_ref());
    let before = hooks.and_then(|hooks: &WrittenHooks| hooks.pre_start.as_ref()?.value.as_ref());
    let none = WrittenPostDone::default();
    let after = hooks.and_then(|hooks| hooks.post_done.as_ref()?.value.as_ref()).unwrap_or(&none);
    for (to, at_the_top, inside) in [
        (&mut config.run_tests, &written.run_tests, &after.run_tests),
        (&mut config.run_lint, &written.run_lint, &after.run_lint),
        (&mut config.lint_blocking, &written.lint_blocking, &after.lint_blocking),
        (&mut config.run_review, &written.run_review, &after.run_review),
        (&mut config.auto_commit, &written.auto_commit, &after.auto_commit),
    ] {
        set(to, inside);
        set(to, at_the_top);
    }
    if let Some(before) = before {
        set(&mut config.create_git_branch, &before.create_git_branch);
    }
    set(&mut config.create_git_branch, &written.create_git_branch);
}

fn set<T: Copy>(to: &mut T, from: &Option<At<T>>) {
    if let Some(value) = from.as_ref().and_then(|at| at.value) {
        *to = value;
    }
}

fn number<const MIN: u32>(field: &Option<At<yaml::Whole<MIN, { u32::MAX }>>>) -> Option<u32> {
    field.as_ref().and_then(|at| at.value).map(yaml::Whole::get)
}

fn text(field: Option<&At<String>>) -> Option<String> {
    field.and_then(|at| at.value.clone()).filter(|text| !text.trim().is_empty())
}
