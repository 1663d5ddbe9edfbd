//! Markdown headings that must be there. A heading counts as it reads and as it is written, so `## [Unreleased]` is found
//! by "Unreleased" and by "\[Unreleased\]"; headings in code, HTML comments, front matter and quotations do not count.

use super::defect::{Defect, DefectList};
use super::quote::quote;
use countersign_core::markdown;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::collections::HashSet;
use std::ops::Range;

pub(super) fn look(wanted: &[String], text: &str) -> Vec<Defect> {
    let present = headings(text);
    let mut found = DefectList::default();
    for heading in wanted {
        if !present.contains(&key(heading)) {
            found.add(None, || format!("the heading {} is missing", quote(heading)));
        }
    }
    found.list()
}

/// Why a list of headings can never be met, or asks for nothing.
pub(super) fn problem(wanted: &[String]) -> Option<String> {
    if wanted.is_empty() {
        return Some("the list of headings is empty".into());
    }
    wanted.iter().find_map(|heading| {
        let (level, text) = key(heading);
        if text.is_empty() {
            Some(format!("the heading {} has no text", quote(heading)))
        } else if heading.trim().contains(['\n', '\r']) {
            Some(format!("the heading {} is longer than a line", quote(heading)))
        } else if level.is_some_and(|level| level > HeadingLevel::H6 as usize) {
            Some(format!("the heading {} has more than six #", quote(heading)))
        } else {
            None
        }
    })
}

/// A level, where it matters, and a folded text.
type Key = (Option<usize>, String);

/// What a wanted heading is looked up by: leading `#`s ask for their level.
fn key(wanted: &str) -> Key {
    let wanted = wanted.trim();
    let text = wanted.trim_start_matches('#');
    let level = wanted.len() - text.len();
    ((level > 0).then_some(level), fold(without_closing(text)))
}

/// Without the `#`s that may close a heading; `C#` keeps its own.
fn without_closing(text: &str) -> &str {
    let bare = text.trim_end().trim_end_matches('#');
    if bare.ends_with([' ', '\t']) || bare.is_empty() { bare } else { text }
}

/// Case, white space and a final `{#anchor}` make no difference.
fn fold(text: &str) -> String {
    let text = text.trim();
    let bare = text.strip_suffix('}').and_then(|rest| rest.rsplit_once("{#")).map(|(bare, _)| bare);
    let words: Vec<_> = bare.unwrap_or(text).split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Every heading of the document, under each key it answers to.
fn headings(text: &str) -> HashSet<Key> {
    // To a Markdown parser the last line of front matter is a heading.
    let text = text.get(markdown::front_matter(text)..).unwrap_or_default();
    let mut found = HashSet::new();
    // The open heading as it reads, and where it is written.
    let mut open: Option<(String, Range<usize>)> = None;
    let mut quotations = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match (event, &mut open) {
            (Event::Start(Tag::BlockQuote(_)), _) => quotations += 1,
            (Event::End(TagEnd::BlockQuote(_)), _) => quotations = quotations.saturating_sub(1),
            (Event::Start(Tag::Heading { .. }), _) if quotations == 0 => open = Some(Default::default()),
            (Event::End(TagEnd::Heading(level)), _) => {
                let Some((reads, written)) = open.take() else { continue };
                for form in [fold(&reads), fold(text.get(written).unwrap_or_default())] {
                    found.insert((Some(level as usize), form.clone()));
                    found.insert((None, form));
                }
            }
            (event, Some((reads, written))) => {
                match event {
                    Event::Text(text) | Event::Code(text) => reads.push_str(&text),
                    Event::SoftBreak | Event::HardBreak => reads.push(' '),
                    _ => {}
                }
                let start = if written.start == written.end { range.start } else { written.start };
                *written = start..written.end.max(range.end);
            }
            (_, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(wanted: &str, text: &str) -> bool {
        look(&[wanted.to_owned()], text).is_empty()
    }

    #[test]
    fn headings_that_are_there() {
        for (wanted, text) in [
            ("Summary", "# Summary"),
            (" summary ", "text\n\n### SUMMARY ###\n"),
            ("Summary ##", "## Summary"),
            ("## Summary", "## Summary"),
            ("##Summary", "## Summary"),
            ("# Title", "Title\n====="),
            ("## Two lines", "Two\nlines\n-----"),
            ("Uses of `x`", "## Uses of `x`"),
            ("Uses of x", "## Uses of `x`"),
            ("Very good", "## *Very*   **good**"),
            ("[Unreleased]", "## [Unreleased]\n\n[Unreleased]: https://a.b"),
            ("Unreleased", "## [Unreleased]\n\n[Unreleased]: https://a.b"),
            ("[Unreleased]", "## [Unreleased]"),
            ("C#", "# C#"),
            ("Install", "## Install {#install}"),
            ("Überblick", "# überblick"),
            ("A & B", "# A &amp; B"),
            ("1. Intro", "# 1. Intro\r\n"),
            ("In a list", "- # In a list"),
            ("After", "---\ntitle: x\n---\n# After"),
            ("After", "---\n\n# After\n\n---\n"),
        ] {
            assert!(has(wanted, text), "{wanted:?} in {text:?}");
        }
    }

    #[test]
    fn headings_that_are_not() {
        for (wanted, text) in [
            ("Summary", ""),
            ("Summary", "Summary"),
            ("Summary", "#Summary"),
            ("Summary", "# Summary of it"),
            ("### Summary", "## Summary"),
            ("Summary", "```\n# Summary\n```"),
            ("Summary", "~~~md\n# Summary\n"),
            ("Summary", "    # Summary"),
            ("Summary", "<!--\n# Summary\n-->"),
            ("Summary", "> # Summary"),
            ("title: x", "---\ntitle: x\n---\n"),
            ("Summary", "---\na: 1\n# Summary\n---\n"),
            ("C", "# C#"),
        ] {
            assert!(!has(wanted, text), "{wanted:?} in {text:?}");
        }
    }

    #[test]
    fn the_missing_are_named() {
        let wanted = ["A", "## B", "C"].map(String::from);
        let said: Vec<_> = look(&wanted, "# A\n# B").into_iter().map(|defect| defect.message).collect();
        assert_eq!(said, ["the heading `## B` is missing", "the heading `C` is missing"]);
    }

    #[test]
    fn lists_that_ask_for_nothing_are_problems() {
        for wanted in [&[][..], &[""], &["A", " "], &["##"], &["# #"], &["####### A"], &["A\nB"]] {
            let wanted: Vec<_> = wanted.iter().map(|heading| heading.to_string()).collect();
            assert!(problem(&wanted).is_some(), "{wanted:?}");
        }
        assert_eq!(problem(&["A".into(), "###### B".into(), "C#".into()]), None);
    }
}
