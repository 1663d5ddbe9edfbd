//! The quick view: one row per review, always computed from the folded review and written with its events.

use super::entry::number;
use super::{Filter, LedgerError, Stored};
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::{NoVerdict, Outcome, Settlement};
use countersign_core::review::State;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

/// What is known of a review without reading its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The review.
    pub id: ReviewId,
    /// The number of its first event in the ledger: reviews are listed in this order, newest first.
    pub opened_seq: u64,
    /// How many events it has.
    pub n: u64,
    /// What it is about.
    pub subject: Subject,
    /// Where it stands.
    pub state: State,
    /// The outcome a caller is told now; none while a round is under way.
    pub standing: Option<Outcome>,
    /// The number of its last round.
    pub round: u32,
    /// Rounds that ended in needs work since it was opened or lifted.
    pub attempts: u32,
    /// The digest of what was handed in last.
    pub digest: Option<Digest>,
    /// The process that does what is due.
    pub holder: Option<String>,
    /// When it was opened.
    pub opened_ms: i64,
    /// When its last event was recorded.
    pub changed_ms: i64,
}

/// How many reviews stand alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Where they stand.
    pub state: State,
    /// The outcome a caller is told now.
    pub standing: Option<Outcome>,
    /// How many.
    pub reviews: u64,
}

impl Row {
    /// What the row of a folded review must be.
    pub(super) fn of(stored: &Stored, opened_seq: u64) -> Self {
        let review = &stored.review;
        Self {
            id: review.id.clone(),
            opened_seq,
            n: stored.n,
            subject: review.subject.clone(),
            state: review.state,
            standing: review.standing(),
            round: review.round().map_or(0, |round| round.n),
            attempts: review.attempts,
            digest: review.digest().cloned(),
            holder: stored.holder.clone(),
            opened_ms: stored.opened_ms,
            changed_ms: stored.changed_ms,
        }
    }

    pub(super) fn read(row: &SqliteRow) -> Result<Self, LedgerError> {
        let id: String = row.try_get("id")?;
        let (state, standing) = state(row).ok_or(LedgerError::Mismatch { review: id.clone() })?;
        let digest: Option<String> = row.try_get("digest")?;
        Ok(Self {
            id: ReviewId::from_text(id),
            opened_seq: number(row, "opened_seq")?,
            n: number(row, "n")?,
            subject: Subject::from_text(row.try_get::<String, _>("subject")?),
            state,
            standing,
            round: row.try_get("round")?,
            attempts: row.try_get("attempts")?,
            digest: digest.and_then(|hex| blake3::Hash::from_hex(hex).ok()).map(Digest::from_hash),
            holder: row.try_get("holder")?,
            opened_ms: row.try_get("opened_ms")?,
            changed_ms: row.try_get("changed_ms")?,
        })
    }
}

/// Writes the row of a review. `opened_seq` counts only where there is no row yet.
pub(super) async fn write(connection: &mut SqliteConnection, row: &Row) -> Result<(), LedgerError> {
    const SQL: &str = "
        INSERT INTO reviews (opened_seq, id, n, subject, door, state, outcome, round, attempts, digest,
                             opened_ms, changed_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (id) DO UPDATE SET n = excluded.n, subject = excluded.subject, door = excluded.door,
            state = excluded.state, outcome = excluded.outcome, round = excluded.round,
            attempts = excluded.attempts, digest = excluded.digest, changed_ms = excluded.changed_ms";
    sqlx::query(SQL)
        .bind(row.opened_seq.cast_signed())
        .bind(row.id.as_str())
        .bind(row.n.cast_signed())
        .bind(row.subject.as_str())
        .bind(row.subject.door())
        .bind(state_text(row.state))
        .bind(row.standing.map(outcome_text))
        .bind(row.round)
        .bind(row.attempts)
        .bind(row.digest.as_ref().map(Digest::as_str))
        .bind(row.opened_ms)
        .bind(row.changed_ms)
        .execute(connection)
        .await?;
    Ok(())
}

/// How many events a review has and who does what is due.
pub(super) async fn head(
    connection: &mut SqliteConnection,
    id: &ReviewId,
) -> Result<Option<(u64, Option<String>)>, LedgerError> {
    const SQL: &str = "SELECT n, holder FROM reviews WHERE id = $1";
    let row = sqlx::query(SQL).bind(id.as_str()).fetch_optional(connection).await?;
    row.map(|row| Ok((number(&row, "n")?, row.try_get("holder")?))).transpose()
}

/// The latest review of a subject.
pub(super) async fn latest_for(
    connection: &mut SqliteConnection,
    subject: &Subject,
) -> Result<Option<ReviewId>, LedgerError> {
    const SQL: &str = "SELECT id FROM reviews WHERE subject = $1 ORDER BY opened_seq DESC LIMIT 1";
    let id: Option<String> =
        sqlx::query_scalar(SQL).bind(subject.as_str()).fetch_optional(connection).await?;
    Ok(id.map(ReviewId::from_text))
}

/// The subjects of a door whose last part this is.
pub(super) async fn subjects_of(
    connection: &mut SqliteConnection,
    door: &str,
    last: &str,
    limit: u32,
) -> Result<Vec<Subject>, LedgerError> {
    const SQL: &str = "SELECT DISTINCT subject FROM reviews
        WHERE door = $1 AND substr(subject, -length($2)) = $2 ORDER BY subject LIMIT $3";
    let ending = Subject::new("", [last]).as_str().to_owned();
    let found: Vec<String> =
        sqlx::query_scalar(SQL).bind(door).bind(ending).bind(limit).fetch_all(connection).await?;
    Ok(found.into_iter().map(Subject::from_text).collect())
}

/// The reviews whose id begins like this.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    prefix: &str,
    limit: u32,
) -> Result<Vec<ReviewId>, LedgerError> {
    // A range rather than LIKE: no sign of what was typed has a meaning of its own, and the index is used.
    const SQL: &str = "SELECT id FROM reviews WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3";
    let end = format!("{prefix}{}", char::MAX);
    let ids: Vec<String> =
        sqlx::query_scalar(SQL).bind(prefix).bind(end).bind(limit).fetch_all(connection).await?;
    Ok(ids.into_iter().map(ReviewId::from_text).collect())
}

/// A page of reviews, newest first.
pub(super) async fn list(connection: &mut SqliteConnection, filter: Filter) -> Result<Vec<Row>, LedgerError> {
    const ALL: &str = "SELECT * FROM reviews WHERE opened_seq < $1 ORDER BY opened_seq DESC LIMIT $2";
    // The open ones are few: found by their own index, then sorted.
    const OPEN: &str = "SELECT * FROM reviews INDEXED BY reviews_one_open
        WHERE state <> 'settled' AND opened_seq < $1 ORDER BY opened_seq DESC LIMIT $2";
    let before = filter.before.map_or(i64::MAX, u64::cast_signed);
    let sql = if filter.open_only { OPEN } else { ALL };
    let rows = sqlx::query(sql).bind(before).bind(filter.limit).fetch_all(connection).await?;
    rows.iter().map(Row::read).collect()
}

/// A page of the reviews of a subject, newest first.
pub(super) async fn list_for(
    connection: &mut SqliteConnection,
    subject: &Subject,
    filter: Filter,
) -> Result<Vec<Row>, LedgerError> {
    const SQL: &str = "SELECT * FROM reviews WHERE subject = $1 AND opened_seq < $2
        AND ($3 = 0 OR state <> 'settled') ORDER BY opened_seq DESC LIMIT $4";
    let before = filter.before.map_or(i64::MAX, u64::cast_signed);
    let query =
        sqlx::query(SQL).bind(subject.as_str()).bind(before).bind(filter.open_only).bind(filter.limit);
    query.fetch_all(connection).await?.iter().map(Row::read).collect()
}

/// How many reviews stand how.
pub(super) async fn counts(connection: &mut SqliteConnection) -> Result<Vec<Count>, LedgerError> {
    const SQL: &str = "SELECT state, outcome, COUNT(*) AS reviews FROM reviews GROUP BY state, outcome";
    let rows = sqlx::query(SQL).fetch_all(connection).await?;
    let count = |row: &SqliteRow| {
        let (state, standing) = state(row).ok_or(LedgerError::Mismatch { review: "of some kind".into() })?;
        Ok(Count { state, standing, reviews: number(row, "reviews")? })
    };
    rows.iter().map(count).collect()
}

fn state_text(state: State) -> &'static str {
    match state {
        State::Unopened => "unopened",
        State::Judging => "judging",
        State::NeedsWork => "needs_work",
        State::NoVerdict(_) => "no_verdict",
        State::AwaitingPerson => "awaiting_person",
        State::Settled(_) => "settled",
    }
}

fn outcome_text(outcome: Outcome) -> String {
    match outcome.reason() {
        None => outcome.name().to_owned(),
        Some(reason) => format!("{}/{reason}", outcome.name()),
    }
}

/// State and standing from their columns; none where they make no sense.
fn state(row: &SqliteRow) -> Option<(State, Option<Outcome>)> {
    let (state, outcome): (String, Option<String>) =
        (row.try_get("state").ok()?, row.try_get("outcome").ok()?);
    let standing = match outcome {
        None => None,
        Some(text) => Some(outcome_from(&text)?),
    };
    let state = match (state.as_str(), standing) {
        ("unopened", None) => State::Unopened,
        ("judging", _) => State::Judging,
        ("needs_work", _) => State::NeedsWork,
        ("awaiting_person", _) => State::AwaitingPerson,
        ("no_verdict", Some(Outcome::NoVerdict(why))) => State::NoVerdict(why),
        ("no_verdict", Some(Outcome::BudgetReached)) => State::NoVerdict(NoVerdict::Budget),
        ("settled", Some(outcome)) => State::Settled(Settlement::with(outcome)?),
        _ => return None,
    };
    Some((state, standing))
}

fn outcome_from(text: &str) -> Option<Outcome> {
    let value = match text.split_once('/') {
        None => Value::from(text),
        Some((name, reason)) => json!({ name: reason }),
    };
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::outcome::Stop;

    #[test]
    fn an_outcome_survives_its_column() {
        for outcome in [
            Outcome::Passed,
            Outcome::NeedsWork,
            Outcome::AwaitingPerson,
            Outcome::NoVerdict(NoVerdict::EmptyChange),
            Outcome::Stopped(Stop::AttemptsUsedUp),
        ] {
            assert_eq!(outcome_from(&outcome_text(outcome)), Some(outcome));
        }
        assert_eq!(outcome_from("no_verdict/whatever"), None);
    }
}
