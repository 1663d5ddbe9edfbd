//! Every way a file can be another in between, and what is done beside it.

use super::*;
use std::fs;
use std::path::Path;

type Deed = fn(&Path);

fn swapped(a: &Path, b: &Path) {
    let aside = a.with_extension("aside");
    fs::rename(a, &aside).unwrap();
    fs::rename(b, a).unwrap();
    fs::rename(a, b).unwrap();
    fs::rename(&aside, a).unwrap();
}

/// A project in which `docs/a.md`, `link/a.md` and `linked.md` are kept, and `docs/none.md` is not there.
fn project() -> (tempfile::TempDir, Root, Vec<GuardedFile>) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("docs/a.md", "bad"),
        ("docs/b.md", "good"),
        ("other/a.md", "good"),
        ("real/a.md", "bad"),
        ("real.md", "bad"),
    ] {
        fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
        fs::write(folder.path().join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink("real.md", folder.path().join("linked.md")).unwrap();
    let digest = Some(Digest::of(b"bad"));
    let kept = |path: &str, digest| GuardedFile { path: path.to_owned(), digest };
    let files = vec![
        kept("docs/a.md", digest.clone()),
        kept("link/a.md", digest.clone()),
        kept("linked.md", digest),
        kept("docs/none.md", None),
        kept("nowhere/none.md", None),
    ];
    let root = Root::new(folder.path()).unwrap();
    (folder, root, files)
}

#[test]
fn a_file_that_was_another_in_between_has_changed() {
    let deeds: &[(&str, Deed)] = &[
        ("written and written back", |root| {
            fs::write(root.join("docs/a.md"), "good").unwrap();
            fs::write(root.join("docs/a.md"), "bad").unwrap();
        }),
        ("exchanged with its neighbour and back", |root| {
            swapped(&root.join("docs/a.md"), &root.join("docs/b.md"));
        }),
        ("its folder exchanged and back", |root| swapped(&root.join("docs"), &root.join("other"))),
        ("the folder behind a link exchanged and back", |root| {
            swapped(&root.join("real"), &root.join("other"));
        }),
        ("a link on its way led elsewhere and back", |root| {
            for target in ["other", "real"] {
                fs::remove_file(root.join("link")).unwrap();
                std::os::unix::fs::symlink(target, root.join("link")).unwrap();
            }
        }),
        ("the link it is led elsewhere and back", |root| {
            for target in ["other/a.md", "real.md"] {
                fs::remove_file(root.join("linked.md")).unwrap();
                std::os::unix::fs::symlink(target, root.join("linked.md")).unwrap();
            }
        }),
        ("the file behind a link written and written back", |root| {
            fs::write(root.join("real.md"), "good").unwrap();
            fs::write(root.join("real.md"), "bad").unwrap();
        }),
        ("there for a moment", |root| {
            fs::write(root.join("docs/none.md"), "good").unwrap();
            fs::remove_file(root.join("docs/none.md")).unwrap();
        }),
        ("there for a moment, with its folder", |root| {
            fs::create_dir(root.join("nowhere")).unwrap();
            fs::write(root.join("nowhere/none.md"), "good").unwrap();
            fs::remove_dir_all(root.join("nowhere")).unwrap();
        }),
        ("left as another", |root| fs::write(root.join("docs/a.md"), "good").unwrap()),
        ("gone", |root| fs::remove_file(root.join("docs/a.md")).unwrap()),
    ];
    for (what, deed) in deeds {
        let (folder, root, files) = project();
        let steady = HeldFiles::begin(&root, files).unwrap().ok().unwrap();
        deed(folder.path());
        assert!(steady.end().is_err(), "{what}");
    }
    // The whole project, exchanged with another one and back.
    let (folder, _, files) = project();
    let outer = tempfile::tempdir().unwrap();
    fs::rename(folder.keep(), outer.path().join("project")).unwrap();
    fs::create_dir(outer.path().join("another")).unwrap();
    let root = Root::new(&outer.path().join("project")).unwrap();
    let steady = HeldFiles::begin(&root, files).unwrap().ok().unwrap();
    swapped(&outer.path().join("project"), &outer.path().join("another"));
    assert!(steady.end().is_err(), "the project");
}

#[test]
fn what_is_done_beside_a_file_does_not_change_it() {
    let (folder, root, files) = project();
    let steady = HeldFiles::begin(&root, files).unwrap().ok().unwrap();
    let at = |path: &str| folder.path().join(path);
    assert_eq!(fs::read_to_string(at("link/a.md")).unwrap(), "bad");
    fs::write(at("docs/log"), "x".repeat(100_000)).unwrap();
    fs::create_dir_all(at("docs/__pycache__")).unwrap();
    fs::write(at("docs/b.md"), "other").unwrap();
    fs::create_dir_all(at("target/debug")).unwrap();
    for i in 0..5_000 {
        fs::File::create(at(["docs/c", "docs/d"][i % 2])).unwrap();
        fs::remove_file(at(["docs/c", "docs/d"][i % 2])).unwrap();
    }
    assert_eq!(steady.end(), Ok(()));
}

#[test]
fn a_file_that_is_another_at_the_beginning_is_not_held() {
    let (folder, root, files) = project();
    fs::write(folder.path().join("docs/a.md"), "good").unwrap();
    let begun = HeldFiles::begin(&root, files).unwrap();
    assert_eq!(begun.err(), Some(Changed { path: "docs/a.md".into() }));
}
