//! The passages of `requirements.md` and `design.md` that a task traces to.

use super::layout::Layout;
use countersign_core::markdown::{self, Line, heading};
use std::path::Path;

const PASSAGE_BYTES: usize = 4 * 1024;
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The passages of these ids; `[ID]` for one that is not found.
pub(super) fn passages(layout: &Layout, traces: &[String]) -> String {
    if traces.is_empty() {
        return String::new();
    }
    let files = ["requirements.md", "design.md"].map(|name| read(&layout.named("", name)));
    let found = |name: &String| files.iter().find_map(|text| passage(text, name));
    let passages: Vec<String> = traces
        .iter()
        .map(|name| match found(name) {
            Some(passage) => countersign_core::text::cut_noted(passage, PASSAGE_BYTES).trim().to_owned(),
            None => format!("[{name}]"),
        })
        .collect();
    passages.join("\n\n")
}

fn read(file: &Path) -> String {
    let small = std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES);
    small.then(|| std::fs::read_to_string(file).ok()).flatten().unwrap_or_default()
}

/// From the heading or line that begins with an id to the next heading of that level or the next empty line.
fn passage<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut start: Option<(usize, usize)> = None;
    for Line { at, text: line, is_code, .. } in markdown::lines(text) {
        let level = heading(line).filter(|_| !is_code).map_or(0, |(level, _)| level);
        match start {
            None if begins(line, name) => start = Some((at, level)),
            None => {}
            Some((from, 0)) if line.trim().is_empty() || level > 0 => return text.get(from..at),
            Some((from, own)) if level > 0 && own > 0 && level <= own => return text.get(from..at),
            Some(_) => {}
        }
    }
    start.and_then(|(from, _)| text.get(from..))
}

/// Whether an id is the first word of a line, after signs.
fn begins(line: &str, name: &str) -> bool {
    let words = line.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let rest = words.strip_prefix(name);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_goes_to_the_next_of_its_kind() {
        let text = "# Requirements\n\n## REQ-001: Speed\n\nFast.\n\n### Detail\nMore.\n\n## REQ-0011: Other\nx\n\n\
                    - **REQ-002** must hold\n  always\n\nnot this\n";
        assert_eq!(passage(text, "REQ-001"), Some("## REQ-001: Speed\n\nFast.\n\n### Detail\nMore.\n\n"));
        assert_eq!(passage(text, "REQ-002"), Some("- **REQ-002** must hold\n  always\n"));
        assert_eq!(passage(text, "REQ-003"), None);
        assert_eq!(passage("", "REQ-003"), None);
    }
}
