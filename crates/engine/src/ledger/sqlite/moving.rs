//! Moving a ledger from where earlier versions had it. In its old place stays a file that these versions refuse as too new.

use super::super::{LedgerError, Result};
use super::open::{self, Access, file, options, place};
use crate::private;
use sqlx::{ConnectOptions, Connection};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The format that the file in the old place says it has.
const MOVED: u32 = 1000;
const LOCK: &str = "moving.lock";
/// Where SQLite keeps `user_version`, as four bytes.
const FORMAT_AT: usize = 60;

/// Moves the ledger in `old` to `new`, where there is none yet, once. Returns whether it did.
pub async fn take_over(old: &Path, new: &Path) -> Result<bool> {
    if open::file(new).symlink_metadata().is_ok() || !is_left_to_move(old)? {
        return Ok(false);
    }
    private::make_folders(new)?;
    let lock = File::create(new.join(LOCK))?;
    lock.lock()?;
    if open::file(new).symlink_metadata().is_ok() {
        return Ok(false);
    }
    make_one_file(old).await.map_err(|error| open::explain(error, old))?;
    move_file(old, new)?;
    leave_marker(old).await?;
    fs::remove_file(new.join(LOCK)).ok();
    Ok(true)
}

/// Moves the files of a ledger to a new folder below its own, and returns that.
pub fn set_aside(dir: &Path) -> Result<PathBuf> {
    let mut folders = (1u32..).map(|n| dir.join(format!("restored-{n}")));
    let to = loop {
        let Some(to) = folders.next() else { continue };
        match fs::create_dir(&to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => break made.map(|()| to)?,
        }
    };
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        if name.to_string_lossy().starts_with(open::LEDGER_FILE) {
            fs::rename(dir.join(&name), to.join(&name))?;
        }
    }
    Ok(to)
}

/// Whether there is a ledger, and not the file that was left when it was moved.
pub fn is_left_to_move(old: &Path) -> Result<bool> {
    let mut head = [0; FORMAT_AT + 4];
    match File::open(file(old)).and_then(|mut found| found.read_exact(&mut head)) {
        Ok(()) => Ok(head[FORMAT_AT..] != MOVED.to_be_bytes()),
        // Emptied, or cut off.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(LedgerError::Emptied),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(LedgerError::Unreadable("permission denied".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes everything that is beside the file into it. That fails while another process has it open.
async fn make_one_file(old: &Path) -> Result<()> {
    let mut connection = options(old, Access::Write).connect().await?;
    let done = sqlx::raw_sql("PRAGMA journal_mode = DELETE").execute(&mut connection).await;
    connection.close().await?;
    done?;
    Ok(())
}

fn move_file(old: &Path, new: &Path) -> Result<()> {
    match place(&file(old), new) {
        // Another file system: a copy in its place.
        Err(LedgerError::Other(_)) if open::file(new).symlink_metadata().is_err() => {
            let folder = tempfile::tempdir_in(new)?;
            fs::copy(file(old), file(folder.path()))?;
            File::open(file(folder.path()))?.sync_all()?;
            place(&file(folder.path()), new)
        }
        placed => placed,
    }
}

async fn leave_marker(old: &Path) -> Result<()> {
    let folder = tempfile::tempdir_in(old)?;
    let mut connection = options(folder.path(), Access::Write).create_if_missing(true).connect().await?;
    sqlx::raw_sql("CREATE TABLE moved (note TEXT); PRAGMA user_version = 1000")
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    fs::rename(file(folder.path()), file(old))?;
    Ok(File::open(old)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Ledger;

    #[tokio::test]
    async fn a_ledger_is_moved_once_and_earlier_versions_refuse_what_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join(".countersign"), folder.path().join(".git/countersign"));
        let ledger = Ledger::open(&old).await.unwrap();
        let mut transaction = ledger.transaction().await.unwrap();
        transaction.note("session/a", 0, &[("began", "{}".to_owned())], 5).await.unwrap();
        transaction.commit().await.unwrap();
        // While somebody has it open it stays where it is.
        assert!(matches!(take_over(&old, &new).await, Err(LedgerError::Busy)));
        assert!(!Ledger::is_in(&new));
        ledger.close().await;
        assert!(take_over(&old, &new).await.unwrap());
        assert!(!take_over(&old, &new).await.unwrap());
        let moved = Ledger::open(&new).await.unwrap();
        assert_eq!(moved.notes("session/a").await.unwrap().len(), 1);
        assert!(matches!(Ledger::open(&old).await, Err(LedgerError::Newer { found: 1000, .. })));
        let left: Vec<_> = fs::read_dir(&old).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().contains("wal")), "{left:?}");
    }
}
