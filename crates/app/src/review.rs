//! The parts of `countersign review`: base of a change, notes, subject, preview, and the answer about a round.

use crate::answer::v1::{Answer, Planned, Question, Verdict};
use crate::authority::FlagsFrom;
use crate::doors::{CLI, GATE};
use crate::excerpt::with_excerpts;
use crate::project::Project;
use crate::reader::Reader;
use crate::spent::Spent;
use crate::{Failure, author, change, gates, next, project};
use countersign_core::ids::Subject;
use countersign_core::outcome::Outcome;
use countersign_core::plan::{Assignment, ReviewerKind};
use countersign_core::text::visible_line;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, Planner, Prepared, Ticket, self_review_file};
use countersign_engine::git::{Git, GitError};
use countersign_engine::ledger::{Ledger, Stored};
use countersign_engine::{fresh, workspace};
use std::path::Path;

const NOTES_LIMIT_BYTES: u64 = 1024 * 1024;

/// The base of a change: the named commit, else the merge base of HEAD and the default branch. With `from_worktree` the
/// configuration of the worktree judges; only people may ask for this.
pub async fn base(flags: &Flags, named: Option<&str>, from_worktree: bool) -> Result<change::Base, Failure> {
    if from_worktree && author::is_agent() {
        return Err(Failure::usage(
            "--config-from worktree is only for people: a change must not choose its rules",
        )
        .hint("leave it out, or ask a person to run this"));
    }
    let (here, environment) = (project::current_folder()?, project::environment());
    change::base(here, flags, &environment, named, from_worktree).await
}

/// The commit at which HEAD left the named one.
pub async fn since(named: &str) -> Result<String, Failure> {
    let git = Git::at(&project::current_folder()?);
    let unknown = |words: String| Failure::usage(words).hint("name a commit, a branch or a tag");
    let shown = visible_line(named).into_owned();
    let failed = |error: GitError| Failure::usage(error.to_string());
    let commit = git.commit(named).await.map_err(failed)?;
    let commit = commit.ok_or_else(|| unknown(format!("--since: there is no commit `{shown}`")))?;
    let base = git.merge_base("HEAD", &commit).await.map_err(failed)?;
    base.ok_or_else(|| unknown(format!("--since: HEAD has no commit in common with `{shown}`")))
}

/// The base of what is staged: the named commit, else the last one.
pub async fn staged_base(flags: &Flags, named: Option<&str>) -> Result<change::Base, Failure> {
    let git = Git::at(&project::current_folder()?);
    let head = git.head().await.map_err(|error| Failure::usage(error.to_string()))?;
    base(flags, named.or(head.as_deref()), false).await
}

/// The base of a change for a gate.
pub async fn gate_base(flags: &Flags, named: Option<&str>) -> Result<change::Base, Failure> {
    change::gate_base(project::current_folder()?, flags, FlagsFrom::Caller, named).await
}

pub async fn notes(path: &Path) -> Result<String, Failure> {
    let read = workspace::read_notes(path, NOTES_LIMIT_BYTES).await;
    read.map_err(|error| Failure::usage(format!("the notes in `{}` cannot be read: {error}", path.display())))
}

/// The subject of this name; work without a name gets a subject of its own. A gate has its own reviews: one that a question
/// opened has the policy of its caller.
pub fn subject(name: Option<&str>, is_gate: bool) -> Result<Subject, Failure> {
    let door = if is_gate { GATE } else { CLI };
    match name {
        Some(name) if name.trim().is_empty() => Err(Failure::usage("--subject needs a name")),
        Some(name) => Ok(Subject::new(door, [name])),
        None => {
            let id = fresh::id().map_err(|error| Failure::internal(error.to_string()))?;
            Ok(Subject::new(door, [id.as_str()]))
        }
    }
}

pub async fn question(
    planner: &Planner,
    prepared: &Prepared,
    assignment: &Assignment,
    ledger: Option<&Ledger>,
) -> Result<Question, Failure> {
    let preview = planner.preview(prepared, assignment, ledger).await?;
    // Built-in checks have no prompt.
    let asked = assignment.candidates.first().is_none_or(|candidate| candidate.kind != ReviewerKind::Checks);
    Ok(Question {
        planned: Planned::of(&prepared.request.rules, assignment, &prepared.submission.files),
        timeout_seconds: preview.timeout_seconds,
        system_prompt: asked.then_some(preview.system_prompt),
        payload: asked.then_some(preview.payload),
        schema: asked.then(|| preview.shape.schema()),
        known: preview.known,
    })
}

/// The answer about a round that has ended. `again` says how to submit the same work again.
pub async fn answer(
    project: &Project,
    engine: &Engine,
    ticket: &Ticket,
    stored: &Stored,
    again: &str,
    mut warnings: Vec<String>,
) -> Result<Answer<Verdict>, Failure> {
    let outcome = ticket.outcome(stored);
    let mut next = next::steps(&stored.review, again, Reader::of_command());
    if outcome == Outcome::AwaitingPerson && stored.review.waits_for_self_review() {
        engine.renew_self_review(ticket).await?;
        next = next::self_review(&self_review_file(engine.ledger(), &ticket.review)?, &ticket.review);
    }
    let spent = Spent::of(engine.ledger(), &stored.review).await?;
    warnings.extend(kept_failures(ticket.kept_failures(stored)));
    let gates = gates::of(project, engine.ledger(), &stored.review)?;
    let verdict = Verdict { gates, ..Verdict::of(stored, spent, next) };
    let verdict = with_excerpts(project, engine.ledger(), stored, verdict).await?;
    Ok(Answer::new(Some(outcome), verdict).warned(warnings))
}

fn kept_failures(count: usize) -> Option<String> {
    let failures = match count {
        0 => return None,
        1 => "1 earlier failure is still valid".to_owned(),
        n => format!("{n} earlier failures are still valid"),
    };
    Some(format!(
        "{failures}: these files did not change, and --no-cache does not repeat failed questions. Change the files, or dispute a finding (countersign dispute FINDING --evidence TEXT)"
    ))
}
