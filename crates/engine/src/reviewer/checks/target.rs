//! Where a link leads, as far as the project is concerned. Only text is looked at here, no file.

/// What the destination of a link means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Not ours to follow: another site, a mail address, a place in the same file.
    Elsewhere,
    /// A path from the project root, without `.` and `..`; empty for the root itself.
    Inside(String),
    Outside,
    /// No destination, or one that cannot be a path.
    Broken(&'static str),
}

/// The target of a link in the file at `from`. A leading `/` means the project root, as code hosts read it.
pub(super) fn target(from: &str, link: &str) -> Target {
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
