//! Git LFS: the commit has a pointer with the SHA-256 of the contents, and the contents are on disk. The filter of LFS is a
//! program that settings choose, so it does not run here: what the pointer says is compared with the file.

use super::listing::ListedFile;
use super::objects::Part;
use super::snapshot::Snapshot;
use super::walk::differs_from_pointer;
use super::{Git, GitError, Result};
use std::collections::{BTreeMap, BTreeSet};

/// No pointer is longer.
const POINTER_BYTES_MAX: u64 = 1024;
const FILTER: &[u8] = b"lfs";

impl Snapshot {
    /// The files whose contents on disk are those that their pointers in the commit name. `git` is in a room with the
    /// attributes of the commit.
    pub(super) async fn fetched(&self, git: &Git) -> Result<BTreeSet<Vec<u8>>> {
        let is_listed = |path: &&Vec<u8>| self.listing.files.contains_key(*path);
        let changed: Vec<&Vec<u8>> = self.changed.iter().filter(is_listed).collect();
        let mut by_source: BTreeMap<usize, Vec<(Vec<u8>, &ListedFile)>> = BTreeMap::new();
        for path in with_filter(git, &changed).await? {
            let Some(file) = self.listing.files.get(&path) else { continue };
            by_source.entry(file.source).or_default().push((path, file));
        }
        let mut pointers = vec![];
        for (source, files) in by_source {
            let ids: Vec<String> = files.iter().map(|(_, file)| file.id.to_string()).collect();
            let texts = small(&self.listing.sources[source], &ids).await?;
            let read = |((path, file), text): ((_, &ListedFile), Vec<u8>)| {
                Some((path, file.mode, pointed_to(&text)?))
            };
            pointers.extend(files.into_iter().zip(texts).filter_map(read));
        }
        let top = self.top.clone();
        let compare = move || {
            pointers.retain(|(path, mode, sha256)| !differs_from_pointer(&top, path, mode, sha256));
            pointers.into_iter().map(|(path, ..)| path).collect()
        };
        let compared = tokio::task::spawn_blocking(compare).await;
        compared.map_err(|error| GitError::unexpected("check-attr", error.to_string()))
    }
}

/// Those of the files that the attributes give to LFS.
async fn with_filter(git: &Git, paths: &[&Vec<u8>]) -> Result<Vec<Vec<u8>>> {
    if paths.is_empty() {
        return Ok(vec![]);
    }
    let input = paths.iter().fold(vec![], |mut all, path| {
        all.extend_from_slice(path);
        all.push(0);
        all
    });
    let said = git.clone().with_input(input).run(["check-attr", "-z", "--stdin", "filter"]).await?;
    let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let lfs = fields.chunks_exact(3).filter(|fields| fields[2] == FILTER);
    Ok(lfs.map(|fields| fields[0].to_vec()).collect())
}

/// The contents of objects, without those that are too long for a pointer.
async fn small(from: &Git, ids: &[String]) -> Result<Vec<Vec<u8>>> {
    let (mut all, mut is_small) = (vec![], false);
    from.objects()?
        .stream(ids, |part| {
            match part {
                Part::Missing => all.push(vec![]),
                Part::Begin { size, .. } => {
                    is_small = size <= POINTER_BYTES_MAX;
                    all.push(vec![]);
                }
                Part::Bytes(bytes) if is_small => {
                    all.last_mut().into_iter().for_each(|text| text.extend_from_slice(bytes));
                }
                Part::Bytes(_) | Part::End => {}
            }
            Ok(())
        })
        .await?;
    Ok(all)
}

/// The SHA-256 of the contents that a pointer names. None for any other text.
fn pointed_to(text: &[u8]) -> Option<String> {
    let lines = std::str::from_utf8(text).ok()?.strip_suffix('\n')?;
    let rest = lines.strip_prefix("version https://git-lfs.github.com/spec/v1\noid sha256:")?;
    let (oid, size) = rest.split_once("\nsize ")?;
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_pointer = oid.len() == 64 && oid.bytes().all(is_hex) && size.parse::<u64>().is_ok();
    is_pointer.then(|| oid.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_pointer_is_one() {
        let oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let plain = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n");
        assert_eq!(pointed_to(plain.as_bytes()).as_deref(), Some(oid));
        for other in [
            String::new(),
            plain.trim_end().to_owned(),
            plain.replace("spec/v1", "spec/v2"),
            plain.replace("\noid", "\next-0-foo sha256:00\noid"),
            plain.replace("4d7a", "4D7A"),
            plain.replace("4d7a", ""),
            plain.replace("12345", "many"),
            format!("{plain}more\n"),
        ] {
            assert_eq!(pointed_to(other.as_bytes()), None, "{other}");
        }
    }
}
