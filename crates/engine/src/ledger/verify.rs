//! Checks the whole ledger: the chain without a gap, every verdict against the rulings recorded before it, and every
//! table against the events. The tables are computed once more by the functions that write them, beside those that are
//! kept, and then compared. It reads page by page, so that a ledger of any size fits.

use super::chain::Chain;
use super::entry::{Fold, Line, load_from};
use super::prune::{self, Pruning};
use super::store::{Lines, Rows, Session};
use super::{LedgerError, Result, calls, reused, rulings};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::review::{Event, follows};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// How many events are in memory at once.
const PAGE_ROWS: u32 = 256;
/// How many reviews are in memory at once: as many as are open at the same time.
const FOLDS_MAX: usize = 64;
/// How many rows of tables are named.
const DIFFERENCES_MAX: u32 = 10;

/// Hears how many events of how many are checked.
pub(super) type Tell<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

/// Checks everything in a snapshot; returns how many events there are.
pub(super) async fn all(mut session: Session, tell: Tell<'_>) -> Result<u64> {
    let events = in_order(&mut session, tell).await?;
    session.commit().await?;
    Ok(events)
}

/// The same within a session, which keeps the computed tables beside those of the ledger.
pub(super) async fn in_order(session: &mut Session, tell: Tell<'_>) -> Result<u64> {
    let (events, differences) = compared(session, tell, DIFFERENCES_MAX).await?;
    if differences.is_empty() { Ok(events) } else { Err(LedgerError::Differs(differences)) }
}

/// Checks chain and verdicts, and says where tables differ from the events.
pub(super) async fn compared(
    session: &mut Session,
    tell: Tell<'_>,
    limit: u32,
) -> Result<(u64, Vec<String>)> {
    let highest = session.highest().await?;
    // Both halves read all events once.
    let (events, prunings) = chain(session, &mut |done, all| tell(done / 2, all)).await?;
    let mut differences = pruned_rows(session, &prunings).await?;
    replay(session, &mut |done, all| tell(highest / 2 + done / 2, all)).await?;
    differences.extend(session.differences(limit).await?);
    differences.truncate(limit as usize);
    tell(highest, highest);
    Ok((events, differences))
}

async fn chain(session: &mut Session, tell: Tell<'_>) -> Result<(u64, BTreeMap<u64, Pruning>)> {
    let highest = session.highest().await?;
    let mut chain = Chain::default();
    loop {
        let page = session.lines(Lines::After(chain.last()), PAGE_ROWS).await?;
        if page.is_empty() {
            break;
        }
        page.iter().try_for_each(|line| chain.add(line))?;
        tell(chain.last(), highest);
    }
    let last = chain.last();
    if last != highest {
        return Err(LedgerError::Tampered { seq: last + 1 });
    }
    Ok((last, chain.end()?))
}

/// Holds the rows of pruned reviews against what was recorded when they were pruned.
async fn pruned_rows(session: &mut Session, prunings: &BTreeMap<u64, Pruning>) -> Result<Vec<String>> {
    let mut expected: BTreeMap<&str, (u64, &Digest)> = BTreeMap::new();
    for (seq, pruning) in prunings {
        expected.extend(pruning.reviews.iter().map(|(id, digest)| (id.as_str(), (*seq, digest))));
    }
    let (mut differences, mut last) = (vec![], String::new());
    loop {
        let page = session.rows(Rows::ById(&last, PAGE_ROWS)).await?;
        let Some(end) = page.last() else { break };
        last = end.id.to_string();
        for row in page {
            let recorded = expected.remove(row.id.as_str());
            let is_same = match (row.pruned, recorded) {
                (None, None) => true,
                (Some(seq), Some((recorded, digest))) => {
                    seq == recorded && prune::rest(session, &row).await? == *digest
                }
                _ => false,
            };
            if !is_same {
                differences.push(format!(
                    "reviews: the row of {}, which was pruned, or its calls were changed",
                    row.id
                ));
            }
        }
    }
    differences
        .extend(expected.keys().map(|id| format!("reviews: the row of {id}, which was pruned, is missing")));
    Ok(differences)
}

/// Computes the tables from all events, in the order they were recorded, and holds every verdict against its rulings.
pub(super) async fn replay(session: &mut Session, tell: Tell<'_>) -> Result<()> {
    session.begin_shadow().await?;
    let highest = session.highest().await?;
    let (mut folds, mut pruned, mut last) = (Folds::default(), HashSet::new(), 0);
    loop {
        let mut page = session.lines(Lines::ReviewsAfter(last), PAGE_ROWS).await?;
        let Some(end) = page.last() else { break };
        last = end.seq;
        pruned.extend(page.iter().filter(|line| line.is_pruned()).map(|line| line.stream.clone()));
        page.retain(|line| !pruned.contains(&line.stream));
        let events = reused::events(session, &page).await?;
        for (line, event) in page.iter().zip(&events) {
            record(session, &mut folds, line, event).await?;
        }
        tell(last, highest);
    }
    folds.end(session).await
}

async fn record(session: &mut Session, folds: &mut Folds, line: &Line, event: &Event) -> Result<()> {
    let n = line.number()?;
    let mut fold = folds.before(session, line, n).await?;
    if !follows(fold.review(), event) {
        return Err(LedgerError::NotItsRulings { review: line.stream.clone(), n });
    }
    fold.add(line, event)?;
    rulings::index(session, fold.review(), n, event).await?;
    calls::follow(session, fold.review(), std::slice::from_ref(event), line.at_ms).await?;
    folds.keep(session, fold).await
}

/// Reviews as far as their events were read, those of which an event was read last.
#[derive(Default)]
struct Folds {
    known: HashMap<String, Fold>,
    /// The one that was used longest ago first.
    order: VecDeque<String>,
}

impl Folds {
    /// The review of an event before it.
    async fn before(&mut self, session: &mut Session, line: &Line, n: u64) -> Result<Fold> {
        if let Some(known) = self.known.remove(&line.stream) {
            self.order.retain(|stream| *stream != line.stream);
            return Ok(known);
        }
        let id = ReviewId::from_text(line.stream.as_str());
        let before = u32::try_from(n.saturating_sub(1)).unwrap_or(u32::MAX);
        let lines = match before {
            0 => vec![],
            before => session.lines(Lines::Stream(&line.stream, 0), before).await?,
        };
        load_from(session, id, &lines).await
    }

    async fn keep(&mut self, session: &mut Session, fold: Fold) -> Result<()> {
        let stream = fold.review().id.to_string();
        self.order.push_back(stream.clone());
        self.known.insert(stream, fold);
        match self.order.len() > FOLDS_MAX {
            true => self.end_first(session).await,
            false => Ok(()),
        }
    }

    async fn end_first(&mut self, session: &mut Session) -> Result<()> {
        let first = self.order.pop_front().and_then(|stream| self.known.remove(&stream));
        match first {
            Some(fold) => session.put_row(&fold.row()).await,
            None => Ok(()),
        }
    }

    async fn end(mut self, session: &mut Session) -> Result<()> {
        while !self.order.is_empty() {
            self.end_first(session).await?;
        }
        Ok(())
    }
}
