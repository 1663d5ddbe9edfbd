//! Copies for a reviewer that reads files itself: exactly the assignment's files, exactly the bytes that were
//! gathered.

use super::path::{self, Root};
use super::read::Changed;
use countersign_core::digest::Digest;
use countersign_core::submission::Material;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Copies files into a private folder, under the same relative paths. A file that changed meanwhile is
/// reported and nothing of it is left there.
pub async fn copy_into(root: &Root, files: Vec<Material>, folder: &Path) -> io::Result<Result<(), Changed>> {
    let (root, folder) = (root.clone(), folder.to_owned());
    let copy = move || {
        for material in files {
            if !copy_one(&root, &material, &folder)? {
                return Ok(Err(Changed { path: material.path }));
            }
        }
        Ok(Ok(()))
    };
    tokio::task::spawn_blocking(copy).await.map_err(io::Error::other)?
}

fn copy_one(root: &Root, material: &Material, folder: &Path) -> io::Result<bool> {
    let Ok((mut from, _)) = path::open(root, &material.path) else { return Ok(false) };
    let target = folder.join(&material.path);
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut to = File::create(&target)?;
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
        std::fs::remove_file(&target)?;
    }
    Ok(same)
}
