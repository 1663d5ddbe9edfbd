//! Writing a file whole or not at all.

use crate::fault::{Moment, kill_if_chosen};
use crate::git::common_folder;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// How the name of a file begins that was not finished, because its writer was killed.
pub const UNFINISHED: &str = ".countersign-part-";

/// Writes a file: every reader sees the old text or the new one, also after a loss of power. Its permissions stay.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = unfinished(folder)?;
    file.write_all(text.as_bytes())?;
    match fs::metadata(path) {
        Ok(old) => file.as_file().set_permissions(old.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    file.as_file().sync_all()?;
    kill_if_chosen(Moment::Before);
    file.persist(path).map_err(|error| error.error)?;
    // The name is in the folder, and stays after a loss of power only with it.
    File::open(folder)?.sync_all()?;
    kill_if_chosen(Moment::After);
    Ok(())
}

/// A file that is not finished: in a repository beside the ledger, because after a crash it would be work where it is
/// needed; elsewhere, and on another file system, in the folder itself.
fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    let builder = |at: &Path| tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(at);
    let own = common_folder(folder).map(|git| git.join("countersign"));
    let device = |at: &Path| fs::metadata(at).ok().map(|found| found.dev());
    let near = own.filter(|own| device(own).is_some_and(|own| Some(own) == device(folder)));
    match near.map(|near| builder(&near)) {
        Some(Ok(file)) => Ok(file),
        _ => builder(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_replaced_file_keeps_who_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_atomically(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write_atomically(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn issue_18_what_a_crash_leaves_is_no_work() {
        let repository = tempfile::tempdir().unwrap();
        let own = repository.path().join(".git/countersign");
        fs::create_dir_all(&own).unwrap();
        fs::write(repository.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let inside = repository.path().join("spec");
        fs::create_dir(&inside).unwrap();
        assert_eq!(
            unfinished(&inside.canonicalize().unwrap()).unwrap().path().parent(),
            Some(&*own.canonicalize().unwrap())
        );
        // Without git, or where nothing is kept there, there is only the folder itself.
        let alone = tempfile::tempdir().unwrap();
        assert_eq!(unfinished(alone.path()).unwrap().path().parent(), Some(alone.path()));
    }
}
