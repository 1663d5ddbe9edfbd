//! `run`, `retry`, `output`, `stop`: tasks done by agents, where nothing merges unreviewed.

pub mod arguments;
mod show;

use super::{Failure, Global};
use crate::ask::AtTerminal;
use crate::output::{Answer, Printer};
use crate::tui::{Left, Source, show};
use arguments::{ListOptions, OutputOptions, RetryOptions, RunOptions, StopOptions};
use countersign_app::answer::v1::run::Order;
use countersign_app::run::{List, Plan, Request, Retry, UnderWay};
use countersign_core::outcome::Outcome;
use countersign_core::text::{visible, visible_line};
use countersign_doors::run::schedule::Which;
use countersign_doors::run::tasks::Task;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs tasks.
pub async fn run(
    global: &Global,
    options: RunOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let list = find(global, &options.list)?;
    let (dry_run, on_screen, json_result) = (options.dry_run, options.tui, options.json_result);
    let plan = list.plan(options.into())?;
    let warnings = said(printer, &plan.warnings);
    if on_screen && !dry_run && !crate::terminal::is_there() {
        return Err(
            Failure::usage("--tui needs a terminal").hint("leave it away, and watch with `countersign tui`")
        );
    }
    if dry_run {
        let people = people(&plan, cancel);
        return Ok(ordered(&plan.order(people).await?));
    }
    let under_way = start(plan, printer, cancel, !on_screen).await?;
    let answer = match on_screen {
        true => shown(under_way, json_result, printer).await?,
        false => finish(under_way, json_result).await?,
    };
    Ok(Answer { warnings, ..answer })
}

/// Tries a task again that failed, was rejected, or is stuck.
pub async fn retry(
    global: &Global,
    options: RetryOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let plan = find(global, &options.list)?.plan(Request {
        which: Which::These(vec![options.task.clone()]),
        retry: Some(Retry { task: options.task, fresh: options.fresh }),
        parallel: false,
        max_concurrent: None,
        on_screen: false,
        how: options.how.into(),
    })?;
    let warnings = said(printer, &plan.warnings);
    let under_way = start(plan, printer, cancel, true).await?;
    Ok(Answer { warnings, ..finish(under_way, false).await? })
}

/// Shows what agent, tests and reviewers wrote in an attempt.
pub fn output(global: &Global, options: &OutputOptions) -> Result<Answer, Failure> {
    let output = find(global, &options.list)?.output(&options.task, options.attempt)?;
    Ok(Answer::new(Outcome::Passed, visible(output.text.trim_start()), &output))
}

/// Asks a run to stop.
pub fn stop(global: &Global, options: &StopOptions) -> Result<Answer, Failure> {
    let stop = find(global, &options.list)?.stop()?;
    let text = match &stop.holder {
        None => "no run is under way\n".to_owned(),
        Some(holder) => format!("it stops after the tasks that are under way ({holder})\n"),
    };
    Ok(Answer::new(Outcome::Passed, text, stop))
}

/// The list of tasks that is meant.
pub fn find(global: &Global, options: &ListOptions) -> Result<List, Failure> {
    List::find(global.config.as_deref(), options.prefix.as_deref())
}

fn people(plan: &Plan, cancel: &CancellationToken) -> Arc<AtTerminal> {
    Arc::new(AtTerminal { project: plan.list.project.clone(), cancel: cancel.clone() })
}

async fn start(
    plan: Plan,
    printer: &Printer,
    cancel: &CancellationToken,
    in_lines: bool,
) -> Result<UnderWay, Failure> {
    let listener = show::listener(printer.clone(), plan.list.layout.progress(), in_lines);
    let people = people(&plan, cancel);
    plan.start(people, Box::new(listener), cancel).await
}

/// Runs to the end with a screen, which may be closed before: the run goes on then.
async fn shown(under_way: UnderWay, json_result: bool, printer: &Printer) -> Result<Answer, Failure> {
    let over = CancellationToken::new();
    let (project, layout) = (under_way.list.project.clone(), under_way.list.layout.clone());
    let source = Source { project: &project, layout: &layout, engine: Some(under_way.engine()) };
    let finished = async {
        let _over = over.clone().drop_guard();
        finish(under_way, json_result).await
    };
    let shown = async {
        match show(source, over.clone()).await {
            Ok(Left::Quit) => {
                printer.note("the run goes on: `countersign tui` shows it again, Ctrl-C stops it")
            }
            Err(failure) => printer.warn(std::slice::from_ref(&failure.message)),
            Ok(Left::Closed | Left::Cancelled) => {}
        }
    };
    tokio::join!(finished, shown).0
}

/// Warnings are for the beginning of a run, which may take hours; programs find them in the object at its end.
fn said(printer: &Printer, warnings: &[String]) -> Vec<String> {
    printer.warn(warnings);
    if printer.is_json() { warnings.to_vec() } else { vec![] }
}

/// Runs to the end and says what became of it.
async fn finish(under_way: UnderWay, json_result: bool) -> Result<Answer, Failure> {
    let (outcome, results) = under_way.finish().await?;
    let mut answer = Answer::new(outcome, show::results(&results), &results);
    if json_result {
        answer.text = format!("{}\n", serde_json::Value::Object(answer.json.clone()));
    }
    Ok(answer)
}

fn ordered(tasks: &[Task]) -> Answer {
    let line = |task: &Task| format!("{}  {}  {}\n", task.id, task.priority.word(), visible_line(&task.name));
    let text: String = match tasks.is_empty() {
        true => "nothing to do: no task can run\n".to_owned(),
        false => tasks.iter().map(line).collect(),
    };
    Answer::new(Outcome::Passed, text, Order { order: tasks.iter().map(|task| task.id.clone()).collect() })
}
