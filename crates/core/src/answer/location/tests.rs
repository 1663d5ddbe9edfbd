//! Places: what holds against the files, what is dropped, and fingerprints that stay.

use super::*;
use crate::answer::StatedFlaw;

const TEXT: &str = "fn a() {\n    let x = 1;\n}\n\nfn b() {\n    let x = 1;\n}\n";

fn asked(files: &[&str]) -> Asked {
    let about = if let [only] = files { (*only).to_owned() } else { String::new() };
    Asked { about, files: files.iter().map(|file| (*file).to_owned()).collect(), root: "/project".into() }
}

fn stated(file: Option<&str>, line: Option<u64>, end_line: Option<u64>) -> Flaw {
    StatedFlaw { message: "m".into(), file: file.map(Into::into), line, end_line }.flaw()
}

fn checked(flaws: Vec<Flaw>, criterion: &str, asked: &Asked, source: &Source) -> Vec<Flaw> {
    let ruling = Ruling { flaws, ..Ruling::new(criterion, false, None) };
    let mut answer = Answer { rulings: vec![ruling], ..Answer::default() };
    answer.check_locations(asked, |path| (path != "bin").then(|| source.clone()));
    answer.rulings.remove(0).flaws
}

/// Issue 15, item 4: what is outside the file is dropped and marked, what is outside the diff is kept and marked.
#[test]
fn places_that_hold_are_kept_others_are_dropped_and_marked() {
    let source = Source { text: TEXT.into(), changed: Some(vec![1..=2, 5..=6]), touched: Some(vec![2..=2]) };
    let (one, two) = (["src/a.rs"].as_slice(), ["src/a.rs", "bin"].as_slice());
    let nowhere = "the question was not about this file";
    let table = [
        (two, Some("src/a.rs"), Some(1), None, "src/a.rs:1"),
        (two, Some("src/a.rs"), Some(1), Some(2), "src/a.rs:1-2"),
        (two, Some("src/a.rs"), Some(7), None, "src/a.rs:7 outside"),
        (two, Some("src/a.rs"), Some(3), Some(5), "src/a.rs:3-5"),
        (two, Some("src/a.rs"), None, None, "src/a.rs"),
        (two, Some("bin"), None, None, "bin"),
        (["a\\b.md", "b/"].as_slice(), Some("a\\b.md"), Some(1), None, "a\\b.md:1"),
        (two, Some(" `./src/a.rs` "), Some(1), None, "src/a.rs:1"),
        (two, Some("src\\a.rs"), Some(1), None, "src/a.rs:1"),
        (two, Some("/project/src/a.rs"), Some(1), None, "src/a.rs:1"),
        (two, Some("b/src/a.rs"), Some(1), None, "src/a.rs:1"),
        (one, None, Some(2), None, "src/a.rs:2"),
        (one, None, None, Some(2), "src/a.rs:2"),
        (one, Some("src/a.rs"), Some(2), Some(1), "src/a.rs:2"),
        (one, Some("src/a.rs"), Some(6), Some(9), "src/a.rs:6 dropped src/a.rs:6-9: the file has 7 lines"),
        (one, Some("src/a.rs"), Some(8), None, "dropped src/a.rs:8: the file has 7 lines"),
        (one, Some("src/a.rs"), Some(0), None, "dropped src/a.rs:0: the file has 7 lines"),
        (one, None, Some(u64::MAX), None, "dropped line 18446744073709551615: the file has 7 lines"),
        (two, None, Some(2), None, "dropped line 2: the question was about several files"),
        (two, Some("bin"), Some(1), None, "dropped bin:1: it has no lines that can be read"),
        (two, Some("a.rs"), Some(1), None, &format!("dropped a.rs:1: {nowhere}")),
        (two, Some("other/src/a.rs"), Some(1), None, &format!("dropped other/src/a.rs:1: {nowhere}")),
        (two, Some("/projectsrc/a.rs"), None, None, &format!("dropped /projectsrc/a.rs: {nowhere}")),
        (two, Some("/elsewhere/src/a.rs"), None, None, &format!("dropped /elsewhere/src/a.rs: {nowhere}")),
    ];
    for (files, file, line, end_line, expected) in table {
        let [flaw] =
            checked(vec![stated(file, line, end_line)], "C", &asked(files), &source).try_into().unwrap();
        let outside = flaw.outside_change.then(|| "outside".to_owned());
        let dropped = flaw.location_dropped.map(|words| format!("dropped {words}"));
        let place = flaw.location.map(|place| place.to_string());
        let said = [place, outside, dropped].into_iter().flatten().collect::<Vec<_>>().join(" ");
        assert_eq!(said, expected, "{file:?} {line:?}");
        assert_eq!(flaw.fingerprint.as_str().len(), 32);
    }
    for (line, end_line, untouched) in
        [(1, None, true), (2, None, false), (1, Some(2), false), (3, Some(7), true), (6, Some(9), false)]
    {
        let [flaw] =
            checked(vec![stated(None, Some(line), end_line)], "C", &asked(one), &source).try_into().unwrap();
        assert_eq!(flaw.untouched, untouched, "issue 20: {line}-{end_line:?}");
    }
    let whole = Source { changed: None, ..source };
    let [flaw] = checked(vec![stated(None, Some(7), None)], "C", &asked(one), &whole).try_into().unwrap();
    assert!(!flaw.outside_change, "no change was judged");
}

/// A flaw, the text of its file, and the line it is at: its fingerprint.
fn print(criterion: &str, file: &str, text: &str, line: Option<u64>, message: &str) -> Fingerprint {
    let flaw = StatedFlaw { message: message.into(), file: Some(file.into()), line, end_line: None }.flaw();
    let source = Source { text: text.into(), changed: None, touched: None };
    checked(vec![flaw], criterion, &asked(&[file, "other"]), &source).remove(0).fingerprint
}

/// Issue 15, item 4: fingerprints survive lines that move.
#[test]
fn fingerprints_survive_lines_that_move() {
    let first = print("Clear", "a.rs", TEXT, Some(5), "b is no name");
    let above = format!("// new\n// lines\n{TEXT}");
    let indented = TEXT.replace("fn b() {", "\t  fn  b() {  ");
    let same = [
        ("lines above", print("Clear", "a.rs", &above, Some(7), "b is no name")),
        ("other indentation", print("Clear", "a.rs", &indented, Some(5), "b is no name")),
        ("other words", print("Clear", "a.rs", TEXT, Some(5), "what does b do?")),
        ("the same name of a criterion", print("**clear**:", "a.rs", TEXT, Some(5), "b is no name")),
        ("another line, which moved here", print("Clear", "a.rs", "fn b() {", Some(1), "b is no name")),
    ];
    for (what, other) in same {
        assert_eq!(other, first, "{what}");
    }
    let different = [
        ("another criterion", print("Short", "a.rs", TEXT, Some(5), "b is no name")),
        ("another file", print("Clear", "b.rs", TEXT, Some(5), "b is no name")),
        ("another line", print("Clear", "a.rs", TEXT, Some(1), "b is no name")),
        ("no line", print("Clear", "a.rs", TEXT, None, "b is no name")),
        ("an empty line", print("Clear", "a.rs", TEXT, Some(4), "b is no name")),
    ];
    for (what, other) in different {
        assert_ne!(other, first, "{what}");
    }
}

#[test]
fn without_a_line_the_words_tell_but_for_their_numbers() {
    let print = |message: &str| print("Clear", "a.rs", TEXT, None, message);
    assert_eq!(print("3 of 7 tests\n fail"), print("4 of 12 tests fail"));
    assert_ne!(print("3 tests fail"), print("3 links fail"));
    let dropped = self::print("Clear", "a.rs", TEXT, Some(99), "3 of 7 tests fail");
    let about_all = Fingerprint::of_message("Clear", "", "of tests fail");
    assert_eq!(dropped, about_all, "a place that does not hold does not count");
}

#[test]
fn flaws_at_lines_that_read_alike_are_told_apart_by_their_order() {
    let source = Source { text: TEXT.into(), changed: None, touched: None };
    let at = |line| stated(None, Some(line), None);
    let prints = |lines: &[u64]| -> Vec<Fingerprint> {
        let flaws = lines.iter().map(|line| at(*line)).collect();
        checked(flaws, "C", &asked(&["a.rs"]), &source).into_iter().map(|flaw| flaw.fingerprint).collect()
    };
    let (both, reversed) = (prints(&[2, 6]), prints(&[6, 2]));
    assert_ne!(both[0], both[1]);
    assert_eq!((&both[0], &both[1]), (&reversed[1], &reversed[0]), "not by the order of the reply");
    assert_eq!(prints(&[6])[0], both[0], "one alone is the first");
}

#[test]
fn places_in_free_texts_are_read() {
    let claim = |file: &str, line, end_line| Claim { file: Some(file.into()), line, end_line };
    for (words, expected) in [
        ("api.py:45", claim("api.py", Some(45), None)),
        ("api.py:45-50", claim("api.py", Some(45), Some(50))),
        ("src/api.py", claim("src/api.py", None, None)),
        ("api.py:main", claim("api.py:main", None, None)),
    ] {
        assert_eq!(Claim::of_words(words), expected, "{words}");
    }
}

#[test]
fn the_lines_of_a_patch_are_those_its_hunks_show() {
    let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@ fn x() {\n a\n+@@ -1 +900 @@\n b\n@@ -9 +12 @@\n-a\n+b\n\
                 @@ -20,2 +30,0 @@\n-a\n-b\n";
    assert_eq!(changed_lines(patch), [1..=4, 12..=12]);
    assert_eq!(changed_lines("similarity index 100%\n"), []);
}
