//! The configuration as people write it, and its published schema. The comments here are what editors show. The sections
//! `notify`, `review`, `context` and `commands` are in the files `notify`, `service` and `commands`.
//! Required keys are options too, so that one that is missing is reported together with everything else; the
//! `required` mark is for the published schema.

use super::commands::WrittenCommands;
use super::notify::WrittenNotify;
use super::reviewers::{DEFAULT_REPLY_TOKENS, Sees};
use super::service::{WrittenContext, WrittenReview};
use super::settings::{DEFAULT_BYTES, DEFAULT_KEEP_CONTENTS_DAYS, DEFAULT_REVIEWERS_AT_ONCE, Dollars};
use super::written_use::WrittenUse;
use crate::programs::{PROGRAMS, listed};
use crate::yaml::{At, Count, CountOrNone, Given, List, Whole};
use countersign_core::check::{Check, DEFAULT_RUN_TIMEOUT_SECONDS, RunCheck};
use countersign_core::policy::{
    DEFAULT_CEILING_ROUNDS, DEFAULT_ITEM_FAILURES_MAX, DEFAULT_MAX_ATTEMPTS, DEFAULT_MAX_STALLED_ROUNDS,
    DEFAULT_REUSE_DAYS, Decisions, GateFiles, OnNoVerdict, Overrides,
};
use countersign_core::rule::MAY_STAY_UNSEEN;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The one version of the format there is.
pub(super) type Version = Whole<1, 1>;

/// What is judged, by which reviewers, and when it passes.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "countersign.yml", transform = rules_or_a_door)]
#[serde(deny_unknown_fields, expecting = "a mapping with `version` and `rules`")]
pub(super) struct WrittenProject {
    /// The version of this format. There is one so far.
    #[schemars(required)]
    pub version: Option<At<Version>>,
    /// Who may be asked, in order of preference. Replaces the list of the user's own file.
    pub reviewers: Option<List<WrittenReviewer>>,
    /// Files that no rule is about: glob patterns, relative to the project's root.
    #[serde(default)]
    pub exclude: Given<Vec<At<String>>>,
    /// What is asked about which files. May be missing in a file with `qr`, `run` or `review`.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub rules: Given<Vec<At<WrittenRule>>>,
    /// What blocks, and when a review must end.
    pub policy: Option<At<WrittenPolicy>>,
    /// How much of everything.
    pub limits: Option<At<WrittenLimits>>,
    /// Which secrets are kept from reviewers, the ledger and reports.
    pub redaction: Option<At<WrittenRedaction>>,
    /// Decomposed reviews in state files, `countersign qr`.
    pub qr: Option<At<WrittenQr>>,
    /// Workflows of jobs, `countersign mcp`.
    pub jobs: Option<At<WrittenJobs>>,
    /// When and how the work on a task is reviewed, `countersign task`.
    pub review: Option<At<WrittenReview>>,
    /// What a reviewer gets of a task.
    pub context: Option<At<WrittenContext>>,
    /// Commands of the project.
    pub commands: Option<At<WrittenCommands>>,
    /// Who is notified when a review needs a person, and how.
    pub notify: Option<At<WrittenNotify>>,
    /// How tasks are run: the keys of `spec-runner.config.yaml`, which they win over.
    // The run door reads it itself.
    #[schemars(with = "Option<RunSection>")]
    pub run: Option<At<IgnoredAny>>,
}

impl WrittenProject {
    /// Whether a section is there whose commands need no rules.
    pub fn has_a_door(&self) -> bool {
        self.qr.is_some() || self.run.is_some() || self.review.is_some()
    }
}

/// Rules are required in a file without one of these sections.
fn rules_or_a_door(schema: &mut Schema) {
    let one = |key: &str| serde_json::json!({ "required": [key] });
    schema.insert("anyOf".to_owned(), ["rules", "qr", "run", "review"].map(one).to_vec().into());
}

// What the schema says of the section that the run door reads.
#[derive(JsonSchema)]
#[schemars(inline)]
struct RunSection {}

/// The user's own file: who they are able to ask, and what they prefer where a project says nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `reviewers`, `policy` or `limits`")]
pub(super) struct WrittenUser {
    #[expect(dead_code, reason = "it is there so that another version is refused; reading it does that")]
    pub version: Option<At<Version>>,
    pub reviewers: Option<List<WrittenReviewer>>,
    pub policy: Option<At<WrittenPolicy>>,
    pub limits: Option<At<WrittenLimits>>,
    pub redaction: Option<At<WrittenRedaction>>,
    pub notify: Option<At<WrittenNotify>>,
    /// Whether agents that are connected over MCP may decide like people. Here only: a project must not be able
    /// to let the agents that work on it overrule its gate.
    #[serde(default)]
    pub agents_may_decide: Given<bool>,
}

/// A program, a service or the author, asked questions about the work.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Reviewer")]
#[schemars(extend("allOf" = [
    { "if": { "properties": { "use": { "const": "command" } } }, "then": { "required": ["command"] } },
    { "if": { "properties": { "use": { "const": "replay" } } }, "then": { "required": ["file"] } },
    { "if": { "properties": { "use": { "enum": ["anthropic", "openai"] } } }, "then": { "required": ["model"] } },
]))]
#[serde(deny_unknown_fields, expecting = "a reviewer, a mapping with `name` and `use`")]
pub(super) struct WrittenReviewer {
    /// How rules, flags and reports call this reviewer. `auto` is taken: it means the first that can answer.
    #[schemars(required, length(min = 1, max = 200))]
    pub name: Option<At<String>>,
    /// What kind of reviewer it is.
    #[schemars(required)]
    pub r#use: Option<At<WrittenUse>>,
    /// For `use: command`: the program and its arguments. It gets the question on stdin and answers on stdout.
    #[schemars(length(min = 1))]
    pub command: Option<List<String>>,
    /// For `use: replay`: a file of recorded rulings, one JSON object a line, relative to this file's folder.
    #[schemars(length(min = 1))]
    pub file: Option<At<String>>,
    /// For programs: what it may look at. `given` is the files of the question, `project` everything.
    pub sees: Option<At<Sees>>,
    /// For programs and services: how long one question may take. Without it, 240 and 30 more for each file after the fifth.
    pub timeout_seconds: Option<At<Count>>,
    /// For programs and services: how many questions may be under way at once. Without it, 4 for programs and 8 for services; the reviews of a step of a job are all asked at once.
    pub concurrency: Option<At<Count>>,
    /// For `use: command`: passed on to the program with the question. For other programs and services: the model to ask.
    #[schemars(length(min = 1))]
    pub model: Option<At<String>>,
    #[schemars(length(min = 1), extend("description" = base_url_words()))]
    pub base_url: Option<At<String>>,
    /// Beside `base_url`, and for services: the environment variable that holds the key.
    #[schemars(length(min = 1))]
    pub key_env: Option<At<String>>,
    /// For services: a file that holds the key and nothing else, from the home folder if it begins with `~/`.
    #[schemars(length(min = 1))]
    pub key_file: Option<At<String>>,
    /// For services: the most tokens a reply may have.
    #[schemars(extend("default" = DEFAULT_REPLY_TOKENS))]
    pub reply_tokens: Option<At<Count>>,
    /// For programs and services: how many tokens fit into a question and its reply together. What does not fit is split by file where its rule allows that, and otherwise not asked.
    pub window_tokens: Option<At<Count>>,
    /// For programs and services: what their tokens cost, where they do not say so themselves.
    pub price: Option<At<WrittenPrice>>,
    #[schemars(extend("default" = 1, "description" = question_usd_words()))]
    pub question_usd: Option<At<Dollars>>,
}

fn base_url_words() -> String {
    let programs = PROGRAMS.reviewers().filter(|facts| facts.chooses_service);
    let programs = listed(programs.map(|facts| facts.called.name), "and");
    format!("For services, and for {programs}: where the service is, such as `http://127.0.0.1:8080/v1`.")
}

fn question_usd_words() -> String {
    let programs =
        listed(PROGRAMS.reviewers().filter(|facts| facts.caps_cost).map(|facts| facts.name), "and");
    format!(
        "For `use: {programs}` without a `price`: the most one question may cost under a budget in dollars."
    )
}

/// What tokens cost.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Price")]
#[serde(
    deny_unknown_fields,
    expecting = "a price, a mapping with `input_usd_per_million` and `output_usd_per_million`"
)]
pub(super) struct WrittenPrice {
    /// A million tokens of questions.
    #[schemars(required)]
    pub input_usd_per_million: Option<At<Dollars>>,
    /// A million tokens of replies.
    #[schemars(required)]
    pub output_usd_per_million: Option<At<Dollars>>,
}

/// Criteria for the files that match.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Rule")]
#[serde(deny_unknown_fields, expecting = "a rule, a mapping with `name`, `for` and `criteria`")]
pub(super) struct WrittenRule {
    /// How reports call this rule.
    #[schemars(required, length(min = 1, max = 200))]
    pub name: Option<At<String>>,
    /// Which files: glob patterns, relative to the project's root. `**` stands for any number of folders.
    #[schemars(required, length(min = 1))]
    pub r#for: Option<List<String>>,
    /// Files that the rule is not about, although they match `for`: glob patterns. Those of the whole project count too.
    #[serde(default)]
    pub exclude: Given<Vec<At<String>>>,
    /// Of a change: `changed` for findings that the change caused, and those in lines that it touched; `file` for all that is found.
    #[serde(default)]
    #[schemars(extend("default" = "changed"))]
    pub lines: Given<WrittenLines>,
    /// One question for `all` matching files together, one for each `file`, or `fit`: all where they fit the reviewer, otherwise each.
    #[serde(default)]
    #[schemars(extend("default" = "all"))]
    pub each: Given<WrittenEach>,
    /// What the reviewer should know besides the criteria.
    pub guidance: Option<At<String>>,
    /// The name of the reviewer to ask, rather than the first that can answer.
    pub reviewer: Option<At<String>>,
    /// Files that may pass although no reviewer sees them, because they are not text, cannot be read or are too long: glob
    /// patterns, and `media` for pictures, sound, video and fonts whose first bytes fit their names.
    #[serde(default)]
    #[schemars(extend("default" = MAY_STAY_UNSEEN))]
    pub unseen: Given<Vec<At<String>>>,
    /// What must be true.
    #[schemars(required, length(min = 1))]
    pub criteria: Option<List<WrittenCriterion>>,
}

/// Which findings about a change block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Lines")]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenLines {
    /// Those that the change caused, and those in lines that it touched. Others are shown as already there.
    Changed,
    /// All.
    File,
}

/// How files are put into questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Each")]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenEach {
    /// A question for every file.
    File,
    /// One question for all.
    All,
    /// One question for all where they fit the reviewer, otherwise one for every file. For criteria that can be judged on each file alone.
    Fit,
}

/// One thing that must be true. It needs a question (`ask`), a `check`, or both.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Criterion")]
#[schemars(extend("anyOf" = [{ "required": ["ask"] }, { "required": ["check"] }]))]
#[serde(deny_unknown_fields, expecting = "a criterion, a mapping with `name` and `ask`")]
pub(super) struct WrittenCriterion {
    /// The name the reviewer answers by. Case, emphasis and a final colon make no difference.
    #[schemars(required, length(min = 1, max = 200))]
    pub name: Option<At<String>>,
    /// The question. A good one can be answered with yes or no from the files alone.
    #[schemars(length(min = 1))]
    pub ask: Option<At<String>>,
    /// How much a failure weighs.
    #[serde(default)]
    #[schemars(extend("default" = "must"))]
    pub severity: Given<WrittenSeverity>,
    /// A deterministic check that answers instead of a reviewer.
    pub check: Option<At<WrittenCheck>>,
}

/// How much a criterion weighs.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Severity")]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenSeverity {
    /// Always blocks.
    Must,
    /// Blocks unless the policy relaxes it in later rounds.
    Should,
    /// Advice.
    May,
}

/// What blocks, and when a review must end. Keys that are left out come from the user's file or are defaults.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Policy")]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenPolicy {
    /// The failing round that stops a review.
    #[schemars(extend("default" = DEFAULT_MAX_ATTEMPTS))]
    pub max_attempts: Given<Count>,
    /// From which round on which severities block. Before the first line, `must` does.
    #[schemars(extend("default" = [{ "from_round": 1, "severity": "should" }]))]
    pub blocking: Given<Vec<At<WrittenBlocking>>>,
    /// Rounds in a row with the very same findings before a review is stopped as not converging.
    #[schemars(extend("default" = DEFAULT_MAX_STALLED_ROUNDS))]
    pub max_stalled_rounds: Given<Count>,
    /// How long a ruling stands for unchanged files.
    #[schemars(extend("default" = DEFAULT_REUSE_DAYS))]
    pub reuse_days: Given<Count>,
    /// Take a reviewer's "passed" without a ruling for each criterion as a pass.
    #[schemars(extend("default" = false))]
    pub accept_bare_verdicts: Given<bool>,
    /// Who may override a verdict.
    #[schemars(extend("default" = "people-only"))]
    pub overrides: Given<Overrides>,
    /// What becomes of a change to this file, to prompts, jobs or settings of agents: a person has the last word, or it is named.
    #[schemars(extend("default" = "person"))]
    pub gate_files: Given<GateFiles>,
    /// What makes a decision one of a person: a terminal without any sign of an agent, or only a signature.
    #[schemars(extend("default" = "terminal"))]
    pub decisions: Given<Decisions>,
    /// What becomes of an agent that stops, where there is no verdict on its work.
    #[schemars(extend("default" = "hold"))]
    pub on_no_verdict: Given<OnNoVerdict>,
    /// How many tokens a review may need, over all its rounds. A question that might exceed it is not asked.
    pub budget_tokens: Given<Count>,
    /// How many dollars a review may cost. Every reviewer that is asked needs a `price`, or has to be `claude`.
    pub budget_usd: Given<Dollars>,
    /// How many tokens all reviews of a day (UTC) may need together.
    pub day_budget_tokens: Given<Count>,
    /// How many dollars all reviews of a day (UTC) may cost together.
    pub day_budget_usd: Given<Dollars>,
}

/// What blocks from a round on.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Blocking")]
#[serde(deny_unknown_fields, expecting = "a mapping with `from_round` and `severity`")]
pub(super) struct WrittenBlocking {
    /// The first round this holds for.
    #[schemars(required)]
    pub from_round: Option<At<Count>>,
    /// This severity and heavier ones block.
    #[schemars(required)]
    pub severity: Option<At<WrittenSeverity>>,
}

/// What blocks in which round of a decomposed review, and where its loop ends.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Qr")]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenQr {
    /// The last round of a phase; what blocks then goes to a person.
    #[schemars(extend("default" = DEFAULT_CEILING_ROUNDS))]
    pub ceiling_rounds: Given<Count>,
    /// The failure of one item that ends the loop.
    #[schemars(extend("default" = DEFAULT_ITEM_FAILURES_MAX))]
    pub item_failures_max: Given<Count>,
    /// From which round on which severities block. Before the first line, `must` does.
    #[schemars(extend("default" = [
        { "from_round": 1, "severity": "may" },
        { "from_round": 3, "severity": "should" },
        { "from_round": 5, "severity": "must" },
    ]))]
    pub blocking: Given<Vec<At<WrittenBlocking>>>,
    /// Where the state files are, relative to the project's root, if neither `--state-dir` nor STATE_DIR says so.
    #[schemars(length(min = 1))]
    pub state_dir: Given<String>,
}

/// How steps of jobs are reviewed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Jobs")]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenJobs {
    /// What reviewers that are programs may look at: `given` is the outputs and the files that the guidance names, `project`
    /// everything, read-only. Programs that would obey instruction files of the project, and services, get what is given.
    #[schemars(extend("default" = "given"))]
    pub sees: Given<Sees>,
}

/// How much of everything. Keys that are left out come from the user's file or are defaults.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Limits")]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenLimits {
    /// Up to this many files a question carries their contents; above, it lists their paths. 0 always lists. Without it a
    /// question carries any number of files up to `prompt_bytes`; in workflows of jobs it is 5.
    pub max_inline_files: Given<CountOrNone>,
    /// How large a question may be.
    #[schemars(extend("default" = DEFAULT_BYTES))]
    pub prompt_bytes: Given<Count>,
    /// How large an answer may be.
    #[schemars(extend("default" = DEFAULT_BYTES))]
    pub reply_bytes: Given<Count>,
    /// How many reviewers may be at work at once.
    #[schemars(extend("default" = DEFAULT_REVIEWERS_AT_ONCE))]
    pub reviewers_at_once: Given<Count>,
    /// For how many days judged contents are kept beside the ledger, without secrets, so that findings can be shown with
    /// their lines. 0 keeps nothing, and removes what is there.
    #[schemars(extend("default" = DEFAULT_KEEP_CONTENTS_DAYS))]
    pub keep_contents_days: Given<CountOrNone>,
}

/// Which secrets are replaced by `[redacted: NAME]` in what reviewers, the ledger and reports get.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Redaction")]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `enabled` or `patterns`")]
pub(super) struct WrittenRedaction {
    /// Whether anything is replaced at all.
    #[schemars(extend("default" = true))]
    pub enabled: Given<bool>,
    /// Patterns beside the built-in ones. Those of the user's own file are added.
    pub patterns: Given<Vec<At<WrittenSecret>>>,
}

/// What a secret looks like.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Secret")]
#[serde(deny_unknown_fields, expecting = "a mapping with `name` and `pattern`")]
pub(super) struct WrittenSecret {
    /// What stands in its place and in the count: small letters, digits and `-`.
    #[schemars(required, length(min = 1, max = 40), regex(pattern = "^[a-z0-9-]+$"))]
    pub name: Option<At<String>>,
    /// A regular expression. All it matches is replaced.
    #[schemars(required, length(min = 1))]
    pub pattern: Option<At<String>>,
}

/// The schema, for editors and for `docs/countersign.schema.json`.
pub fn schema() -> Value {
    schemars::schema_for!(WrittenProject).to_value()
}

/// A check whose parts know where they were written.
pub(super) type WrittenCheck = Check<At<String>, List<String>, At<WrittenRun>>;

/// A command as a check: the command alone, or with its exit code and timeout.
#[derive(Debug)]
pub(super) struct WrittenRun(RunKeys);

/// A command that is run in the project's root. The files of the question are its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Run")]
#[serde(deny_unknown_fields)]
struct RunKeys {
    /// Given to `sh -c`.
    #[schemars(length(min = 1))]
    command: String,
    /// The exit code that means "passes".
    #[serde(default)]
    #[schemars(extend("default" = 0))]
    exit_code: Given<Whole<0, 255>>,
    /// After this many seconds the command is ended and there is no verdict.
    #[serde(default)]
    #[schemars(extend("default" = DEFAULT_RUN_TIMEOUT_SECONDS))]
    timeout_seconds: Given<Count>,
}

/// What is meant; nothing where a part could not be read, which is reported already.
pub(super) fn meaning(written: &WrittenCheck) -> Option<Check> {
    let text = |at: &At<String>| at.value.clone();
    written.read(
        text,
        |list| list.value.as_ref()?.iter().map(text).collect(),
        |run| run.value.as_ref()?.meaning(),
    )
}

/// Where what it needs is written; for a bare word, nowhere.
pub(super) fn value_span(written: &WrittenCheck) -> Option<std::ops::Range<usize>> {
    match written {
        Check::RequiredHeadings(list) => Some(list.span.clone()),
        Check::RequiredPattern(at) | Check::ForbiddenPattern(at) => Some(at.span.clone()),
        Check::Run(run) => Some(run.span.clone()),
        _ => None,
    }
}

impl WrittenRun {
    fn meaning(&self) -> Option<RunCheck> {
        let Self(RunKeys { command, exit_code, timeout_seconds }) = self;
        let exit_code = match &exit_code.0 {
            Some(at) => at.value?.get().cast_signed(),
            None => 0,
        };
        let timeout_seconds = match &timeout_seconds.0 {
            Some(at) => at.value?.get().into(),
            None => DEFAULT_RUN_TIMEOUT_SECONDS,
        };
        Some(RunCheck { command: command.clone(), exit_code, timeout_seconds })
    }
}

impl<'de> Deserialize<'de> for WrittenRun {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RunVisitor)
    }
}

struct RunVisitor;

impl<'de> Visitor<'de> for RunVisitor {
    type Value = WrittenRun;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command or a mapping with `command`")
    }

    fn visit_str<E: Error>(self, command: &str) -> Result<WrittenRun, E> {
        let command = command.to_owned();
        Ok(WrittenRun(RunKeys { command, exit_code: Given(None), timeout_seconds: Given(None) }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenRun, A::Error> {
        RunKeys::deserialize(MapAccessDeserializer::new(map)).map(WrittenRun)
    }
}

impl JsonSchema for WrittenRun {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RunOrCommand".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let keys = generator.subschema_for::<RunKeys>();
        json_schema!({ "anyOf": [{ "type": "string", "minLength": 1 }, keys] })
    }
}
