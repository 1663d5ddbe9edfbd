//! `countersign status`: tasks, what is open, and how reviews have ended.

mod reviews;
mod tasks;

use super::log::{page, review_json, review_line};
use super::{Failure, Global};
use crate::output::{Answer, Reader, ago, bold, dim, outcome_words, rfc3339};
use countersign_app::project::Project;
use countersign_core::outcome::Outcome;
use countersign_core::review::State;
use countersign_core::text::visible_line;
use countersign_doors::jobs::overview::{OpenStep, UnderWay, under_way};
use countersign_doors::service::active::active;
use countersign_engine::ledger::{Count, Filter, Ledger, Row};
use serde_json::{Value, json};

/// How many open reviews are listed.
const OPEN_ROWS: u32 = 50;
/// How many sessions are looked at for workflows under way.
const SESSIONS: u32 = 50;
/// How much of a goal is shown.
const GOAL_CHARS: usize = 100;

/// Shows the project's reviews at a glance.
pub async fn run(global: &Global) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let ledger = project.existing_ledger().await?;
    let answer = look(&project, ledger.as_ref(), global.json).await?;
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    Ok(answer)
}

/// The same for a project whose ledger is open, where there is one.
pub async fn look(project: &Project, ledger: Option<&Ledger>, for_programs: bool) -> Result<Answer, Failure> {
    let tasks = tasks::look(project, for_programs).await?;
    let answer = match ledger {
        Some(ledger) => status(ledger).await?,
        None => {
            let json = json!({
                "open": [], "open_more": false, "ended": {}, "workflows": [], "task_reviews": [],
            });
            Answer::new(Outcome::Passed, "nothing has been judged in this project yet\n", json)
        }
    };
    let mut json = answer.json;
    json.insert("tasks".to_owned(), tasks.json);
    Ok(Answer { text: tasks.text + &answer.text, json, warnings: tasks.warnings, ..answer })
}

async fn status(ledger: &Ledger) -> Result<Answer, Failure> {
    let counts = ledger.counts().await?;
    let (open, more) = page(ledger, None, Filter { open_only: true, before: None, limit: OPEN_ROWS }).await?;
    let active = active(ledger).await?;
    let mut text = reviews::text(&active);
    if !open.is_empty() {
        text.push_str(&format!("{}\n", bold("open")));
        for row in &open {
            text.push_str(&format!("  {}", review_line(row)));
            if is_interrupted(ledger, row) {
                let words = format!(
                    "    interrupted {}; what was ruled stands, and handing the same files in again asks only the rest\n",
                    ago(row.changed_ms)
                );
                text.push_str(&dim(&words));
            }
        }
    }
    let workflows =
        under_way(ledger, SESSIONS).await.map_err(|refusal| Failure::internal(refusal.to_string()))?;
    if !workflows.is_empty() {
        text.push_str(&format!("{}\n", bold("workflows")));
        text.extend(workflows.iter().take(OPEN_ROWS as usize).map(workflow_text));
        if let Some(more @ 1..) = workflows.len().checked_sub(OPEN_ROWS as usize) {
            text.push_str(&format!("  and {more} more: --json lists them\n"));
        }
    }
    let (ended_text, ended) = ended(&counts);
    text.push_str(&ended_text);
    let open: Vec<Value> = open.iter().map(|row| row_json(ledger, row)).collect();
    let workflows: Vec<Value> = workflows.iter().map(workflow_json).collect();
    let json = json!({
        "open": open, "open_more": more, "ended": ended, "workflows": workflows,
        "task_reviews": reviews::json(&active),
    });
    Ok(Answer::new(Outcome::Passed, text, json))
}

/// A workflow that is under way: where it is, and what it waits for.
fn workflow_text(workflow: &UnderWay) -> String {
    let UnderWay { session_id, agent, workflow: title, steps_done, steps, open, .. } = workflow;
    let agent = if agent == "main" { String::new() } else { format!(", agent {agent}") };
    let mut text = format!(
        "  {title}  {steps_done} of {steps} steps done  {}\n",
        dim(&format!("session {session_id}{agent}, {}", ago(workflow.changed_ms)))
    );
    let goal: String = workflow.goal.chars().take(GOAL_CHARS).collect();
    text.push_str(&dim(&format!("    goal: {}\n", visible_line(&goal))));
    text.extend(open.iter().map(step_text));
    if !workflow.not_judged.is_empty() {
        text.push_str(&format!("    not judged: {} (--no-quality-gate)\n", workflow.not_judged.join(", ")));
    }
    text
}

fn step_text(step: &OpenStep) -> String {
    let failed = match step.attempts {
        0 => String::new(),
        1 => ", 1 failed attempt".to_owned(),
        several => format!(", {several} failed attempts"),
    };
    let (stands, unblock) = match &step.review {
        None => ("not handed in yet".to_owned(), None),
        Some(review) if step.is_blocked() => (
            format!("blocked, {}", outcome_words(step.standing)),
            Some(Reader::of_command().person_decides(review.as_str(), || {
                format!("`countersign unblock {review} --reason TEXT` lets it go on")
            })),
        ),
        Some(_) if step.self_review => ("the author's own review is waited for".to_owned(), None),
        Some(_) => (outcome_words(step.standing), None),
    };
    let unblock = unblock.map(|words| format!("      {words}\n"));
    format!("    step {}: {stands}{failed}\n{}", step.step_id, unblock.unwrap_or_default())
}

fn workflow_json(workflow: &UnderWay) -> Value {
    let open = workflow.open.iter().map(|step| {
        json!({
            "step_id": step.step_id,
            "review": step.review,
            "outcome": step.standing.map(Outcome::name),
            "reason": step.standing.and_then(Outcome::reason),
            "attempts": step.attempts,
            "blocked": step.is_blocked(),
            "self_review": step.self_review,
        })
    });
    json!({
        "workflow": workflow.workflow,
        "session_id": workflow.session_id,
        "agent_id": workflow.agent,
        "goal": workflow.goal,
        "steps_done": workflow.steps_done,
        "steps": workflow.steps,
        "open_steps": open.collect::<Vec<_>>(),
        "not_judged": workflow.not_judged,
        "changed_at": rfc3339(workflow.changed_ms),
    })
}

/// A review as a row for programs, with whether anybody performs it.
pub fn row_json(ledger: &Ledger, row: &Row) -> Value {
    let mut value = review_json(row);
    value["interrupted"] = json!(is_interrupted(ledger, row));
    value
}

/// Whether a round is under way that nobody performs any more.
fn is_interrupted(ledger: &Ledger, row: &Row) -> bool {
    row.state == State::Judging
        && row.standing.is_none()
        && !row.holder.as_deref().is_some_and(|holder| ledger.is_alive(holder))
}

fn ended(counts: &[Count]) -> (String, Value) {
    let over = counts.iter().filter(|count| matches!(count.state, State::Settled(_)));
    let mut text = String::new();
    let mut json = serde_json::Map::new();
    for count in over {
        let name = count.standing.map_or("", Outcome::name);
        let key = match count.standing.and_then(Outcome::reason) {
            Some(reason) => format!("{name}/{reason}"),
            None => name.to_owned(),
        };
        text.push_str(&format!("  {:>6}  {}\n", count.reviews, outcome_words(count.standing)));
        json.insert(key, json!(count.reviews));
    }
    if !text.is_empty() {
        text = format!("{}\n{text}", bold("ended"));
    }
    (text, Value::Object(json))
}
