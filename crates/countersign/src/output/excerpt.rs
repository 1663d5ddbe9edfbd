//! The lines of a finding as they were judged, drawn like the place of a mistake in a configuration.

use super::style::dim;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstream::adapter::strip_str;
use countersign_app::answer::v1::{Excerpt, ShownFlaw};
use countersign_core::text::{visible, visible_line};
use std::ops::Range;

const INDENT: &str = "         ";

pub(super) fn push_excerpt(out: &mut String, shown: &ShownFlaw) {
    let note = shown.note.as_deref();
    let drawn = match &shown.excerpt {
        Some(excerpt) => draw(shown, excerpt, note),
        None => note.map(|note| dim(&visible_line(note))).unwrap_or_default(),
    };
    drawn.lines().for_each(|line| out.push_str(&format!("{INDENT}{line}\n")));
}

fn draw(shown: &ShownFlaw, excerpt: &Excerpt, note: Option<&str>) -> String {
    let Some(place) = &shown.flaw.location else { return String::new() };
    // One line stays one line: what would steer a terminal is written out, the end of a line too.
    let lines: Vec<String> = excerpt.lines.iter().map(|line| visible(line).replace('\n', " ")).collect();
    let path = visible_line(&place.file);
    let first = place.line.unwrap_or(excerpt.first_line);
    let span = marked(&lines, first - excerpt.first_line.min(first), place.end_line.unwrap_or(first) - first);
    let start = usize::try_from(excerpt.first_line).unwrap_or(1);
    let source = lines.join("\n");
    let snippet = Snippet::source(&source).line_start(start).path(&*path).fold(false);
    let snippet = snippet.annotation(AnnotationKind::Primary.span(span));
    let group = Group::with_level(Level::ERROR).element(snippet);
    let Some(note) = note else {
        let drawn = Renderer::styled().render(&[group]);
        // The bar that leads to a note below.
        let end = drawn.rfind('\n').filter(|end| strip_str(&drawn[*end..]).to_string().trim() == "|");
        return drawn[..end.unwrap_or(drawn.len())].to_owned();
    };
    Renderer::styled().render(&[group.element(Level::NOTE.message(note))])
}

/// Where the lines that a finding names begin and end in the joined lines, without their indentation.
fn marked(lines: &[String], before: u64, more: u64) -> Range<usize> {
    let before = usize::try_from(before).unwrap_or(usize::MAX).min(lines.len().saturating_sub(1));
    let last =
        before.saturating_add(usize::try_from(more).unwrap_or(usize::MAX)).min(lines.len().saturating_sub(1));
    let begin = |line: usize| lines.iter().take(line).map(|line| line.len() + 1).sum::<usize>();
    let indent = lines.get(before).map_or(0, |line| line.len() - line.trim_start().len());
    let length = lines.get(last).map_or(0, |line| line.trim_end().len());
    let (start, end) = (begin(before) + indent, begin(last) + length);
    start.min(end)..end
}
