//! Writing a file whole or not at all.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that whoever reads it sees the old text or the new one, and it stays after a loss of power.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
