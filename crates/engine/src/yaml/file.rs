//! Reads the bytes of a file, whatever the path turns out to be.

use super::diagnostic::Diagnostic;
use super::source::{FileBytes, MAX_FILE_BYTES, Place, Source};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Reads a file, as far as it may be large.
pub fn read_file(path: &Path) -> Result<FileBytes, Diagnostic> {
    let bytes = read_bounded(path).map_err(|error| unreadable(path, &reason(&error)))?;
    Ok(FileBytes { path: path.to_owned(), bytes })
}

/// Opens a file and nothing else: opening a named pipe would wait for a writer.
fn open(path: &Path) -> io::Result<File> {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
    let file = File::options().read(true).custom_flags(nonblock.cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file")),
    }
}

/// The bytes of a file, at most one more than [`MAX_FILE_BYTES`]: enough to know that it is too large.
pub fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MAX_FILE_BYTES)
}

/// The bytes of a file that may be of another size, likewise at most one more.
pub fn read_at_most(path: &Path, max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The problem of a file that cannot be read. It has no line to point at.
pub fn unreadable(path: &Path, why: &str) -> Diagnostic {
    let place = Place::start_of(&Source::new(path, ""));
    Diagnostic::new("unreadable", place, format!("`{}` cannot be read: {why}", path.display()))
}

/// The words of the system without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}
