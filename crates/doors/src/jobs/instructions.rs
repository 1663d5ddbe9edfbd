//! The instructions file of a self-review: where agents look for it, and never outside the project.

use countersign_core::ids::{ID_LETTERS, ReviewId};
use countersign_core::text::cut;
use countersign_engine::workspace::{self, Root};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub const FOLDER: &str = ".deepwork/tmp";
/// The length of the last line, which names the review.
const MARK_BYTES: usize = ReviewId::PREFIX.len() + ID_LETTERS + "(review )\n".len();

/// The folder in `base`, which git ignores. A link that leads out of the project is not followed.
pub fn folder(root: &Root, base: &Path) -> io::Result<PathBuf> {
    let inside = root.relative(base, Path::new(FOLDER));
    let folder = root.join(&inside.map_err(|problem| io::Error::new(ErrorKind::PermissionDenied, problem))?);
    std::fs::create_dir_all(&folder)?;
    match File::create_new(folder.join(".gitignore")) {
        Ok(mut ignore) => ignore.write_all(b"*\n")?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(folder)
}

/// The longest part of a step's id in a name: the whole name must fit a file system.
const STEP_BYTES: usize = 80;

/// The file name for a step, with `review` where the name without it is taken: by another workflow, or a name with `_`.
pub fn name(session_id: &str, step: &str, review: Option<&ReviewId>) -> String {
    let review = review.map(|review| format!("_{review}")).unwrap_or_default();
    format!("quality_review_{session_id}_{}{review}.md", cut(step, STEP_BYTES))
}

/// Writes instructions, with a last line that names their review.
pub fn write(path: &Path, document: &str, review: &ReviewId) -> io::Result<()> {
    workspace::write_atomically(path, &format!("{document}\n(review {review})\n"))
}

pub fn review_at(path: &Path) -> Option<ReviewId> {
    // Checked first: opening a pipe would wait.
    let size = std::fs::symlink_metadata(path).ok().filter(|found| found.is_file())?.len();
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(size.saturating_sub(MARK_BYTES as u64))).ok()?;
    let mut end = vec![];
    file.take(MARK_BYTES as u64).read_to_end(&mut end).ok()?;
    let id = std::str::from_utf8(&end).ok()?.strip_prefix("(review ")?.strip_suffix(")\n")?;
    Some(ReviewId::from_text(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_says_whose_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.md");
        let review = ReviewId::new([7; ID_LETTERS]);
        assert_eq!(review_at(&path), None);
        for text in ["", "short", "(review", &"ü".repeat(100)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(review_at(&path), None, "{text}");
        }
        write(&path, "text", &review).unwrap();
        assert_eq!(review_at(&path), Some(review));
    }

    #[test]
    fn names_are_as_long_as_a_file_system_takes() {
        let (session, step) = ("s".repeat(128), "t".repeat(1000));
        assert!(name(&session, &step, Some(&ReviewId::new([7; ID_LETTERS]))).len() < 255 - ".tmp".len());
        assert_eq!(name("a-b", "plan", None), "quality_review_a-b_plan.md");
    }

    #[test]
    fn the_folder_is_inside_and_ignored() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = Root::new(dir.path()).unwrap();
        let made = folder(&root, root.path()).unwrap();
        assert_eq!(std::fs::read_to_string(made.join(".gitignore")).unwrap(), "*\n");
        // A link in place of any part, also a broken one, does not lead out of the project.
        for (part, to) in [
            (".deepwork/tmp", outside.path().to_owned()),
            (".deepwork/tmp", outside.path().join("none")),
            (".deepwork", outside.path().to_owned()),
            (".deepwork", outside.path().join("none")),
        ] {
            std::fs::remove_dir_all(dir.path().join(".deepwork"))
                .or_else(|_| std::fs::remove_file(dir.path().join(".deepwork")))
                .unwrap();
            let link = dir.path().join(part);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&to, &link).unwrap();
            assert!(folder(&root, root.path()).is_err(), "{part} -> {}", to.display());
        }
        std::fs::remove_file(dir.path().join(".deepwork")).unwrap();
        std::fs::create_dir_all(dir.path().join(".deepwork/tmp")).unwrap();
        symlink(outside.path().join("ignore"), dir.path().join(".deepwork/tmp/.gitignore")).unwrap();
        folder(&root, root.path()).unwrap();
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
