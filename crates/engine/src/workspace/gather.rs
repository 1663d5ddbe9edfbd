//! Gathering: which bytes stand at each path, by digest, without keeping them.

use super::path::{self, Root};
use super::read::{MAX_TEXT_BYTES, read_text};
use countersign_core::digest::Digest;
use countersign_core::media::{HEAD_BYTES, is_media};
use countersign_core::submission::{Content, Form, Material};
use std::io::{self, Read};

const BUFFER_BYTES: usize = 128 * 1024;

/// Looks at every path, in parallel, off the async runtime. The order is kept.
pub async fn gather(root: &Root, paths: Vec<(String, usize)>) -> io::Result<Vec<Material>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = paths.len().div_ceil(threads).max(1);
    let mut tasks = vec![];
    for chunk in paths.chunks(share) {
        let (root, chunk) = (root.clone(), chunk.to_vec());
        let look =
            move || chunk.into_iter().map(|(path, output)| material(&root, path, output)).collect::<Vec<_>>();
        tasks.push(tokio::task::spawn_blocking(look));
    }
    let mut materials = Vec::with_capacity(paths.len());
    for task in tasks {
        materials.extend(task.await.map_err(io::Error::other)?);
    }
    Ok(materials)
}

fn material(root: &Root, path: String, output: usize) -> Material {
    match look(root, &path) {
        Ok(Seen { digest, size_bytes, content }) => {
            Material { path, old_path: None, output, digest, size_bytes, content, form: Form::File }
        }
        Err(error) => {
            let content = match error.kind() {
                io::ErrorKind::NotFound => Content::Missing,
                _ => Content::Unreadable(error.to_string()),
            };
            // What is not there has a digest too, so that "missing" is a state a verdict can be tied to.
            let digest = Digest::of(format!("{content:?}").as_bytes());
            Material { path, old_path: None, output, digest, size_bytes: 0, content, form: Form::File }
        }
    }
}

struct Seen {
    digest: Digest,
    size_bytes: u64,
    content: Content,
}

fn look(root: &Root, path: &str) -> io::Result<Seen> {
    let (mut file, _) = path::open(root, path)?;
    let mut hasher = blake3::Hasher::new();
    let mut utf8 = Utf8::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut size_bytes = 0;
    let mut head = vec![];
    loop {
        let n = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..n]);
        utf8.feed(&buffer[..n]);
        head.extend(buffer[..n].iter().take(HEAD_BYTES.saturating_sub(head.len())));
        size_bytes += n as u64;
    }
    let digest = Digest::from_hash(hasher.finalize());
    let content = match utf8.is_text() {
        true => Content::Text,
        false if is_media(path, &head) => Content::Media,
        false if is_wide_text(root, path, &head, size_bytes, &digest) => Content::Text,
        false => Content::Binary,
    };
    Ok(Seen { digest, size_bytes, content })
}

/// Whether the file is text in UTF-16. It is read once more, as a whole.
fn is_wide_text(root: &Root, path: &str, head: &[u8], size_bytes: u64, digest: &Digest) -> bool {
    let may_be = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    may_be && size_bytes <= MAX_TEXT_BYTES && read_text(root, path, size_bytes, digest).is_some()
}

/// UTF-8 across the pieces of a stream.
#[derive(Default)]
struct Utf8 {
    /// A character that the last piece ended in the middle of.
    rest: Vec<u8>,
    broken: bool,
}

impl Utf8 {
    fn feed(&mut self, piece: &[u8]) {
        if self.broken {
            return;
        }
        let mut bytes = piece;
        let joined;
        if !self.rest.is_empty() {
            joined = [self.rest.as_slice(), piece].concat();
            bytes = &joined;
        }
        self.rest = match std::str::from_utf8(bytes) {
            Ok(_) => vec![],
            Err(error) if error.error_len().is_none() => bytes[error.valid_up_to()..].to_vec(),
            Err(_) => {
                self.broken = true;
                vec![]
            }
        };
    }

    fn is_text(&self) -> bool {
        !self.broken && self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_recognised_across_pieces() {
        let text = "aü€👩b".as_bytes();
        for split in 0..=text.len() {
            let mut utf8 = Utf8::default();
            utf8.feed(&text[..split]);
            utf8.feed(&text[split..]);
            assert!(utf8.is_text(), "{split}");
        }
        for bytes in [&b"a\xff"[..], b"\xe2\x82", b"\xc3("] {
            let mut utf8 = Utf8::default();
            bytes.iter().for_each(|byte| utf8.feed(&[*byte]));
            assert!(!utf8.is_text(), "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn every_state_of_a_path_has_a_digest_of_its_own() {
        let project = tempfile::tempdir().unwrap();
        let root = Root::new(project.path()).unwrap();
        for (name, bytes) in [("text", &b"text"[..]), ("binary", b"\xff\x00"), ("empty", b"")] {
            std::fs::write(project.path().join(name), bytes).unwrap();
        }
        std::fs::create_dir(project.path().join("dir")).unwrap();
        let names = ["text", "binary", "empty", "dir", "missing"];
        let paths = names.iter().map(|name| ((*name).to_owned(), 0)).collect();
        let seen = gather(&root, paths).await.unwrap();
        let kinds: Vec<_> = seen.iter().map(|material| (material.path.as_str(), &material.content)).collect();
        assert_eq!(
            kinds[..3],
            [("text", &Content::Text), ("binary", &Content::Binary), ("empty", &Content::Text)]
        );
        assert!(matches!(kinds[3].1, Content::Unreadable(_)));
        assert_eq!(kinds[4].1, &Content::Missing);
        assert_eq!(seen[0].digest, Digest::of(b"text"));
        let digests: std::collections::BTreeSet<_> = seen.iter().map(|material| &material.digest).collect();
        assert_eq!(digests.len(), 5);
    }
}
