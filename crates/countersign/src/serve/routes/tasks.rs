//! Tasks: those of the plan and those added, and the reviews of their work.

use super::WAIT;
use crate::serve::call::{Call, at};
use crate::serve::parameter::{Kind, Parameter};
use crate::serve::refusal::Refusal;
use crate::serve::route::{GET, POST, ResponseSpec, Route, schema};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::Failure;
use countersign_app::answer::v1::Answer;
use countersign_app::answer::v1::task::{self as v1, OneTask};
use countersign_app::task::{self, Ready, Reviewed, TaskReview, When};
use countersign_app::tasks::tasks_in;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_doors::service::plan;
use countersign_doors::service::tasks::{NewTask, Tasks};
use countersign_engine::engine::Engine;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::oneshot;

const BASE: Parameter = Parameter::query(
    "base",
    Kind::Text { max_chars: 200 },
    "The commit to compare with, instead of where HEAD left the default branch.",
);

const GIVES_TASK: ResponseSpec = ResponseSpec::answer::<OneTask>(200, "The task.");

const REVIEWED: &[ResponseSpec] = &[
    ResponseSpec::answer::<OneTask>(200, "The task, with the review that the request waited for."),
    ResponseSpec::answer::<OneTask>(202, "Its review is under way."),
];

pub const ROUTES: &[Route] = &[
    Route {
        path: "/v1/tasks",
        name: "list_tasks",
        command: "task list",
        summary: "All tasks",
        description: "Those of `PLAN.md` and those that were added; the object of `countersign task list --json`.",
        answers: &[ResponseSpec::answer::<v1::Tasks>(200, "The tasks.")],
        run: |call| Box::pin(list(call)),
        ..GET
    },
    Route {
        path: "/v1/tasks",
        name: "add_task",
        command: "task add",
        summary: "Add a task",
        description: "Adds a task that is not in the plan. Sending the same task again does not add a second one.",
        body: Some(schema::<AddTask>),
        answers: &[ResponseSpec::answer::<OneTask>(201, "The task: `Location` is its path.")],
        run: |call| Box::pin(add(call)),
        ..POST
    },
    Route {
        path: "/v1/tasks/{id}",
        name: "show_task",
        command: "task show",
        summary: "One task, with its last review",
        description: "`id` is the id it was added with, its number in the plan (`1.2`), or its title in the plan.",
        answers: &[GIVES_TASK],
        run: |call| Box::pin(show(call)),
        ..GET
    },
    Route {
        path: "/v1/tasks/{id}/start",
        name: "start_task",
        command: "task start",
        summary: "Mark a task as in progress",
        description: "",
        answers: &[GIVES_TASK],
        run: |call| Box::pin(start(call)),
        ..POST
    },
    Route {
        path: "/v1/tasks/{id}/done",
        name: "finish_task",
        command: "task done",
        summary: "The work on a task is done",
        description: "It is reviewed at once under `trigger: script_completion`, in the server; otherwise the task waits \
                      for its review.",
        parameters: &[WAIT, BASE],
        answers: REVIEWED,
        run: |call| Box::pin(review(call, When::Triggered)),
        ..POST
    },
    Route {
        path: "/v1/tasks/{id}/review",
        name: "review_task",
        command: "task review",
        summary: "Review the work on a task now",
        description: "Starts a review, with any trigger setting. The review continues in the server. If a review of the task is already running, that review is returned.",
        parameters: &[WAIT, BASE],
        answers: REVIEWED,
        run: |call| Box::pin(review(call, When::Now)),
        ..POST
    },
];

/// A task that is added.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddTask {
    /// What it is called: one line.
    #[schemars(length(min = 1, max = 16384))]
    title: String,
    /// What to call it by later: letters, digits, `-`, `_` and `.`. Without one it gets one.
    #[schemars(length(min = 1, max = 64))]
    id: Option<String>,
    /// What belongs to it.
    #[schemars(length(max = 16384))]
    scope: Option<String>,
    /// When it is done.
    #[schemars(length(max = 16384))]
    acceptance: Option<String>,
}

async fn list(call: Call) -> Result<Response, Refusal> {
    let project = call.resident.project()?;
    let ledger = call.resident.ledger(&project).await?;
    Ok(call.answer(StatusCode::OK, task::list(&project, plan::FILE, ledger).await?))
}

async fn show(call: Call) -> Result<Response, Refusal> {
    let project = call.resident.project()?;
    let ledger = call.resident.ledger(&project).await?;
    Ok(call.answer(StatusCode::OK, task::show(&project, plan::FILE, ledger, &call.id).await?.shown()))
}

async fn tasks(call: &Call) -> Result<Tasks, Failure> {
    tasks_in(&call.resident.project()?, plan::FILE, call.ledger().await?).await
}

async fn add(mut call: Call) -> Result<Response, Refusal> {
    let AddTask { title, id, scope, acceptance } = call.body()?;
    let new = NewTask { title, scope, acceptance };
    let answer = task::add(&tasks(&call).await?, id, &new).await?;
    let location = format!("/v1/tasks/{}", answer.task.id);
    Ok(at(call.answer(StatusCode::CREATED, Answer::passed(answer)), &location))
}

async fn start(call: Call) -> Result<Response, Refusal> {
    let started = task::start(&tasks(&call).await?, &call.id).await?;
    Ok(call.answer(StatusCode::OK, Answer::passed(started)))
}

async fn review(call: Call, when: When) -> Result<Response, Refusal> {
    let base = call.resident.gate_base(call.parameters.text("base")).await?;
    let tasks = tasks_in(&base.project, plan::FILE, call.ledger().await?).await?;
    let ready = match task::begin(base, tasks, &call.id, None, when).await? {
        TaskReview::Answered(did, answer, warnings) => {
            let answer = Answer::new(Some(did.outcome()), answer).warned(warnings);
            return Ok(call.answer(StatusCode::OK, answer));
        }
        TaskReview::Ready(ready) => *ready,
    };
    let pending = pending(&call, &ready);
    if ready.is_under_way() {
        return Ok(pending);
    }
    let engine = call.resident.engine_for(&ready.base.project, ready.planner.clone()).await?;
    let ended = perform(&call, ready, engine.clone());
    let Some(patience) = call.patience() else { return Ok(pending) };
    let ended = tokio::select! {
        ended = tokio::time::timeout(patience, ended) => ended,
        () = call.gone.cancelled() => return Ok(pending),
    };
    match ended {
        Ok(Ok(Ok(reviewed))) => {
            let Reviewed { answer, outcome, warnings, ticket, .. } = reviewed;
            let answer = Answer::new(Some(outcome), answer).warned(warnings);
            Ok(match ticket {
                None => call.answer(StatusCode::OK, answer),
                Some(ticket) => call.delivered(answer, async move {
                    if let Err(error) = engine.delivered(&ticket).await {
                        eprintln!("{}: review {}: {error}", crate::serve::NAME, ticket.review);
                    }
                }),
            })
        }
        Ok(Ok(Err(failure))) => Err(failure.into()),
        Ok(Err(_)) => Err(Failure::internal("the review failed").into()),
        Err(_) => Ok(pending),
    }
}

fn pending(call: &Call, ready: &Ready) -> Response {
    let mut answer = OneTask::new(&ready.task);
    answer.task.review_running = true;
    call.answer(StatusCode::ACCEPTED, Answer::new(None, answer).warned(ready.warnings.clone()))
}

/// Performs a review, whether or not a client waits for it.
fn perform(call: &Call, ready: Ready, engine: Engine) -> oneshot::Receiver<Result<Reviewed, Failure>> {
    let (tell, told) = oneshot::channel();
    let resident = call.resident.clone();
    call.resident.spawn(async move {
        let id = ready.task.id.clone();
        let mut ended = ready.review(engine.clone(), resident.stopping()).await;
        if let Err(failure) = &ended
            && failure.outcome != Outcome::Interrupted
        {
            let words = failure.to_string();
            eprintln!("{}: task {}: {}", crate::serve::NAME, visible_line(&id), visible_line(&words));
        }
        let telling = ended.as_mut().ok().and_then(|reviewed| reviewed.telling.take());
        // The client may be gone.
        let _ = tell.send(ended);
        if let Some(telling) = telling {
            telling.tell(engine.ledger()).await;
        }
    });
    told
}
