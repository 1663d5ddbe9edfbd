//! Copies for a reviewer that reads files itself: exactly the assignment's files, exactly the bytes that were
//! gathered, but for the secrets in text.

use super::held::Kept;
use super::path::{self, Root};
use super::read::{Changed, read_text};
use crate::private;
use countersign_core::digest::Digest;
use countersign_core::redact::{Counts, Redaction};
use countersign_core::submission::{Content, Material};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Secrets are found only in a text that is in memory as a whole.
const MAX_TEXT_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Copied {
    pub redacted: Counts,
    /// The copies, each with the digest of what was written.
    pub files: Vec<Kept>,
}

/// Copies files into a private folder, under the same relative paths. A file that changed meanwhile is reported and
/// nothing of it is left there.
pub async fn copy_into(
    root: &Root,
    files: Vec<Material>,
    folder: &Path,
    redaction: &Redaction,
) -> io::Result<Result<Copied, Changed>> {
    let (root, folder, redaction) = (root.clone(), folder.to_owned(), redaction.clone());
    let copy = move || {
        let mut copied = Copied::default();
        for material in files {
            let one = match material.content {
                Content::Text if !redaction.is_off() => copy_text(&root, &material, &folder, &redaction)?,
                _ => {
                    copy_one(&root, &material, &folder)?.then(|| (Counts::default(), material.digest.clone()))
                }
            };
            let Some((found, digest)) = one else { return Ok(Err(Changed { path: material.path })) };
            copied.redacted.add(found);
            copied.files.push(Kept { path: material.path, digest: Some(digest) });
        }
        Ok(Ok(copied))
    };
    tokio::task::spawn_blocking(copy).await.map_err(io::Error::other)?
}

fn create(folder: &Path, material: &Material) -> io::Result<File> {
    let target = folder.join(&material.path);
    if let Some(parent) = target.parent() {
        private::make_folders(parent)?;
    }
    private::make_file(&target)
}

/// The digest is that of the original; what is written is what a reviewer may see.
fn copy_text(
    root: &Root,
    material: &Material,
    folder: &Path,
    redaction: &Redaction,
) -> io::Result<Option<(Counts, Digest)>> {
    if material.size_bytes > MAX_TEXT_BYTES {
        let words = format!("`{}` is too long to be searched for secrets", material.path);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    let Some(text) = read_text(root, material) else { return Ok(None) };
    let (text, found) = redaction.redact(&text);
    create(folder, material)?.write_all(text.as_bytes())?;
    Ok(Some((found, Digest::of(text.as_bytes()))))
}

fn copy_one(root: &Root, material: &Material, folder: &Path) -> io::Result<bool> {
    let Ok((mut from, _)) = path::open(root, &material.path) else { return Ok(false) };
    let mut to = create(folder, material)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hasher.update(&buffer[..n]);
        to.write_all(&buffer[..n])?;
    }
    let same = Digest::from_hash(hasher.finalize()) == material.digest;
    if !same {
        std::fs::remove_file(folder.join(&material.path))?;
    }
    Ok(same)
}
