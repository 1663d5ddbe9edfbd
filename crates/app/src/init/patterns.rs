//! Which patterns a rule needs to be for the right files of a project, and for no others.
//!
//! A check that cries wolf is switched off. So test data, other people's code and files that only look like
//! JSON or YAML are left out, by patterns that go around them.

use std::collections::{BTreeMap, BTreeSet};

const CODE: &[&str] = &[
    "bash", "c", "cc", "cjs", "clj", "cpp", "cs", "css", "dart", "erl", "ex", "exs", "fish", "go", "graphql",
    "h", "hpp", "hs", "html", "java", "jl", "js", "jsx", "kt", "kts", "lua", "mjs", "ml", "nix", "php", "pl",
    "proto", "py", "r", "rb", "rs", "scala", "scss", "sh", "sql", "svelte", "swift", "tf", "ts", "tsx",
    "vue", "zig", "zsh",
];
const DOCUMENTS: &[&str] = &["md"];
const OTHER_TEXT: &[&str] = &["adoc", "json", "rst", "toml", "txt", "xml", "yaml", "yml"];

/// Folders with what others wrote, or what is wrong on purpose.
const FOREIGN: &[&str] = &[
    "__fixtures__",
    "__snapshots__",
    "bower_components",
    "fixtures",
    "node_modules",
    "snapshots",
    "test_data",
    "testdata",
    "third_party",
    "vendor",
];
/// Folders whose data may be invalid for a reason: input of tests, texts with holes.
const PERHAPS_INVALID: &[&str] = &["spec", "template", "templates", "test", "tests"];
/// These are JSON with comments.
const WITH_COMMENTS: &[&str] =
    &["api-extractor.json", "biome.json", "devcontainer.json", "nx.json", "turbo.json"];

/// With more patterns than this a rule cannot be read; then one stands for all, also for what is foreign.
const MAX_PATTERNS: usize = 24;

/// Every kind of text there is.
pub fn text(files: &[String]) -> Vec<String> {
    cover(files, &[CODE, DOCUMENTS, OTHER_TEXT].concat(), &|path| !is_foreign(path))
}

/// Program code.
pub fn code(files: &[String]) -> Vec<String> {
    cover(files, CODE, &|path| !is_foreign(path))
}

/// Documents, but no templates of such.
pub fn documents(files: &[String]) -> Vec<String> {
    let finished = |path: &str| !is_foreign(path) && !inside(path, &["template", "templates"]);
    cover(files, DOCUMENTS, &finished)
}

/// JSON without comments.
pub fn json(files: &[String]) -> Vec<String> {
    let strict = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let commented = name.starts_with("tsconfig") || name.starts_with("jsconfig");
        is_data(path) && !commented && !WITH_COMMENTS.contains(&name)
    };
    cover(files, &["json"], &strict)
}

/// YAML.
pub fn yaml(files: &[String]) -> Vec<String> {
    cover(files, &["yaml", "yml"], &is_data)
}

/// TOML.
pub fn toml(files: &[String]) -> Vec<String> {
    cover(files, &["toml"], &is_data)
}

/// Whether a file is other people's, or test data.
pub fn is_foreign(path: &str) -> bool {
    inside(path, FOREIGN)
}

fn is_data(path: &str) -> bool {
    !is_foreign(path) && !inside(path, PERHAPS_INVALID)
}

/// Whether a folder of the path has one of these names.
fn inside(path: &str, folders: &[&str]) -> bool {
    let Some((path, _)) = path.rsplit_once('/') else { return false };
    path.split('/').any(|part| folders.contains(&part))
}

/// Patterns for the wanted files of some kinds. Each matches at least one of them, and none another file of
/// these kinds.
fn cover(files: &[String], extensions: &[&str], wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
    let extension = |path: &str| -> Option<String> {
        let name = path.rsplit('/').next()?;
        let (_, extension) = name.rsplit_once('.')?;
        extensions.contains(&extension).then(|| extension.to_owned())
    };
    let all: Vec<&str> = files.iter().map(String::as_str).filter(|path| extension(path).is_some()).collect();
    let good: Vec<&str> = all.iter().copied().filter(|path| wanted(path)).collect();
    let kinds: BTreeSet<String> = good.iter().filter_map(|path| extension(path)).collect();
    let kinds: Vec<String> = kinds.into_iter().collect();
    let suffix = match kinds.as_slice() {
        [] => return vec![],
        [one] => format!("*.{one}"),
        several => format!("*.{{{}}}", several.join(",")),
    };
    let mut patterns = vec![];
    around(&mut patterns, "", &all, wanted, &suffix);
    if patterns.len() > MAX_PATTERNS {
        return vec![format!("**/{suffix}")];
    }
    patterns
}

fn around(
    patterns: &mut Vec<String>,
    folder: &str,
    files: &[&str],
    wanted: &dyn Fn(&str) -> bool,
    suffix: &str,
) {
    if files.iter().all(|path| wanted(path)) {
        patterns.push(format!("{}**/{suffix}", literal(folder)));
        return;
    }
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut here = vec![];
    for path in files {
        match path.strip_prefix(folder).unwrap_or(path).split_once('/') {
            Some((child, _)) => below.entry(child).or_default().push(path),
            None => here.push(*path),
        }
    }
    let good = || here.iter().filter(|path| wanted(path));
    if good().count() == here.len() && !here.is_empty() {
        patterns.push(format!("{}{suffix}", literal(folder)));
    } else {
        patterns.extend(good().map(|path| literal(path)));
    }
    for (child, files) in below {
        if files.iter().any(|path| wanted(path)) {
            around(patterns, &format!("{folder}{child}/"), &files, wanted, suffix);
        }
    }
}

/// A path as a pattern: signs that mean something in patterns become `?`, which stands for any one.
fn literal(path: &str) -> String {
    path.replace(['*', '[', ']', '{', '}', '\\', '!'], "?")
}
