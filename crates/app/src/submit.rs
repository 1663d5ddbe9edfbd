//! Work that clients submit to a server, by MCP or HTTP: files or a change, with criteria or the project's rules. The doc
//! comments of the arguments are part of the tools' schemas.

use crate::Failure;
use crate::arguments::{at_most, bad_argument, filled};
use crate::project::Project;
use crate::review_request::{Narrowed, ReviewRequest, Words};
use crate::server_state::ServerState;
use countersign_core::criterion::{Criterion, Severity};
use countersign_core::digest::Parts;
use countersign_core::ids::Subject;
use countersign_core::review::Route;
use countersign_engine::engine::{Engine, Prepared};
use countersign_engine::ledger::Stored;
use countersign_engine::programs::Vendor;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;

pub const NAME_MAX_BYTES: usize = 200;
const FILES_MAX: usize = 10_000;
const CRITERIA_MAX: usize = 100;
const PATH_MAX_BYTES: usize = 4096;
const QUESTION_MAX_BYTES: usize = 16 * 1024;
const GUIDANCE_MAX_BYTES: usize = 64 * 1024;

/// Work to submit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Submit {
    /// Files and folders to judge, relative to the served folder. They must be inside the project.
    #[schemars(length(max = FILES_MAX))]
    files: Option<Vec<String>>,
    /// Judge everything that changed, instead of files: {} for all since the default branch.
    change: Option<Since>,
    /// What to judge by, instead of the rules of countersign.yml. Needs `files` or `change`.
    #[schemars(length(max = CRITERIA_MAX))]
    criteria: Option<Vec<Question>>,
    /// A name of the task that stays the same over retries. Makes it a loop with counted attempts.
    #[schemars(length(min = 1, max = NAME_MAX_BYTES))]
    subject: Option<String>,
    /// What reviewers should know about this piece of work: decisions, what was left out and why. Part of what is judged.
    notes: Option<String>,
    /// With `criteria`: background for the reviewer, such as conventions to hold the work against.
    #[schemars(length(max = GUIDANCE_MAX_BYTES))]
    guidance: Option<String>,
    /// With `criteria`: ask about each file on its own instead of all together.
    each_file: Option<bool>,
}

/// What a change is against.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Since {
    /// The commit to compare with, instead of where HEAD left the default branch.
    #[schemars(length(min = 1, max = NAME_MAX_BYTES))]
    base: Option<String>,
}

/// A criterion.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// A short name, such as "Complete".
    #[schemars(length(min = 1, max = NAME_MAX_BYTES))]
    name: String,
    /// The question a reviewer answers with pass or fail, such as "Is every step spelled out?".
    #[schemars(length(min = 1, max = QUESTION_MAX_BYTES))]
    ask: String,
    /// How much it weighs: `must` and `should` block, `may` is advice. `must` unless given.
    severity: Option<Weight>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Weight {
    Must,
    Should,
    May,
}

pub struct SubmittedWork {
    /// The review as it stood right afterwards.
    pub stored: Stored,
    pub round: u32,
    pub attached: bool,
    pub warnings: Vec<String>,
    pub engine: Engine,
}

/// Submits work and performs its review in the background. `author` is the vendor of the model that wrote it, if known;
/// `door` is the first part of the subject.
pub async fn hand_in(
    resident: &ServerState,
    mut given: Submit,
    author: Option<Vendor>,
    door: &str,
) -> Result<SubmittedWork, Failure> {
    let since = given.change.take();
    let mut wanted = given.wanted(since.as_ref(), door)?;
    let is_loop = wanted.is_loop;
    let mut warnings = vec![];
    let mut project = match since {
        None => resident.project()?,
        Some(since) => {
            let base = resident.base(since.base.as_deref()).await?;
            wanted.change = Some(base.change(&base.project, &mut warnings).await?);
            base.project
        }
    };
    project.author = author.or(project.author);
    let engine = resident.engine(&project).await?;
    let mut prepared = wanted.prepare(&project, engine.planner(), &mut warnings).await?;
    if !is_loop {
        prepared.request.subject = unnamed(&project, &prepared, door);
    }
    let ticket = engine.submit(prepared).await?;
    let (review, round, attached) = (ticket.review.clone(), ticket.round, ticket.route == Route::Attach);
    resident.perform(&engine, ticket);
    let stored = engine.get(&review).await?;
    Ok(SubmittedWork { stored, round, attached, warnings, engine })
}

impl Submit {
    fn wanted(self, since: Option<&Since>, door: &str) -> Result<ReviewRequest, Failure> {
        let (files, criteria) = (self.files.unwrap_or_default(), self.criteria.unwrap_or_default());
        at_most("files", files.len(), FILES_MAX, "entries")?;
        at_most("criteria", criteria.len(), CRITERIA_MAX, "entries")?;
        for (n, file) in files.iter().enumerate() {
            filled(&format!("files[{n}]"), file, PATH_MAX_BYTES)?;
        }
        if since.is_some() && !files.is_empty() {
            return Err(bad_argument("use either `files` or `change`, not both"));
        }
        if let Some(base) = since.and_then(|since| since.base.as_ref()) {
            filled("change.base", base, NAME_MAX_BYTES)?;
        }
        if let Some(subject) = &self.subject {
            filled("subject", subject, NAME_MAX_BYTES)?;
        }
        let guidance_bytes = self.guidance.as_ref().map_or(0, String::len);
        at_most("guidance", guidance_bytes, GUIDANCE_MAX_BYTES, "bytes")?;
        if criteria.is_empty() && (self.guidance.is_some() || self.each_file == Some(true)) {
            return Err(bad_argument("`guidance` and `each_file` can be used only together with `criteria`"));
        }
        let criteria = criteria.into_iter().enumerate().map(|(n, question)| question.criterion(n));
        Ok(ReviewRequest {
            paths: files.into_iter().map(PathBuf::from).collect(),
            change: None,
            criteria: criteria.collect::<Result<_, _>>()?,
            each_file: self.each_file.unwrap_or(false),
            narrowed: Narrowed::default(),
            guidance: self.guidance,
            notes: self.notes,
            is_loop: self.subject.is_some(),
            subject: Subject::new(door, [self.subject.as_deref().unwrap_or_default().trim()]),
            fresh: false,
            words: Words { criteria: "`criteria`", criteria_example: "`criteria`", paths: "`files`" },
        })
    }
}

impl Question {
    fn criterion(self, n: usize) -> Result<Criterion, Failure> {
        filled(&format!("criteria[{n}].name"), &self.name, NAME_MAX_BYTES)?;
        filled(&format!("criteria[{n}].ask"), &self.ask, QUESTION_MAX_BYTES)?;
        let severity = match self.severity.unwrap_or(Weight::Must) {
            Weight::Must => Severity::Must,
            Weight::Should => Severity::Should,
            Weight::May => Severity::May,
        };
        Ok(Criterion { severity, ..Criterion::must(self.name.trim(), self.ask.trim()) })
    }
}

/// The subject of work without a name is a digest of the work: so a repeated call joins the running review.
fn unnamed(project: &Project, prepared: &Prepared, door: &str) -> Subject {
    let request = &prepared.request;
    let mut parts = Parts::new("mcp subject");
    parts.text(&project.root.path().to_string_lossy());
    for part in [json!(request.rules), json!(request.notes), json!(request.files)] {
        parts.text(&part.to_string());
    }
    if let Some(change) = &prepared.submission.change {
        parts.maybe(change.base.as_deref());
    }
    Subject::new(door, [parts.digest().short()])
}
