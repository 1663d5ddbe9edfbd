//! `countersign status`: tasks, open reviews, and how reviews ended.

use super::log::review_line;
use super::{Failure, Global};
use crate::output::{Answer, Reader, ago, bold, dim, outcome_words};
use countersign_app::answer::v1::{ActiveReview, OpenStep, Status, Workflow};
use countersign_app::project::Project;
use countersign_app::status::{OPEN_ROWS, look};
use countersign_core::text::visible_line;

const GOAL_CHARS: usize = 100;

pub async fn run(global: &Global) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let ledger = project.existing_ledger().await?;
    let answer = look(&project, ledger.as_ref(), global.json).await?;
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    let text = text(&answer.own);
    Ok(Answer::of(answer, text))
}

fn text(status: &Status) -> String {
    let mut text: String = status.tasks.iter().flatten().map(|task| format!("{}\n", task.line)).collect();
    if status.tasks.is_some() {
        text.push_str(&dim(&format!("{}\n", status.counted)));
    }
    if !status.has_ledger {
        return text + "nothing has been judged in this project yet\n";
    }
    if !status.task_reviews.is_empty() {
        text.push_str(&format!("{}\n", bold("under review")));
        text.extend(status.task_reviews.iter().map(active));
    }
    if !status.open.is_empty() {
        text.push_str(&format!("{}\n", bold("open")));
    }
    for open in &status.open {
        text.push_str(&format!("  {}", review_line(&open.row)));
        if open.interrupted {
            let words = format!(
                "    interrupted {}; submit the same files again: only questions without an answer are asked\n",
                ago(open.row.changed_ms)
            );
            text.push_str(&dim(&words));
        }
    }
    if !status.workflows.is_empty() {
        text.push_str(&format!("{}\n", bold("workflows")));
        text.extend(status.workflows.iter().take(OPEN_ROWS as usize).map(workflow));
        if let Some(more @ 1..) = status.workflows.len().checked_sub(OPEN_ROWS as usize) {
            text.push_str(&format!("  and {more} more: --json lists them\n"));
        }
    }
    if !status.disagreements.is_empty() {
        text.push_str(&format!("{}\n", bold("files disagree with the ledger")));
        let lines = status.disagreements.iter().map(|one| format!("  {}\n", visible_line(&one.words())));
        text.extend(lines);
        text.push_str(&dim("    countersign reconcile writes what the ledger says\n"));
    }
    if !status.ends.is_empty() {
        text.push_str(&format!("{}\n", bold("ended")));
    }
    for end in &status.ends {
        text.push_str(&format!("  {:>6}  {}\n", end.reviews, outcome_words(end.standing)));
    }
    text
}

fn active(review: &ActiveReview) -> String {
    let began = review.started_ms.map(|ms| format!(", {}", ago(ms))).unwrap_or_default();
    let name = format!("{} {}", review.task_id, review.title);
    let attempt = dim(&format!("attempt {}{began}", review.attempt));
    format!("  {}  {attempt}\n", visible_line(&name))
}

fn workflow(workflow: &Workflow) -> String {
    let Workflow { session_id, agent_id, workflow: title, steps_done, steps, open_steps, .. } = workflow;
    let agent = if agent_id == "main" { String::new() } else { format!(", agent {agent_id}") };
    let mut text = format!(
        "  {title}  {steps_done} of {steps} steps done  {}\n",
        dim(&format!("session {session_id}{agent}, {}", ago(workflow.changed_ms)))
    );
    let goal: String = workflow.goal.chars().take(GOAL_CHARS).collect();
    text.push_str(&dim(&format!("    goal: {}\n", visible_line(&goal))));
    text.extend(open_steps.iter().map(open_step));
    if !workflow.not_judged.is_empty() {
        text.push_str(&format!("    not judged: {} (--no-quality-gate)\n", workflow.not_judged.join(", ")));
    }
    text
}

fn open_step(step: &OpenStep) -> String {
    let standing = step.outcome.map(|outcome| outcome.0);
    let failed = match step.attempts {
        0 => String::new(),
        1 => ", 1 failed attempt".to_owned(),
        several => format!(", {several} failed attempts"),
    };
    let (stands, unblock) = match &step.review {
        None => ("not submitted yet".to_owned(), None),
        Some(review) if step.blocked => (
            format!("blocked, {}", outcome_words(standing)),
            Some(Reader::of_command().person_decides(review.as_str(), || {
                format!("`countersign unblock {review} --reason TEXT` unblocks it")
            })),
        ),
        Some(_) if step.self_review => ("waiting for the author's self-review".to_owned(), None),
        Some(_) => (outcome_words(standing), None),
    };
    let unblock = unblock.map(|words| format!("      {words}\n"));
    format!("    step {}: {stands}{failed}\n{}", step.step_id, unblock.unwrap_or_default())
}
