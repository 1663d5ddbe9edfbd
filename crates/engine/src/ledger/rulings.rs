//! Rulings that stand beyond their review: an index from a key to the event that answered it.

use super::LedgerError;
use super::entry::{Line, number};
use countersign_core::answer::Answer;
use countersign_core::digest::Key;
use countersign_core::ids::ReviewId;
use countersign_core::plan::{Candidate, Reuse};
use countersign_core::review::{By, Event, Review};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

/// How many keys one statement asks for.
const CHUNK_KEYS: usize = 500;

/// Points the key of an answer to its event, where the answer may stand beyond its review.
pub(super) async fn index(
    connection: &mut SqliteConnection,
    review: &Review,
    n: u64,
    event: &Event,
) -> Result<(), LedgerError> {
    const SQL: &str = "INSERT INTO rulings (key, stream, n) VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET stream = excluded.stream, n = excluded.n";
    let Event::Answered { round, key, by: By::Call { .. } | By::Disputed { .. }, .. } = event else {
        return Ok(());
    };
    let candidate = candidate(review, *round, key);
    if candidate.is_none_or(|candidate| candidate.reuse != Reuse::Anywhere) {
        return Ok(());
    }
    let insert = sqlx::query(SQL).bind(key.as_str()).bind(review.id.as_str()).bind(n.cast_signed());
    insert.execute(connection).await?;
    Ok(())
}

fn candidate<'a>(review: &'a Review, round: u32, key: &Key) -> Option<&'a Candidate> {
    let round = review.rounds.iter().find(|known| known.n == round)?;
    round.asking(key).find_map(|(_, assignment)| assignment.candidate(key))
}

/// The rulings under these keys that are not too old.
pub(super) async fn look_up(
    connection: &mut SqliteConnection,
    keys: &[Key],
    not_before_ms: i64,
) -> Result<Vec<(Key, Answer, By)>, LedgerError> {
    let mut found = vec![];
    for chunk in keys.chunks(CHUNK_KEYS) {
        let sql = AssertSqlSafe(statement(chunk.len()));
        let mut query = sqlx::query(sql).bind(not_before_ms);
        for key in chunk {
            query = query.bind(key.as_str());
        }
        for row in query.fetch_all(&mut *connection).await? {
            let key = Key::from(row.try_get::<String, _>("key")?);
            let line = Line::read(&row)?;
            let review = ReviewId::from_text(line.stream.as_str());
            // An index entry that points to somebody else's answer was not written by us.
            let (answer, reviewer) = match line.event()? {
                Event::Answered {
                    key: of,
                    answer,
                    by: By::Call { reviewer, .. } | By::Disputed { reviewer, .. },
                    ..
                } if of == key => (answer, reviewer),
                _ => return Err(LedgerError::Tampered { seq: line.seq }),
            };
            found.push((key, answer, By::Reused { review, n: number(&row, "n")?, reviewer }));
        }
    }
    Ok(found)
}

/// Only the placeholders differ, by how many keys there are.
fn statement(keys: usize) -> String {
    let places: Vec<String> = (0..keys).map(|i| format!("${}", i + 2)).collect();
    format!(
        "SELECT r.key, e.seq, e.stream, e.n, e.at_ms, e.kind, e.body, e.chain, p.chain AS previous
           FROM rulings r
           JOIN events e ON e.stream = r.stream AND e.n = r.n
           LEFT JOIN events p ON p.seq = e.seq - 1
          WHERE e.at_ms >= $1 AND r.key IN ({})",
        places.join(", ")
    )
}
