//! Writing a file whole or not at all.

use crate::fault::{Moment, kill_if_chosen};
use crate::git::common_folder;
use countersign_core::digest::Digest;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How the name of a file begins that was not finished, because its writer was killed.
pub const UNFINISHED: &str = ".countersign-part-";

/// Writes a file: every reader sees the old text or the new one, also after a loss of power. Its permissions stay.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let mut part = Part::open(path)?;
    part.file.write_all(text.as_bytes())?;
    match fs::metadata(path) {
        Ok(old) => part.file.set_permissions(old.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    part.file.sync_all()?;
    kill_if_chosen(Moment::Before);
    part.rename(path)?;
    // The name is in the folder, and stays after a loss of power only with it.
    File::open(folder_of(path))?.sync_all()?;
    kill_if_chosen(Moment::After);
    Ok(())
}

/// Removes what a killed process left of a file, unless it is being written.
pub fn remove_unfinished(path: &Path) {
    for name in names(path) {
        // One that cannot be removed is tried again by the next writer.
        let _ =
            File::options().write(true).custom_flags(flags()).open(&name).map(|file| match file.try_lock() {
                Ok(()) if is_at(&file, &name) => fs::remove_file(&name),
                _ => Ok(()),
            });
    }
}

/// A file that is not finished. Each file has one name for it, and who writes it holds its lock: so one that was left
/// is known by its lock, and is written anew by the next writer.
struct Part {
    file: File,
    name: Option<PathBuf>,
}

impl Part {
    fn open(path: &Path) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for name in names(path) {
            match Self::at(&name) {
                Ok(part) => return Ok(part),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn at(name: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags());
        loop {
            let file = options.open(name)?;
            file.lock()?;
            // The process that held the lock has renamed or removed it.
            if !is_at(&file, name) {
                continue;
            }
            let part = Self { file, name: Some(name.to_owned()) };
            part.file.set_permissions(Permissions::from_mode(0o600))?;
            part.file.set_len(0)?;
            return Ok(part);
        }
    }

    fn rename(mut self, path: &Path) -> io::Result<()> {
        match self.name.take() {
            Some(name) => fs::rename(&name, path).inspect_err(|_| self.name = Some(name)),
            None => Ok(()),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It was not finished; where it stays, the next writer writes it anew.
        let _ = self.name.take().map(fs::remove_file);
    }
}

/// Follows no link and waits for no pipe.
fn flags() -> i32 {
    (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed()
}

fn is_at(file: &File, name: &Path) -> bool {
    let same = |own: fs::Metadata, there: fs::Metadata| (own.dev(), own.ino()) == (there.dev(), there.ino());
    file.metadata().ok().zip(fs::symlink_metadata(name).ok()).is_some_and(|(own, there)| same(own, there))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What a file is called until it is finished: in a repository beside the ledger, because after a crash it would be work
/// where it is needed; elsewhere, and on another file system, in the folder itself.
fn names(path: &Path) -> Vec<PathBuf> {
    let folder = folder_of(path);
    let own = common_folder(folder).map(|git| git.join("countersign"));
    let device = |at: &Path| fs::metadata(at).ok().map(|found| found.dev());
    let near = own.filter(|own| device(own).is_some_and(|own| Some(own) == device(folder)));
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let of = Digest::of(real.join(path.file_name().unwrap_or_default()).as_os_str().as_bytes());
    let short = of.as_str().get(..16).unwrap_or(of.as_str());
    let name = format!("{UNFINISHED}{short}");
    near.into_iter().chain([folder.to_owned()]).map(|folder| folder.join(&name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let folder = |path: &Path| names(path)[0].parent().unwrap().to_owned();
        assert_eq!(folder(&inside.canonicalize().unwrap().join("a.md")), own.canonicalize().unwrap());
        // Without git, or where nothing is kept there, there is only the folder itself.
        let alone = tempfile::tempdir().unwrap();
        assert_eq!(folder(&alone.path().join("a.md")), alone.path());
    }

    #[test]
    fn issue_19_what_a_killed_writer_left_is_removed_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let left = || fs::read_dir(folder.path()).unwrap().count();
        let name = names(&path)[0].clone();
        fs::write(&name, "half").unwrap();
        write_atomically(&path, "whole").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), left()), ("whole", 1));
        fs::write(&name, "half").unwrap();
        remove_unfinished(&path);
        assert_eq!(left(), 1);
        let part = Part::open(&path).unwrap();
        remove_unfinished(&path);
        assert_eq!(left(), 2, "it is locked");
        part.rename(&path).unwrap();
        assert_eq!(left(), 1);
    }
}
