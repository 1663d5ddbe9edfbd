//! Prompts of the project's own: which file is meant, and what stands in it for `{{NAME}}` and `${NAME}`.

use countersign_engine::yaml::{Diagnostic, FileBytes, Source, read_bounded, unreadable};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Names of variables are shorter than this.
const MAX_NAME_BYTES: usize = 80;

/// What a prompt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Doing a task.
    Task,
    /// Reviewing it.
    Review,
    /// Planning tasks.
    Plan,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Review => "review",
            Self::Plan => "plan",
        }
    }
}

/// A prompt file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Where it is.
    pub path: PathBuf,
    /// What it says; in a `.txt`, lines that begin with `#` are remarks and left out.
    pub text: String,
}

/// A prompt, and what became of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// The variables that stand in it. What is known and not among them is up to the caller to add.
    pub used: BTreeSet<String>,
    /// Names nobody knows; they stay as they are written.
    pub unknown: BTreeSet<String>,
}

/// The names a prompt may have, the one that is meant first: for one program before the general ones.
pub(super) fn candidates(folder: &Path, kind: Kind, program: Option<&str>) -> Vec<PathBuf> {
    // `/usr/bin/Codex` means `codex`; what follows a dot belongs to its name.
    let program = program.and_then(|program| Path::new(program).file_name()?.to_str()).map(str::to_lowercase);
    let special =
        program.iter().flat_map(|program| ["md", "txt"].map(|ending| format!("{program}.{ending}")));
    let names = special.chain(["md", "txt"].map(str::to_owned));
    names.map(|rest| folder.join(format!("{}.{rest}", kind.name()))).collect()
}

/// Finds the prompt of a project; none where it has none. One that is there and cannot be read is an error: another
/// prompt in its place would ask for something else.
pub fn find(folder: &Path, kind: Kind, program: Option<&str>) -> Result<Option<Template>, Diagnostic> {
    for path in candidates(folder, kind, program) {
        let bytes = match read_bounded(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(unreadable(&path, &error.to_string())),
        };
        return parse(path, bytes).map(Some);
    }
    Ok(None)
}

/// A prompt file from its bytes.
pub fn parse(path: PathBuf, bytes: Vec<u8>) -> Result<Template, Diagnostic> {
    let source = Source::read(&FileBytes { path: path.clone(), bytes })?;
    let is_remark = |line: &&str| line.trim_start().starts_with('#');
    let text = match path.extension().is_some_and(|ending| ending == "txt") {
        true => source.text().lines().filter(|line| !is_remark(line)).collect::<Vec<_>>().join("\n"),
        false => source.text().to_string(),
    };
    Ok(Template { path, text: text.trim().to_owned() })
}

/// Puts values in the place of `{{NAME}}` and `${NAME}`. Names are compared without case; what a value holds is text,
/// never a variable again.
pub fn render(template: &str, values: &[(&str, &str)]) -> Rendered {
    let mut out = Rendered { text: String::new(), used: BTreeSet::new(), unknown: BTreeSet::new() };
    let mut rest = template;
    while let Some((before, name, whole, after)) = next_variable(rest) {
        out.text.push_str(before);
        match values.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((known, value)) => {
                out.text.push_str(value);
                out.used.insert((*known).to_owned());
            }
            None => {
                out.text.push_str(whole);
                out.unknown.insert(name.to_owned());
            }
        }
        rest = after;
    }
    out.text.push_str(rest);
    out
}

/// The next variable: what is before it, its name, how it is written, what is after it.
fn next_variable(text: &str) -> Option<(&str, &str, &str, &str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let (start, inner, close) = match text.get(..at)?.ends_with('$') {
            _ if text.get(at + 1..)?.starts_with('{') => (at, at + 2, "}}"),
            true => (at - 1, at + 1, "}"),
            false => return None,
        };
        // Names are short; looking further would take long where many braces are never closed.
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
        let find = |program| find(folder.path(), Kind::Review, program).unwrap().map(|found| found.text);
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
        assert_eq!(find(folder.path(), Kind::Task, None).unwrap_err().code, "not-utf8");
        fs::remove_file(folder.path().join("task.md")).unwrap();
        fs::create_dir(folder.path().join("task.md")).unwrap();
        assert_eq!(find(folder.path(), Kind::Task, None).unwrap_err().code, "unreadable");
    }

    #[test]
    fn variables_are_replaced_once() {
        let values = [("TASK_ID", "A-1"), ("GIT_DIFF", "${TASK_ID} {{TASK_ID}}"), ("EMPTY", "")];
        for (template, expect, unknown) in [
            ("{{TASK_ID}}: ${TASK_ID}", "A-1: A-1", None),
            ("{{ task_id }}", "A-1", None),
            ("{{GIT_DIFF}}", "${TASK_ID} {{TASK_ID}}", None),
            ("[{{EMPTY}}]", "[]", None),
            ("{{OTHER}} ${HOME}", "{{OTHER}} ${HOME}", Some("HOME")),
            ("{{{TASK_ID}}}", "{A-1}", None),
            ("{{ not a name }} {{TASK_ID", "{{ not a name }} {{TASK_ID", None),
            ("{TASK_ID} $TASK_ID {{é}} $", "{TASK_ID} $TASK_ID {{é}} $", None),
        ] {
            let rendered = render(template, &values);
            assert_eq!(rendered.text, expect, "{template}");
            assert_eq!(rendered.unknown.iter().next().map(String::as_str), unknown, "{template}");
        }
        let used = render("{{task_id}} ${GIT_DIFF}", &values).used;
        assert_eq!(used.into_iter().collect::<Vec<_>>(), ["GIT_DIFF", "TASK_ID"]);
    }
}
