//! Judged contents are kept within their limits, found by digest, and not shown once they were edited.

use super::*;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

const TEXT: &str = "one\ntwo\nthree\n";

struct Beside {
    ledger: tempfile::TempDir,
}

impl Beside {
    fn new() -> Self {
        Self { ledger: tempfile::tempdir().unwrap() }
    }

    fn kept_for(&self, days: u32) -> Contents {
        self.at(days, SystemTime::now())
    }

    fn at(&self, days: u32, now: SystemTime) -> Contents {
        Contents::beside(self.ledger.path(), days, now)
    }

    fn file(&self, digest: &Digest) -> PathBuf {
        self.kept_for(30).path(digest).unwrap()
    }
}

/// Adds a text that was made of these bytes.
fn add(contents: &Contents, bytes: &str, text: &str) -> bool {
    let digest = Digest::of(bytes.as_bytes());
    let mut keeper = contents.keeper().unwrap().unwrap();
    let added = keeper.add(&Judged { digest: &digest, text, redaction: "r" }).unwrap();
    keeper.sweep().unwrap();
    added
}

fn text(contents: &Contents, bytes: &str) -> Result<String, NotKept> {
    contents.find(&Digest::of(bytes.as_bytes())).map(|kept| kept.text)
}

#[test]
fn issue_18_what_is_kept_is_found_by_the_digest_of_the_original_bytes_and_only_its_user_may_open_it() {
    let beside = Beside::new();
    let contents = beside.kept_for(30);
    assert_eq!(text(&contents, TEXT), Err(NotKept::Gone));
    assert!(add(&contents, TEXT, TEXT) && add(&contents, "key = 1\n", "key = [redacted: x]\n"));
    assert_eq!(text(&contents, TEXT).unwrap(), TEXT);
    assert_eq!(text(&contents, "key = 1\n").unwrap(), "key = [redacted: x]\n");
    let path = beside.file(&Digest::of(TEXT.as_bytes()));
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!((mode(path.parent().unwrap()), mode(&beside.ledger.path().join(FOLDER))), (0o700, 0o700));
    let long = "the same words again\n".repeat(1000);
    assert!(add(&contents, &long, &long));
    assert!(fs::metadata(beside.file(&Digest::of(long.as_bytes()))).unwrap().len() < 2000, "compressed");
    let from_elsewhere: Digest = serde_json::from_str("\"../../../etc/passwd\"").unwrap();
    assert_eq!(contents.find(&from_elsewhere).unwrap_err(), NotKept::Gone);
}

#[test]
fn issue_18_an_edited_or_exchanged_file_is_noticed_and_written_again() {
    let beside = Beside::new();
    let contents = beside.kept_for(30);
    let bytes = ["one\n", "key = 1\n"];
    let forged = |text: &str, of: &str| {
        let digest = Digest::of(of.as_bytes());
        sealed::seal(&Judged { digest: &digest, text, redaction: "r" })
    };
    for of in bytes {
        let (digest, text_kept) = (Digest::of(of.as_bytes()), of.replace('1', "[redacted: x]"));
        let path = beside.file(&digest);
        assert!(add(&contents, of, &text_kept));
        let written = fs::read(&path).unwrap();
        let cut = written[..written.len() - 3].to_vec();
        let mut flipped = written.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let line = String::from_utf8_lossy(&written[..written.iter().position(|b| *b == b'\n').unwrap()])
            .into_owned();
        let other_text =
            [line.as_bytes(), b"\n", &miniz_oxide::deflate::compress_to_vec(b"other\n", 1)].concat();
        for edited in [cut, flipped, other_text, forged("other\n", "other\n"), vec![], b"one\n".to_vec()] {
            fs::write(&path, &edited).unwrap();
            assert_eq!(text(&contents, of), Err(NotKept::Edited), "{}", String::from_utf8_lossy(&edited));
            assert!(!contents.keeper().unwrap().unwrap().has(&digest, "r"));
        }
        assert!(add(&contents, of, &text_kept), "judged again, it is kept again");
        assert_eq!(text(&contents, of).unwrap(), text_kept);
    }
    // What claims to be exactly the bytes has their digest or is not shown.
    let path = beside.file(&Digest::of(b"one\n"));
    let honest =
        String::from_utf8_lossy(&forged("other\n", "one\n")).replacen(" made ", " exact ", 1).into_bytes();
    fs::write(&path, honest).unwrap();
    assert_eq!(text(&contents, "one\n"), Err(NotKept::Edited));
}

#[test]
fn issue_18_links_pipes_and_folders_in_place_of_our_files_are_not_followed() {
    let beside = Beside::new();
    let contents = beside.kept_for(30);
    let (path, outside) = (beside.file(&Digest::of(TEXT.as_bytes())), beside.ledger.path().join("outside"));
    assert!(add(&contents, TEXT, TEXT));
    fs::rename(&path, &outside).unwrap();
    symlink(&outside, &path).unwrap();
    assert_eq!(text(&contents, TEXT), Err(NotKept::Gone));
    fs::remove_file(&path).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(text(&contents, TEXT), Err(NotKept::Edited));
    // The folder itself, as a link to one with files that look like ours.
    let folder = beside.ledger.path().join(FOLDER);
    let elsewhere = beside.ledger.path().join("elsewhere");
    fs::rename(&folder, &elsewhere).unwrap();
    fs::write(elsewhere.join("swept"), "").unwrap();
    symlink(&elsewhere, &folder).unwrap();
    beside.kept_for(0).keeper().unwrap();
    assert!(elsewhere.join("swept").exists(), "nothing is removed through a link");
    let mut keeper = contents.keeper().unwrap().unwrap();
    let digest = Digest::of(b"x");
    assert!(keeper.add(&Judged { digest: &digest, text: "x", redaction: "r" }).is_err());
}

#[test]
fn issue_18_expired_contents_are_removed_and_judged_ones_stay() {
    let beside = Beside::new();
    let now = SystemTime::now();
    let (today, old, older) = ("a\n", "b\n", "c\n");
    for bytes in [today, old, older] {
        assert!(add(&beside.at(30, now), bytes, bytes));
    }
    let aged = |bytes: &str, days: u32| {
        let path = beside.file(&Digest::of(bytes.as_bytes()));
        File::options().append(true).open(path).unwrap().set_modified(now - DAY * days).unwrap();
    };
    aged(old, 29);
    aged(older, 31);
    let contents = beside.at(30, now);
    assert_eq!(text(&contents, older), Err(NotKept::Gone), "not shown, also before it is removed");
    assert!(contents.keeper().unwrap().unwrap().has(&Digest::of(old.as_bytes()), "r"), "judged again today");
    assert!(!contents.keeper().unwrap().unwrap().has(&Digest::of(old.as_bytes()), "other"), "other secrets");
    assert!(add(&contents, "d\n", "d\n"));
    let later = beside.at(30, now + DAY * 20);
    assert_eq!(text(&later, old).unwrap(), old);
    let there = |bytes: &str| beside.file(&Digest::of(bytes.as_bytes())).exists();
    assert_eq!([today, old, older].map(there), [true, true, false]);
    assert!(!sweep::is_due(&contents.folder, now));
    assert!(sweep::is_due(&contents.folder, now + Duration::from_secs(3601)));
    beside.at(30, now + DAY * 40).keeper().unwrap().unwrap().sweep().unwrap();
    assert_eq!([today, old, older].map(there), [false; 3]);
}

#[test]
fn issue_18_switched_off_nothing_is_kept_and_what_is_there_is_removed() {
    let beside = Beside::new();
    let folder = beside.ledger.path().join(FOLDER);
    assert!(add(&beside.kept_for(30), TEXT, TEXT));
    let off = beside.kept_for(0);
    assert_eq!(text(&off, TEXT), Err(NotKept::Gone));
    assert!(off.keeper().unwrap().is_none());
    assert!(!folder.exists());
    assert!(off.keeper().unwrap().is_none());
    // What is not ours stays.
    assert!(add(&beside.kept_for(30), TEXT, TEXT));
    fs::write(folder.join("ab.txt"), "mine").unwrap();
    assert!(off.keeper().unwrap().is_none());
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["ab.txt"]);
}

#[test]
fn issue_18_every_cap_holds() {
    let beside = Beside::new();
    let contents = beside.kept_for(30);
    let most = usize::try_from(FILE_BYTES_MAX).unwrap();
    let (fits, longer) = ("x".repeat(most), "y".repeat(most + 1));
    assert!(add(&contents, &fits, &fits) && !add(&contents, &longer, &longer));
    assert_eq!(text(&contents, &fits).unwrap(), fits);
    // A line that claims a short text, and unpacks to a long one.
    let digest = Digest::of(fits.as_bytes());
    let bomb = miniz_oxide::deflate::compress_to_vec(&vec![b'z'; 64 * most], 1);
    fs::write(beside.file(&digest), [b"countersign/contents/1 made r s\n", &bomb[..]].concat()).unwrap();
    assert_eq!(text(&contents, &fits), Err(NotKept::Edited));
    // A round adds so much and no more.
    let mut keeper = contents.keeper().unwrap().unwrap();
    (keeper.added_files, keeper.added_bytes) = (ROUND_FILES_MAX - 1, 0);
    let mut more = |text: &str| {
        keeper.add(&Judged { digest: &Digest::of(text.as_bytes()), text, redaction: "r" }).unwrap()
    };
    assert!(more("1") && !more("2"));
    assert_eq!(keeper.left_out, 1);
}

#[test]
fn issue_18_the_oldest_go_first_when_there_is_no_room() {
    let beside = Beside::new();
    let contents = beside.kept_for(30);
    for (bytes, days) in [("a", 3), ("b", 1), ("c", 2)] {
        assert!(add(&contents, bytes, bytes));
        let path = beside.file(&Digest::of(bytes.as_bytes()));
        File::options().append(true).open(path).unwrap().set_modified(contents.now - DAY * days).unwrap();
    }
    let there = || ["a", "b", "c"].map(|bytes| beside.file(&Digest::of(bytes.as_bytes())).exists());
    let mut listing = Listing::swept(&contents).unwrap();
    listing.fill(TOTAL_BYTES_MAX, 3);
    assert!(listing.make_room(1));
    assert_eq!(there(), [false, true, true]);
    listing.fill(0, FILES_MAX);
    assert!(listing.make_room(1));
    assert_eq!(there(), [false, true, false]);
    listing.fill(0, FILES_MAX + 1);
    assert!(!listing.make_room(1), "what was added in the same round does not go for the next");
    assert_eq!(there(), [false; 3]);
}

#[test]
fn issue_18_what_cannot_be_written_is_an_error_and_no_panic() {
    let beside = Beside::new();
    let contents = beside.kept_for(30);
    assert!(add(&contents, TEXT, TEXT));
    let folder = beside.ledger.path().join(FOLDER);
    fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
    let mut keeper = contents.keeper().unwrap().unwrap();
    let digest = Digest::of(b"new");
    let added = keeper.add(&Judged { digest: &digest, text: "new", redaction: "r" });
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    // Root may write everywhere.
    assert!(added.is_err() || rustix::process::geteuid().is_root());
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "a file").unwrap();
    assert!(keeper.add(&Judged { digest: &digest, text: "new", redaction: "r" }).is_err());
    assert_eq!(text(&contents, TEXT), Err(NotKept::Gone));
}
