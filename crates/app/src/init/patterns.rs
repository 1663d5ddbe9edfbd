//! The patterns of rules, for the files of each kind.
//!
//! Users switch off a check with false alarms. So the patterns leave out test data, third-party code, and files that
//! only look like JSON or YAML.

use super::detect::DetectedProject;
use std::collections::{BTreeMap, BTreeSet};

const CODE: &[&str] = &[
    "bash", "c", "cc", "cjs", "clj", "cpp", "cs", "css", "dart", "erl", "ex", "exs", "fish", "go", "graphql",
    "h", "hpp", "hs", "html", "java", "jl", "js", "jsx", "kt", "kts", "lua", "mjs", "ml", "nix", "php", "pl",
    "proto", "py", "r", "rb", "rs", "scala", "scss", "sh", "sql", "svelte", "swift", "tf", "ts", "tsx",
    "vue", "zig", "zsh",
];
const DOCUMENTS: &[&str] = &["md"];
const OTHER_TEXT: &[&str] = &["adoc", "ipynb", "json", "rst", "toml", "txt", "xml", "yaml", "yml"];

/// Folders of third-party code or of test data.
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
/// Folders whose data may be invalid on purpose: input of tests, templates.
const PERHAPS_INVALID: &[&str] = &["spec", "template", "templates", "test", "tests"];
/// These are JSON with comments.
const WITH_COMMENTS: &[&str] =
    &["api-extractor.json", "biome.json", "devcontainer.json", "nx.json", "turbo.json"];

/// A rule with more patterns is unreadable: then one pattern covers all, also foreign files.
const MAX_PATTERNS: usize = 24;

pub fn found(files: &[String]) -> DetectedProject {
    let own = |path: &str| !is_foreign(path);
    let finished = |path: &str| own(path) && !inside(path, &["template", "templates"]);
    let strict = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let commented = name.starts_with("tsconfig") || name.starts_with("jsconfig");
        is_data(path) && !commented && !WITH_COMMENTS.contains(&name)
    };
    DetectedProject {
        text: cover(files, &[CODE, DOCUMENTS, OTHER_TEXT].concat(), &own),
        code: cover(files, CODE, &own),
        documents: cover(files, DOCUMENTS, &finished),
        json: cover(files, &["ipynb", "json"], &strict),
        yaml: cover(files, &["yaml", "yml"], &is_data),
        toml: cover(files, &["toml"], &is_data),
        ..DetectedProject::default()
    }
}

pub fn is_foreign(path: &str) -> bool {
    inside(path, FOREIGN)
}

fn is_data(path: &str) -> bool {
    !is_foreign(path) && !inside(path, PERHAPS_INVALID)
}

fn inside(path: &str, folders: &[&str]) -> bool {
    let Some((path, _)) = path.rsplit_once('/') else { return false };
    path.split('/').any(|part| folders.contains(&part))
}

/// Patterns for the wanted files with these extensions. Each matches at least one of them, and no other file with these
/// extensions.
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

/// A path as a pattern: special characters become `?`, which matches any character.
fn literal(path: &str) -> String {
    path.replace(['*', '[', ']', '{', '}', '\\', '!'], "?")
}
