//! Reading a file's contents for a question: only the bytes that were gathered, or nothing; and copies for a reviewer that
//! reads files itself.

use super::held::GuardedFile;
use super::path::{self, Root};
use crate::private;
use countersign_core::digest::Digest;
use countersign_core::prompt::Body;
use countersign_core::redact::{Counts, Redaction};
use countersign_core::submission::{Content, Material};
use countersign_core::text;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// A file is no longer what it was when the work was handed in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` changed while it was being judged")]
pub struct Changed {
    pub path: String,
}

/// What is shown of a file, off the async runtime. Text must still have the digest it was gathered with.
pub async fn read_body(root: &Root, material: &Material) -> Result<Body, Changed> {
    let (root, wanted) = (root.clone(), material.clone());
    let read = tokio::task::spawn_blocking(move || read_body_now(&root, &wanted)).await;
    read.unwrap_or_else(|_| Err(Changed { path: material.path.clone() }))
}

/// The same for callers that are off the runtime already.
pub fn read_body_now(root: &Root, material: &Material) -> Result<Body, Changed> {
    match &material.content {
        Content::Missing => Ok(Body::Missing),
        Content::Unreadable(error) => Ok(Body::Unreadable(error.clone())),
        Content::Media | Content::Binary => {
            Ok(Body::Binary { absolute_path: root.join(&material.path).to_string_lossy().into_owned() })
        }
        Content::Text | Content::Cut => {
            let changed = || Changed { path: material.path.clone() };
            text_of(root, material).map(Body::Text).ok_or_else(changed)
        }
    }
}

fn text_of(root: &Root, material: &Material) -> Option<String> {
    read_text(root, &material.path, material.size_bytes, &material.digest)
}

/// The text of a file that has this size and digest.
pub(super) fn read_text(root: &Root, path: &str, size_bytes: u64, digest: &Digest) -> Option<String> {
    let (file, _) = path::open(root, path).ok()?;
    // One byte more than expected is enough to see that it has grown.
    let mut bytes = Vec::with_capacity(usize::try_from(size_bytes).ok()? + 1);
    file.take(size_bytes + 1).read_to_end(&mut bytes).ok()?;
    (Digest::of(&bytes) == *digest).then(|| text::decode(bytes))?
}

/// Reads the author's notes: a small text file, anywhere.
pub async fn read_notes(path: &Path, limit_bytes: u64) -> io::Result<String> {
    let path = path.to_owned();
    let read = move || {
        let mut bytes = vec![];
        std::fs::File::open(&path)?.take(limit_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit_bytes {
            let words = format!("more than {limit_bytes} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
        }
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-8"))
    };
    tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?
}

/// Secrets are found only in a text that is in memory as a whole.
pub(super) const MAX_TEXT_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Copied {
    pub redacted: Counts,
    /// The copies, each with the digest of what was written.
    pub files: Vec<GuardedFile>,
}

/// Copies files into a private folder, under the same relative paths. Of a file that changed meanwhile nothing is left.
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
            copied.files.push(GuardedFile { path: material.path, digest: Some(digest) });
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
    let Some(text) = text_of(root, material) else { return Ok(None) };
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

#[cfg(test)]
mod tests {
    use super::super::gather;
    use super::*;

    #[tokio::test]
    async fn req_004_4_1_and_4_2_the_full_text_or_nothing() {
        // 004.4.1 read off the runtime, 004.4.2 the full text of valid UTF-8.
        let project = tempfile::tempdir().unwrap();
        let root = Root::new(project.path()).unwrap();
        let file = project.path().join("a.md");
        let text = "ü".repeat(200_000);
        std::fs::write(&file, &text).unwrap();
        let material = gather(&root, vec![("a.md".into(), 0)]).await.unwrap().remove(0);
        assert_eq!(read_body(&root, &material).await, Ok(Body::Text(text.clone())));
        for other in [format!("{text}x"), "x".to_owned(), text.replacen('ü', "ö", 1)] {
            std::fs::write(&file, other).unwrap();
            assert_eq!(read_body(&root, &material).await, Err(Changed { path: "a.md".into() }));
        }
        std::fs::remove_file(&file).unwrap();
        assert!(read_body(&root, &material).await.is_err());
    }
}
