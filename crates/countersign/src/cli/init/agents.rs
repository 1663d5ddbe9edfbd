//! `countersign init --agent`: the result for each entry, as text and JSON.

use super::InitOptions;
use crate::cli::{Failure, Global};
use crate::output::{Answer, Printer, bold};
use countersign_app::init::agents::{EntryNotice, Tell, on_path, run as tell_agents};
use countersign_core::outcome::Outcome;
use countersign_core::text::visible;
use serde_json::{Value, json};

pub fn run(global: &Global, options: &InitOptions, printer: &Printer) -> Result<Answer, Failure> {
    if global.config.is_some() {
        return Err(Failure::usage("init --agent writes settings of agents and takes no --config"));
    }
    let told = tell_agents(&Tell {
        agents: options.agent.clone(),
        hook: options.hook,
        remove: options.remove,
        force: options.force,
        dry_run: options.dry_run,
        external_runner: options.external_runner.clone(),
    })?;
    if options.dry_run {
        printer.note("dry run: these changes would be written");
    }
    Ok(answer(&told, options, printer.quiet))
}

fn state(told: &EntryNotice, dry_run: bool) -> &'static str {
    match (told.remove, told.changes, dry_run) {
        (false, true, false) => "written",
        (false, true, true) => "would_write",
        (false, false, _) => "already_there",
        (true, true, false) => "removed",
        (true, true, true) => "would_remove",
        (true, false, _) => "not_there",
    }
}

/// The next step of a person, if the entry exists.
fn next(told: &EntryNotice) -> Option<&'static str> {
    (!told.remove).then_some(told.next)
}

fn entry_json(told: &EntryNotice, dry_run: bool) -> Value {
    json!({
        "agent": told.agent, "entry": told.entry, "file": told.file,
        "state": state(told, dry_run), "diff": told.diff, "next": next(told),
    })
}

fn line(told: &EntryNotice, dry_run: bool) -> String {
    let state = state(told, dry_run).replace('_', " ");
    format!("{} {state}: {}\n", bold(&format!("{:<8}", told.agent)), told.file.display())
}

fn answer(told: &[EntryNotice], options: &InitOptions, quiet: bool) -> Answer {
    let dry_run = options.dry_run;
    let text = match dry_run {
        true => preview(told),
        false => words(told, quiet),
    };
    let entries: Vec<Value> = told.iter().map(|told| entry_json(told, dry_run)).collect();
    let json = json!({ "dry_run": dry_run, "entries": entries });
    let mut answer = Answer::new(Outcome::Passed, text, json);
    if !options.remove && on_path("countersign").is_none() {
        answer.json.warnings.push("`countersign` is not on the PATH, where agents look for it".to_owned());
    }
    answer
}

/// The diffs, fit for `patch`; an unchanged file gets a line that patch ignores.
fn preview(told: &[EntryNotice]) -> String {
    let one = |told: &EntryNotice| match told.diff.is_empty() {
        true => line(told, true),
        false => visible(&told.diff).into_owned(),
    };
    told.iter().map(one).collect()
}

fn words(told: &[EntryNotice], quiet: bool) -> String {
    let mut out: String = told.iter().map(|told| line(told, false)).collect();
    let next = told.iter().filter_map(next).filter(|_| !quiet);
    for (i, next) in next.enumerate() {
        let lead = if i == 0 { format!("\n{} ", bold("next:")) } else { "      ".to_owned() };
        out.push_str(&format!("{lead}{next}\n"));
    }
    out
}
