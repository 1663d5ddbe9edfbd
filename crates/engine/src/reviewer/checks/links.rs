//! Relative Markdown links must lead to a file or folder of the project: inline links, images and reference definitions,
//! not links in code or raw HTML.

use super::defect::{Defect, DefectList};
use super::quote::{Lines, quote};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};
use std::collections::HashMap;

/// Each distinct path costs a look at the disk; a file with more of them does not pass.
const MAX_PATHS: usize = 2_000;

pub(super) fn look(from: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Defect> {
    let mut found = DefectList::default();
    let mut lines = Lines::new(text);
    let mut known = HashMap::new();
    for (offset, link) in links(text) {
        let wrong = match target(from, &link) {
            Target::Elsewhere => continue,
            Target::Outside => format!("the link {} leaves the project", quote(&link)),
            Target::Broken(why) => format!("the link {} {why}", quote(&link)),
            Target::Inside(path) if known.len() == MAX_PATHS && !known.contains_key(&path) => {
                found.add(None, || format!("links to more than {MAX_PATHS} paths; not all were followed"));
                found.cut_short();
                break;
            }
            Target::Inside(path) => {
                // The root is always there.
                if *known.entry(path.clone()).or_insert_with_key(|path| path.is_empty() || exists(path)) {
                    continue;
                }
                format!("broken link {}: {} does not exist", quote(&link), quote(&path))
            }
        };
        found.add(Some(lines.line_of(offset)), || wrong);
    }
    found.list()
}

/// Where each link stands and its destination, in the order of the text.
fn links(text: &str) -> Vec<(usize, String)> {
    // Without footnotes `[^1]: [x](y.md)` would read as a definition and hide its link.
    let parser = Parser::new_ext(text, Options::ENABLE_FOOTNOTES);
    let mut links: Vec<_> = parser
        .reference_definitions()
        .iter()
        .map(|(_, definition)| (definition.span.start, definition.dest.to_string()))
        .collect();
    links.extend(parser.into_offset_iter().filter_map(|(event, range)| match event {
        // A broken definition is reported at the definition; an address between `<>` is absolute.
        Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, .. })
        | Event::Start(Tag::Image { link_type: LinkType::Inline, dest_url, .. }) => {
            Some((range.start, dest_url.to_string()))
        }
        _ => None,
    }));
    links.sort();
    links
}

/// What the destination of a link means.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// Not ours to follow: another site, a mail address, a place in the same file.
    Elsewhere,
    /// A path from the project root, without `.` and `..`; empty for the root itself.
    Inside(String),
    Outside,
    /// No destination, or one that cannot be a path.
    Broken(&'static str),
}

/// The target of a link in the file at `from`. A leading `/` means the project root, as code hosts read it.
fn target(from: &str, link: &str) -> Target {
    if link.trim().is_empty() {
        return Target::Broken("has no destination");
    }
    if link.starts_with("//") {
        return Target::Broken("names a host without a scheme");
    }
    match scheme(link) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => return Target::Outside,
        Some(_) => return Target::Elsewhere,
        None => {}
    }
    let path = link.split(['#', '?']).next().unwrap_or_default();
    if path.is_empty() {
        return Target::Elsewhere;
    }
    match decode(path) {
        None => Target::Broken("is not a path: its percent signs do not decode to text"),
        Some(path) if path.contains('\0') => Target::Broken("is not a path: it contains a zero byte"),
        Some(path) => resolve(from, &path),
    }
}

/// The scheme of an absolute URL. A single letter is a drive, not a scheme.
fn scheme(link: &str) -> Option<&str> {
    let (scheme, _) = link.split_once(':')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(fits))
        .then_some(scheme)
}

/// Decodes before anything is resolved, so that `%2e%2e` cannot climb unseen.
fn decode(path: &str) -> Option<String> {
    let (mut bytes, mut rest) = (vec![], path.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn resolve(from: &str, path: &str) -> Target {
    let folder = match path.starts_with('/') {
        true => "",
        false => from.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let mut parts = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return Target::Outside,
            ".." => {}
            part => parts.push(part),
        }
    }
    Target::Inside(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn broken(text: &str) -> Vec<(Option<usize>, String)> {
        let exists = |path: &str| matches!(path, "docs/here.md" | "docs/a b.md" | "src" | "pic.png");
        look("docs/a.md", text, &exists).into_iter().map(|defect| (defect.line, defect.message)).collect()
    }

    #[test]
    fn good_links_pass() {
        for text in [
            "",
            "[a](here.md) [b](here.md#x 'title') ![c](../pic.png) [d](/src) [e](..)",
            "[a](<a b.md>) [b](a%20b.md) [c](#x) [d](https://a.b/gone) <me@a.b> <https://a.b> <mailto:me@a.b>",
            "[a][r]\n\n[r]: here.md\n",
            "`[a](gone.md)`\n\n```\n[b](gone.md)\n[r]: gone.md\n```\n\n    [c](gone.md)\n",
            "<!-- [a](gone.md) -->",
            "\\[a](gone.md) [a] (gone.md)",
            "text[^1]\n\n[^1]: Word\n",
            "[[gone]] [x] [ ] a task",
            "[a](here.md)[b](./here.md)\r\n",
        ] {
            assert_eq!(broken(text), [], "{text:?}");
        }
    }

    #[test]
    fn bad_links_have_line_and_reason() {
        for (text, line, said) in [
            ("\n[a](gone.md)", 2, "broken link `gone.md`: `docs/gone.md` does not exist"),
            ("![a](x.png)", 1, "broken link `x.png`: `docs/x.png` does not exist"),
            ("a\n\n[r]: gone.md\n", 3, "broken link `gone.md`: `docs/gone.md` does not exist"),
            ("[a][r]\n\n[r]: gone.md\n", 3, "broken link `gone.md`: `docs/gone.md` does not exist"),
            ("[^1]: [a](gone.md)", 1, "broken link `gone.md`: `docs/gone.md` does not exist"),
            ("[![i](https://a.b)](gone)", 1, "broken link `gone`: `docs/gone` does not exist"),
            ("| a |\n|---|\n| [x](gone) |", 3, "broken link `gone`: `docs/gone` does not exist"),
            ("[a](../../x)", 1, "the link `../../x` leaves the project"),
            ("[a]()", 1, "the link `` has no destination"),
            ("---\na: '[x](gone)'\n---\n", 2, "broken link `gone`: `docs/gone` does not exist"),
        ] {
            assert_eq!(broken(text), [(Some(line), said.to_owned())], "{text:?}");
        }
    }

    #[test]
    fn each_path_is_asked_for_once_and_not_for_ever() {
        let asked = Cell::new(0);
        let exists = |_: &str| {
            asked.set(asked.get() + 1);
            true
        };
        assert_eq!(look("a.md", &"[a](b.md)\n".repeat(50), &exists), []);
        assert_eq!(asked.get(), 1);

        let many: String = (0..MAX_PATHS * 2).map(|i| format!("[a]({i})\n")).collect();
        let defects = look("a.md", &many, &exists);
        assert_eq!(defects, [Defect::of_file("links to more than 2000 paths; not all were followed".into())]);
    }

    fn inside(path: &str) -> Target {
        Target::Inside(path.into())
    }

    #[test]
    fn links_lead_somewhere() {
        for (link, expected) in [
            ("b.md", inside("docs/b.md")),
            ("./b.md#part", inside("docs/b.md")),
            ("b.png?raw=true", inside("docs/b.png")),
            ("../b.md", inside("b.md")),
            ("..", inside("")),
            ("x//y/../b/", inside("docs/x/b")),
            ("/b.md", inside("b.md")),
            ("a%20b%C3%A9.md", inside("docs/a bé.md")),
            ("a%23b.md", inside("docs/a#b.md")),
            ("C:\\b.md", inside("docs/C:\\b.md")),
            ("a b:c", inside("docs/a b:c")),
            ("../../b.md", Target::Outside),
            ("x/../../../b.md", Target::Outside),
            ("%2e%2e/%2E%2E/b.md", Target::Outside),
            ("..%2f..%2fb.md", Target::Outside),
            ("/../b.md", Target::Outside),
            ("file:///etc/passwd", Target::Outside),
            ("#part", Target::Elsewhere),
            ("?a=b", Target::Elsewhere),
            ("https://a.b/c", Target::Elsewhere),
            ("HTTP://a.b", Target::Elsewhere),
            ("mailto:a@b.c", Target::Elsewhere),
            ("", Target::Broken("has no destination")),
            ("//a.b/c", Target::Broken("names a host without a scheme")),
            ("a%00b", Target::Broken("is not a path: it contains a zero byte")),
            ("a%ff", Target::Broken("is not a path: its percent signs do not decode to text")),
            ("100%", Target::Broken("is not a path: its percent signs do not decode to text")),
            ("a%+1b", Target::Broken("is not a path: its percent signs do not decode to text")),
        ] {
            assert_eq!(target("docs/a.md", link), expected, "{link}");
        }
    }

    #[test]
    fn files_may_be_anywhere() {
        for (from, link, expected) in [
            ("a.md", "b.md", inside("b.md")),
            ("a.md", "../b.md", Target::Outside),
            ("./x/./a.md", "b.md", inside("x/b.md")),
            ("../a.md", "b.md", Target::Outside),
        ] {
            assert_eq!(target(from, link), expected, "{link} from {from}");
        }
    }
}
