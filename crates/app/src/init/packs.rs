//! Packs: rules about a subject that many projects have, with cases by which a reviewer can be measured on them.

use super::detect::DetectedProject;
use countersign_core::plan::glob_set;

pub struct Pack {
    pub name: &'static str,
    /// What it is about, for help and comments.
    pub about: &'static str,
    /// The keys of its rule after `name` and `for`.
    pub(super) rule: &'static str,
    /// Planted examples and their clean twins, a JSON object each.
    pub cases: &'static str,
    /// Patterns of its files. Without any it is about the code or the documents of the project.
    patterns: &'static [&'static str],
    otherwise: fn(&DetectedProject) -> Vec<String>,
}

macro_rules! pack {
    ($name:literal, $about:literal, $patterns:expr, $otherwise:expr) => {
        Pack {
            name: $name,
            about: $about,
            rule: include_str!(concat!("packs/", $name, ".yml")),
            cases: include_str!(concat!("packs/", $name, ".jsonl")),
            patterns: &$patterns,
            otherwise: $otherwise,
        }
    };
}

pub const PACKS: [Pack; 5] = [
    pack!("security", "what attackers look for in code", [], code),
    pack!("docs", "documents for readers who are new", [], |found| found.documents.clone()),
    pack!(
        "spec",
        "specifications, before they are built",
        ["**/spec/**/*.md", "**/specs/**/*.md", "**/*spec*.md", "**/SPEC*.md", "**/*requirements*.md"],
        |_| vec![]
    ),
    pack!(
        "migrations",
        "changes of a database",
        ["**/migrations/**/*.{sql,py,rb,js,ts,go,php}", "**/migrate/**/*.{sql,rb}", "**/*.sql"],
        |_| vec![]
    ),
    pack!(
        "api",
        "interfaces that others call",
        ["**/openapi*.{yml,yaml,json}", "**/swagger*.{yml,yaml,json}", "**/*.proto", "**/*.graphql"],
        |_| vec![]
    ),
];

fn code(found: &DetectedProject) -> Vec<String> {
    found.code.clone()
}

/// A pack by its name.
pub fn pack(name: &str) -> Result<&'static Pack, String> {
    let names: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
    let unknown = || format!("there is no pack `{name}`; packs: {}", names.join(", "));
    PACKS.iter().find(|pack| pack.name == name).ok_or_else(unknown)
}

/// A pack for the files of a project.
#[derive(Clone)]
pub struct Packed {
    pub pack: &'static Pack,
    pub patterns: Vec<String>,
}

impl Pack {
    /// The pack with the patterns that match files of the project; or why there is nothing for it to judge.
    pub fn for_files(&'static self, found: &DetectedProject, files: &[String]) -> Result<Packed, String> {
        let mut patterns = (self.otherwise)(found);
        for pattern in self.patterns {
            let set = glob_set(&[(*pattern).to_owned()])?;
            if files.iter().any(|file| set.is_match(file)) {
                patterns.push((*pattern).to_owned());
            }
        }
        match patterns.is_empty() {
            true => {
                Err(format!("pack `{}`: the project has no file of that kind ({})", self.name, self.about))
            }
            false => Ok(Packed { pack: self, patterns }),
        }
    }
}
