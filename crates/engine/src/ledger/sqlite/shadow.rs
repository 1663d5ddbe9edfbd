//! The tables that are computed from events, computed once more: as temporary tables of the same names, which SQLite
//! finds before those of the file. So the functions that write the tables also check them.

use super::super::Result;
use super::Session;
use super::schema::{self, DatabaseKind};
use sqlx::AssertSqlSafe;

/// The row of `rulings` that says by which rules the others were written.
pub(super) const INDEXED: &str = "index/2";

const SHADOW: &str = "
    CREATE TEMP TABLE reviews AS SELECT * FROM main.reviews WHERE 0;
    CREATE UNIQUE INDEX temp.shadow_reviews ON reviews (id);
    CREATE TEMP TABLE rulings (key TEXT PRIMARY KEY, stream TEXT NOT NULL, n INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TEMP TABLE calls (id TEXT PRIMARY KEY, review TEXT, round INTEGER, assignment INTEGER, reviewer TEXT,
                             state TEXT, asked_ms INTEGER);
";

const END: &str = "DROP TABLE temp.reviews; DROP TABLE temp.rulings; DROP TABLE temp.calls;";

const TAKE_RULINGS: &str = "
    DELETE FROM main.rulings;
    INSERT INTO main.rulings SELECT key, stream, n FROM temp.rulings;
    INSERT INTO main.rulings VALUES ('index/2', '', 0);
";

/// Who performs a review is in no event, nor is what a question cost.
const TAKE_REVIEWS_AND_CALLS: &str = "
    UPDATE temp.reviews SET holder = (SELECT m.holder FROM main.reviews m WHERE m.id = temp.reviews.id);
    DELETE FROM main.reviews WHERE pruned IS NULL;
    INSERT INTO main.reviews SELECT * FROM temp.reviews;
    DELETE FROM main.calls WHERE review LIKE 'rv-%' AND id NOT IN (SELECT id FROM temp.calls)
       AND review NOT IN (SELECT id FROM main.reviews WHERE pruned IS NOT NULL);
    INSERT INTO main.calls (id, review, round, assignment, reviewer, state, asked_ms)
    SELECT id, review, round, assignment, reviewer, state, asked_ms FROM temp.calls WHERE true
        ON CONFLICT (id) DO UPDATE SET review = excluded.review, round = excluded.round,
           assignment = excluded.assignment, reviewer = excluded.reviewer, state = excluded.state,
           asked_ms = excluded.asked_ms;
";

/// The rows of one table that differ; `columns` are compared, and `own` says which kept rows need an event.
fn differences(table: &str, id: &str, columns: &[&str], own: &str) -> String {
    let of =
        |name: &str| columns.iter().map(|column| format!("{name}.{column}")).collect::<Vec<_>>().join(", ");
    let (kept, computed) = (of("m"), of("s"));
    format!(
        "SELECT '{table}: the row of ' || s.{id} || CASE WHEN m.{id} IS NULL THEN ' is missing'
                ELSE ' differs from its events' END
           FROM temp.{table} s LEFT JOIN main.{table} m ON m.{id} = s.{id}
          WHERE m.{id} IS NULL OR ({kept}) IS NOT ({computed})
         UNION ALL
         SELECT '{table}: no event explains the row of ' || m.{id}
           FROM main.{table} m LEFT JOIN temp.{table} s ON s.{id} = m.{id} WHERE s.{id} IS NULL AND {own}"
    )
}

/// Questions of doors have no events of their own; the stream they belong to has.
const OF_DOORS: &str = "
    SELECT 'calls: nothing is recorded of ' || m.review || ', to which the row of ' || m.id || ' belongs'
      FROM main.calls m WHERE m.review NOT LIKE 'rv-%'
       AND NOT EXISTS (SELECT 1 FROM main.events e WHERE e.stream = m.review)";

impl Session {
    pub async fn is_indexed(&mut self) -> Result<bool> {
        const SQL: &str = "SELECT COUNT(*) FROM main.rulings WHERE key = $1";
        let found: i64 = sqlx::query_scalar(SQL).bind(INDEXED).fetch_one(self.connection()).await?;
        Ok(found > 0)
    }

    pub async fn begin_shadow(&mut self) -> Result<()> {
        sqlx::raw_sql(SHADOW).execute(self.connection()).await?;
        Ok(())
    }

    pub async fn differences(&mut self, limit: u32) -> Result<Vec<String>> {
        let current = schema::inspect(self.connection()).await? == DatabaseKind::Ledger;
        let pruned = if current { "m.pruned IS NULL" } else { "1" };
        let columns = [
            "opened_seq",
            "n",
            "subject",
            "door",
            "state",
            "outcome",
            "round",
            "attempts",
            "digest",
            "opened_ms",
            "changed_ms",
        ];
        let mut queries = vec![differences("reviews", "id", &columns, pruned)];
        if current && self.is_indexed().await? {
            queries.push(differences("rulings", "key", &["stream", "n"], &format!("m.key <> '{INDEXED}'")));
        }
        let columns = ["review", "round", "assignment", "reviewer", "state", "asked_ms"];
        // The first format did not have the time, nor did anything write it.
        let columns = if current { &columns[..] } else { &columns[..5] };
        let of_reviews = "m.review LIKE 'rv-%' AND NOT EXISTS (SELECT 1 FROM main.reviews r
            WHERE r.id = m.review AND r.pruned IS NOT NULL)";
        let of_reviews = if current { of_reviews } else { "m.review LIKE 'rv-%'" };
        queries.push(differences("calls", "id", columns, of_reviews));
        queries.push(OF_DOORS.to_owned());
        let mut all = vec![];
        for sql in queries {
            let sql = format!("SELECT * FROM ({sql}) LIMIT {limit}");
            // Made of nothing but our own words.
            all.extend(
                sqlx::query_scalar::<_, String>(AssertSqlSafe(sql)).fetch_all(self.connection()).await?,
            );
        }
        all.truncate(limit as usize);
        Ok(all)
    }

    pub async fn take_rulings(&mut self) -> Result<()> {
        self.take(&[TAKE_RULINGS, END]).await
    }

    pub async fn take_tables(&mut self) -> Result<()> {
        self.take(&[TAKE_REVIEWS_AND_CALLS, TAKE_RULINGS, END]).await
    }

    async fn take(&mut self, steps: &[&'static str]) -> Result<()> {
        for sql in steps {
            sqlx::raw_sql(*sql).execute(self.connection()).await?;
        }
        Ok(())
    }
}
