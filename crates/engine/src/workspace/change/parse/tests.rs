//! Lists and patches as git writes them, whole and in pieces.

use super::*;
use proptest::prelude::*;

const ZEROS: &str = "0000000000000000000000000000000000000000";
const LIMITS: ChangeLimits =
    ChangeLimits { patch_bytes_max: 200, kept_bytes_max: 10_000, files_max: 5, diff_bytes_max: 10_000 };

fn parsed(said: &[u8], pieces: usize) -> Result<Vec<ChangedFile>, Defect> {
    let mut parser = Parser::new(LIMITS);
    for piece in said.chunks(pieces) {
        parser.feed(piece)?;
    }
    parser.finish(true).map(|(files, _)| files)
}

/// A modified file, a renamed one, a link that became a file, and a binary one.
fn said() -> Vec<u8> {
    let ids = "aa bb";
    let mut said = vec![];
    for token in [
        format!(":100644 100644 {ids} M"),
        "a".into(),
        format!(":100644 100644 {ids} R090"),
        "old\nname".into(),
        "new".into(),
        format!(":120000 100644 {ids} T"),
        "l".into(),
        format!(":000000 100644 {ZEROS} bb A"),
        "bin".into(),
        String::new(),
    ] {
        said.extend_from_slice(token.as_bytes());
        said.push(0);
    }
    said.extend_from_slice(
        b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n---- a\n++++ b\n+diff --git a/z b/z\n",
    );
    said.extend_from_slice(b"diff --git \"a/old\\nname\" b/new\nrename from\n@@ -1 +1 @@\n-\xff\n+y\r\n");
    said.extend_from_slice(
        b"diff --git a/l b/l\ndeleted file mode 120000\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n",
    );
    said.extend_from_slice(b"diff --git a/l b/l\nnew file mode 100644\n@@ -0,0 +1 @@\n+reg\n");
    said.extend_from_slice(b"diff --git a/bin b/bin\nnew file mode 100644\n@@ -0,0 +1 @@\n+\0\xff\n");
    said
}

#[test]
fn every_file_gets_its_own_patch() {
    let files = parsed(&said(), 7).unwrap();
    let seen: Vec<_> = files
        .iter()
        .map(|file| (file.path.as_str(), file.kind, file.shape, file.added, file.removed, file.is_binary))
        .collect();
    assert_eq!(
        seen,
        [
            ("a", FileKind::Modified, Shape::File, 2, 1, false),
            ("new", FileKind::Renamed, Shape::File, 1, 1, false),
            ("l", FileKind::TypeChanged, Shape::File, 1, 1, false),
            ("bin", FileKind::Added, Shape::File, 1, 0, true),
        ]
    );
    assert_eq!(files[1].old_path.as_deref(), Some("old\nname"));
    assert!(files[0].patch.ends_with("+diff --git a/z b/z\n"));
    assert!(files[1].patch.contains("-\\xff\n+y\r\n[not UTF-8"), "{}", files[1].patch);
    assert_eq!(
        files[3].patch,
        "diff --git a/bin b/bin\nnew file mode 100644\n[binary: contents not shown]\n"
    );
}

#[test]
fn a_long_patch_is_cut_at_a_line_and_says_so() {
    let long = |last: char| {
        let mut said = b":100644 100644 aa bb M\0a\0\0".to_vec();
        said.extend_from_slice(b"diff --git a/a b/a\n@@ -1 +1 @@\n");
        (0..50).for_each(|_| said.extend_from_slice("+zehn Zeïchen\n".as_bytes()));
        said.extend_from_slice(format!("+{last}\n").as_bytes());
        parsed(&said, 64).unwrap().remove(0)
    };
    let (one, other) = (long('x'), long('y'));
    assert!(one.is_cut);
    assert_eq!((one.patch_bytes, one.added), (784, 51));
    assert!(one.patch.ends_with("+zehn Zeïchen\n[diff cut: 196 of 784 bytes shown]\n"), "{}", one.patch);
    assert_eq!(one.patch, other.patch);
    assert_ne!(one.digest, other.digest, "the digest covers what is not shown");
}

#[test]
fn what_does_not_belong_together_is_no_change() {
    let one = ":100644 100644 aa bb M\0a\0";
    let many: String = (0..6).map(|_| one).collect();
    for (said, defect) in [
        (format!("{one}\0"), "1 files and 0 patches"),
        (format!("{one}\0diff --git a b\ndiff --git c d\n"), "1 files and 2 patches"),
        (format!("{one}\0+x\n"), "a patch without a header"),
        (":120000 100644 aa bb T\0l\0\0diff --git a b\n".to_owned(), "1 files and 1 patches"),
        (":100644 100644 aa bb M\0".to_owned(), "it ends before a name"),
        (":100644 100644 aa bb M\0na".to_owned(), "it ends in the middle of a name"),
        ("x\0a\0".to_owned(), "x"),
        (":100644 100644 aa bb X\0a\0\0diff --git a b\n".to_owned(), ":100644 100644 aa bb X"),
    ] {
        assert_eq!(parsed(said.as_bytes(), 3), Err(Defect::Unexpected(defect.to_owned())), "{said:?}");
    }
    assert_eq!(parsed(many.as_bytes(), 3), Err(Defect::TooManyFiles));
    assert_eq!(parsed(b"", 1), Ok(vec![]));
}

proptest! {
    #[test]
    fn pieces_make_no_difference(pieces in 1usize..400) {
        prop_assert_eq!(parsed(&said(), pieces), parsed(&said(), usize::MAX));
    }

    #[test]
    fn nothing_breaks_it(said in prop::collection::vec(any::<u8>(), 0..300), pieces in 1usize..40) {
        let _ = parsed(&said, pieces);
    }
}
