//! What a scope names, as a digest: the same digest is the same content, and no digest is not knowing.

use super::scope::Scope;
use countersign_core::digest::Digest;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A larger file has no digest, and what is about it is verified again.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The digest of what a scope names now. A file stands for all its lines: a range is only where to look.
/// Scopes that name no file have none.
pub fn now(root: &Path, scope: &Scope) -> Option<Digest> {
    let path = root.join(scope.file()?);
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = vec![];
    File::open(path).ok()?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= FILE_BYTES_MAX).then(|| Digest::of(&bytes))
}

/// Whether a scope names one of these files, given relative to the root.
pub fn names_one_of(root: &Path, scope: &Scope, files: &[String]) -> bool {
    let plain = |path: &str| -> std::path::PathBuf { root.join(path).components().collect() };
    scope.file().is_some_and(|named| files.iter().any(|file| plain(file) == plain(named)))
}
