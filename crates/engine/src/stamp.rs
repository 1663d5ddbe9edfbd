//! What the file system says of files beside their bytes. Whoever edits a file and puts it back leaves another stamp: the
//! time of the last change of a file cannot be set by its owner.

#[cfg(target_os = "linux")]
use crate::workspace::Watch;
use countersign_core::digest::{Digest, Parts};
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::Arc;

const DEPTH_MAX: usize = 64;

/// The stamp of a file, or of a folder with everything in it.
pub fn of(path: &Path) -> io::Result<Digest> {
    let mut parts = Parts::new("stamp/1");
    walk(path, &mut parts, 0)?;
    Ok(parts.digest())
}

/// What a folder is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// So many folders around it, the nearest first, in which nobody else makes anything.
    Ours(usize),
    /// Folders in which others make files too, as in the cache of the user.
    Shared,
}

/// What a folder was like, and its path: one that was replaced for a moment leaves another stamp, wherever on the way that
/// was.
#[derive(Clone, Debug)]
pub struct Stamp {
    folders: usize,
    digest: Digest,
    #[cfg(target_os = "linux")]
    path: Option<Arc<Watch>>,
}

impl Stamp {
    /// Of a folder with everything in it, and of the way to it.
    pub fn of(path: &Path, around: Around) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        let (watched, folders) = match around {
            Around::Ours(folders) => (None, folders),
            // The watch comes first: what changes after a look must be seen.
            Around::Shared => (Some(Arc::new(Watch::begin(path, [path].into_iter())?)), 0),
        };
        #[cfg(not(target_os = "linux"))]
        let folders = match around {
            Around::Ours(folders) => folders,
            // No path can be watched here.
            Around::Shared => 0,
        };
        Ok(Self {
            folders,
            digest: digest(path, folders)?,
            #[cfg(target_os = "linux")]
            path: watched,
        })
    }

    /// Whether anybody wrote there since, also if it is now as it was.
    pub fn is_touched(&self, path: &Path) -> bool {
        #[cfg(target_os = "linux")]
        if self.path.as_ref().is_some_and(|watch| watch.has_seen_a_change()) {
            return true;
        }
        digest(path, self.folders).ok().as_ref() != Some(&self.digest)
    }
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Stamp {}

fn digest(path: &Path, folders: usize) -> io::Result<Digest> {
    let mut parts = Parts::new("stamp/2");
    for folder in path.ancestors().skip(1).take(folders) {
        add(&mut parts, &folder.symlink_metadata()?);
    }
    walk(path, &mut parts, 0)?;
    Ok(parts.digest())
}

/// The stamp of a file or folder itself, for the caller's own list.
pub(crate) fn add(parts: &mut Parts, found: &Metadata) {
    for number in [found.dev(), found.ino(), found.size(), found.mode().into()] {
        parts.bytes(&number.to_le_bytes());
    }
    parts.bytes(&found.ctime().to_le_bytes()).bytes(&found.ctime_nsec().to_le_bytes());
}

fn walk(path: &Path, parts: &mut Parts, depth: usize) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    add(parts, &found);
    if !found.is_dir() {
        return Ok(());
    }
    if depth == DEPTH_MAX {
        return Err(io::Error::other("the folders are too deep"));
    }
    let mut names =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    parts.count(names.len());
    for name in names {
        parts.bytes(name.as_bytes());
        walk(&path.join(name), parts, depth + 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn attack_17_an_edit_that_is_undone_leaves_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let (top, file) = (folder.path(), folder.path().join("tools/helper.py"));
        fs::create_dir(top.join("tools")).unwrap();
        fs::write(&file, "good").unwrap();
        let times = fs::metadata(&file).unwrap();
        let put_back = || {
            fs::write(&file, "good").unwrap();
            let open = fs::File::options().write(true).open(&file).unwrap();
            open.set_modified(times.modified().unwrap()).unwrap();
        };
        let edits: [(&str, &dyn Fn()); 4] = [
            ("written", &|| fs::write(&file, "weak").unwrap()),
            ("replaced", &|| {
                fs::write(top.join("new"), "weak").unwrap();
                fs::rename(top.join("new"), &file).unwrap();
            }),
            ("added", &|| {
                fs::write(top.join("tools/json.py"), "weak").unwrap();
                fs::remove_file(top.join("tools/json.py")).unwrap();
            }),
            ("linked", &|| {
                fs::remove_file(&file).unwrap();
                std::os::unix::fs::symlink("/nowhere", &file).unwrap();
                fs::remove_file(&file).unwrap();
            }),
        ];
        for (name, edit) in edits {
            let before = of(top).unwrap();
            assert_eq!(of(top).unwrap(), before);
            // Until the clock of the file system has moved on.
            while of(top).unwrap() == before {
                edit();
                put_back();
            }
            assert_eq!(fs::read(&file).unwrap(), b"good", "{name}");
        }
        assert!(of(&top.join("none")).is_err());
        let tools = top.join("tools");
        for around in [Around::Ours(1), Around::Shared] {
            let before = Stamp::of(&tools, around).unwrap();
            assert!(!before.is_touched(&tools));
            while !before.is_touched(&tools) {
                let away = top.with_extension("away");
                fs::rename(top, &away).unwrap();
                fs::rename(&away, top).unwrap();
            }
        }
    }

    /// Other programs use the cache of the user too.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_others_make_beside_a_folder_does_not_touch_it() {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("tools");
        fs::create_dir(&tools).unwrap();
        let before = Stamp::of(&tools, Around::Shared).unwrap();
        for n in 0..100 {
            fs::create_dir(folder.path().join(format!("other-{n}"))).unwrap();
            fs::rename(folder.path().join(format!("other-{n}")), folder.path().join("last")).ok();
        }
        assert!(!before.is_touched(&tools) && !before.is_touched(&tools));
        fs::write(tools.join("new"), "").unwrap();
        assert!(before.is_touched(&tools));
    }
}
