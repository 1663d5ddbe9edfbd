//! The text files in the folder of a job.

use countersign_engine::yaml::{MAX_FILE_BYTES, read_bounded};
use std::io::ErrorKind;
use std::path::Path;

/// The text of a file, or a message that follows its name. A link out of the folder could show any file of the user.
pub(super) fn text(folder: &Path, path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "does not exist".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let real = folder.join(path).canonicalize().map_err(unreadable)?;
    if !real.starts_with(folder.canonicalize().map_err(unreadable)?) {
        return Err("is outside the job's folder".to_owned());
    }
    let bytes = read_bounded(&real).map_err(unreadable)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(format!("is larger than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())
}
