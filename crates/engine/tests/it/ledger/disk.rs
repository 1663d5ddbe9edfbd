//! A full disk and a folder that may not be written: each told as what it is, and nothing lost.
//!
//! Both happen on a small file system of their own, inside a namespace that ends with its process.

use super::fixture::{record_passed, review_id};
use super::processes::arguments;
use countersign_engine::ledger::{Ledger, LedgerError};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a job on a small file system mounted at a fresh folder.
fn on_small_disk(job: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.arg(r#"mount -t tmpfs -o size=2m tmpfs "$LEDGER_DIR" || exit 77; exec "$@""#).arg("sh");
    command.arg(std::env::current_exe().unwrap()).args(arguments());
    command.env("LEDGER_JOB", job).env("LEDGER_DIR", dir.path()).env("LEDGER_COUNT", "0");
    let (code, said, words) = match command.output() {
        Ok(output) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (output.status.code(), text(&output.stdout), text(&output.stderr))
        }
        Err(error) => (Some(77), String::new(), error.to_string()),
    };
    let no_namespace = code == Some(77) || words.contains("unshare:");
    if no_namespace && std::env::var_os("CI").is_none() {
        eprintln!("skipped: this machine does not let a test mount a file system of its own: {words}");
        return;
    }
    assert!(code == Some(0) && said.contains("1 passed"), "{said}{words}");
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    on_small_disk("full");
}

#[test]
fn a_folder_that_may_not_be_written_is_told_and_read() {
    on_small_disk("read_only");
}

/// Uses up all room but this much.
fn use_up(dir: &Path, leave_bytes: u64) {
    let room = rustix::fs::statvfs(dir).unwrap();
    let bytes = (room.f_bavail * room.f_frsize).saturating_sub(leave_bytes);
    fs::write(dir.join("ballast"), vec![1; usize::try_from(bytes).unwrap()]).unwrap();
}

/// On a disk of 2 MiB.
pub async fn full(dir: &Path) {
    use_up(dir, 0);
    let none = Ledger::open(&dir.join("new")).await.err();
    assert!(matches!(none, Some(LedgerError::DiskFull)), "{none:?}");
    fs::remove_file(dir.join("ballast")).unwrap();

    let folder = dir.join("ledger");
    let ledger = Ledger::open(&folder).await.unwrap();
    let mut last = record_passed(&ledger, "first").await;
    use_up(dir, 300 * 1024);
    let mut recorded = 1;
    let error = loop {
        match try_passed(&ledger, &format!("s{recorded}")).await {
            Ok(stored) => (last, recorded) = (stored, recorded + 1),
            Err(error) => break error,
        }
        assert!(recorded < 1_000, "the disk never fills");
    };
    assert!(matches!(error, LedgerError::DiskFull), "{error:?}");
    assert!(recorded > 1, "something fitted");
    assert_eq!(ledger.review(&last.review.id).await.unwrap(), Some(last), "what was recorded is still read");
    assert_eq!(ledger.verify().await.unwrap(), recorded * 8);
    let again = try_passed(&ledger, "again").await;
    assert!(matches!(again, Err(LedgerError::DiskFull)), "{again:?}");

    fs::remove_file(dir.join("ballast")).unwrap();
    record_passed(&ledger, "again").await;
    assert_eq!(ledger.verify().await.unwrap(), (recorded + 1) * 8);
}

async fn try_passed(
    ledger: &Ledger,
    subject: &str,
) -> Result<countersign_engine::ledger::Stored, LedgerError> {
    let id = review_id();
    let events = super::fixture::judged(&id, super::fixture::work(subject, subject, 2), true);
    super::fixture::append(ledger, countersign_engine::ledger::Stored::unopened(id), &events, 1).await
}

/// On a disk that turns read-only.
pub async fn read_only(dir: &Path) {
    let folder = dir.join("ledger");
    let ledger = Ledger::open(&folder).await.unwrap();
    let stored = record_passed(&ledger, "a").await;
    // A copy as a crash leaves it: the last review is only in the file beside.
    let crashed = dir.join("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["ledger.db", "ledger.db-wal"] {
        fs::copy(folder.join(name), crashed.join(name)).unwrap();
    }
    ledger.close().await;
    remount(dir, "ro");

    for place in [&folder, &dir.join("none")] {
        let opened = Ledger::open(place).await.err();
        assert!(matches!(opened, Some(LedgerError::ReadOnly(_))), "{opened:?}");
    }
    assert!(Ledger::open_existing(&dir.join("none")).await.unwrap().is_none());
    let looked = Ledger::open_existing(&folder).await.unwrap().expect("there is one");
    assert_eq!(looked.review(&stored.review.id).await.unwrap(), Some(stored));
    assert_eq!(looked.verify().await.unwrap(), 8);
    let written = looked.transaction().await.err();
    assert!(matches!(written, Some(LedgerError::ReadOnly(_))), "{written:?}");
    let unfinished = Ledger::open_existing(&crashed).await.err();
    assert!(
        matches!(unfinished, Some(LedgerError::ReadOnly(_))),
        "half of it would be missing: {unfinished:?}"
    );
    drop(looked);
}

fn remount(dir: &Path, mode: &str) {
    let done = Command::new("mount").args(["-o", &format!("remount,{mode}")]).arg(dir).status().unwrap();
    assert!(done.success());
}
