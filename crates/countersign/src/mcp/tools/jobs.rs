//! The tools of workflows: agents work through a job step by step, and every step is judged before the next begins.

use super::{Call, Hints, Reply, Running, Tool, answer_schema, schema};
use crate::mcp::progress::follow;
use countersign_app::Failure;
use countersign_app::answer::v1::State;
use countersign_app::project::Project;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_doors::jobs::answer::{Aborted, Finished, Started, WentTo, Workflows};
use countersign_doors::jobs::{FinishedCall, Jobs, Refusal, StartCall, Waiting};
use countersign_engine::engine::{Engine, Ticket};
use countersign_engine::ledger::Stored;
use schemars::JsonSchema;
use serde::Deserialize;
use std::pin::Pin;
use std::time::Duration;

const CHANGES: Hints = Hints { read_only: false, destructive: false, idempotent: false, open_world: false };

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "get_workflows",
        title: "List workflows",
        description: "\
Lists the jobs of this project and their workflows: what can be started, in one line each, and how. Call it first, when a task \
may be covered by a workflow. `errors` names jobs that cannot be read, with what is wrong and where; tell the user about them.",
        input: schema::<Nothing>,
        output: answer_schema::<Workflows>,
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
        run: |call| -> Running { Box::pin(get_workflows(call)) },
    },
    Tool {
        name: "start_workflow",
        title: "Start a workflow",
        description: "\
Starts a workflow and returns its first step in `begin_step`: do what `step_instructions` say (`common_job_info` is background \
for all steps, `job_dir` is where the job's own files are), write every entry of `step_expected_outputs` as files inside the \
project, then call finished_step. `step_reviews` are the criteria the outputs will be judged by: read them before you begin.

`goal` is what the user wants to reach, in your words. Names come from get_workflows; a job with one workflow accepts any \
workflow_name. Keep `begin_step.session_id` and pass it to every later call. Starting while another workflow is under way puts \
the new one on top (`stack`); the one below goes on when it is finished or aborted. A subagent that works beside you passes an \
`agent_id` of its own to every call and so has a stack of its own.",
        input: schema::<StartCall>,
        output: answer_schema::<Started>,
        hints: CHANGES,
        run: |call| -> Running { Box::pin(start_workflow(call)) },
    },
    Tool {
        name: "finished_step",
        title: "Hand a step in",
        description: "\
Hands the current step in. Its outputs are judged by the step's reviews before the workflow goes on; do not edit them while this \
call runs. It may take minutes: progress notifications are sent if you gave a progress token.

`outputs` maps every output name of the step to its file: a path for type `file`, a list of paths for type `files` (all \
individual files, no folders), relative to the project. Required outputs must be there; optional ones may be left out. `notes` \
is what reviewers should know about the work beyond the files: they see nothing of this conversation. `step_id` is needed only \
where several steps are open at once (`concurrent_steps`) and the output names do not tell which.

`status` says what to do next:
- needs_work: `feedback` says what is wrong, `failed_reviews` lists the failed criteria. Fix the files, then call finished_step \
again. Feedback that begins with REVIEW RUNNING means the reviewers are still at work: change nothing and call again with the \
same arguments.
- next_step: the step passed. Do `begin_step` next.
- workflow_complete: all steps passed; `summary` and `all_outputs` say what was done.
An error that says BLOCKED means the step failed too often: stop, and tell the user; a person has to let it go on. An error that \
says NO VERDICT means that no reviewer could rule; it does not count as an attempt, and it says whether calling again can help.

Without an independent reviewer the answer asks you for a self-review: follow the instructions file it names, then call \
finished_step again with `quality_review_override_reason` and `self_review` {token, results}. \
`quality_review_override_reason` alone overrides the review, where the project allows that; it is recorded as an override and \
shown in every report, so use it only for a reason a person would accept.",
        input: schema::<FinishedCall>,
        output: answer_schema::<Finished>,
        hints: Hints { open_world: true, ..CHANGES },
        run: |call| -> Running { Box::pin(finished_step(call)) },
    },
    Tool {
        name: "abort_workflow",
        title: "Give a workflow up",
        description: "\
Gives the current workflow up, with an `explanation` for the record. The workflow below it, if any, goes on \
(`resumed_workflow`, `resumed_step`). Files stay as they are. Do this only if the user wants it, or if the workflow turned out \
to be the wrong one: a step that is hard to pass is no reason, and one that is blocked stays blocked: its workflow is not \
started again in the session until a person lets it go on.",
        input: schema::<AbortWorkflow>,
        output: answer_schema::<Aborted>,
        hints: Hints { destructive: true, ..CHANGES },
        run: |call| -> Running { Box::pin(abort_workflow(call)) },
    },
    Tool {
        name: "go_to_step",
        title: "Go back to a step",
        description: "\
Goes back to an earlier step of the current workflow, or begins the current one again. Every finished step after it is to be \
done again (`invalidated_steps`); files stay as they are. Steps that come later cannot be reached this way: they begin when those \
before them have passed. Tries that were used up stay used up.",
        input: schema::<GoToStep>,
        output: answer_schema::<WentTo>,
        hints: CHANGES,
        run: |call| -> Running { Box::pin(go_to_step(call)) },
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AbortWorkflow {
    /// Why.
    explanation: String,
    /// The session, as start_workflow gave it.
    session_id: Option<String>,
    /// For subagents: your own name.
    agent_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GoToStep {
    /// The step.
    step_id: String,
    /// The session, as start_workflow gave it.
    session_id: Option<String>,
    /// For subagents: your own name.
    agent_id: Option<String>,
}

async fn get_workflows(mut call: Call) -> Result<Reply, Failure> {
    let Nothing {} = call.arguments()?;
    let project = project(&call).await?;
    Reply::new(&call.server.jobs(&project).workflows())
}

async fn start_workflow(mut call: Call) -> Result<Reply, Failure> {
    let given: StartCall = call.arguments()?;
    Reply::new(&open(&call).await?.start_workflow(given).await?)
}

async fn finished_step(mut call: Call) -> Result<Reply, Failure> {
    let given: FinishedCall = call.arguments()?;
    let jobs = open(&call).await?;
    let waiting = Patient { call: &call, longest: Duration::from_secs(call.server.options.wait_seconds) };
    let answered = jobs.finished_step(given, &waiting).await?;
    let reply = Reply::new(&answered.answer)?;
    Ok(reply.delivered(async move {
        // Without this record the same call gets the same answer once more, which does no harm.
        if let Err(error) = jobs.delivered(&answered).await {
            eprintln!("countersign mcp: {}", visible_line(&error.to_string()));
        }
    }))
}

async fn abort_workflow(mut call: Call) -> Result<Reply, Failure> {
    let AbortWorkflow { explanation, session_id, agent_id } = call.arguments()?;
    let jobs = open(&call).await?;
    Reply::new(&jobs.abort_workflow(&explanation, session_id.as_deref(), agent_id.as_deref()).await?)
}

async fn go_to_step(mut call: Call) -> Result<Reply, Failure> {
    let GoToStep { step_id, session_id, agent_id } = call.arguments()?;
    let jobs = open(&call).await?;
    Reply::new(&jobs.go_to_step(&step_id, session_id.as_deref(), agent_id.as_deref()).await?)
}

/// The project as the workflows of this server see it, with the client as the author of the work.
async fn project(call: &Call) -> Result<Project, Failure> {
    Ok(call.by_client(call.server.options.judging.project(&call.server).await?))
}

async fn open(call: &Call) -> Result<Jobs, Failure> {
    let (project, server) = (project(call).await?, &call.server);
    let engine = server.engine(&project).await?;
    Ok(server.options.judging.open(&project, engine, server.jobs(&project), server.one_client))
}

/// Waits for reviewers as long as the options say, and sends progress notifications.
struct Patient<'c> {
    call: &'c Call,
    longest: Duration,
}

impl Waiting for Patient<'_> {
    fn wait<'a>(
        &'a self,
        engine: &'a Engine,
        ticket: &'a Ticket,
    ) -> Pin<Box<dyn Future<Output = Result<Option<Stored>, Refusal>> + Send + 'a>> {
        Box::pin(async move {
            self.call.server.perform(engine, ticket.clone());
            let followed = follow(self.call, engine.ledger(), &ticket.review, self.longest).await;
            match followed.map(|followed| (followed.state, followed.stored)) {
                Ok((State::Done, stored)) => Ok(Some(stored)),
                Ok((State::Running, _)) => Ok(None),
                Ok((State::Interrupted, _)) => Err(Refusal::NoVerdict(format!(
                    "NO VERDICT: the process that performed the review ended; call finished_step again, and it continues where it \
                     stopped (review {})",
                    ticket.review
                ))),
                Err(failure) if failure.outcome == Outcome::Interrupted => Err(Refusal::Cancelled),
                Err(failure) => Err(Refusal::NoVerdict(failure.message)),
            }
        })
    }
}
