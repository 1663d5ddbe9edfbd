//! Rulings that stand beyond their review: an index from a key to the event that answered it. What failures stand on
//! beyond their key is in `failures`.

use super::entry::Line;
use super::store::Session;
use super::{LedgerError, Result, failures};
use countersign_core::digest::{Digest, Key};
use countersign_core::ids::ReviewId;
use countersign_core::plan::{Candidate, Reuse};
use countersign_core::review::{By, Event, Known, Review};

/// Points the key of an answer to its event, where the answer may stand beyond its review.
pub(super) async fn index(session: &mut Session, review: &Review, n: u64, event: &Event) -> Result<()> {
    failures::index(session, review, n, event).await?;
    let Event::Answered { round, key, answer, by, place } = event else { return Ok(()) };
    if !matches!(by, By::Call { .. } | By::Disputed { .. }) {
        return Ok(());
    }
    let candidate = candidate(review, *round, key);
    if candidate.is_none_or(|candidate| candidate.reuse != Reuse::Anywhere) {
        return Ok(());
    }
    let under = under(key, place.as_ref());
    // A pass never takes the place of a failure, nor of what a dispute left; only a dispute does.
    let may_stay = !answer.fails() && matches!(by, By::Call { .. });
    if may_stay
        && found(session, std::slice::from_ref(&under)).await?.iter().any(|(known, _)| known.is_final())
    {
        return Ok(());
    }
    session.put_ruling(&under, review.id.as_str(), n).await
}

fn candidate<'a>(review: &'a Review, round: u32, key: &Key) -> Option<&'a Candidate> {
    let round = review.rounds.iter().find(|known| known.n == round)?;
    round.asking(key).find_map(|(_, assignment)| assignment.candidate(key))
}

/// The index entry of a ruling: its key, and the mark of the place where it was asked.
fn under(key: &Key, place: Option<&Digest>) -> String {
    match place {
        Some(mark) => format!("{key}@{mark}"),
        None => key.to_string(),
    }
}

/// The rulings of these candidates: failures, and what passed and is not too old.
pub(super) async fn look_up(
    session: &mut Session,
    candidates: impl IntoIterator<Item = &Candidate>,
    passed_since_ms: i64,
) -> Result<Vec<Known>> {
    let reusable = candidates.into_iter().filter(|candidate| candidate.reuse == Reuse::Anywhere);
    let wanted: Vec<String> =
        reusable.map(|candidate| under(&candidate.key, candidate.place.as_ref())).collect();
    let found = found(session, &wanted).await?.into_iter();
    let stands = found.filter(|(known, at_ms)| known.is_final() || *at_ms >= passed_since_ms);
    Ok(stands.map(|(known, _)| known).collect())
}

/// The rulings these index entries point to, each with its time.
async fn found(session: &mut Session, wanted: &[String]) -> Result<Vec<(Known, i64)>> {
    let mut all = vec![];
    for (indexed, line) in session.rulings(wanted).await? {
        let known = known(&line)?.filter(|known| indexed == under(&known.key, known.place.as_ref()));
        // An index entry that points to another answer was not written by us.
        let known = known.ok_or(LedgerError::Tampered { seq: line.seq })?;
        all.push((known, line.at_ms));
    }
    Ok(all)
}

/// The answer of an event that may stand beyond its review.
pub(super) fn known(line: &Line) -> Result<Option<Known>> {
    let n = line.number()?;
    let Event::Answered { key, answer, by, place, .. } = line.event()? else { return Ok(None) };
    let disputed = matches!(by, By::Disputed { .. });
    let (By::Call { reviewer, .. } | By::Disputed { reviewer, .. }) = by else { return Ok(None) };
    let by = By::Reused { review: ReviewId::from_text(line.stream.as_str()), n, reviewer };
    Ok(Some(Known { key, answer, by, place, disputed }))
}
