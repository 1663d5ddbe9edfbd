//! Marks that a merge left behind.

use super::defect::{Defect, Found};
use super::quote::quote;

/// A merge writes a label after all marks but the middle one, so other bare runs of signs do not count.
const LABELLED: [&str; 3] = [OPENS, "||||||| ", CLOSES];
const OPENS: &str = "<<<<<<< ";
const CLOSES: &str = ">>>>>>> ";
/// It also underlines a Markdown heading: it is a mark only between an opening and a closing one.
const PARTS: &str = "=======";

pub(super) fn look(text: &str) -> Vec<Defect> {
    let is_mark = |line: &str| line == PARTS || LABELLED.iter().any(|mark| line.starts_with(mark));
    let marks: Vec<_> = text.lines().enumerate().filter(|(_, line)| is_mark(line)).collect();
    let opened = marks.iter().position(|(_, line)| line.starts_with(OPENS));
    let closed = marks.iter().rposition(|(_, line)| line.starts_with(CLOSES));
    let parts = |i: usize| opened.is_some_and(|opened| opened < i) && closed.is_some_and(|closed| i < closed);

    let mut found = Found::default();
    for (i, (index, line)) in marks.iter().enumerate() {
        if *line != PARTS || parts(i) {
            found.add(Some(index + 1), || format!("conflict marker {}", quote(line)));
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
