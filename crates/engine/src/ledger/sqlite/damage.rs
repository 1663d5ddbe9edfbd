//! Damage, or a disk that failed for a moment: SQLite reports both as a malformed file, so the file is looked at again.

use super::super::LedgerError;
use super::open::{Access, explain, file, options};
use sqlx::ConnectOptions;
use std::fs::File;
use std::io;
use std::path::Path;

/// An error with its cause, as far as the file and the disk tell.
pub async fn explained(error: LedgerError, dir: &Path) -> LedgerError {
    match explain(error, dir) {
        LedgerError::ReadFailed(words) => match can_be_read(dir).await {
            Ok(()) if is_sound(dir).await => {
                LedgerError::ReadFailed(format!("{words}; it could be read when it was tried again"))
            }
            Ok(()) => LedgerError::Corrupt(words),
            Err(error) => LedgerError::ReadFailed(error.to_string()),
        },
        other => other,
    }
}

/// Reads every byte: a disk that fails says so itself.
async fn can_be_read(dir: &Path) -> io::Result<()> {
    let path = file(dir);
    let read = move || io::copy(&mut File::open(path)?, &mut io::sink());
    tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?.map(drop)
}

async fn is_sound(dir: &Path) -> bool {
    let checked = async {
        let mut connection = options(dir, Access::Read).connect().await?;
        sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut connection).await
    };
    checked.await.is_ok_and(|said: String| said == "ok")
}

#[cfg(test)]
mod tests {
    use super::super::Sqlite;
    use super::*;

    #[tokio::test]
    async fn issue_19_a_disk_that_failed_for_a_moment_is_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        Sqlite::open(folder.path()).await.unwrap().close().await;
        let said = || LedgerError::ReadFailed("database disk image is malformed".to_owned());
        let passing = explained(said(), folder.path()).await;
        assert!(matches!(passing, LedgerError::ReadFailed(_)), "{passing}");
        // The same words of SQLite, and the file is damaged indeed.
        let path = file(folder.path());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4096..4160].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        let damaged = explained(said(), folder.path()).await;
        assert!(matches!(damaged, LedgerError::Corrupt(_)), "{damaged}");
    }
}
