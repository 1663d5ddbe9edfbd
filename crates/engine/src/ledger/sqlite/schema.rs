//! The tables, and whether a file has them.

use super::super::{LedgerError, Result};
use sqlx::{Row, SqliteConnection};

/// The format of the ledger, kept as SQLite's `user_version`.
pub const FORMAT: i64 = 3;
/// The first format: without what questions reserve and when they were asked.
const FIRST: i64 = 1;
/// The second: without reviews that are pruned, and with all bodies as text.
const SECOND: i64 = 2;

// Older ones can corrupt a WAL file under two connections.
const _: () = assert!(libsqlite3_sys::SQLITE_VERSION_NUMBER >= 3_051_003);

/// `reviews`, `rulings` and `calls` are computed from `events`: the fold of a stream, the event that answered a key, and
/// what a question cost. The first row of `rulings` says by which rules the others were written.
const TABLES: &str = "
    CREATE TABLE events (
        seq    INTEGER PRIMARY KEY AUTOINCREMENT,
        stream TEXT    NOT NULL,
        n      INTEGER NOT NULL,
        at_ms  INTEGER NOT NULL,
        kind   TEXT    NOT NULL,
        body   TEXT    NOT NULL,
        chain  BLOB    NOT NULL,
        UNIQUE (stream, n)
    );
    CREATE TABLE reviews (
        opened_seq INTEGER PRIMARY KEY,
        id         TEXT    NOT NULL UNIQUE,
        n          INTEGER NOT NULL,
        subject    TEXT    NOT NULL,
        door       TEXT    NOT NULL,
        state      TEXT    NOT NULL,
        outcome    TEXT,
        round      INTEGER NOT NULL,
        attempts   INTEGER NOT NULL,
        digest     TEXT,
        holder     TEXT,
        opened_ms  INTEGER NOT NULL,
        changed_ms INTEGER NOT NULL,
        pruned     INTEGER
    );
    CREATE UNIQUE INDEX reviews_one_open ON reviews (subject) WHERE state <> 'settled';
    CREATE INDEX reviews_by_subject ON reviews (subject, opened_seq);
    CREATE INDEX reviews_by_state ON reviews (state, outcome);
    CREATE TABLE rulings (
        key    TEXT    PRIMARY KEY,
        stream TEXT    NOT NULL,
        n      INTEGER NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO rulings VALUES ('index/2', '', 0);
    CREATE TABLE calls (
        id                TEXT    PRIMARY KEY,
        review            TEXT    NOT NULL,
        round             INTEGER NOT NULL,
        assignment        INTEGER,
        reviewer          TEXT    NOT NULL,
        model             TEXT,
        state             TEXT    NOT NULL,
        reserved_tokens   INTEGER NOT NULL DEFAULT 0,
        tokens_in         INTEGER,
        tokens_out        INTEGER,
        cost_microusd     INTEGER,
        reply             TEXT,
        asked_ms          INTEGER NOT NULL DEFAULT 0,
        reserved_microusd INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX calls_by_review ON calls (review);
    CREATE INDEX calls_by_time ON calls (asked_ms);
    PRAGMA user_version = 3;
";

/// From the first format. When a question was asked is what its event says.
const FROM_FIRST: &str = "
    ALTER TABLE calls ADD COLUMN asked_ms INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE calls ADD COLUMN reserved_microusd INTEGER NOT NULL DEFAULT 0;
    UPDATE calls SET asked_ms = asked.at_ms
      FROM (SELECT json_extract(body, '$.call') AS call, at_ms FROM events WHERE kind = 'asked') AS asked
     WHERE calls.id = asked.call;
    CREATE INDEX calls_by_time ON calls (asked_ms);
    ALTER TABLE reviews ADD COLUMN pruned INTEGER;
    PRAGMA user_version = 3;
";

const FROM_SECOND: &str = "
    ALTER TABLE reviews ADD COLUMN pruned INTEGER;
    PRAGMA user_version = 3;
";

/// One statement, so that it sees one state of the file even while another process makes the tables.
const INSPECT: &str = "
    SELECT (SELECT user_version FROM pragma_user_version) AS format,
           (SELECT COUNT(*) FROM sqlite_schema) AS things,
           (SELECT COUNT(*) FROM sqlite_schema
             WHERE type = 'table' AND name IN ('events', 'reviews', 'rulings', 'calls')) AS ours,
           (SELECT COUNT(*) FROM sqlite_schema
             WHERE sql GLOB '*[^ -~' || char(9, 10, 13) || ']*' OR name GLOB '*[^ -~]*') AS odd,
           (SELECT COUNT(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')) AS acting
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatabaseKind {
    Ledger,
    First,
    Second,
    Empty,
}

/// Looks what a database file is, and refuses what is not ours.
pub(super) async fn inspect(connection: &mut SqliteConnection) -> Result<DatabaseKind> {
    let row = sqlx::query(INSPECT).fetch_one(connection).await?;
    let (format, things, ours): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    // The database library panics on the type of a column that is no text, and its callers then wait for ever.
    if row.try_get::<i64, _>(3)? > 0 {
        return Err(LedgerError::Corrupt("the descriptions of its tables are damaged".to_owned()));
    }
    // They would act on what we write.
    if row.try_get::<i64, _>(4)? > 0 {
        return Err(LedgerError::Corrupt(
            "it has triggers or views, which Countersign never makes".to_owned(),
        ));
    }
    match (format, things, ours) {
        (0, 0, _) => Ok(DatabaseKind::Empty),
        (FORMAT, _, 4) => Ok(DatabaseKind::Ledger),
        (FIRST, _, 4) => Ok(DatabaseKind::First),
        (SECOND, _, 4) => Ok(DatabaseKind::Second),
        (newer, ..) if newer > FORMAT => Err(LedgerError::Newer { found: newer, ours: FORMAT }),
        _ => Err(LedgerError::NotALedger),
    }
}

/// Makes the tables, or what an older ledger lacks, unless another process was faster.
pub(super) async fn complete(connection: &mut SqliteConnection) -> Result<()> {
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let missing = match inspect(connection).await? {
        DatabaseKind::Ledger => "",
        DatabaseKind::First => FROM_FIRST,
        DatabaseKind::Second => FROM_SECOND,
        DatabaseKind::Empty => TABLES,
    };
    sqlx::raw_sql(missing).execute(&mut *connection).await?;
    sqlx::raw_sql("COMMIT").execute(connection).await?;
    Ok(())
}
