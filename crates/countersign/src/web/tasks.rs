//! Tasks of runs and plans, and workflows, by their state.

use super::layout::{self, Head};
use super::router::Visit;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::Failure;
use countersign_app::answer::v1::{RunTask, Status};
use countersign_app::status::look;
use countersign_core::text::{counted, visible_line};
use maud::{Markup, html};
use std::collections::BTreeMap;

const ROWS: usize = 500;

pub async fn page(visit: &Visit) -> Result<Response, Failure> {
    let answer = look(&visit.project, visit.ledger.as_ref(), true).await?;
    let status = &answer.own;
    let tasks = status.tasks.as_deref().unwrap_or_default();
    let mut by_state: BTreeMap<&str, Vec<&RunTask>> = BTreeMap::new();
    for task in tasks {
        by_state.entry(&task.state).or_default().push(task);
    }
    let nothing = tasks.is_empty() && status.workflows.is_empty() && status.task_reviews.is_empty();
    let name = visit.name();
    let body = html! {
        div .lead { h1 { "Tasks" } p { (counted(tasks.len(), "task of runs", "tasks of runs")) ", " (counted(status.workflows.len(), "workflow", "workflows")) } }
        @for warning in &answer.warnings { p .dim { (visible_line(warning)) } }
        @if nothing { div .card.pad { p { "There are no tasks of runs, no workflows and no running reviews of tasks." } } }
        div id="tasks" .stack data-live {
            @for (state, tasks) in &by_state { (group(state, tasks)) }
            (reviews(status))
            (workflows(status))
            (disagreements(status))
        }
    };
    let head = Head { title: "Tasks", current: "Tasks", project: &name, waiting: None };
    Ok(layout::page(StatusCode::OK, &head, body))
}

fn group(state: &str, tasks: &[&RunTask]) -> Markup {
    html! {
        section .card aria-label={ "Tasks: " (state) } {
            div .cardhead { h2 { (layout::capital(&visible_line(&state.replace('_', " ")))) } span .dim { (tasks.len()) } }
            ul .rows {
                @for task in tasks.iter().take(ROWS) {
                    li { @if let Some(review) = &task.review { a .row href={ "/r/" (review) } { (task_line(task)) } }
                         @else { div .row { (task_line(task)) } } }
                }
            }
            @if tasks.len() > ROWS { p .empty.dim { (tasks.len() - ROWS) " more" } }
        }
    }
}

fn task_line(task: &RunTask) -> Markup {
    let attempts = counted(task.attempts, "attempt", "attempts");
    html! {
        span .t { span .mono { (visible_line(&task.id)) } span .name { (visible_line(&task.name)) } }
        span .meta { b { (attempts) } (task.priority) }
        span .why {
            @if let Some(status) = &task.review_status { "review: " (visible_line(status)) " " }
            @if let Some(code) = &task.error_code { (visible_line(code)) }
        }
    }
}

fn reviews(status: &Status) -> Markup {
    html! {
        @if !status.task_reviews.is_empty() {
            section .card aria-label="Reviews of tasks that run" {
                div .cardhead { h2 { "Reviews of tasks that run" } }
                ul .rows { @for review in &status.task_reviews {
                    li { div .row {
                        span .t { span .mono { (visible_line(&review.task_id)) } span .name { (visible_line(&review.title)) } }
                        span .meta { b { "review " (review.attempt) } }
                    } }
                } }
            }
        }
    }
}

fn workflows(status: &Status) -> Markup {
    html! {
        @if !status.workflows.is_empty() {
            section .card aria-label="Workflows" {
                div .cardhead { h2 { "Workflows" } }
                ul .rows { @for workflow in &status.workflows {
                    li { div .row {
                        span .t { span .name { (visible_line(&workflow.workflow)) } span .dim { (visible_line(&workflow.goal)) } }
                        span .meta { b { (workflow.steps_done) " of " (workflow.steps) " steps" } (visible_line(&workflow.agent_id)) }
                        span .why { @for step in &workflow.open_steps {
                            @if let Some(review) = &step.review { a href={ "/r/" (review) } { (visible_line(&step.step_id)) } " " }
                            @else { (visible_line(&step.step_id)) " " }
                        } }
                    } }
                } }
            }
        }
    }
}

fn disagreements(status: &Status) -> Markup {
    html! {
        @if !status.disagreements.is_empty() {
            section .card aria-label="Files that disagree with the ledger" {
                div .cardhead { h2 { "Files that disagree with the ledger" } span .dim { code { "countersign reconcile" } " sets them right" } }
                ul .rows.plain { @for one in &status.disagreements { li { (visible_line(&one.words())) } } }
            }
        }
    }
}
