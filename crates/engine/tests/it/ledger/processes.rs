//! Several processes on one ledger, and processes that are killed.

use super::fixture::{append, decide, record_open, record_passed, review_id, work};
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::review::{Event, Input, Review};
use countersign_engine::ledger::{Filter, Ledger, LedgerError, Stored};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The review every process appends to.
const SHARED: &str = "rv-shared000000";
/// What marks the lines a job prints, among those of the test harness.
const MARK: &str = "job: ";

/// Not a test: the work of processes that other tests start.
#[test]
#[ignore = "started by other tests as a process of its own"]
fn job() {
    let Ok(job) = std::env::var("LEDGER_JOB") else { return };
    let dir = std::env::var("LEDGER_DIR").unwrap();
    let count: u32 = std::env::var("LEDGER_COUNT").unwrap().parse().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        match job.as_str() {
            "append" => appending(Path::new(&dir), count).await,
            "hold" => {
                let holder = Ledger::open(Path::new(&dir)).await.unwrap().holder().unwrap();
                say(holder.id());
                std::future::pending::<()>().await;
            }
            "full" => super::disk::full(Path::new(&dir)).await,
            "read_only" => super::disk::read_only(Path::new(&dir)).await,
            other => panic!("no such job: {other}"),
        }
    });
}

/// Records `count` reviews of its own, and as many events of the shared review.
async fn appending(dir: &Path, count: u32) {
    let ledger = Ledger::open(dir).await.unwrap();
    for i in 0..count {
        record_passed(&ledger, &format!("{}-{i}", std::process::id())).await;
        shared(&ledger).await.unwrap();
        say(&i.to_string());
    }
}

/// One more event of the shared review, decided outside of any transaction: others may be faster.
async fn shared(ledger: &Ledger) -> Result<(), LedgerError> {
    let id = ReviewId::from_text(SHARED);
    loop {
        let (from, events) = match ledger.review(&id).await? {
            Some(stored) => (stored, vec![Event::Notified { round: 1 }]),
            None => {
                let submit = Box::new(work("shared", "x", 1));
                (Stored::unopened(id.clone()), decide(&Review::unopened(id.clone()), Input::Submit(submit)))
            }
        };
        match append(ledger, from, &events, 1).await {
            Ok(stored) if stored.n > 2 => return Ok(()),
            Ok(_) | Err(LedgerError::Conflict) => {}
            Err(other) => return Err(other),
        }
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{line}").unwrap();
    out.flush().unwrap();
}

/// A process that runs a job.
pub struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
}

/// The command that runs a job: this test program, with nothing but that one "test".
pub fn arguments() -> Vec<String> {
    let name = "ledger::processes::job";
    ["--exact", name, "--ignored", "--nocapture", "--test-threads=1"].map(str::to_owned).into()
}

/// Starts a job.
pub fn start(job: &str, dir: &Path, count: u32) -> Process {
    start_with(job, dir, count, "")
}

/// Starts a job that dies at a write.
pub fn start_with(job: &str, dir: &Path, count: u32, die_at_write: &str) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments()).env("LEDGER_JOB", job).env("LEDGER_DIR", dir);
    command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", die_at_write);
    command.env("LEDGER_COUNT", count.to_string()).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    Process { child, out }
}

impl Process {
    /// The next line the job prints.
    pub fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the job ended early");
            if let Some(said) = line.trim_end().strip_prefix(MARK) {
                return said.to_owned();
            }
        }
    }

    /// Ends it like `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it dies; returns what it said before.
    pub fn died(mut self) -> Vec<String> {
        let said: Vec<String> = (&mut self.out).lines().map(Result::unwrap).collect();
        assert!(!self.child.wait().unwrap().success(), "it was to die");
        said.iter().filter_map(|line| line.strip_prefix(MARK)).map(str::to_owned).collect()
    }

    fn finish(mut self) {
        std::io::copy(&mut self.out, &mut std::io::sink()).unwrap();
        assert!(self.child.wait().unwrap().success(), "a process failed; see its words above");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_a_ledger_and_lose_nothing() {
    const PROCESSES: u32 = 4;
    const EACH: u32 = 12;
    let dir = tempfile::tempdir().unwrap();
    // They also race to make it.
    let folder = dir.path().join(".countersign");
    let processes: Vec<_> = (0..PROCESSES).map(|_| start("append", &folder, EACH)).collect();
    processes.into_iter().for_each(Process::finish);
    let ledger = Ledger::open(&folder).await.unwrap();
    let shared = ledger.review(&ReviewId::from_text(SHARED)).await.unwrap().unwrap();
    assert_eq!(shared.n, u64::from(2 + PROCESSES * EACH));
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 1_000 }).await.unwrap();
    assert_eq!(rows.len(), (PROCESSES * EACH + 1) as usize);
    assert_eq!(ledger.verify().await.unwrap(), u64::from(PROCESSES * EACH * 9 + 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(".countersign");
    let mut acknowledged = 0;
    for lines in [1, 7, 13] {
        let mut process = start("append", &folder, 10_000);
        for _ in 0..lines {
            process.line();
        }
        acknowledged += lines;
        process.kill();
        let ledger = Ledger::open(&folder).await.unwrap();
        let shared = ledger.review(&ReviewId::from_text(SHARED)).await.unwrap().unwrap();
        assert!(shared.n >= 2 + acknowledged, "{} events, {acknowledged} acknowledged", shared.n);
        ledger.verify().await.unwrap();
        record_passed(&ledger, &format!("after-{lines}")).await;
    }
}

#[tokio::test]
async fn two_openings_decide_about_one_subject_in_turn() {
    let dir = tempfile::tempdir().unwrap();
    let first = Ledger::open(dir.path()).await.unwrap();
    let second = Ledger::open(dir.path()).await.unwrap();
    let open = record_open(&first, "a").await;
    let mut transaction = second.transaction().await.unwrap();
    let seen = transaction.latest_for(&Subject::new("cli", ["a"])).await.unwrap();
    assert_eq!(seen.map(|stored| stored.review.id), Some(open.review.id));
    let id = review_id();
    let waiting = tokio::spawn(async move {
        let events = decide(&Review::unopened(id.clone()), Input::Submit(Box::new(work("b", "x", 1))));
        append(&first, Stored::unopened(id), &events, 1).await.map(|_| ())
    });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!waiting.is_finished(), "the second writer waits for the first");
    transaction.commit().await.unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn slow_a_ledger_that_stays_locked_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let first = Ledger::open(dir.path()).await.unwrap();
    let second = Ledger::open(dir.path()).await.unwrap();
    let stored = record_open(&first, "a").await;
    let transaction = first.transaction().await.unwrap();
    let locked = second.transaction().await.err();
    assert!(matches!(locked, Some(LedgerError::Busy)), "{locked:?}");
    assert_eq!(second.review(&stored.review.id).await.unwrap(), Some(stored), "readers do not wait");
    drop(transaction);
    record_passed(&second, "b").await;
}
