//! Looking through the whole ledger: the chain without a gap, and every row as its events say. It reads page
//! by page, so that a ledger of any size fits.

use super::LedgerError;
use super::entry::{Fold, Line, lines};
use super::projection::Row;
use countersign_core::ids::ReviewId;
use sqlx::{Row as _, SqliteConnection};
use std::collections::VecDeque;

/// How many events or rows are in memory at once, beside one review.
const PAGE_ROWS: u32 = 256;

/// Checks everything; returns how many events there are.
pub(super) async fn all(connection: &mut SqliteConnection) -> Result<u64, LedgerError> {
    // One state of the file throughout, whatever others write meanwhile.
    sqlx::raw_sql("BEGIN").execute(&mut *connection).await?;
    let events = chain(connection).await?;
    folds(connection).await?;
    sqlx::raw_sql("COMMIT").execute(connection).await?;
    Ok(events)
}

async fn chain(connection: &mut SqliteConnection) -> Result<u64, LedgerError> {
    const SQL: &str = lines!("WHERE e.seq > $1 ORDER BY e.seq LIMIT $2");
    // SQLite remembers the highest number it ever gave out: an end that was cut off is seen by it.
    const GIVEN: &str = "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'events'";
    let mut last: u64 = 0;
    loop {
        let page =
            sqlx::query(SQL).bind(last.cast_signed()).bind(PAGE_ROWS).fetch_all(&mut *connection).await?;
        if page.is_empty() {
            break;
        }
        for row in &page {
            let line = Line::read(row)?;
            if line.seq != last + 1 {
                return Err(LedgerError::Tampered { seq: last + 1 });
            }
            line.check()?;
            last = line.seq;
        }
    }
    let given: i64 = sqlx::query_scalar(GIVEN).fetch_one(connection).await?;
    if given.cast_unsigned() == last { Ok(last) } else { Err(LedgerError::Tampered { seq: last + 1 }) }
}

/// Folds every stream and compares it with its row. Both come in the order of their ids.
async fn folds(connection: &mut SqliteConnection) -> Result<(), LedgerError> {
    const SQL: &str = lines!("WHERE (e.stream, e.n) > ($1, $2) ORDER BY e.stream, e.n LIMIT $3");
    let mut rows = Rows::default();
    let mut fold: Option<Fold> = None;
    let mut last = (String::new(), i64::MIN);
    loop {
        let query = sqlx::query(SQL).bind(last.0.as_str()).bind(last.1).bind(PAGE_ROWS);
        let page = query.fetch_all(&mut *connection).await?;
        for row in &page {
            let line = Line::read(row)?;
            if line.stream != last.0 {
                rows.compare(connection, fold.take()).await?;
                // Doors keep streams of their own; those have no row.
                let is_review = line.stream.starts_with(ReviewId::PREFIX);
                fold = is_review.then(|| Fold::new(ReviewId::from_text(line.stream.as_str())));
            }
            if let Some(fold) = &mut fold {
                fold.add(&line)?;
            }
            last = (line.stream, line.n);
        }
        if page.is_empty() {
            break;
        }
    }
    rows.compare(connection, fold).await?;
    match rows.next(connection).await? {
        None => Ok(()),
        Some(row) => Err(LedgerError::Mismatch { review: row.id.to_string() }),
    }
}

/// The rows of all reviews, in the order of their ids.
#[derive(Default)]
struct Rows {
    page: VecDeque<Row>,
    last: String,
}

impl Rows {
    async fn next(&mut self, connection: &mut SqliteConnection) -> Result<Option<Row>, LedgerError> {
        const SQL: &str = "SELECT * FROM reviews WHERE id > $1 ORDER BY id LIMIT $2";
        if self.page.is_empty() {
            let query = sqlx::query(SQL).bind(self.last.as_str()).bind(PAGE_ROWS);
            for row in query.fetch_all(connection).await? {
                let door: String = row.try_get("door")?;
                let row = Row::read(&row)?;
                self.last = row.id.to_string();
                if row.subject.door() != door {
                    return Err(LedgerError::Mismatch { review: self.last.clone() });
                }
                self.page.push_back(row);
            }
        }
        Ok(self.page.pop_front())
    }

    /// Whether the next row is the one of this fold. Who holds a review is no event.
    async fn compare(
        &mut self,
        connection: &mut SqliteConnection,
        fold: Option<Fold>,
    ) -> Result<(), LedgerError> {
        let Some(fold) = fold else { return Ok(()) };
        let expected = fold.row();
        match self.next(connection).await? {
            Some(row) if (Row { holder: None, ..row.clone() }) == expected => Ok(()),
            _ => Err(LedgerError::Mismatch { review: expected.id.to_string() }),
        }
    }
}
