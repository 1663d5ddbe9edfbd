//! Placeholder text, and marks of a merge. False alarms get a check switched off, so each pattern of the table is narrow:
//!
//! - the four words count only in capitals and whole: `TodoList`, `TODO_LIST`, "a todo list" and `TODO.md` are fine;
//! - "to be written" counts only as a statement of its own ("Limits: to be determined."), not inside a sentence;
//! - `<your name>` counts, `<your-name>` does not: so documentation names the arguments of commands;
//! - `[insert …]` and `[your …]` do not count as the text of a link;
//! - placeholders in code count.

use super::defect::{Defect, DefectList};
use super::pattern::{compile, matching_lines};
use super::quote::quote;
use regex::Regex;
use std::sync::LazyLock;

/// The one group of each pattern is the part that is quoted. `VERBS` and `END` stand for the two pieces below.
const TABLE: &[&str] = &[
    // ASCII boundaries, so that a word right beside Japanese or Chinese text is a word too.
    r"(?-u:\b)(TODO|TBD|FIXME|XXX)(?-u:\b)(?:[^.]|\.(?:[^a-z]|\z)|\z)",
    r"(?i)\b(lorem\s+ipsum)\b",
    r"(?i)\b(coming\s+soon)\b",
    r"(?i)\b((?:text|contents?|description|details|summary)\s+go(?:es)?\s+here)\b",
    r"(?i)(<\s*placeholder(?:\s+text|\s+here)?\s*>)",
    r#"(?i)(<\s*(?:insert|your)\s[^<>="\n]{1,80}>)"#,
    r"(?i)(\[\s*(?:insert|your)\s[^\[\]\n]{1,80}\])(?:[^(\[:]|\z)",
    // A capital begins a statement wherever it stands; small letters need a lead.
    r"\b(T[oO]\s+[bB][eE]\s+VERBS)END",
    r"(?:[(\[:|*_>–—-]|\b(?:is|are|still|yet|remains?))\s*\b((?i)to\s+be\s+VERBS)END",
];

const VERBS: &str = "(?i:written|determined|defined|decided|specified|announced|confirmed|documented|completed\
    |added|done|filled[ \\t]+in)";

/// The statement ends here: not "to be written to disk", nor "to be defined, a name needs …".
const END: &str = r#"(?:[ \t]+(?:later|soon))?[ \t]*(?:[.!?;…)\]|*_"'<]|$)"#;

static ANY: LazyLock<Result<Regex, String>> = LazyLock::new(|| compile(&pattern(TABLE)));

fn pattern(rows: &[&str]) -> String {
    let rows: Vec<_> = rows.iter().map(|row| format!("(?:{row})")).collect();
    rows.join("|").replace("VERBS", VERBS).replace("END", END)
}

pub(super) fn look(text: &str) -> Vec<Defect> {
    match &*ANY {
        Err(problem) => vec![Defect::of_file(problem.clone())],
        Ok(regex) => matching_lines(regex, text, |hit| {
            let shown = hit.iter().skip(1).flatten().next().map_or("", |group| group.as_str());
            format!("placeholder text {}", quote(shown))
        }),
    }
}

/// A merge writes a label after all marks but the middle one, so other bare runs of signs do not count.
const LABELLED: [&str; 3] = [OPENS, "||||||| ", CLOSES];
const OPENS: &str = "<<<<<<< ";
const CLOSES: &str = ">>>>>>> ";
/// It also underlines a Markdown heading: it is a mark only between an opening and a closing one.
const PARTS: &str = "=======";

pub(super) fn look_for_conflicts(text: &str) -> Vec<Defect> {
    let is_mark = |line: &str| line == PARTS || LABELLED.iter().any(|mark| line.starts_with(mark));
    let marks: Vec<_> = text.lines().enumerate().filter(|(_, line)| is_mark(line)).collect();
    let opened = marks.iter().position(|(_, line)| line.starts_with(OPENS));
    let closed = marks.iter().rposition(|(_, line)| line.starts_with(CLOSES));
    let parts = |i: usize| opened.is_some_and(|opened| opened < i) && closed.is_some_and(|closed| i < closed);

    let mut found = DefectList::default();
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

    /// What each row of the table is for, in its order.
    const CAUGHT: &[&[&str]] = &[
        &[
            "TODO",
            "// TODO: x",
            "(TBD)",
            "FIXME(me)",
            "XXX",
            "TODO.",
            "TODO. later",
            "TODO\n",
            "の TODOを",
            "`TODO`",
        ],
        &["Lorem ipsum dolor", "LOREM\nIPSUM"],
        &["Coming soon!", "more is coming  soon"],
        &["Description goes here", "Your text goes here.", "details go here"],
        &["<placeholder>", "<PLACEHOLDER>", "< placeholder text >"],
        &["<your name>", "<Your name here>", "<insert date>"],
        &["[insert name]", "[Insert the name here].", "[your company]", "[INSERT X] [b](c)"],
        &[
            "To be written",
            "To be determined.",
            "# Limits (To be defined)",
            "TO BE DONE",
            "Cost To be confirmed later.",
        ],
        &[
            "Limits: to be determined",
            "| a | to be defined |",
            "- to be written",
            "(to be decided)",
            "*to be added*",
            "The owner is to be confirmed.",
            "still to be filled in.",
            "<td>to be announced</td>",
            "Cost: to be\ndetermined\n",
        ],
    ];

    const FINE: &[&str] = &[
        "",
        "TodoList",
        "a todo list, todo",
        "Todo",
        "TODO_LIST TODOS MYTODO xTODO",
        "see TODO.md",
        "file.XXXXXX",
        "XXXL",
        "coming sooner",
        "lorem",
        "the bytes to be written to disk",
        "the number of bytes to be written.",
        "the bytes\nto be written.",
        "To be written to disk, it must be open.",
        "To be defined, a name needs a value.",
        "a value yet to be determined by the caller",
        "to be or not to be",
        "<input placeholder=\"name\">",
        "<placeholder/>",
        "<your-name> <YOUR_TOKEN>",
        "<insert id=\"a\">",
        "[Insert a row](rows.md) and [insert a column][columns]",
        "[insert key]: docs/insert.md",
        "list[insert]",
        "code goes here",
    ];

    #[test]
    fn each_row_catches_what_it_is_for() {
        assert_eq!(CAUGHT.len(), TABLE.len());
        for (row, texts) in TABLE.iter().zip(CAUGHT) {
            let regex = compile(&pattern(&[row])).unwrap();
            assert_eq!(regex.captures_len(), 2, "one group: {row}");
            for text in *texts {
                assert!(regex.is_match(text), "{row} on {text:?}");
                assert_eq!(look(text).len(), 1, "{text:?}");
            }
        }
    }

    #[test]
    fn ordinary_text_is_fine() {
        for text in FINE {
            assert_eq!(look(text), [], "{text:?}");
        }
    }

    #[test]
    fn the_place_and_the_words_are_named() {
        assert_eq!(
            look("a\nTODO TBD\n\nLimits: to be determined.\n"),
            [
                Defect::at(2, "placeholder text `TODO`".into()),
                Defect::at(4, "placeholder text `to be determined`".into())
            ]
        );
    }

    fn lines(text: &str) -> Vec<Option<usize>> {
        look_for_conflicts(text).iter().map(|defect| defect.line).collect()
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
        assert_eq!(look_for_conflicts("a\n>>>>>>> b\u{7}")[0].message, "conflict marker `>>>>>>> b\\u{7}`");
    }
}
