//! Databases of every age, made by SQL as the tools of their time did, on a real disk.

use super::*;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Row, raw_sql};
use std::fs;
use tempfile::TempDir;

const NOW: &str = "2026-02-23T10:15:00";

/// What the first versions made.
const TASKS_ONLY: &str =
    "CREATE TABLE tasks (task_id TEXT PRIMARY KEY, status TEXT NOT NULL DEFAULT 'pending',
        started_at TEXT, completed_at TEXT);
    INSERT INTO tasks VALUES ('TASK-001', 'success', '2026-01-01T09:00:00.123456', '2026-01-01T09:10:00'),
        ('TASK-002', 'paused', NULL, NULL);";
const FIRST_ATTEMPTS: &str = "CREATE TABLE attempts (id INTEGER PRIMARY KEY AUTOINCREMENT,
        task_id TEXT NOT NULL REFERENCES tasks(task_id), timestamp TEXT NOT NULL, success INTEGER NOT NULL,
        duration_seconds REAL NOT NULL, error TEXT, error_code TEXT, claude_output TEXT);
    CREATE TABLE executor_meta (key TEXT PRIMARY KEY, value TEXT);
    INSERT INTO executor_meta VALUES ('consecutive_failures', '1');
    INSERT INTO attempts (task_id, timestamp, success, duration_seconds, error, error_code, claude_output)
        VALUES ('TASK-002', '2026-01-01T09:00:00', 0, 12, 'no', 'QUOTA_OF_THE_MOON', 'said'),
               ('TASK-001', '2026-01-01T09:10:00', 1, 1.5, NULL, NULL, 'done');";
const TOKENS: &str = "ALTER TABLE attempts ADD COLUMN input_tokens INTEGER;
    ALTER TABLE attempts ADD COLUMN output_tokens INTEGER; ALTER TABLE attempts ADD COLUMN cost_usd REAL;
    UPDATE attempts SET input_tokens = 5, output_tokens = 6, cost_usd = 1;";
const REVIEWS: &str = "ALTER TABLE attempts ADD COLUMN review_status TEXT;
    ALTER TABLE attempts ADD COLUMN review_findings TEXT;
    UPDATE attempts SET review_status = 'half-passed', review_findings = 'MAJOR: a' || char(10) || 'MINOR: b';";

/// What newer versions add: columns and twenty tables, with rows.
fn newer() -> String {
    let mut sql = "ALTER TABLE attempts ADD COLUMN run_id TEXT; UPDATE attempts SET run_id = 'r' || id;
        ALTER TABLE tasks ADD COLUMN mode TEXT; UPDATE tasks SET mode = 'tdd';"
        .to_owned();
    for n in 0..20 {
        sql += &format!(
            "CREATE TABLE more_{n} (id INTEGER PRIMARY KEY, note TEXT); INSERT INTO more_{n} (note) VALUES ('kept {n}'), (NULL);
             CREATE INDEX more_{n}_by_note ON more_{n} (note);"
        );
    }
    sql
}

struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        let disk = Self(tempfile::tempdir().unwrap());
        fs::create_dir(disk.layout().spec()).unwrap();
        disk
    }

    fn layout(&self) -> Layout {
        Layout::new(self.0.path(), "").unwrap()
    }

    async fn connect(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.layout().state_db()).create_if_missing(true);
        options.foreign_keys(false).connect().await.unwrap()
    }

    async fn with(parts: &[&str]) -> Self {
        let disk = Self::new();
        let mut connection = disk.connect().await;
        for part in parts {
            raw_sql(AssertSqlSafe((*part).to_owned())).execute(&mut connection).await.unwrap();
        }
        connection.close().await.unwrap();
        disk
    }

    /// Every value of every table, by table and column.
    async fn dump(&self) -> Vec<String> {
        let mut connection = self.connect().await;
        let sql = "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
            WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
        let columns = raw_sql(sql).fetch_all(&mut connection).await.unwrap();
        let mut all = Vec::new();
        for row in columns {
            let (table, column): (String, String) = (row.get(0), row.get(1));
            let sql = format!("SELECT rowid, quote({column}) FROM {table}");
            for row in raw_sql(AssertSqlSafe(sql)).fetch_all(&mut connection).await.unwrap() {
                all.push(format!("{table}.{column} {} {}", row.get::<i64, _>(0), row.get::<String, _>(1)));
            }
        }
        connection.close().await.unwrap();
        all.sort();
        all
    }

    fn json(&self, text: &str) {
        fs::write(self.layout().state_json(), text).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.layout().spec()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Other tools of this kind stop at a word that is not in their list; ours has a column of its own.
#[tokio::test]
async fn issue_19_codes_in_the_shared_column_are_ones_that_other_tools_read() {
    let known = "TIMEOUT RATE_LIMIT TEST_FAILURE LINT_FAILURE TASK_FAILED TASK_BLOCKED HOOK_FAILURE INFRASTRUCTURE \
                 UNKNOWN BUDGET_EXCEEDED REVIEW_REJECTED INTERRUPTED";
    let disk = Disk::new();
    let state = State::open(&disk.layout()).await.unwrap();
    let codes = ["REVIEW_FAILED", "MERGE_CONFLICT", "MERGE_REFUSED", "MAIN_MOVED", "TEST_FAILURE"];
    for code in codes {
        let attempt = Attempt { error_code: Some(ErrorCode::from(code)), ..Attempt::new(NOW, false, 1.0) };
        state.finish_attempt(code, &attempt, &TaskState::Failed).await.unwrap();
        assert_eq!(state.attempts(code, 1).await.unwrap()[0].1, attempt);
    }
    let summaries = state.summaries().await.unwrap();
    assert!(summaries.iter().all(|one| one.error_code.as_ref().unwrap().word() == one.task_id));
    state.close().await.unwrap();
    let dump = disk.dump().await;
    let shared: Vec<_> = dump.iter().filter(|line| line.starts_with("attempts.error_code ")).collect();
    assert_eq!(shared.len(), codes.len());
    for line in shared {
        let code = line.rsplit(' ').next().unwrap().trim_matches('\'');
        assert!(known.split_whitespace().any(|known| known == code), "{line}");
    }
}

/// Everything that can be done, done once.
async fn use_it(state: &State) {
    let before = state.attempts("TASK-002", 10).await.unwrap().len();
    state.begin_attempt("TASK-002", NOW).await.unwrap();
    let attempt = Attempt {
        review_status: Some(ReviewStatus::Fixed),
        review_findings: Some("2 issues found:".into()),
        review_id: Some("rv-a".into()),
        error_code: Some(ErrorCode::Other("ANYTHING".into())),
        cost_usd: Some(0.25),
        ..Attempt::new(NOW, true, 2.0)
    };
    state.finish_attempt("TASK-002", &attempt, &TaskState::Success).await.unwrap();
    let attempts = state.attempts("TASK-002", 10).await.unwrap();
    assert_eq!((attempts.len(), &attempts[0].1), (before + 1, &attempt));
    state.set_meta("a", "b").await.unwrap();
    assert_eq!(state.meta("a").await.unwrap().as_deref(), Some("b"));
    let summaries = state.summaries().await.unwrap();
    let one = summaries.iter().find(|one| one.task_id == "TASK-002").unwrap();
    assert_eq!((&one.state, one.attempts), (&TaskState::Success, before as u64 + 1));
    assert_eq!((&one.review_status, one.issues), (&Some(ReviewStatus::Fixed), 2));
    assert_eq!(one.review_id.as_deref(), Some("rv-a"));
    // A line shows the same, and the rest is not looked up for it.
    let lines = state.summaries_of(Of::Line).await.unwrap();
    let line = lines.into_iter().find(|line| line.task_id == "TASK-002").unwrap();
    let (cost_usd, error_code, review_id, started_at) = (None, None, None, None);
    assert_eq!(line, Summary { cost_usd, error_code, review_id, started_at, ..one.clone() });
}

/// RUN-4.
#[tokio::test]
async fn run_4_a_database_of_any_age_opens_and_loses_nothing() {
    let newer = newer();
    let ages: [&[&str]; 6] = [
        &[],
        &[TASKS_ONLY],
        &[TASKS_ONLY, FIRST_ATTEMPTS],
        &["PRAGMA journal_mode = WAL", TASKS_ONLY, FIRST_ATTEMPTS, TOKENS],
        &[TASKS_ONLY, FIRST_ATTEMPTS, TOKENS, REVIEWS],
        &[TASKS_ONLY, FIRST_ATTEMPTS, TOKENS, REVIEWS, &newer],
    ];
    for (age, parts) in ages.iter().enumerate() {
        let disk = Disk::with(parts).await;
        let before = disk.dump().await;
        assert_eq!(before.is_empty(), age == 0);
        // Reading changes nothing.
        let bytes = fs::read(disk.layout().state_db()).ok();
        let mut seen = look(&disk.layout(), Of::Whole).await.unwrap();
        assert_eq!(fs::read(disk.layout().state_db()).ok(), bytes, "age {age}");

        let state = State::open(&disk.layout()).await.unwrap();
        let mut summaries = state.summaries().await.unwrap();
        for list in seen.iter_mut().chain([&mut summaries]) {
            list.sort_by(|a, b| a.task_id.cmp(&b.task_id));
        }
        assert_eq!(seen.unwrap_or_default(), summaries, "age {age}");
        if age > 0 {
            assert_eq!(summaries[1].state, TaskState::Other("paused".into()));
        }
        if age > 1 {
            assert_eq!(summaries[1].error_code, Some(ErrorCode::Other("QUOTA_OF_THE_MOON".into())));
            assert_eq!(state.meta("consecutive_failures").await.unwrap().as_deref(), Some("1"));
        }
        if age > 2 {
            assert_eq!(summaries[0].cost_usd, Some(1.0));
        }
        if age > 3 {
            assert_eq!(summaries[1].review_status, Some(ReviewStatus::Other("half-passed".into())));
            assert_eq!(summaries[1].issues, 2);
        }
        state.close().await.unwrap();
        let after = disk.dump().await;
        let lost: Vec<_> = before.iter().filter(|value| !after.contains(value)).collect();
        assert!(lost.is_empty(), "age {age}: {lost:?}");

        let state = State::open(&disk.layout()).await.unwrap();
        use_it(&state).await;
        state.close().await.unwrap();
        let after = disk.dump().await;
        let kept = |value: &&String| value.starts_with("attempts") || value.starts_with("more_");
        let lost: Vec<_> = before.iter().filter(kept).filter(|value| !after.contains(value)).collect();
        assert!(lost.is_empty(), "age {age}: {lost:?}");
    }
}

#[tokio::test]
async fn a_database_that_others_have_open_is_completed_under_them() {
    let disk = Disk::with(&["PRAGMA journal_mode = WAL", TASKS_ONLY, FIRST_ATTEMPTS]).await;
    let (mut reads, mut writes) = (disk.connect().await, disk.connect().await);
    raw_sql("BEGIN; SELECT * FROM attempts").execute(&mut reads).await.unwrap();
    raw_sql("BEGIN IMMEDIATE; UPDATE tasks SET status = 'running'").execute(&mut writes).await.unwrap();
    let layout = disk.layout();
    let opening = tokio::spawn(async move { State::open(&layout).await });
    raw_sql("COMMIT").execute(&mut writes).await.unwrap();
    let state = opening.await.unwrap().unwrap();
    use_it(&state).await;
    // The others go on as if nothing had happened.
    raw_sql("COMMIT").execute(&mut reads).await.unwrap();
    let insert =
        "INSERT INTO attempts (task_id, timestamp, success, duration_seconds) VALUES ('TASK-001', 't', 1, 1)";
    raw_sql(insert).execute(&mut writes).await.unwrap();
    assert_eq!(state.attempts("TASK-001", 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn two_that_open_at_once_both_get_in() {
    let disk = Disk::with(&[TASKS_ONLY, FIRST_ATTEMPTS]).await;
    disk.json(r#"{"tasks": {}}"#);
    let layout = disk.layout();
    let (a, b) = tokio::join!(State::open(&layout), State::open(&layout));
    use_it(&a.unwrap()).await;
    use_it(&b.unwrap()).await;
}

const OLDEST: &str = r#"{"tasks": {
    "TASK-001": {"status": "success", "started_at": "s", "completed_at": "c", "attempts": [
        {"timestamp": "t1", "success": false, "duration_seconds": 3, "error": "e", "error_code": "SYNTAX", "x": 1},
        {"timestamp": "t2", "success": true, "duration_seconds": 4.5, "claude_output": "o"}]},
    "TASK-002": {}},
    "consecutive_failures": 2, "total_completed": "7", "more": [1]}"#;

#[tokio::test]
async fn the_oldest_form_is_taken_over_once_whenever_we_are_killed() {
    let disk = Disk::new();
    disk.json(OLDEST);
    let seen = look(&disk.layout(), Of::Whole).await.unwrap().unwrap();
    assert_eq!(disk.names(), [".executor-state.json"]);
    let check = async |again: bool| {
        let state = State::open(&disk.layout()).await.unwrap();
        let attempts = state.attempts("TASK-001", 9).await.unwrap();
        assert_eq!(attempts.iter().map(|(_, one)| one.timestamp.as_str()).collect::<Vec<_>>(), ["t2", "t1"]);
        assert_eq!(attempts[1].1.error_code, Some(ErrorCode::Syntax));
        let mut summaries = state.summaries().await.unwrap();
        summaries.sort_by(|a, b| a.task_id.cmp(&b.task_id));
        assert_eq!(summaries, seen);
        assert_eq!(state.meta("consecutive_failures").await.unwrap().as_deref(), Some("2"));
        assert_eq!(state.meta("total_completed").await.unwrap().as_deref(), Some("7"));
        state.close().await.unwrap();
        let copies = [".executor-state.json.bak", ".executor-state.json.bak.1"];
        let names = disk.names();
        assert_eq!(
            names.iter().map(String::as_str).collect::<Vec<_>>()[1..],
            copies[..1 + usize::from(again)]
        );
        assert_eq!(fs::read_to_string(disk.layout().spec().join(copies[0])).unwrap(), OLDEST);
    };
    check(false).await;
    // Killed after the database had it and before the file had its new name.
    disk.json(OLDEST);
    check(true).await;
}

#[tokio::test]
async fn a_database_in_use_wins_over_an_old_file() {
    let disk = Disk::with(&[TASKS_ONLY]).await;
    disk.json(OLDEST);
    let state = State::open(&disk.layout()).await.unwrap();
    assert!(state.attempts("TASK-001", 9).await.unwrap().is_empty());
    assert!(disk.layout().state_json().exists());
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_and_left_alone() {
    for (text, expect) in [
        ("{", 1),
        (r#"{"tasks": []}"#, 1),
        ("{\"tasks\": {\"A-1\": {\"attempts\": [\n{\"success\": 1}]}}}", 2),
    ] {
        let disk = Disk::new();
        disk.json(text);
        let Err(StateError::Legacy(_, line, _, why)) = State::open(&disk.layout()).await else {
            panic!("{text}")
        };
        assert_eq!(line, expect, "{text}");
        assert!(!why.contains("line"), "the place is said once: {why}");
        assert_eq!(disk.names(), [".executor-state.json"], "{text}");
    }
    let disk = Disk::new();
    fs::write(
        disk.layout().state_db(),
        "no database at all, and long enough to be looked at as one".repeat(99),
    )
    .unwrap();
    let before = fs::read(disk.layout().state_db()).unwrap();
    assert!(matches!(State::open(&disk.layout()).await, Err(StateError::Damaged { .. })));
    assert!(matches!(look(&disk.layout(), Of::Whole).await, Err(StateError::Damaged { .. })));
    assert_eq!(fs::read(disk.layout().state_db()).unwrap(), before);
}

/// RUN-3.
#[tokio::test]
async fn run_3_attempts_are_added_and_keep_their_verdict() {
    let disk = Disk::new();
    assert!(look(&disk.layout(), Of::Whole).await.unwrap().is_none());
    let state = State::open(&disk.layout()).await.unwrap();
    state.begin_attempt("TASK-001", NOW).await.unwrap();
    assert_eq!(state.summaries().await.unwrap()[0].state, TaskState::Running);
    let long = "é".repeat(5000);
    let (review_status, review_findings) = (Some(ReviewStatus::Rejected), Some(long));
    let failed = Attempt { review_status, review_findings, ..Attempt::new(NOW, false, 1.0) };
    state.finish_attempt("TASK-001", &failed, &TaskState::Failed).await.unwrap();
    let kept = state.attempts("TASK-001", 1).await.unwrap()[0].1.review_findings.clone().unwrap();
    assert!(kept.len() <= attempt::MAX_FINDINGS_BYTES && kept.starts_with("éé"), "{}", kept.len());
    assert!(kept.ends_with(" of 10000 bytes shown]"), "{kept}");
    let second = Attempt { review_status: Some(ReviewStatus::NotRun), ..Attempt::new(NOW, true, 1.0) };
    state.finish_attempt("TASK-001", &second, &TaskState::Success).await.unwrap();
    let attempts = state.attempts("TASK-001", 9).await.unwrap();
    let verdicts: Vec<_> = attempts.iter().map(|(_, one)| one.review_status.clone().unwrap()).collect();
    assert_eq!(verdicts, [ReviewStatus::NotRun, ReviewStatus::Rejected]);
    assert_eq!(attempts[1].1.review_findings.as_ref(), Some(&kept));
    state.set_status("TASK-001", &TaskState::Pending, NOW).await.unwrap();
    assert_eq!(state.attempts("TASK-001", 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_can_be_looked_at() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::with(&["PRAGMA journal_mode = WAL", TASKS_ONLY]).await;
    let spec = disk.layout().spec();
    fs::set_permissions(&spec, fs::Permissions::from_mode(0o555)).unwrap();
    let seen = look(&disk.layout(), Of::Whole).await;
    fs::set_permissions(&spec, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(seen.unwrap().unwrap().len(), 2);
    assert_eq!(disk.names(), [".executor-state.db"]);
}
