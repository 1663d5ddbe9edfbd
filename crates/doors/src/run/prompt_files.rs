//! Prompt templates of the project: their files, and the variables `{{NAME}}` and `${NAME}` in them.

use countersign_engine::yaml::{Diagnostic, FileBytes, Source, read_bounded, unreadable};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const MAX_NAME_BYTES: usize = 80;

pub(super) struct Rendered {
    pub text: String,
    pub used: BTreeSet<String>,
}

/// The files a template of this kind may have, by precedence: for one program before the general ones.
pub(super) fn candidates(folder: &Path, kind: &str, program: Option<&str>) -> Vec<PathBuf> {
    // `/usr/bin/Codex` means `codex`; a dot is part of the name.
    let program = program.and_then(|program| Path::new(program).file_name()?.to_str()).map(str::to_lowercase);
    let special =
        program.iter().flat_map(|program| ["md", "txt"].map(|ending| format!("{program}.{ending}")));
    let names = special.chain(["md", "txt"].map(str::to_owned));
    names.map(|rest| folder.join(format!("{kind}.{rest}"))).collect()
}

/// Reads the template of a project, if it has one. An unreadable file is an error, and no reason to use the next one.
pub(super) fn find(folder: &Path, kind: &str, program: Option<&str>) -> Result<Option<String>, Diagnostic> {
    for path in candidates(folder, kind, program) {
        let bytes = match read_bounded(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(unreadable(&path, &error.to_string())),
        };
        return parse(&path, bytes).map(Some);
    }
    Ok(None)
}

/// The template in the bytes of a file. In a `.txt`, lines that begin with `#` are remarks and left out.
pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    let source = Source::read(&FileBytes { path: path.to_owned(), bytes })?;
    let is_remark = |line: &&str| line.trim_start().starts_with('#');
    let text = match path.extension().is_some_and(|ending| ending == "txt") {
        true => source.text().lines().filter(|line| !is_remark(line)).collect::<Vec<_>>().join("\n"),
        false => source.text().to_string(),
    };
    Ok(text.trim().to_owned())
}

/// Replaces `{{NAME}}` and `${NAME}`, in any case. Unknown names stay, and so do variables in a value.
pub(super) fn render(template: &str, values: &[(&str, &str)]) -> Rendered {
    let mut out = Rendered { text: String::new(), used: BTreeSet::new() };
    let mut rest = template;
    while let Some((before, name, whole, after)) = next_variable(rest) {
        out.text.push_str(before);
        match values.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((known, value)) => {
                out.text.push_str(value);
                out.used.insert((*known).to_owned());
            }
            None => out.text.push_str(whole),
        }
        rest = after;
    }
    out.text.push_str(rest);
    out
}

/// The next variable: the text before it, its name, the whole variable, the text after it.
fn next_variable(text: &str) -> Option<(&str, &str, &str, &str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let (start, inner, close) = match text.get(..at)?.ends_with('$') {
            _ if text.get(at + 1..)?.starts_with('{') => (at, at + 2, "}}"),
            true => (at - 1, at + 1, "}"),
            false => return None,
        };
        // Bounded, because a search to the end would take long where many braces are never closed.
        let near = text.get(inner..text.floor_char_boundary(inner + MAX_NAME_BYTES))?;
        let written = near.get(..near.find(close)?)?;
        let end = inner + written.len() + close.len();
        let name = written.trim();
        is_name(name).then_some((text.get(..start)?, name, text.get(start..end)?, text.get(end..)?))
    })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_prompt_of_a_program_comes_before_the_general_one() {
        let folder = tempfile::tempdir().unwrap();
        let find = |program| find(folder.path(), "review", program).unwrap();
        assert_eq!(find(None), None);
        for (name, text, general, of_codex) in [
            ("review.txt", "# remark\n  txt\n", "txt", "txt"),
            ("review.md", "# md\n", "# md", "# md"),
            ("review.codex.txt", "codex txt", "# md", "codex txt"),
            ("review.codex.md", "codex md", "# md", "codex md"),
            ("task.md", "task", "# md", "codex md"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(find(None).as_deref(), Some(general), "{name}");
            assert_eq!(find(Some("/usr/bin/Codex")).as_deref(), Some(of_codex), "{name}");
            assert_eq!(find(Some("claude-3.5")).as_deref(), Some(general), "{name}");
        }
    }

    #[test]
    fn a_prompt_that_cannot_be_read_is_no_other_prompt() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("task.txt"), "other").unwrap();
        fs::write(folder.path().join("task.md"), b"\xff").unwrap();
        assert_eq!(find(folder.path(), "task", None).unwrap_err().code, "not-utf8");
        fs::remove_file(folder.path().join("task.md")).unwrap();
        fs::create_dir(folder.path().join("task.md")).unwrap();
        assert_eq!(find(folder.path(), "task", None).unwrap_err().code, "unreadable");
    }

    #[test]
    fn variables_are_replaced_once() {
        let values = [("TASK_ID", "A-1"), ("GIT_DIFF", "${TASK_ID} {{TASK_ID}}"), ("EMPTY", "")];
        for (template, expect) in [
            ("{{TASK_ID}}: ${TASK_ID}", "A-1: A-1"),
            ("{{ task_id }}", "A-1"),
            ("{{GIT_DIFF}}", "${TASK_ID} {{TASK_ID}}"),
            ("[{{EMPTY}}]", "[]"),
            ("{{OTHER}} ${HOME}", "{{OTHER}} ${HOME}"),
            ("{{{TASK_ID}}}", "{A-1}"),
            ("{{ not a name }} {{TASK_ID", "{{ not a name }} {{TASK_ID"),
            ("{TASK_ID} $TASK_ID {{é}} $", "{TASK_ID} $TASK_ID {{é}} $"),
        ] {
            assert_eq!(render(template, &values).text, expect, "{template}");
        }
        let used = render("{{task_id}} ${GIT_DIFF}", &values).used;
        assert_eq!(used.into_iter().collect::<Vec<_>>(), ["GIT_DIFF", "TASK_ID"]);
    }
}
