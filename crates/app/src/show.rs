//! Shows one review.

use crate::answer::v1::{Answer, Stated, Verdict};
use crate::doors::DOORS;
use crate::excerpt::with_excerpts;
use crate::project::Project;
use crate::reader::Reader;
use crate::server_state::ReviewState;
use crate::spent::Spent;
use crate::{Failure, find, gates, next};
use countersign_engine::ledger::{Ledger, Stored};

/// The named review, or the one that was opened last.
pub async fn show(project: &Project, typed: Option<&str>) -> Result<Answer<Verdict>, Failure> {
    let Some(ledger) = project.existing_ledger().await? else { return Err(find::no_ledger()) };
    let id = match typed {
        Some(typed) => find::meant(project, &ledger, typed).await?,
        None => find::latest(&ledger).await?,
    };
    let Some(stored) = ledger.review(&id).await? else { return Err(find::not_found(id.as_str())) };
    let mut answer = shown(project, &ledger, &stored).await?;
    answer.own.gates = gates::of(project, &ledger, &stored.review)?;
    ledger.close().await;
    // The command succeeded, whatever the outcome of the review.
    Ok(answer.done())
}

/// A review as it is now. Outcome and exit code are those of the review, so only a pass reads as a pass.
pub async fn shown(project: &Project, ledger: &Ledger, stored: &Stored) -> Result<Answer<Verdict>, Failure> {
    let next = next::steps(&stored.review, DOORS.of(&stored.review.subject).again, Reader::of_command());
    let spent = Spent::of(ledger, &stored.review).await?;
    let verdict = with_excerpts(project, ledger, stored, Verdict::of(stored, spent, next)).await?;
    Ok(Answer::new(stored.review.standing(), verdict))
}

/// The same for callers of a server, with whether a process performs the review.
pub async fn stated(
    project: &Project,
    ledger: &Ledger,
    followed: &ReviewState,
) -> Result<Answer<Stated>, Failure> {
    let verdict = shown(project, ledger, &followed.stored).await?.own;
    let stated = Stated { state: followed.state, verdict };
    Ok(Answer::new(followed.stored.review.standing(), stated))
}
