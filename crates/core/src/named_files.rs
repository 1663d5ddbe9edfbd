//! The files that a text for reviewers names, such as `docs/terms.md`: by their form, as no disk is read here.

/// The most names that are taken from one text.
pub const NAMED_FILES_MAX: usize = 100;
/// A longer word is no path.
const WORD_BYTES_MAX: usize = 512;
/// Endings by which a word without a folder is taken for a file: others are often products or hosts (`Node.js`, `docs.rs`).
const DOCUMENTS: [&str; 13] =
    ["md", "mdx", "txt", "rst", "adoc", "yml", "yaml", "json", "toml", "csv", "html", "xml", "py"];

/// A word that names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    pub path: String,
    /// Whether it can only be meant as a file or folder. Other words count where there is such a file.
    pub is_sure: bool,
}

/// The names in a text, in order, each once.
pub fn named_files(text: &str) -> Vec<NamedFile> {
    let mut found: Vec<NamedFile> = vec![];
    // Pieces between backticks or quotes are words that someone marked.
    for (place, piece) in text.split('`').enumerate() {
        let is_code = place % 2 == 1;
        for word in piece.split(|c: char| c.is_whitespace() || "()\"“”‘’,;|".contains(c)) {
            let Some(named) = named(word, is_code) else { continue };
            match found.iter().position(|known| known.path == named.path) {
                Some(known) => found[known].is_sure |= named.is_sure,
                None if found.len() < NAMED_FILES_MAX => found.push(named),
                None => return found,
            }
        }
    }
    found
}

fn named(word: &str, is_code: bool) -> Option<NamedFile> {
    let word = without_line(bare(word).trim_start_matches("./"));
    let is_foreign = word.starts_with(['/', '~', '-', '$'])
        || word.contains("://")
        || word.contains(['@', '\0'])
        || (word.starts_with('.') && !word.contains('/'));
    if is_foreign || word.len() > WORD_BYTES_MAX {
        return None;
    }
    let last = word.trim_end_matches('/').rsplit('/').next()?;
    let is_folder = word.ends_with('/') && last.chars().any(char::is_alphanumeric);
    let ending = last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    let ending = ending.filter(|ending| {
        (1..=10).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && ending.bytes().any(|byte| byte.is_ascii_lowercase())
    });
    let is_file = ending.is_some_and(|ending| word.contains('/') || is_code || DOCUMENTS.contains(&ending));
    // `e.g.` and `and/or` are no names; where there is a file of this name, it is meant.
    let is_sure = is_file || is_folder;
    (is_sure || ending.is_some() || word.contains('/')).then(|| NamedFile { path: word.to_owned(), is_sure })
}

/// A word without the signs around it.
fn bare(word: &str) -> &str {
    const PAIRS: [(&str, &str); 6] =
        [("**", "**"), ("*", "*"), ("_", "_"), ("'", "'"), ("[", "]"), ("<", ">")];
    let mut word = word;
    loop {
        let trimmed = word.trim_end_matches(['.', ':', '!', '?']);
        let trimmed = trimmed.strip_suffix("'s").unwrap_or(trimmed);
        let inner = |(begin, end): &(&str, &str)| trimmed.strip_prefix(begin)?.strip_suffix(end);
        match PAIRS.iter().find_map(inner).unwrap_or(trimmed) {
            same if same.len() == word.len() => return word,
            shorter => word = shorter,
        }
    }
}

/// A path without the line that may follow it: `a.md:12`, `a.md#L3`.
fn without_line(word: &str) -> &str {
    let word = word.split('#').next().unwrap_or(word);
    match word.rsplit_once(':') {
        Some((path, line)) if line.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => path,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_19_names_in_guidance() {
        let table: [(&str, &[(&str, bool)]); 19] = [
            ("Read `docs/terms.md` first.", &[("docs/terms.md", true)]),
            ("Read docs/terms.md, then job.yml.", &[("docs/terms.md", true), ("job.yml", true)]),
            ("see [the terms](./docs/terms.md#L3)", &[("docs/terms.md", true)]),
            ("**src/main.rs:12-14**: why", &[("src/main.rs", true)]),
            ("`main.rs` or main.rs", &[("main.rs", true)]),
            ("\"plan.md\" and (plan.md)", &[("plan.md", true)]),
            ("the folder docs/ and `src/`", &[("docs/", true), ("src/", true)]),
            ("`steps/*.md` or [folder]/x.md", &[("steps/*.md", true), ("[folder]/x.md", true)]),
            (".deepwork/jobs/x/job.yml", &[(".deepwork/jobs/x/job.yml", true)]),
            ("../shared/a.md", &[("../shared/a.md", true)]),
            ("plan.md's end, **/*.md, 'b.md'?", &[("plan.md", true), ("**/*.md", true), ("b.md", true)]),
            ("Node.js, docs.rs", &[("Node.js", false), ("docs.rs", false)]),
            ("input/output and/or", &[("input/output", false), ("and/or", false)]),
            ("e.g. this, i.e. that. N.B.", &[("e.g", false), ("i.e", false)]),
            ("https://example.com/a.md ada@example.com", &[]),
            ("/etc/passwd.txt ~/a.md $HOME/a.md -a.md .env", &[]),
            ("version 1.2.3 of it, 3.5 times", &[]),
            ("Nothing is named here.", &[]),
            ("", &[]),
        ];
        for (text, expected) in table {
            let found = named_files(text);
            let found: Vec<_> = found.iter().map(|named| (named.path.as_str(), named.is_sure)).collect();
            assert_eq!(found, expected, "{text}");
        }
        let many: String = (0..1000).map(|n| format!("a{n}.md ")).collect();
        assert_eq!(named_files(&many).len(), NAMED_FILES_MAX);
    }
}
