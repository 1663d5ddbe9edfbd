//! Marks that a merge left behind.

use super::defect::{Defect, Found};
use super::quote::quote;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Opens,
    Base,
    Parts,
    Closes,
}

/// A merge writes a label after all marks but the middle one, so a bare run of signs is not one of its.
fn mark(line: &str) -> Option<Mark> {
    match line {
        _ if line.starts_with("<<<<<<< ") => Some(Mark::Opens),
        _ if line.starts_with("||||||| ") => Some(Mark::Base),
        "=======" => Some(Mark::Parts),
        _ if line.starts_with(">>>>>>> ") => Some(Mark::Closes),
        _ => None,
    }
}

/// `=======` also underlines a Markdown heading: it is a mark only between an opening and a closing one.
pub(super) fn look(text: &str) -> Vec<Defect> {
    let marks: Vec<_> =
        text.lines().enumerate().filter_map(|(i, line)| Some((i + 1, line, mark(line)?))).collect();
    let opened = marks.iter().position(|(_, _, mark)| *mark == Mark::Opens);
    let closed = marks.iter().rposition(|(_, _, mark)| *mark == Mark::Closes);
    let parts = |i: usize| opened.is_some_and(|opened| opened < i) && closed.is_some_and(|closed| i < closed);

    let mut found = Found::default();
    for (i, (number, line, mark)) in marks.iter().enumerate() {
        if *mark != Mark::Parts || parts(i) {
            found.add(Some(*number), || format!("conflict marker {}", quote(line)));
        }
    }
    found.list()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Option<usize>> {
        look(text).iter().map(|defect| defect.line).collect()
    }

    #[test]
    fn marks_are_found_and_nothing_else() {
        for (text, expected) in [
            ("", vec![]),
            ("Title\n=======\n\ntext", vec![]),
            ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", vec![1, 3, 5]),
            ("<<<<<<< HEAD\r\na\r\n=======\r\nb\r\n>>>>>>> other\r\n", vec![1, 3, 5]),
            ("<<<<<<< a\n||||||| base\n=======\n>>>>>>> b", vec![1, 2, 3, 4]),
            // One forgotten mark is enough, but then a line of equal signs may be a heading.
            ("<<<<<<< HEAD\nTitle\n=======\n", vec![1]),
            ("Title\n=======\n>>>>>>> other", vec![3]),
            ("||||||| merged", vec![1]),
            // Not marks: other lengths, indented, without a label.
            ("<<<<<< a\n<<<<<<<< a\n <<<<<<< a\n<<<<<<<a\n<<<<<<<\n>>>>>>>\n|||||||", vec![]),
            ("<<<<<<< a\n========\n======= \n ======\n>>>>>>> b", vec![1, 5]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(Some).collect();
            assert_eq!(lines(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_mark_is_quoted() {
        assert_eq!(look("a\n>>>>>>> b\u{7}")[0].message, "conflict marker `>>>>>>> b\\u{7}`");
    }
}
