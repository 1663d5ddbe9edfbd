//! Writing a file whole or not at all.

use crate::fault::{Moment, kill_if_chosen};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// How the name of a file begins that was not finished, because its writer was killed.
pub const UNFINISHED: &str = ".countersign-part-";

/// Writes a file: every reader sees the old text or the new one, also after a loss of power. Its permissions stay.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
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
}
