//! Folders and files that only their user may open, whatever the umask says. All private files outside the project are
//! made here.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;

pub fn folder_permissions() -> Permissions {
    Permissions::from_mode(FOLDER)
}

pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).create(path)
}

/// Makes a folder and those on the way to it, as far as they are not there.
pub fn make_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).recursive(true).create(path)
}

/// Makes a file that is not there yet, to write to.
pub fn make_new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(FILE).open(path)
}

/// Makes a file in a folder of ours, in place of one that was made before.
pub fn make_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(FILE).open(path)
}

/// Writes a file in a folder of ours.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    make_file(path)?.write_all(bytes.as_ref())
}
