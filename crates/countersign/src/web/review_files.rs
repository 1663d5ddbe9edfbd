//! The files of a review as they were judged, with the findings below their lines.

use super::layout::shape;
use countersign_app::page::{DiffRow, FileView, Lines, PlacedFlaw, Sign};
use countersign_core::text::{counted, cut_noted, visible, visible_line};
use maud::{Markup, html};

/// How much of a line is shown.
const LINE_BYTES_MAX: usize = 2000;
/// How much of the words of a reviewer is shown.
const FEEDBACK_BYTES_MAX: usize = 16 * 1024;
/// Lines are laid out in blocks of this many, so that a browser leaves out what is not on the screen.
const BLOCK_ROWS: usize = 200;

pub fn file(file: &FileView) -> Markup {
    let blocking = file.flaws.iter().filter(|flaw| flaw.blocks).count();
    let others = file.flaws.len() - blocking;
    let short: String = file.digest.chars().take(12).collect();
    html! {
        section .card.file aria-label=(visible_line(&file.path)) {
            header {
                h3 .mono { (visible_line(&file.path)) }
                @if file.is_diff { span .small.dim.num { "+" (file.added) " −" (file.removed) } }
                @if blocking > 0 { span .st.bad { (shape("bad")) (counted(blocking, "finding", "findings")) } }
                @if others > 0 { span .st.off { (shape("off")) (counted(others, "finding does", "findings do")) " not block" } }
                span .right {
                    "as judged, " code { (short) }
                    @if let Some(since) = file.since { "; " (since) }
                }
            }
            @match &file.lines {
                Lines::NotShown(why) => {
                    p .empty.dim { "The lines are not shown: " (visible_line(why)) "." }
                    div .finds { @for flaw in &file.flaws { (finding(flaw)) } }
                }
                Lines::Groups(groups) => { (lines(file, groups)) }
            }
            @if file.cut > 0 { p .empty.dim { (counted(file.cut, "more line is", "more lines are")) " not shown." } }
        }
    }
}

/// The rows, each finding below its last line; those without a line that is shown stand above.
fn lines(file: &FileView, groups: &[Vec<DiffRow>]) -> Markup {
    let last_line = |flaw: &PlacedFlaw| flaw.lines.map(|(_, end)| end);
    let is_shown = |line: u64| groups.iter().flatten().any(|row| row.new == Some(line));
    let anchor = |flaw: &PlacedFlaw| {
        let (first, _) = flaw.lines?;
        [last_line(flaw)?, first].into_iter().find(|line| is_shown(*line))
    };
    let above: Vec<&PlacedFlaw> = file.flaws.iter().filter(|flaw| anchor(flaw).is_none()).collect();
    let hit = |row: &DiffRow| {
        let line = row.new.filter(|_| row.sign != Sign::Removed);
        line.is_some_and(|line| {
            file.flaws.iter().filter_map(|flaw| flaw.lines).any(|(first, end)| (first..=end).contains(&line))
        })
    };
    html! {
        @if !above.is_empty() { div .finds { @for flaw in &above { (finding(flaw)) } } }
        @if !groups.is_empty() {
            div .scroll {
                table .diff {
                    caption .vh { "Lines of " (visible_line(&file.path)) }
                    @for (n, group) in groups.iter().enumerate() {
                        @if n > 0 { tbody { tr .gap { td colspan="4" { "lines between are not shown" } } } }
                        @for block in group.chunks(BLOCK_ROWS) {
                            tbody {
                                @for row in block {
                                    (line(row, hit(row)))
                                    @if row.sign != Sign::Removed {
                                        @for flaw in file.flaws.iter().filter(|flaw| anchor(flaw).is_some() && anchor(flaw) == row.new) {
                                            tr .f { td colspan="4" { (finding(flaw)) } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn line(row: &DiffRow, hit: bool) -> Markup {
    let (class, sign, words) = match row.sign {
        Sign::Added => ("a", "+", "added"),
        Sign::Removed => ("d", "−", "removed"),
        Sign::Same => ("", "", ""),
    };
    let number = |line: Option<u64>| line.map_or_else(String::new, |line| line.to_string());
    html! {
        tr class={ (class) @if hit { " hit" } } {
            td .n.o { (number(row.old)) }
            td .n { (number(row.new)) }
            td .s { span aria-hidden="true" { (sign) } span .vh { (words) } }
            td { (visible(&cut_noted(&row.text, LINE_BYTES_MAX))) }
        }
    }
}

/// Findings that belong to no file that is shown.
pub fn elsewhere(flaws: &[PlacedFlaw]) -> Markup {
    html! {
        @if !flaws.is_empty() {
            section .card aria-labelledby="elsewhere-title" {
                div .cardhead { h2 id="elsewhere-title" { "Findings about the whole" } }
                div .finds { @for flaw in flaws { (finding(flaw)) } }
            }
        }
    }
}

fn finding(placed: &PlacedFlaw) -> Markup {
    let finding = &placed.finding;
    let flaw = placed.flaw.and_then(|index| finding.findings.get(index));
    let message = flaw.map_or(finding.feedback.as_str(), |shown| shown.flaw.message.as_str());
    let severity = finding.severity.to_string();
    let dropped = flaw.and_then(|shown| shown.flaw.location_dropped.as_deref());
    let place = placed.lines.map(|(first, end)| match first == end {
        true => format!("line {first}"),
        false => format!("lines {first} to {end}"),
    });
    html! {
        article .find.(severity) tabindex="0" aria-label={ "Finding: " (visible_line(finding.criterion.as_deref().unwrap_or("the whole"))) } {
            div .h {
                span .sev.(severity) { (severity) }
                b { (visible_line(finding.criterion.as_deref().unwrap_or("the whole"))) }
                @if let Some(place) = place { span .dim { (place) } }
                @if !placed.blocks { span .dim { "does not block" } }
            }
            p { (visible(&cut_noted(message, FEEDBACK_BYTES_MAX))) }
            @if let Some(dropped) = dropped { p .fine { "The reviewer named a place that is not there: " (visible_line(dropped)) } }
            div .by {
                span { "ruled by " (visible_line(&finding.reviewer)) " (" (visible_line(&finding.rule)) ")" }
                span { code { (finding.id) } }
            }
        }
    }
}
