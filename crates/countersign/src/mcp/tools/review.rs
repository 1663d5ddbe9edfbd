//! The general tools: hand work in, wait for the verdict, look, decide.

use super::review_submit::submit;
use super::{Call, Hints, Reply, Running, Tool, schema};
use crate::mcp::progress::follow;
use crate::output::{Reader, SCHEMA, Spent, next_steps, rfc3339, verdict_json};
use countersign_app::decide::{self, Action, REASON_BYTES_MAX};
use countersign_app::find::{meant, no_ledger};
use countersign_app::given::{at_most, filled};
use countersign_app::handing_in::{NAME_MAX_BYTES, Submit};
use countersign_app::project::Project;
use countersign_app::resident::{Followed, counted};
use countersign_app::{Code, Failure};
use countersign_core::outcome::Outcome;
use countersign_core::review::{Actor, ActorKind, Channel};
use countersign_core::text::visible_line;
use countersign_engine::engine::self_review_file;
use countersign_engine::ledger::{Filter, Ledger, Stored};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

const DEFAULT_WAIT_SECONDS: u64 = 45;
const LONGEST_WAIT_SECONDS: u64 = 3600;
/// How many open reviews are listed.
const OPEN_ROWS: u32 = 50;

/// The table.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "review_submit",
        title: "Hand work in for review",
        description: "\
Hands finished work in to be judged by independent reviewers, and returns at once with a handle. Follow it with \
review_wait.

What is judged: `files` (paths relative to the folder the server serves; a folder stands for everything in it that git does \
not ignore), or `change`: everything that changed since the default branch, committed or not. Without either, everything the \
project's rules are for. A change is judged by the countersign.yml of the commit it is against.
By what: `criteria` of your own (a name and a question each), or without any the rules of the project's countersign.yml.

Give a `subject` (a short name of the task, such as \"login-form\") when you mean to fix findings and hand in again: it makes \
this a loop whose attempts are counted, so use the same subject for every try of the same task. Without a subject the work is \
looked at once.

Do not edit the files until review_wait has answered: the verdict is about exactly these bytes, and work that changed meanwhile \
has to be handed in again. Handing in the same again while it is judged joins the running review, and unchanged files are not \
judged twice.

Returns {review, round, state, outcome, ...}: `review` is the handle for review_wait. `outcome` is null unless the answer is \
known already.",
        input: schema::<Submit>,
        output: submit_output,
        hints: Hints { read_only: false, destructive: false, idempotent: true, open_world: true },
        run: |call| -> Running { Box::pin(submit(call)) },
    },
    Tool {
        name: "review_wait",
        title: "Wait for the verdict",
        description: "\
Waits for the verdict of a review and returns it. Call it after review_submit with the handle `review`.

`state` says how it stands:
- done: there is a verdict. `passed` is true only if the work may go on. Otherwise `outcome` is needs_work (fix every entry of \
`findings`, then hand in again with the same subject), no_verdict (nobody could rule, see `assignments`; hand in again), \
awaiting_person, budget_reached or stopped (a person has to decide: tell them, and do not try another way round). `waived` \
findings do not block but are worth fixing. `next` says what to do.
- running: it takes longer than `timeout_seconds`. Call review_wait again; nothing is lost or asked twice. `progress` says how \
far it is. Reviewers may take minutes.
- interrupted: whoever performed it is gone. Hand the same files in again with review_submit; what was ruled stands.

While it waits, progress notifications are sent if you gave a progress token.",
        input: schema::<Wait>,
        output: verdict_output,
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
        run: |call| -> Running { Box::pin(wait(call)) },
    },
    Tool {
        name: "review_status",
        title: "See how reviews stand",
        description: "\
Shows how a review stands, or without `review` the open reviews of this project, newest first. Looks and never waits; it asks \
nobody and changes nothing. Use it to find a handle you lost (by its `subject`), then review_wait for the verdict.

Returns {reviews: [{id, subject, state, outcome, reason, round, attempts, progress, ...}], more}. `state` is running, interrupted \
(hand the same files in again) or done (there is an outcome; needs_work and no_verdict wait for you to hand in again).",
        input: schema::<Status>,
        output: status_output,
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
        run: |call| -> Running { Box::pin(status(call)) },
    },
    Tool {
        name: "review_decide",
        title: "Decide about a review",
        description: "\
Decides about a review in place of its verdict: approve (let it pass), skip (let it pass without a verdict), reject (stop it for \
good), fix (send it back with its findings), unblock (let a stopped review go on), or withdraw (take back what you handed in).

Deciding is for people. You are refused all but `withdraw` unless the user's own configuration file (never the project's) says \
`agents_may_decide: true`, and withdrawing too once a round has failed. If you are refused, do not look for a way round: tell \
your user what stands in the way, and that the review waits for a person. Every decision is \
recorded with your name and `reason`, for exactly the bytes that were judged.

Returns the review as review_wait does.",
        input: schema::<Decide>,
        output: verdict_output,
        hints: Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
        run: |call| -> Running { Box::pin(decide(call)) },
    },
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// The handle that review_submit returned, or a unique beginning of it.
    #[schemars(length(min = 1, max = NAME_MAX_BYTES))]
    review: String,
    /// How long to wait at most: 45 unless given, 0 to look and not wait.
    #[schemars(range(max = LONGEST_WAIT_SECONDS))]
    timeout_seconds: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Status {
    /// One review: its handle or a unique beginning of it. Without it, all open ones.
    #[schemars(length(min = 1, max = NAME_MAX_BYTES))]
    review: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Decide {
    /// The handle, or a unique beginning of it.
    #[schemars(length(min = 1, max = NAME_MAX_BYTES))]
    review: String,
    /// What to do.
    verb: Action,
    /// Why. It is kept with the decision.
    #[schemars(length(min = 1, max = REASON_BYTES_MAX))]
    reason: String,
}

async fn wait(mut call: Call) -> Result<Reply, Failure> {
    let arguments: Wait = call.arguments()?;
    let seconds = arguments.timeout_seconds.unwrap_or(DEFAULT_WAIT_SECONDS);
    at_most("timeout_seconds", seconds as usize, LONGEST_WAIT_SECONDS as usize, "seconds")?;
    filled("review", &arguments.review, NAME_MAX_BYTES)?;
    let project = call.project()?;
    let Some(ledger) = call.server.ledger(&project).await? else { return Err(no_ledger()) };
    let id = meant(&project, &ledger, &arguments.review).await?;
    let followed = follow(&call, &ledger, &id, Duration::from_secs(seconds)).await?;
    let reply = Reply::new(&verdict(&ledger, &followed).await?)?;
    let Followed::Stands(stored) = followed else { return Ok(reply) };
    let Some(round) = stored.review.round().map(|round| round.n) else { return Ok(reply) };
    // A verdict is told also where nobody could be asked any more.
    let Ok(engine) = call.server.engine(&project).await else { return Ok(reply) };
    Ok(reply.delivered(async move {
        // Not noted means that the same submission gets the same answer once more, which does no harm.
        if let Err(error) = engine.delivered_round(&id, round).await {
            eprintln!("countersign mcp: review {id}: {error}");
        }
    }))
}

async fn verdict(ledger: &Ledger, followed: &Followed) -> Result<Value, Failure> {
    let stored = followed.stored();
    let standing = stored.review.standing();
    let spent = Spent::of(ledger, &stored.review).await?;
    let mut answer = verdict_json(stored, &spent, &next(ledger, followed)?);
    let (answered, questions) = counted(stored);
    answer["schema"] = json!(SCHEMA);
    answer["state"] = json!(followed.state());
    answer["passed"] = json!(standing.is_some_and(|outcome| outcome.exit_code() == 0));
    answer["outcome"] = json!(standing.map(Outcome::name));
    answer["reason"] = json!(standing.and_then(Outcome::reason));
    answer["exit_code"] = json!(standing.map(Outcome::exit_code));
    answer["progress"] = json!({ "answered": answered, "questions": questions });
    Ok(answer)
}

fn next(ledger: &Ledger, followed: &Followed) -> Result<Vec<String>, Failure> {
    let review = &followed.stored().review;
    Ok(match followed {
        Followed::Running(_) => vec![format!("call review_wait again with review {}", review.id)],
        Followed::Interrupted(_) => vec!["hand the same files in again with review_submit".to_owned()],
        Followed::Stands(_) if review.waits_for_self_review() => {
            let file = self_review_file(ledger, &review.id)?;
            vec![
                format!("review the work as {} says", file.display()),
                format!("then countersign rule {} --from RESULTS", review.id),
            ]
        }
        Followed::Stands(_) => {
            next_steps(review, "hand it in again with review_submit and the same arguments", Reader::Agent)
        }
    })
}

async fn status(mut call: Call) -> Result<Reply, Failure> {
    let arguments: Status = call.arguments()?;
    let project = call.project()?;
    let ledger = call.server.ledger(&project).await?;
    let (Some(typed), Some(ledger)) = (&arguments.review, &ledger) else {
        return match (&arguments.review, ledger) {
            (Some(_), _) => Err(no_ledger()),
            (None, None) => Reply::new(&json!({ "schema": SCHEMA, "reviews": [], "more": false })),
            (None, Some(ledger)) => open_reviews(&call, &ledger).await,
        };
    };
    filled("review", typed, NAME_MAX_BYTES)?;
    let id = meant(&project, ledger, typed).await?;
    let Some(stored) = ledger.review(&id).await? else { return Err(no_ledger()) };
    let row = one_row(&call, ledger, stored).await?;
    Reply::new(&json!({ "schema": SCHEMA, "reviews": [row], "more": false }))
}

async fn open_reviews(call: &Call, ledger: &Ledger) -> Result<Reply, Failure> {
    let mut rows = ledger.list(Filter { open_only: true, before: None, limit: OPEN_ROWS + 1 }).await?;
    let more = rows.len() > OPEN_ROWS as usize;
    rows.truncate(OPEN_ROWS as usize);
    let mut reviews = vec![];
    for row in &rows {
        if let Some(stored) = ledger.review(&row.id).await? {
            reviews.push(one_row(call, ledger, stored).await?);
        }
    }
    Reply::new(&json!({ "schema": SCHEMA, "reviews": reviews, "more": more }))
}

async fn one_row(call: &Call, ledger: &Ledger, stored: Stored) -> Result<Value, Failure> {
    let (answered, questions) = counted(&stored);
    let followed = Followed::of(&call.server, ledger, stored).await?;
    let Stored { review, opened_ms, changed_ms, .. } = followed.stored();
    Ok(json!({
        "id": review.id,
        "subject": review.subject,
        "state": followed.state(),
        "outcome": review.standing().map(Outcome::name),
        "reason": review.standing().and_then(Outcome::reason),
        "round": review.round().map_or(0, |round| round.n),
        "attempts": review.attempts,
        "digest": review.digest(),
        "progress": { "answered": answered, "questions": questions },
        "opened_at": rfc3339(*opened_ms),
        "changed_at": rfc3339(*changed_ms),
    }))
}

async fn decide(mut call: Call) -> Result<Reply, Failure> {
    let Decide { review, verb, reason } = call.arguments()?;
    filled("review", &review, NAME_MAX_BYTES)?;
    filled("reason", &reason, REASON_BYTES_MAX)?;
    let project = call.project()?;
    let by = actor(&call, &project, verb, &review)?;
    let Some(ledger) = call.server.ledger(&project).await? else { return Err(no_ledger()) };
    let id = meant(&project, &ledger, &review).await?;
    let engine = call.server.engine(&project).await?;
    let decide = decide::Decide { action: verb, by, reason: Some(reason), about: None };
    let stored = decide::decide(&project, &engine, &id, decide).await?;
    let followed = Followed::of(&call.server, engine.ledger(), stored).await?;
    Reply::new(&verdict(engine.ledger(), &followed).await?)
}

/// A client is an agent, whoever sits behind it: only the user's own file lets it decide.
fn actor(call: &Call, project: &Project, verb: Action, review: &str) -> Result<Actor, Failure> {
    let client: String = visible_line(&call.client).chars().take(NAME_MAX_BYTES).collect();
    let name = format!("agent via mcp: {client}");
    if project.config.agents_may_decide {
        return Ok(Actor::deputy(name, Channel::Mcp));
    }
    if verb == Action::Withdraw {
        return Ok(Actor::new(name, ActorKind::Agent, Channel::Mcp));
    }
    let review = visible_line(review);
    Err(Failure { code: Code::PeopleOnly, ..Failure::usage("deciding about a review is for people; nothing was changed") }
        .hint(format!(
            "tell your user why it should be decided: review {review} waits for a person. Agents may decide only where \
             the user's own file, ~/.config/countersign/config.yml, says `agents_may_decide: true`"
        )))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn progress_schema() -> Value {
    json!({
        "type": "object",
        "description": "How many questions are answered, of how many.",
        "properties": { "answered": { "type": "integer" }, "questions": { "type": "integer" } },
        "required": ["answered", "questions"],
    })
}

fn submit_output() -> Map<String, Value> {
    object(json!({
        "type": "object",
        "properties": {
            "schema": { "type": "string" },
            "review": { "type": "string", "description": "The handle for review_wait." },
            "subject": { "type": "string" },
            "round": { "type": "integer" },
            "attached": { "type": "boolean", "description": "Whether this joined a review that was running already." },
            "state": { "type": "string", "enum": ["running", "done"] },
            "outcome": { "type": ["string", "null"] },
            "reason": { "type": ["string", "null"] },
            "progress": progress_schema(),
            "attempts_left": { "type": ["integer", "null"] },
            "warnings": { "type": "array", "items": { "type": "string" } },
            "next": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["schema", "review", "subject", "round", "attached", "state", "outcome", "reason", "progress", "attempts_left", "warnings", "next"],
    }))
}

fn flaw_schema() -> Value {
    let whole = |kind: &str| json!({ "type": ["integer", "null"], "description": kind });
    json!({
        "type": "object",
        "properties": {
            "message": { "type": "string" },
            "location": { "type": ["object", "null"], "properties": {
                "file": { "type": "string" },
                "line": whole("From 1; null where it is about the file as a whole."),
                "end_line": whole("The last line, where there are several."),
            } },
            "fingerprint": { "type": "string", "description": "The same for the same flaw after lines have moved." },
            "outside_change": { "type": "boolean", "description": "Whether the lines are outside the change that was judged." },
            "location_dropped": { "type": ["string", "null"], "description": "The place the reviewer named, and why it does not hold." },
        },
    })
}

fn verdict_output() -> Map<String, Value> {
    let finding = json!({
        "type": "object",
        "properties": {
            "rule": { "type": "string" },
            "file": { "type": ["string", "null"] },
            "target": { "type": "string" },
            "criterion": { "type": ["string", "null"] },
            "severity": { "type": "string" },
            "feedback": { "type": "string" },
            "reviewer": { "type": "string" },
            "findings": { "type": "array", "description": "What is wrong, one by one.", "items": flaw_schema() },
        },
    });
    object(json!({
        "type": "object",
        "properties": {
            "schema": { "type": "string" },
            "state": { "type": "string", "enum": ["running", "done", "interrupted"] },
            "passed": { "type": "boolean", "description": "Whether the work may go on." },
            "outcome": { "type": ["string", "null"], "description": "passed, overridden, skipped, needs_work, no_verdict, awaiting_person, budget_reached or stopped; null while it runs." },
            "reason": { "type": ["string", "null"] },
            "exit_code": { "type": ["integer", "null"] },
            "progress": progress_schema(),
            "review": { "type": "object", "description": "Id, subject, round, attempts and attempts_left, decisions." },
            "findings": { "type": "array", "description": "What blocks. Fix all of them.", "items": finding },
            "waived": { "type": "array", "description": "What does not block in this attempt.", "items": finding },
            "fixed": { "type": "array", "description": "What a reviewer found that then changed the files itself.", "items": { "type": "object" } },
            "assignments": { "type": "array", "description": "Each question with its rulings, and why there are none.", "items": { "type": "object" } },
            "redacted": { "type": "integer", "description": "How many secrets were kept from the reviewers." },
            "cost": { "type": "object" },
            "next": { "type": "array", "items": { "type": "string" }, "description": "What to do now." },
        },
        "required": ["schema", "state", "passed", "outcome", "reason", "exit_code", "progress", "review", "findings", "waived", "fixed", "assignments", "redacted", "cost", "next"],
    }))
}

fn status_output() -> Map<String, Value> {
    object(json!({
        "type": "object",
        "properties": {
            "schema": { "type": "string" },
            "reviews": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "id": { "type": "string" },
                    "subject": { "type": "string" },
                    "state": { "type": "string", "enum": ["running", "done", "interrupted"] },
                    "outcome": { "type": ["string", "null"] },
                    "reason": { "type": ["string", "null"] },
                    "round": { "type": "integer" },
                    "attempts": { "type": "integer" },
                    "progress": progress_schema(),
                },
                "required": ["id", "subject", "state", "outcome", "reason", "round", "attempts", "progress"],
            } },
            "more": { "type": "boolean", "description": "Whether there are more open ones than are listed." },
        },
        "required": ["schema", "reviews", "more"],
    }))
}
