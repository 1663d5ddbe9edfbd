//! Checks the arguments of a call against what the step declares, before any reviewer is asked.

use super::instructions;
use super::job::{Step, StepOutput};
use super::session::{NotTaken, Outputs};
use countersign_core::submission::OutputKind;
use countersign_core::text::{cut, visible_line};
use countersign_engine::workspace::{self, Root};
use serde_json::{Map, Value};
use std::path::Path;

const MAX_FILES: usize = 10_000;
const MAX_PATH_BYTES: usize = 4096;
pub const MAX_NOTES_BYTES: usize = 1024 * 1024;
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
const MAX_ID_BYTES: usize = 128;

/// The outputs of a call, by name: each is a text or a list of texts.
pub fn outputs(given: &Map<String, Value>) -> Result<Outputs, NotTaken> {
    let files = |(name, value): (&String, &Value)| {
        let files = match value {
            Value::String(path) => vec![path.as_str()],
            Value::Array(list) => texts(name, list)?,
            other => {
                let message = "must be a path or a list of paths, not";
                return Err(NotTaken(format!("output '{name}' {message} {}", kind(other))));
            }
        };
        Ok((name.clone(), files.into_iter().map(str::to_owned).collect()))
    };
    given.iter().map(files).collect()
}

fn texts<'v>(name: &str, list: &'v [Value]) -> Result<Vec<&'v str>, NotTaken> {
    let texts: Option<_> = list.iter().map(Value::as_str).collect();
    texts.ok_or_else(|| NotTaken(format!("output '{name}': every entry of the list must be a path, as text")))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The outputs with paths relative to the root, if they are as the step declares and all files exist. They are given
/// relative to `base`.
pub fn check(step: &Step, given: &Map<String, Value>, root: &Root, base: &Path) -> Result<Outputs, NotTaken> {
    if let Some(unknown) = given.keys().find(|name| step.outputs.iter().all(|output| output.name != **name)) {
        let names: Vec<_> = step.outputs.iter().map(|output| format!("'{}'", output.name)).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let unknown = shown(unknown);
        return Err(NotTaken(format!("step '{}' has no output '{unknown}'; its outputs: {names}", step.id)));
    }
    let mut all = Outputs::new();
    for output in &step.outputs {
        let Some(value) = given.get(&output.name).filter(|value| !is_empty(value)) else {
            if output.required {
                let empty = if given.contains_key(&output.name) { "is empty" } else { "is missing" };
                return Err(NotTaken(format!(
                    "output '{}' {empty}, and step '{}' requires it ({})",
                    output.name, step.id, output.description
                )));
            }
            continue;
        };
        all.insert(output.name.clone(), files(output, value, root, base)?);
    }
    Ok(all)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(path) => path.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn files(output: &StepOutput, value: &Value, root: &Root, base: &Path) -> Result<Vec<String>, NotTaken> {
    let name = &output.name;
    let paths: Vec<&str> = match (output.kind, value) {
        (OutputKind::File, Value::String(path)) => vec![path],
        (OutputKind::Files, Value::Array(list)) => texts(name, list)?,
        (declared, other) => {
            let message = match declared {
                OutputKind::File => "is one file: give its path as text, not",
                OutputKind::Files => "is a list of files: give a list of paths, not",
            };
            return Err(NotTaken(format!("output '{name}' {message} {}", kind(other))));
        }
    };
    if paths.len() > MAX_FILES {
        let count = paths.len();
        return Err(NotTaken(format!(
            "output '{name}' has {count} files, but at most {MAX_FILES} are allowed"
        )));
    }
    let mut files: Vec<String> = vec![];
    for path in paths {
        let file = file(path, root, base).map_err(|words| NotTaken(format!("output '{name}': {words}")))?;
        if files.contains(&file) {
            return Err(NotTaken(format!("output '{name}': `{file}` is named twice")));
        }
        files.push(file);
    }
    Ok(files)
}

fn file(path: &str, root: &Root, base: &Path) -> Result<String, String> {
    if path.len() > MAX_PATH_BYTES || path.contains('\0') {
        return Err(format!("`{}` cannot be a path", shown(path)));
    }
    let relative = root.relative(base, Path::new(path)).map_err(|problem| problem.to_string())?;
    workspace::require_file(root, &relative).map_err(|problem| problem.to_string())?;
    if is_ours(&relative, root) {
        let shown = visible_line(&relative);
        return Err(format!("`{shown}` is one of Countersign's own files, which change during a review"));
    }
    Ok(relative)
}

/// Whether a file, after links, is one of the ledger or the instructions of a self-review.
pub fn is_ours(relative: &str, root: &Root) -> bool {
    let Ok(real) = root.join(relative).canonicalize() else { return false };
    let Ok(inside) = real.strip_prefix(root.path()) else { return false };
    let named = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("quality_review_");
    inside.starts_with(".countersign")
        || inside.starts_with(".git/countersign")
        || inside.parent().is_some_and(|folder| folder.ends_with(instructions::FOLDER))
            && inside.file_name().is_some_and(named)
}

pub fn shown(text: &str) -> String {
    visible_line(cut(text, 200)).into_owned()
}

/// An id that a caller chose. It becomes part of file names, so it must not be a path.
pub fn id(what: &str, given: &str) -> Result<String, NotTaken> {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:@".contains(&byte);
    let good = !given.is_empty()
        && given.len() <= MAX_ID_BYTES
        && given.bytes().all(fine)
        && !given.starts_with('.')
        && !given.contains("..");
    good.then(|| given.to_owned()).ok_or_else(|| {
        NotTaken(format!(
            "{what} must have 1 to {MAX_ID_BYTES} letters, digits or `-._:@`, no `..`, and not begin with a dot"
        ))
    })
}

/// The id of a step, safe for messages about an unknown step.
pub fn step_id(given: &str) -> Result<String, NotTaken> {
    match shown(given.trim()) {
        id if id.is_empty() => Err(NotTaken("step_id is empty".to_owned())),
        id => Ok(id),
    }
}

pub fn text(what: &str, given: &str, most: usize) -> Result<String, NotTaken> {
    if given.len() > most {
        return Err(NotTaken(format!("{what} has {} bytes, but at most {most} are allowed", given.len())));
    }
    if given.contains('\0') {
        return Err(NotTaken(format!("{what} contains a NUL byte")));
    }
    Ok(given.to_owned())
}

pub fn words(what: &str, given: &str, most: usize) -> Result<String, NotTaken> {
    match given.trim() {
        "" => Err(NotTaken(format!("{what} is empty"))),
        _ => text(what, given, most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn step() -> Step {
        let output = |name: &str, kind, required| StepOutput {
            name: name.to_owned(),
            kind,
            description: "what it is".to_owned(),
            required,
        };
        Step {
            id: "write".to_owned(),
            name: "Write".to_owned(),
            description: String::new(),
            instructions: String::new(),
            outputs: vec![
                output("plan", OutputKind::File, true),
                output("docs", OutputKind::Files, true),
                output("extra", OutputKind::File, false),
            ],
            reviews: vec![],
        }
    }

    fn project() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("docs")).unwrap();
        for file in ["plan.md", "docs/a.md", "docs/b.md"] {
            std::fs::write(dir.path().join(file), "text").unwrap();
        }
        let root = Root::new(dir.path()).unwrap();
        (dir, root)
    }

    fn checked(root: &Root, given: Value) -> Result<Outputs, String> {
        check(&step(), given.as_object().unwrap(), root, root.path()).map_err(|refused| refused.0)
    }

    #[test]
    fn outputs_are_what_the_step_declares() {
        let (_dir, root) = project();
        let absolute = root.path().join("docs/a.md");
        let good =
            checked(&root, json!({ "plan": "./plan.md", "docs": [absolute, "docs/b.md"], "extra": null }));
        let good = good.unwrap();
        assert_eq!(good["plan"], ["plan.md"]);
        assert_eq!(good["docs"], ["docs/a.md", "docs/b.md"]);
        assert_eq!(good.len(), 2, "an optional output may be absent");
    }

    #[test]
    fn mistakes_are_reported_before_a_reviewer_is_asked() {
        let (dir, root) = project();
        std::os::unix::fs::symlink("/etc/hostname", dir.path().join("out.md")).unwrap();
        let fifo = rustix::fs::mknodat(
            rustix::fs::CWD,
            dir.path().join("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        );
        fifo.unwrap();
        for (file, link) in
            [(".countersign/ledger.db", "l.md"), (".deepwork/tmp/quality_review_s_t.md", "q.md")]
        {
            std::fs::create_dir_all(dir.path().join(file).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(file), "ours").unwrap();
            std::os::unix::fs::symlink(file, dir.path().join(link)).unwrap();
        }
        let long = "x".repeat(10_000_000);
        let table = [
            (json!({ "plan": ".countersign/ledger.db", "docs": ["docs/a.md"] }), "of Countersign's own"),
            (json!({ "plan": "l.md", "docs": ["docs/a.md"] }), "of Countersign's own"),
            (json!({ "plan": "plan.md", "docs": ["q.md"] }), "of Countersign's own"),
            (json!({ "docs": ["docs/a.md"] }), "output 'plan' is missing"),
            (json!({ "plan": "", "docs": ["docs/a.md"] }), "output 'plan' is empty"),
            (json!({ "plan": "plan.md", "docs": [] }), "output 'docs' is empty"),
            (
                json!({ "plan": ["plan.md"], "docs": ["docs/a.md"] }),
                "is one file: give its path as text, not a list",
            ),
            (
                json!({ "plan": "plan.md", "docs": "docs/a.md" }),
                "is a list of files: give a list of paths, not text",
            ),
            (json!({ "plan": 7, "docs": ["docs/a.md"] }), "not a number"),
            (json!({ "plan": "plan.md", "docs": [7] }), "every entry of the list must be a path"),
            (json!({ "plan": "plan.md", "docs": ["docs/a.md", "./docs/a.md"] }), "is named twice"),
            (json!({ "plan": "plan.md", "docs": ["docs"] }), "is a directory, not a file"),
            (json!({ "plan": "fifo", "docs": ["docs/a.md"] }), "is a FIFO, not a file"),
            (json!({ "plan": "none.md", "docs": ["docs/a.md"] }), "`none.md` does not exist"),
            (json!({ "plan": "../x.md", "docs": ["docs/a.md"] }), "outside the project root"),
            (json!({ "plan": "/etc/hostname", "docs": ["docs/a.md"] }), "outside the project root"),
            (json!({ "plan": "out.md", "docs": ["docs/a.md"] }), "outside the project root"),
            (json!({ "plan": "a\u{0}b", "docs": ["docs/a.md"] }), "cannot be a path"),
            (json!({ "plan": long, "docs": ["docs/a.md"] }), "cannot be a path"),
            (json!({ "paln": "plan.md" }), "no output 'paln'; its outputs: 'plan', 'docs', 'extra'"),
        ];
        for (given, expected) in table {
            let refused = checked(&root, given.clone()).unwrap_err();
            assert!(refused.contains(expected) && refused.len() < 1000, "{expected}: {refused}");
        }
    }

    #[test]
    fn ids_lead_nowhere() {
        for good in ["a", "3f2a-b", "s:1@x", "A_b".replace('_', "-").as_str()] {
            assert!(id("session_id", good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "../x", "a/b", "a\\b", "a b", "a\0", ".hidden", "a..b", &"x".repeat(129)] {
            assert!(id("session_id", bad).unwrap_err().0.contains("session_id must have"), "{bad}");
        }
    }
}
