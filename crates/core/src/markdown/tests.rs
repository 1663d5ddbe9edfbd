//! Lines of Markdown: what is code, held against a CommonMark parser, and places that are in the text.

use super::*;
use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

/// One letter a line: `c` for code, `.` for the rest.
fn ours(text: &str) -> String {
    lines(text).map(|line| if line.is_code { 'c' } else { '.' }).collect()
}

/// The same as a CommonMark parser has it.
fn commonmark(text: &str) -> String {
    let mut is_code = vec![false; text.split_inclusive('\n').count()];
    let line_of = |at: usize| text[..at].matches('\n').count();
    for (event, range) in Parser::new(text).into_offset_iter() {
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = event {
            let inside = text[range.clone()].trim_end_matches('\n');
            is_code[line_of(range.start)..=line_of(range.start + inside.len())].fill(true);
            // An open block has the empty lines at the end of the text too.
            let rest = &text[range.start + inside.len()..];
            if rest.trim().is_empty() && lines(text).open_fence_at_the_end().is_some() {
                is_code[line_of(range.start)..].fill(true);
            }
        }
    }
    is_code.into_iter().map(|is| if is { 'c' } else { '.' }).collect()
}

impl Lines<'_> {
    fn open_fence_at_the_end(mut self) -> Option<Range<usize>> {
        self.by_ref().for_each(drop);
        self.open_fence()
    }
}

/// Issue 15, 10.
#[test]
fn fences_agree_with_commonmark() {
    for (text, expect) in [
        ("```\na\n```\nb\n", "ccc."),
        ("~~~ rust\na\n~~~\nb\n", "ccc."),
        ("```\n~~~\n```\nb\n", "ccc."),
        ("````\n```\n````\nb\n", "ccc."),
        ("```\na\n`````\nb\n", "ccc."),
        ("```\na\n```  \nb\n", "ccc."),
        ("```\na\n``` b\nc\n", "cccc"),
        ("```\na\n    ```\nb\n", "cccc"),
        ("```\na\n   ```\nb\n", "ccc."),
        ("   ```\na\n```\nb\n", "ccc."),
        ("``` a`b\nc\n", ".."),
        ("~~~ a`b ~~~\nc\n~~~\n", "ccc"),
        ("``\na\n``\n", "..."),
        ("a\n```\nb\n", ".cc"),
        ("```\n\n", "cc"),
        ("```", "c"),
        ("```\r\na\r\n```\r\nb\r\n", "ccc."),
        ("# a\n```\n# b\n```\n# c\n", ".ccc."),
        ("", ""),
    ] {
        assert_eq!(ours(text), expect, "{text:?}");
        assert_eq!(commonmark(text), expect, "{text:?}");
    }
    // CommonMark 0.31 lets tabs follow a closing fence; the parser only lets spaces.
    assert_eq!(ours("```\na\n```\t\nb\n"), "ccc.");
    // Inside of an entry of a list a fence is indented as its words are.
    let list = "- a\n\n      ```\n      # b\n      ```\n\nc\n";
    assert_eq!(ours(list), "..ccc..");
}

#[test]
fn headings_entries_and_front_matter() {
    for (line, expect) in [
        ("# a", Some((1, "a"))),
        ("### a b  ", Some((3, "a b"))),
        ("##", Some((2, ""))),
        ("#\ta", Some((1, "a"))),
        ("#a", None),
        (" # a", None),
        ("####### a", None),
        ("", None),
    ] {
        assert_eq!(heading(line).map(|(level, span)| (level, &line[span])), expect, "{line:?}");
    }
    for (line, expect) in [
        ("- a", Some("a")),
        ("  *  a ", Some("a ")),
        ("+\ta", Some("a")),
        ("-a", None),
        ("a", None),
        ("-", None),
    ] {
        assert_eq!(entry(line).map(|at| &line[at..]), expect, "{line:?}");
    }
    for (text, expect) in [
        ("---\na: 1\n---\nb", "b"),
        ("---\r\na: 1\r\n---\r\nb", "b"),
        ("---\na: 1\n...\nb", "b"),
        ("---\n\na\n---\n", "---\n\na\n---\n"),
        ("---\na", "---\na"),
        ("a\n---\n", "a\n---\n"),
        ("", ""),
    ] {
        assert_eq!(&text[front_matter(text)..], expect, "{text:?}");
    }
    let second = lines_from("---\na: 1\n---\nb\nc", 13).nth(1).unwrap();
    assert_eq!((second.number, second.text, second.whole()), (5, "c", 15..16));
    assert_eq!(lines_from("ü", 1).count(), 0);
}

fn documents() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "```", "````", "~~~", "~~~~~", " ", "   ", "    ", "\t", "`", "a", "# b", "- ", "\r", "ü",
        "\u{feff}", "---",
    ]);
    let line = prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat());
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn markdown_of_any_kind_is_cut_into_lines_that_are_in_it(text in documents()) {
        let mut at = 0;
        for (number, line) in (1..).zip(lines(&text)) {
            prop_assert_eq!((line.number, line.at), (number, at));
            prop_assert_eq!(&text[line.whole()], line.text);
            prop_assert!(heading(line.text).is_none_or(|(_, span)| line.text.get(span).is_some()));
            prop_assert!(entry(line.text).is_none_or(|from| line.text.get(from..).is_some()));
            at = line.end;
        }
        prop_assert_eq!(at, text.len());
        prop_assert!(text.get(front_matter(&text)..).is_some());
        let (mark, body) = split_mark(&text);
        prop_assert_eq!(mark.to_owned() + &replaced::<&str>(body, vec![]), text);
    }

    #[test]
    fn trimmed_spans_are_inside(text in "\\PC{0,12}") {
        let span = trimmed(&text, 0..text.len());
        prop_assert_eq!(&text[span], text.trim());
    }

    /// Issue 15, 10. Neither lists nor indented code, which a scanner of lines does not follow.
    #[test]
    fn fences_of_any_kind_agree_with_commonmark(
        found in prop::collection::vec(("[ ]{0,3}", "`{3,5}|~{3,5}|`{1,2}|", "[ ]{0,2}|a|`a"), 0..10),
    ) {
        let text: String = found.iter().map(|(indent, signs, rest)| format!("{indent}{signs}{rest}\n")).collect();
        prop_assert_eq!(ours(&text), commonmark(&text), "{:?}", text);
    }
}
