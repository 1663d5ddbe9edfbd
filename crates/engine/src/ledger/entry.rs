//! Events as they are stored, and reading them back: each is checked against the chain before it is believed.

use super::chain;
use super::projection::Row;
use super::{LedgerError, Stored};
use countersign_core::ids::ReviewId;
use countersign_core::review::{Event, Review, apply};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

/// One recorded event.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number in the ledger, from 1 and without gaps.
    pub seq: u64,
    /// The review it belongs to.
    pub review: ReviewId,
    /// Its number in the review, from 1 and without gaps.
    pub n: u64,
    /// When it was recorded.
    pub at_ms: i64,
    /// What happened.
    pub event: Event,
}

/// An event as the table has it, with the hash of the one before it.
pub(super) struct Line {
    pub(super) seq: u64,
    pub(super) stream: String,
    pub(super) n: i64,
    pub(super) at_ms: i64,
    pub(super) kind: String,
    pub(super) body: String,
    pub(super) chain: Vec<u8>,
    previous: Option<Vec<u8>>,
}

/// The columns of a [`Line`]; `p` is the event before `e`.
macro_rules! lines {
    ($rest:literal) => {
        concat!(
            "SELECT e.seq, e.stream, e.n, e.at_ms, e.kind, e.body, e.chain, p.chain AS previous ",
            "FROM events e LEFT JOIN events p ON p.seq = e.seq - 1 ",
            $rest
        )
    };
}
pub(super) use lines;

impl Line {
    pub(super) fn read(row: &SqliteRow) -> Result<Self, LedgerError> {
        Ok(Self {
            seq: number(row, "seq")?,
            stream: row.try_get("stream")?,
            n: row.try_get("n")?,
            at_ms: row.try_get("at_ms")?,
            kind: row.try_get("kind")?,
            body: row.try_get("body")?,
            chain: row.try_get("chain")?,
            previous: row.try_get("previous")?,
        })
    }

    /// Whether it still is what was recorded.
    pub(super) fn check(&self) -> Result<(), LedgerError> {
        let tampered = LedgerError::Tampered { seq: self.seq };
        let previous: &[u8] = match &self.previous {
            Some(previous) => previous,
            None if self.seq == 1 => &chain::START,
            None => return Err(tampered),
        };
        let link = chain::link(previous, &self.stream, self.n, self.at_ms, &self.kind, &self.body);
        if self.chain == link { Ok(()) } else { Err(tampered) }
    }

    /// What happened, after a look at the chain.
    pub(super) fn event(&self) -> Result<Event, LedgerError> {
        self.check()?;
        match serde_json::from_str::<Event>(&self.body) {
            Ok(event) if event.kind() == self.kind => Ok(event),
            _ => Err(LedgerError::UnknownEvent { seq: self.seq, kind: self.kind.clone() }),
        }
    }

    pub(super) fn entry(self) -> Result<Entry, LedgerError> {
        let event = self.event()?;
        let Ok(n) = u64::try_from(self.n) else { return Err(LedgerError::Tampered { seq: self.seq }) };
        let review = ReviewId::from_text(self.stream);
        Ok(Entry { seq: self.seq, review, n, at_ms: self.at_ms, event })
    }
}

/// A column that counts something.
pub(super) fn number(row: &SqliteRow, column: &str) -> Result<u64, LedgerError> {
    let value: i64 = row.try_get(column)?;
    u64::try_from(value).map_err(|_| LedgerError::Corrupt(format!("{column} is {value}")))
}

/// The fold of a stream; none where it has no events.
pub(super) async fn load(
    connection: &mut SqliteConnection,
    id: &ReviewId,
) -> Result<Option<Stored>, LedgerError> {
    // The row comes along, so that both are of the same moment.
    const SQL: &str = concat!(
        "SELECT e.seq, e.stream, e.n, e.at_ms, e.kind, e.body, e.chain, p.chain AS previous, ",
        "r.n AS known, r.holder FROM events e LEFT JOIN events p ON p.seq = e.seq - 1 ",
        "LEFT JOIN reviews r ON r.id = e.stream WHERE e.stream = $1 ORDER BY e.n"
    );
    let rows = sqlx::query(SQL).bind(id.as_str()).fetch_all(connection).await?;
    let Some(last) = rows.last() else { return Ok(None) };
    let (known, holder): (Option<i64>, Option<String>) = (last.try_get("known")?, last.try_get("holder")?);
    let mut fold = Fold::new(id.clone());
    for row in &rows {
        fold.add(&Line::read(row)?)?;
    }
    let stored = Stored { holder, ..fold.stored };
    // The last event of a stream has no follower that would miss it; the row does.
    if known != i64::try_from(stored.n).ok() {
        return Err(LedgerError::Mismatch { review: id.to_string() });
    }
    Ok(Some(stored))
}

/// Folds the lines of one stream, in order.
pub(super) struct Fold {
    stored: Stored,
    opened_seq: u64,
}

impl Fold {
    pub(super) fn new(id: ReviewId) -> Self {
        Self { stored: Stored::unopened(id), opened_seq: 0 }
    }

    pub(super) fn add(&mut self, line: &Line) -> Result<(), LedgerError> {
        let event = line.event()?;
        let stored = &mut self.stored;
        if u64::try_from(line.n).ok() != Some(stored.n + 1) {
            return Err(LedgerError::Tampered { seq: line.seq });
        }
        stored.record(&event, line.at_ms);
        if stored.n == 1 {
            self.opened_seq = line.seq;
        }
        Ok(())
    }

    /// The row the review must have.
    pub(super) fn row(&self) -> Row {
        Row::of(&self.stored, self.opened_seq)
    }
}

impl Stored {
    /// A review of which nothing is recorded yet.
    pub fn unopened(id: ReviewId) -> Self {
        Self { review: Review::unopened(id), n: 0, holder: None, opened_ms: 0, changed_ms: 0 }
    }

    /// Takes in one more event.
    pub(crate) fn record(&mut self, event: &Event, at_ms: i64) {
        self.review = apply(std::mem::take(&mut self.review), event);
        self.n += 1;
        self.changed_ms = at_ms;
        if self.n == 1 {
            self.opened_ms = at_ms;
        }
    }
}
