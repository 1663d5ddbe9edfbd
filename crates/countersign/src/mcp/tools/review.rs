//! The general tools: submit work, wait for the verdict, look, decide.

use super::{Call, Hints, Reply, Running, Tool, answer_schema, schema};
use crate::mcp::progress::follow;
use countersign_app::answer::v1::{OpenReviews, State, Submitted, Verdict, Version, Waited};
use countersign_app::arguments::{at_most, filled};
use countersign_app::decide::{self, Action, REASON_BYTES_MAX};
use countersign_app::doors::MCP;
use countersign_app::excerpt::with_excerpts;
use countersign_app::find::{meant, no_ledger};
use countersign_app::project::Project;
use countersign_app::reader::Reader;
use countersign_app::server_state::ReviewState;
use countersign_app::spent::Spent;
use countersign_app::status::OPEN_ROWS;
use countersign_app::submit::{NAME_MAX_BYTES, Submit, hand_in};
use countersign_app::{Code, Failure, author, log, next};
use countersign_core::review::{Actor, ActorKind, Channel};
use countersign_core::text::visible_line;
use countersign_engine::engine::self_review_file;
use countersign_engine::ledger::{Filter, Ledger};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

const DEFAULT_WAIT_SECONDS: u64 = 45;
const LONGEST_WAIT_SECONDS: u64 = 3600;

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "review_submit",
        title: "Submit work for review",
        description: "\
Submits finished work to independent reviewers, and returns at once with a handle. Follow it with \
review_wait.

What is judged: `files` (paths relative to the folder the server serves; a folder stands for everything in it that git does \
not ignore), or `change`: everything that changed since the default branch, committed or not. Without either, everything the \
project's rules are for. A change is judged by the countersign.yml of the commit it is against.
By what: `criteria` of your own (a name and a question each), or without any the rules of the project's countersign.yml.

Give a `subject` (a short name of the task, such as \"login-form\") when you mean to fix findings and submit again: it makes \
this a loop whose attempts are counted, so use the same subject for every try of the same task. Without a subject the work is \
looked at once.

Do not edit the files until review_wait has answered: the verdict is about exactly these bytes, and work that changed meanwhile \
has to be submitted again. Submitting the same work while it is judged joins the running review, and unchanged files are not \
judged twice.

Returns {review, round, state, outcome, ...}: `review` is the handle for review_wait. `outcome` is null unless the answer is \
known already.",
        input: schema::<Submit>,
        output: answer_schema::<Submitted>,
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
`findings`, then submit again with the same subject), no_verdict (no reviewer could rule, see `assignments`; submit again), \
awaiting_person, budget_reached or stopped (a person has to decide: tell them, and do not try another way round). `waived` \
findings do not block but are worth fixing. `next` says what to do.
- running: it takes longer than `timeout_seconds`. Call review_wait again; nothing is lost or asked twice. `progress` says how \
far it is. Reviewers may take minutes.
- interrupted: the process that performed it ended. Submit the same files again with review_submit; finished rulings are kept.

While it waits, progress notifications are sent if you gave a progress token.",
        input: schema::<Wait>,
        output: answer_schema::<Waited>,
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
        run: |call| -> Running { Box::pin(wait(call)) },
    },
    Tool {
        name: "review_status",
        title: "Show the state of reviews",
        description: "\
Shows the state of a review, or without `review` the open reviews of this project, newest first. It never waits, asks \
no reviewer and changes nothing. Use it to find a handle you lost (by its `subject`), then review_wait for the verdict.

Returns {reviews: [{id, subject, state, outcome, reason, round, attempts, progress, ...}], more}. `state` is running, interrupted \
(submit the same files again) or done (there is an outcome; needs_work and no_verdict wait for you to submit again).",
        input: schema::<Status>,
        output: answer_schema::<OpenReviews>,
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
        run: |call| -> Running { Box::pin(status(call)) },
    },
    Tool {
        name: "review_decide",
        title: "Decide about a review",
        description: "\
Decides about a review in place of its verdict: approve (let it pass), skip (let it pass without a verdict), reject (stop it for \
good), fix (send it back with its findings), unblock (let a stopped review continue), or withdraw (take your submission back).

Deciding is for people. You are refused all but `withdraw` unless your user allowed agents to decide, \
and withdrawing too once a round has failed. If you are refused, do not look for a way round: tell \
your user what stands in the way, and that the review waits for a person. Every decision is \
recorded with your name and `reason`, for exactly the bytes that were judged.

Returns the review as review_wait does.",
        input: schema::<Decide>,
        output: answer_schema::<Waited>,
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

async fn submit(mut call: Call) -> Result<Reply, Failure> {
    let given = call.arguments::<Submit>()?;
    let author = author::of_client(&call.client);
    let handed_in = hand_in(&call.server, given, author, MCP).await?;
    Reply::new(&Submitted::of(handed_in))
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
    let reply = Reply::new(&verdict(&project, &ledger, &followed).await?)?;
    let round = followed.stored.review.round().map(|round| round.n);
    let Some(round) = round.filter(|_| followed.state == State::Done) else { return Ok(reply) };
    // The verdict is returned also where the engine cannot be opened any more.
    let Ok(engine) = call.server.engine(&project).await else { return Ok(reply) };
    Ok(reply.delivered(async move {
        // Without this record the same submission gets the same answer once more, which does no harm.
        if let Err(error) = engine.delivered_round(&id, round).await {
            eprintln!("countersign mcp: review {id}: {error}");
        }
    }))
}

async fn verdict(project: &Project, ledger: &Ledger, followed: &ReviewState) -> Result<Waited, Failure> {
    let stored = &followed.stored;
    let spent = Spent::of(ledger, &stored.review).await?;
    let verdict = Verdict::of(stored, spent, next(ledger, followed)?);
    Ok(Waited::of(followed, with_excerpts(project, ledger, stored, verdict).await?))
}

fn next(ledger: &Ledger, followed: &ReviewState) -> Result<Vec<String>, Failure> {
    let review = &followed.stored.review;
    Ok(match followed.state {
        State::Running => vec![format!("call review_wait again with review {}", review.id)],
        State::Interrupted => vec!["submit the same files again with review_submit".to_owned()],
        State::Done if review.waits_for_self_review() => {
            next::self_review(&self_review_file(ledger, &review.id)?, &review.id)
        }
        State::Done => {
            next::steps(review, "submit it again with review_submit and the same arguments", Reader::Agent)
        }
    })
}

async fn status(mut call: Call) -> Result<Reply, Failure> {
    let arguments: Status = call.arguments()?;
    let project = call.project()?;
    let ledger = call.server.ledger(&project).await?;
    let open = match (arguments.review, ledger) {
        (Some(_), None) => return Err(no_ledger()),
        (None, None) => OpenReviews { schema: Version::One, reviews: vec![], more: false },
        (None, Some(ledger)) => open_reviews(&call, &ledger).await?,
        (Some(typed), Some(ledger)) => {
            filled("review", &typed, NAME_MAX_BYTES)?;
            let id = meant(&project, &ledger, &typed).await?;
            let Some(stored) = ledger.review(&id).await? else { return Err(no_ledger()) };
            let review = (&ReviewState::of(&call.server, &ledger, stored).await?).into();
            OpenReviews { schema: Version::One, reviews: vec![review], more: false }
        }
    };
    Reply::new(&open)
}

async fn open_reviews(call: &Call, ledger: &Ledger) -> Result<OpenReviews, Failure> {
    let filter = Filter { open_only: true, before: None, limit: OPEN_ROWS };
    let page = log::reviews(Some(ledger), None, filter).await?;
    let mut reviews = vec![];
    for review in &page.reviews {
        if let Some(stored) = ledger.review(&review.row.id).await? {
            reviews.push((&ReviewState::of(&call.server, ledger, stored).await?).into());
        }
    }
    Ok(OpenReviews { schema: Version::One, reviews, more: page.more })
}

async fn decide(mut call: Call) -> Result<Reply, Failure> {
    let Decide { review, verb, reason } = call.arguments()?;
    filled("review", &review, NAME_MAX_BYTES)?;
    filled("reason", &reason, REASON_BYTES_MAX)?;
    let project = call.project()?;
    let by = actor(&call, &project, verb, &review).await?;
    let Some(ledger) = call.server.ledger(&project).await? else { return Err(no_ledger()) };
    let id = meant(&project, &ledger, &review).await?;
    let engine = call.server.engine(&project).await?;
    let decide = decide::Decide { action: verb, by, reason: Some(reason), about: None };
    let stored = decide::decide(&project, &engine, &id, decide).await?;
    let followed = ReviewState::of(&call.server, engine.ledger(), stored).await?;
    Reply::new(&verdict(&project, engine.ledger(), &followed).await?)
}

/// Every client counts as an agent: only the user's own file lets it decide, now and as a person trusted it.
async fn actor(call: &Call, project: &Project, verb: Action, review: &str) -> Result<Actor, Failure> {
    let client: String = visible_line(&call.client).chars().take(NAME_MAX_BYTES).collect();
    let name = format!("agent via mcp: {client}");
    let says_so = project.config.agents_may_decide;
    if says_so && call.server.gate_project(None).await.is_ok_and(|gate| gate.agents_may_decide()) {
        return Ok(Actor::deputy(name, Channel::Mcp));
    }
    if verb == Action::Withdraw {
        return Ok(Actor::new(name, ActorKind::Agent, Channel::Mcp));
    }
    let review = visible_line(review);
    let words = match says_so {
        true => {
            "`agents_may_decide` of the user's own file counts only as a person trusted it; nothing was changed"
        }
        false => "deciding about a review is for people; nothing was changed",
    };
    Err(Failure { code: Code::PeopleOnly, ..Failure::usage(words) }
        .hint(format!("tell your user why it should be decided: review {review} waits for a person")))
}
