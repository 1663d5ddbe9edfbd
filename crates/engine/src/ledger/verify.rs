//! Checks the whole ledger: the chain without a gap, every row as its events say, and that failures are still found. It reads page by page, so that a
//! ledger of any size fits.

use super::entry::Fold;
use super::projection::Row;
use super::store::{self, Lines, Session};
use super::{LedgerError, Result, failures};
use countersign_core::ids::ReviewId;
use countersign_core::review::Event;
use std::collections::VecDeque;

/// How many events or rows are in memory at once.
const PAGE_ROWS: u32 = 256;

/// Checks everything in a snapshot; returns how many events there are.
pub(super) async fn all(mut session: Session) -> Result<u64> {
    let events = chain(&mut session).await?;
    folds(&mut session).await?;
    session.commit().await?;
    Ok(events)
}

async fn chain(session: &mut Session) -> Result<u64> {
    let mut last: u64 = 0;
    loop {
        let page = session.lines(Lines::After(last), PAGE_ROWS).await?;
        if page.is_empty() {
            break;
        }
        for line in page {
            if line.seq != last + 1 {
                return Err(LedgerError::Tampered { seq: last + 1 });
            }
            line.check()?;
            last = line.seq;
        }
    }
    if session.highest().await? == last { Ok(last) } else { Err(LedgerError::Tampered { seq: last + 1 }) }
}

/// Folds every stream and compares it with its row. Both come in the order of their ids.
async fn folds(session: &mut Session) -> Result<()> {
    let mut rows = Rows { is_indexed: session.has_failures_indexed().await?, ..Rows::default() };
    let mut fold: Option<(Fold, Vec<Event>)> = None;
    let mut last = (String::new(), i64::MIN);
    loop {
        let page = session.lines(Lines::ByStream(&last.0, last.1), PAGE_ROWS).await?;
        if page.is_empty() {
            break;
        }
        for line in page {
            if line.stream != last.0 {
                rows.compare(session, fold.take()).await?;
                // Doors keep streams of their own; those have no row.
                let is_review = line.stream.starts_with(ReviewId::PREFIX);
                fold = is_review.then(|| (Fold::new(ReviewId::from_text(line.stream.as_str())), vec![]));
            }
            if let Some((fold, answers)) = &mut fold {
                fold.add(&line)?;
                answers.extend(Some(line.event()?).filter(failures::may_stand));
            }
            last = (line.stream, line.n);
        }
    }
    rows.compare(session, fold).await?;
    match rows.next(session).await? {
        None => Ok(()),
        Some(row) => Err(LedgerError::Mismatch(row.id.to_string())),
    }
}

/// The rows of all reviews, in the order of their ids.
#[derive(Default)]
struct Rows {
    page: VecDeque<Row>,
    last: String,
    /// Whether failures are indexed; an earlier version did not do that.
    is_indexed: bool,
}

impl Rows {
    async fn next(&mut self, session: &mut Session) -> Result<Option<Row>> {
        if self.page.is_empty() {
            self.page = session.rows(store::Rows::ById(&self.last, PAGE_ROWS)).await?.into();
            if let Some(row) = self.page.back() {
                self.last = row.id.to_string();
            }
        }
        Ok(self.page.pop_front())
    }

    /// Whether the next row is the one of this fold. Who holds a review is no event.
    async fn compare(&mut self, session: &mut Session, fold: Option<(Fold, Vec<Event>)>) -> Result<()> {
        let Some((fold, answers)) = fold else { return Ok(()) };
        let expected = fold.row();
        match self.next(session).await? {
            Some(row) if (Row { holder: None, ..row.clone() }) == expected => {}
            _ => return Err(LedgerError::Mismatch(expected.id.to_string())),
        }
        match self.is_indexed {
            true => failures::verify(session, &fold.review(), &answers).await,
            false => Ok(()),
        }
    }
}
