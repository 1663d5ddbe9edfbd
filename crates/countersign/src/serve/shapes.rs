//! The shapes of answers, for the description alone: the answers themselves are made where the commands make theirs,
//! and tests hold the one against the other.
#![expect(dead_code, reason = "they describe; nothing is made of them")]

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The schema of an answer of a command.
pub fn answer<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Answered<T>>()
}

/// The schema of a refusal.
pub fn refusal(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Refused>()
}

/// The schema of a body.
pub fn body<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Any object.
pub fn object(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object" })
}

/// What every answer has, and the command's own keys beside.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Answer")]
struct Answered<T> {
    /// The version of this form.
    schema: Version,
    /// The command whose answer this is.
    command: String,
    /// How the command ended; null while that is not known.
    outcome: Option<OutcomeName>,
    /// Why there is no verdict, or why it was stopped.
    reason: Option<String>,
    /// The exit code the command would have; null while that is not known.
    exit_code: Option<u8>,
    error: Null,
    /// What people should know beside the answer.
    warnings: Vec<String>,
    #[serde(flatten)]
    own: T,
}

/// A request that was refused. Nothing was changed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Refusal")]
struct Refused {
    schema: Version,
    /// The command it would have been; empty where there is none.
    command: String,
    outcome: OutcomeName,
    reason: Option<String>,
    exit_code: u8,
    error: Problem,
    warnings: Vec<String>,
}

/// Nothing is wrong.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Null(());

#[derive(Serialize, JsonSchema)]
enum Version {
    #[serde(rename = "countersign/1")]
    One,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Outcome")]
enum OutcomeName {
    Passed,
    Overridden,
    Skipped,
    NeedsWork,
    Usage,
    AwaitingPerson,
    NoVerdict,
    BudgetReached,
    Stopped,
    Integrity,
    Internal,
    Interrupted,
}

/// What went wrong and what to do.
#[derive(Serialize, JsonSchema)]
struct Problem {
    /// usage, configuration, review, integrity, internal or interrupted.
    kind: String,
    /// A short stable word.
    code: String,
    message: String,
    hint: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    column: Option<u64>,
    /// All mistakes of a file; the first is also above.
    problems: Vec<Mistake>,
    problems_left_out: u64,
}

#[derive(Serialize, JsonSchema)]
struct Mistake {
    code: String,
    message: String,
    hint: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    column: Option<u64>,
}

/// The server is there.
#[derive(Serialize, JsonSchema)]
pub struct Health {
    version: String,
}

/// A page of reviews, newest first.
#[derive(Serialize, JsonSchema)]
pub struct Reviews {
    reviews: Vec<ReviewRow>,
    /// Whether there are more.
    more: bool,
    /// Where the next page begins: `before` of the next request. Null where there is none.
    next_before: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct ReviewRow {
    id: String,
    subject: String,
    /// How it stands; null while a round is under way.
    outcome: Option<OutcomeName>,
    reason: Option<String>,
    round: u32,
    attempts: u32,
    /// Names exactly what was handed in.
    digest: Option<String>,
    opened_at: Option<String>,
    changed_at: Option<String>,
    /// Whether a round is under way that nobody performs any more.
    interrupted: bool,
}

/// A review as it stands.
#[derive(Serialize, JsonSchema)]
pub struct Verdict {
    /// Whether it is being judged, stands, or was left by whoever performed it.
    state: State,
    review: Review,
    /// Failures that block.
    findings: Vec<Finding>,
    /// Failures that do not block in this attempt.
    waived: Vec<Finding>,
    /// What reviewers found that then changed the files themselves.
    fixed: Vec<Fixed>,
    /// Every question of the round and its answer.
    assignments: Vec<Assignment>,
    /// How many secrets were replaced.
    redacted: u64,
    cost: Cost,
    /// What to do next, in words.
    next: Vec<String>,
}

/// A review after a decision.
#[derive(Serialize, JsonSchema)]
pub struct Decided {
    review: Review,
    findings: Vec<Finding>,
    waived: Vec<Finding>,
    fixed: Vec<Fixed>,
    assignments: Vec<Assignment>,
    redacted: u64,
    cost: Cost,
    next: Vec<String>,
}

/// What a reviewer found that then changed the files itself. They were judged again.
#[derive(Serialize, JsonSchema)]
struct Fixed {
    round: u32,
    /// In its own words.
    found: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Running,
    Done,
    Interrupted,
}

#[derive(Serialize, JsonSchema)]
struct Review {
    id: String,
    subject: String,
    /// How it stands; null while a round is under way.
    outcome: Option<OutcomeName>,
    reason: Option<String>,
    round: Option<u32>,
    attempts: u32,
    attempts_left: Option<u32>,
    /// Names exactly what was handed in: what a decision is about.
    digest: Option<String>,
    rule_changes: u32,
    lifts: Vec<Lift>,
    disputes: Vec<Dispute>,
    decisions: Vec<Taken>,
    opened_at: Option<String>,
    changed_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Lift {
    by: String,
    person: bool,
    reason: String,
}

/// A finding that was judged again.
#[derive(Serialize, JsonSchema)]
struct Dispute {
    finding: String,
    criterion: String,
    /// Whether the finding stands.
    upheld: bool,
    /// Where it was judged again.
    review: String,
    reviewer: String,
    by: String,
    person: bool,
    feedback: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TakenDecision")]
struct Taken {
    /// approve, reject, skip or fix.
    verb: String,
    by: String,
    person: bool,
    reason: String,
    digest: String,
    at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Finding {
    id: String,
    rule: String,
    file: Option<String>,
    target: String,
    criterion: Option<String>,
    severity: Severity,
    feedback: String,
    reviewer: String,
    /// What is wrong, one by one.
    findings: Vec<Flaw>,
}

#[derive(Serialize, JsonSchema)]
struct Flaw {
    message: String,
    location: Option<Location>,
    /// The same for the same flaw after lines have moved.
    fingerprint: String,
    /// Whether the lines are outside the change that was judged.
    outside_change: bool,
    /// The place the reviewer named, and why it does not hold.
    location_dropped: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Location {
    file: String,
    line: Option<u64>,
    end_line: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Must,
    Should,
    May,
}

#[derive(Serialize, JsonSchema)]
struct Assignment {
    rule: Option<String>,
    target: String,
    files: Vec<File>,
    criteria: Vec<String>,
    reviewer: Option<String>,
    key: Option<String>,
    state: AssignmentState,
    ruled_by: Option<String>,
    reused: bool,
    why: Option<String>,
    detail: Option<String>,
    not_answered: Vec<NotAnswered>,
    redacted: u64,
    rulings: Option<Vec<Ruling>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AssignmentState {
    Passed,
    Failed,
    NoVerdict,
    Open,
}

#[derive(Serialize, JsonSchema)]
struct File {
    path: String,
    digest: String,
    size_bytes: u64,
}

#[derive(Serialize, JsonSchema)]
struct NotAnswered {
    reviewer: String,
    why: String,
    detail: String,
}

#[derive(Serialize, JsonSchema)]
struct Ruling {
    criterion: String,
    passed: bool,
    feedback: Option<String>,
    findings: Vec<Flaw>,
}

#[derive(Serialize, JsonSchema)]
struct Cost {
    questions_asked: u64,
    rulings_reused: u64,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    usd: Option<f64>,
    questions_with_unknown_cost: u64,
    questions_with_unknown_tokens: u64,
}

/// Events of a review, oldest first.
#[derive(Serialize, JsonSchema)]
pub struct Events {
    events: Vec<Entry>,
    /// Whether there are more.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    /// Its number in the review, from 1.
    n: u64,
    at: Option<String>,
    /// What happened, as the ledger keeps it.
    event: Map<String, Value>,
}

/// All tasks.
#[derive(Serialize, JsonSchema)]
pub struct Tasks {
    tasks: Vec<Task>,
    /// The ids of those whose review is under way.
    active_reviews: Vec<String>,
}

/// One task.
#[derive(Serialize, JsonSchema)]
pub struct OneTask {
    task: Task,
    /// Its last review.
    review: Option<TaskReview>,
    /// The failing review that blocks it, where one was held just now.
    max_revisions: Option<u32>,
    /// What people were told, where they are needed.
    notification: Option<Notification>,
    next: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Task {
    id: String,
    title: String,
    scope: Option<String>,
    acceptance: Option<String>,
    status: TaskStatus,
    /// The file it is planned in; null where it was added by command.
    plan: Option<String>,
    review_running: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TaskStatus {
    Pending,
    InProgress,
    AwaitingReview,
    Complete,
    Skipped,
    Blocked,
}

#[derive(Serialize, JsonSchema)]
struct TaskReview {
    id: Option<String>,
    task_id: String,
    attempt: u32,
    result: TaskResult,
    issues: Vec<String>,
    summary: String,
    blocking: bool,
    reviewed_at: String,
    reviewer_command: String,
    raw_output: Option<String>,
    error: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TaskResult {
    Pending,
    Approved,
    NeedsRevision,
    Rejected,
}

#[derive(Serialize, JsonSchema)]
struct Notification {
    title: String,
    message: String,
    sound: String,
}

/// What is open, and how reviews have ended.
#[derive(Serialize, JsonSchema)]
pub struct Status {
    open: Vec<ReviewRow>,
    open_more: bool,
    workflows: Vec<Workflow>,
    /// Reviews of tasks that are under way, in whichever process.
    task_reviews: Vec<ActiveReview>,
    /// The tasks of runs, in the order of their list; null without one.
    tasks: Option<Vec<RunTask>>,
    /// How many reviews ended how; with the reason behind a slash.
    ended: BTreeMap<String, u64>,
}

#[derive(Serialize, JsonSchema)]
struct ActiveReview {
    task_id: String,
    title: String,
    subject: String,
    attempt: u32,
    started_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Workflow {
    workflow: String,
    session_id: String,
    agent_id: String,
    goal: String,
    steps_done: u64,
    steps: u64,
    open_steps: Vec<OpenStep>,
    not_judged: Vec<String>,
    changed_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct OpenStep {
    step_id: String,
    review: Option<String>,
    outcome: Option<OutcomeName>,
    reason: Option<String>,
    attempts: u32,
    blocked: bool,
    self_review: bool,
}

#[derive(Serialize, JsonSchema)]
struct RunTask {
    id: String,
    name: String,
    priority: String,
    status: String,
    milestone: Option<String>,
    state: String,
    attempts: u64,
    cost_usd: Option<f64>,
    error_code: Option<String>,
    review_status: Option<String>,
    issues: u64,
    review: Option<String>,
}
