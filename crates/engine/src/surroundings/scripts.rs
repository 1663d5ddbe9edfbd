//! The scripts of a project at a gate: their bytes come from the trusted commit, and the work that is judged is looked at
//! where it is. A script that looks for the project by its own place would look at the trusted files instead, so it runs
//! in the project, where nothing of it was changed, or not at all.

use super::beside::Context;
use super::{GateSurroundings, TREE};
use crate::git::is_repository;
use countersign_core::digest::Digest;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// How much of a script is read, and how many files it may use.
const TEXT_BYTES: u64 = 1024 * 1024;
pub(super) const FILES_MAX: usize = 500;
/// Endings of files that are run or loaded.
const CODE_ENDS: &[&str] =
    &["sh", "bash", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "pm", "php", "lua", "awk", "sed", "jq", "mk"];
/// How scripts name their own place.
const OWN_PLACE: &[&str] = &[
    "$0",
    "${0",
    "BASH_SOURCE",
    "__file__",
    "__dirname",
    "__filename",
    "import.meta",
    "FindBin",
    "__DIR__",
    "__dir__",
    "sys.argv[0]",
    "process.argv[1]",
    "require.main",
];
/// Endings of compiled modules of Python.
const COMPILED_ENDS: &[&str] = &["pyc", "so", "dylib"];
/// Scripts for Node.js, and the folder of their packages.
const NODE_ENDS: &[&str] = &["js", "mjs", "cjs", "ts"];
const PACKAGES: &str = "node_modules";
const SHELL_ENDS: &[&str] = &["sh", "bash"];
/// The word after these is run or loaded, whatever it is called: in scripts for a shell, and in others.
const SHELL_LOADS: &str = ". source exec command sh bash dash zsh ksh python python3 perl ruby node lua php";
const LOADS: &str =
    "require require_relative include include_once require_once use do load import from dofile loadfile";
/// Programs whose option `-f` is followed by a file that says what they do.
const WITH_PATTERNS: &[&str] = &["grep", "awk", "sed", "jq"];
/// A text with one of these may load modules of Python whose names stand anywhere in it.
const DYNAMIC: &[&str] = &["importlib", "__import__", "runpy", "pkgutil", "exec("];
/// Endings that a loading word may lack.
const LACKING_ENDS: &[&str] = &["js", "mjs", "cjs", "ts", "json", "rb", "pm", "pl", "php", "lua"];

/// Where a word of a command line leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Located {
    /// Out of the project.
    Outside(PathBuf),
    /// Into the project: its path there, and whether the trusted commit and the work have it.
    Inside {
        path: PathBuf,
        trusted: Option<PathBuf>,
        judged: Option<PathBuf>,
    },
    Nowhere,
}

/// Where a script is run from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunFrom {
    TrustedCommit(PathBuf),
    /// The project: nothing that it uses was changed, by these stamps.
    Project(Digest),
}

/// A file that a script uses, and whether it is found by the place of the script.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Used {
    path: PathBuf,
    by_place: bool,
}

impl GateSurroundings {
    /// Where a word leads, from a folder.
    pub(super) fn locate(&self, word: &str, base: &Path) -> Located {
        let judged = self.places.judged();
        let path = plain(&base.join(word));
        let real = path.canonicalize().ok();
        let below = |path: &Path| path.strip_prefix(judged).map(Path::to_owned).ok();
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        let named = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
        let inside = below(&path)
            .or_else(|| named.as_deref().and_then(below))
            .or_else(|| real.as_deref().filter(|real| !self.is_trusted_copy(real)).and_then(below));
        match inside {
            Some(inside) if !self.is_trusted_copy(&path) => {
                let trusted =
                    self.scripts.as_ref().map(|scripts| scripts.join(&inside)).filter(|file| file.exists());
                let work = Some(judged.join(&inside)).filter(|file| file.symlink_metadata().is_ok());
                match (&trusted, &work) {
                    (None, None) => Located::Nowhere,
                    _ => Located::Inside { path: inside, trusted, judged: work },
                }
            }
            _ if path.exists() => Located::Outside(path),
            _ => Located::Nowhere,
        }
    }

    fn is_trusted_copy(&self, path: &Path) -> bool {
        let scripts = self.scripts.as_deref();
        scripts.is_some_and(|scripts| {
            path.starts_with(scripts) || scripts.canonicalize().is_ok_and(|real| path.starts_with(real))
        })
    }

    /// The copy of a file in the trusted commit, unless a link there leads back into the work.
    pub(super) fn trusted_copy(&self, word: &str, trusted: Option<&Path>) -> Result<PathBuf, String> {
        let only_in_work = || {
            if self.scripts.is_none() && !is_repository(self.places.judged()) {
                return format!(
                    "`{word}` is a file of the folder that is judged, and without git no trusted copy of it is kept: a \
                     person can make the folder a git repository, or name a program outside of it"
                );
            }
            format!(
                "`{word}` is a file of the project that the trusted commit does not have, so the work that is judged \
                 could choose it: it can be used when the trusted branch has it"
            )
        };
        let copy = trusted.ok_or_else(only_in_work)?;
        let real = copy.canonicalize().map_err(|_| only_in_work())?;
        if !self.is_trusted_copy(&real) && real.starts_with(self.places.judged()) {
            return Err(format!("`{word}` is a link to a file of the project that is judged"));
        }
        Ok(copy.to_owned())
    }

    /// Whether a script would load packages from a folder of the work above it, as scripts for Node.js do.
    pub(super) fn check_packages(&self, word: &str, copy: &Path) -> Result<(), String> {
        let judged = self.places.judged();
        let is_code =
            copy.extension().and_then(|end| end.to_str()).is_none_or(|end| NODE_ENDS.contains(&end));
        let above = copy
            .ancestors()
            .skip(1)
            .filter(|folder| folder.starts_with(judged) && !self.is_trusted_copy(folder));
        match above.map(|folder| folder.join(PACKAGES)).find(|folder| folder.exists()) {
            Some(folder)
                if is_code
                    && text_of(copy)
                        .is_some_and(|text| text.contains("require(") || text.contains("import")) =>
            {
                Err(format!(
                    "`{word}` would load packages from `{}`, which the work that is judged can change",
                    folder.display()
                ))
            }
            _ => Ok(()),
        }
    }

    /// Where a script is run from that works in the project itself.
    pub(super) fn run_from(
        &self,
        word: &str,
        path: &Path,
        trusted: Option<&Path>,
        context: &Context<'_>,
    ) -> Result<RunFrom, String> {
        let copy = self.trusted_copy(word, trusted)?;
        let stamps = self.stamps(path, context);
        let changed = self.changed(path);
        let around = self.changed_beside(path, context);
        let reached = around.iter().find(|file| self.reaches(path, file, context));
        let named = changed.iter().map(|used| &used.path);
        let mut others = reached.into_iter().chain(named.clone()).chain(&around).filter(|file| *file != path);
        let Some(other) = others.next().or(named.clone().next()) else {
            return Ok(RunFrom::Project(stamps));
        };
        let text = text_of(&copy).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        let is_shell = family(path, &text) == Family::Shell;
        let beside = |used: &Used| used.by_place && !is_shell && used.path.starts_with(folder);
        let own_place =
            OWN_PLACE.iter().any(|words| text.contains(words)) || !is_shell && text.contains("../");
        let looks_elsewhere = own_place && !text.contains(TREE);
        let only_its_own = changed.iter().all(|used| used.path == path || beside(used));
        // What is beside a script at the top of the project is the work itself.
        let at_the_top = context.is_top(folder) && !is_shell;
        if looks_elsewhere || at_the_top || !only_its_own || reached.is_some() {
            let other = other.display();
            return Err(format!(
                "`{other}` is not the same as in the trusted commit, and `{word}` uses it: a person has to look at the \
                 change of `{other}` first. Scripts in a folder of their own that find the project by the working \
                 folder or by `${TREE}` can be run from the trusted commit"
            ));
        }
        Ok(RunFrom::TrustedCommit(copy))
    }

    /// The files among a script and what it uses that differ between the trusted commit and the work.
    fn changed(&self, script: &Path) -> Vec<Used> {
        let all = self.used(script);
        let too_many = all.len() > FILES_MAX;
        all.into_iter().filter(|used| too_many || !self.is_same(&used.path, 0)).collect()
    }

    /// A script and what it uses, by their paths in the project.
    pub(super) fn with_used(&self, script: &Path) -> Vec<PathBuf> {
        self.used(script).into_iter().map(|used| used.path).collect()
    }

    /// Whether a script and everything that it uses are the same in the trusted commit and in the work.
    pub(super) fn is_unchanged(&self, script: &Path) -> bool {
        self.changed(script).is_empty()
    }

    /// Whether a script, or another one that it uses, is one for Python.
    pub(super) fn uses_python(&self, script: &Path) -> bool {
        !self.used_of(script, Family::Python).is_empty()
    }

    /// The scripts of a family among a script and what it uses.
    pub(super) fn used_of(&self, script: &Path, wanted: Family) -> Vec<PathBuf> {
        let is_wanted = |path: &PathBuf| {
            let copy = self.scripts.as_ref().and_then(|scripts| text_of(&scripts.join(path)));
            copy.is_some_and(|text| family(path, &text) == wanted)
        };
        self.used_paths(script).into_iter().filter(is_wanted).collect()
    }

    /// The trusted texts of a script and of what it uses.
    pub(super) fn used_texts(&self, script: &Path) -> Vec<String> {
        let text = |path: PathBuf| self.scripts.as_ref().and_then(|scripts| text_of(&scripts.join(path)));
        self.used_paths(script).into_iter().filter_map(text).collect()
    }

    pub(super) fn used_paths(&self, script: &Path) -> BTreeSet<PathBuf> {
        self.used(script).into_iter().map(|used| used.path).collect()
    }

    /// A script with everything that it seems to use.
    fn used(&self, script: &Path) -> BTreeSet<Used> {
        let mut known: BTreeSet<Used> = BTreeSet::new();
        let mut open = vec![Used { path: script.to_owned(), by_place: true }];
        while let Some(used) = open.pop() {
            let is_there = |root: &Path| root.join(&used.path).symlink_metadata().is_ok();
            let somewhere = is_there(self.places.judged()) || self.scripts.as_deref().is_some_and(is_there);
            // A word such as `src/` names what is looked at, not what is run.
            let is_folder = |root: &Path| root.join(&used.path).is_dir();
            let is_looked_at = !used.by_place
                && (is_folder(self.places.judged()) || self.scripts.as_deref().is_some_and(is_folder));
            if !somewhere || is_looked_at || !known.insert(used.clone()) {
                continue;
            }
            if known.len() > FILES_MAX {
                break;
            }
            let copy = self.scripts.as_ref().map(|scripts| scripts.join(&used.path));
            if let Some(text) = copy.as_deref().and_then(text_of) {
                open.extend(uses(&used.path, &text));
                if family(&used.path, &text) == Family::Python {
                    open.extend(self.compiled_beside(&used.path));
                }
            }
        }
        known
    }

    /// Compiled modules in the folder of a script of Python, which would be loaded in place of others.
    fn compiled_beside(&self, script: &Path) -> Vec<Used> {
        let folder = script.parent().unwrap_or(Path::new(""));
        let names = names_in(&self.places.judged().join(folder));
        let is_compiled = |name: &PathBuf| {
            name.extension().and_then(|end| end.to_str()).is_some_and(|end| COMPILED_ENDS.contains(&end))
        };
        let used = |name: PathBuf| Used { path: folder.join(name), by_place: true };
        names.into_iter().filter(is_compiled).map(used).collect()
    }

    /// Whether a file or folder is the same in the trusted commit and in the work, or missing in both.
    pub(super) fn is_same(&self, path: &Path, depth: usize) -> bool {
        let Some(scripts) = &self.scripts else { return false };
        let (one, two) = (scripts.join(path), self.places.judged().join(path));
        match (one.symlink_metadata(), two.symlink_metadata()) {
            (Err(_), Err(_)) => true,
            (Ok(a), Ok(b)) if a.is_file() && b.is_file() => {
                a.len() == b.len()
                    && matches!((std::fs::read(&one), std::fs::read(&two)), (Ok(one), Ok(two)) if one == two)
            }
            (Ok(a), Ok(b)) if a.is_symlink() && b.is_symlink() => {
                std::fs::read_link(one).ok() == std::fs::read_link(two).ok()
            }
            (Ok(a), Ok(b)) if a.is_dir() && b.is_dir() && depth < 16 => {
                let names = names_in(&one).into_iter().chain(names_in(&two)).collect::<BTreeSet<_>>();
                let kept = |name: &&PathBuf| !name.ends_with("__pycache__");
                names.len() <= FILES_MAX
                    && names.iter().filter(kept).all(|name| self.is_same(&path.join(name), depth + 1))
            }
            _ => false,
        }
    }
}

/// A path without `.` and `..`, by its words alone.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            _ => plain.push(part),
        }
    }
    plain
}

pub(super) fn names_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into()).collect()
}

pub(super) fn text_of(file: &Path) -> Option<String> {
    let found = std::fs::metadata(file).ok()?;
    if !found.is_file() || found.len() > TEXT_BYTES {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned())
}

/// How a script finds what it uses: a shell by the working folder, others by the place of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Shell,
    Python,
    Other,
}

pub(super) fn family(path: &Path, text: &str) -> Family {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let first = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
    match end {
        _ if SHELL_ENDS.contains(&end) => Family::Shell,
        "py" => Family::Python,
        _ if first.contains("python") => Family::Python,
        _ if first.trim_end().ends_with("sh") => Family::Shell,
        _ => Family::Other,
    }
}

/// Whether a letter may be part of a word that names a file.
pub(super) fn part_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || "_./+-".contains(letter)
}

/// What a script seems to use: modules it imports, words that name a file with code, and what loading words name.
fn uses(script: &Path, text: &str) -> Vec<Used> {
    let folder = script.parent().unwrap_or(Path::new(""));
    let family = family(script, text);
    let is_dynamic = family == Family::Python && DYNAMIC.iter().any(|word| text.contains(word));
    let loads = if family == Family::Shell { SHELL_LOADS } else { LOADS };
    let mut all = vec![];
    for line in text.lines() {
        let line = line.trim_start();
        let imports = line.starts_with("import ") || line.starts_with("from ");
        let has_test = line.contains("[ ") || line.contains("test ");
        let has_patterns = !has_test && WITH_PATTERNS.iter().any(|program| line.contains(program));
        let mut before = "";
        for word in line.split(|letter| !part_of_word(letter)).filter(|word| !word.is_empty()) {
            let mut named = |path: PathBuf, by_place| all.push(Used { path: plain(&path), by_place });
            let last = std::mem::replace(&mut before, word);
            if family == Family::Python && imports {
                let module = word.trim_start_matches('.').replace('.', "/");
                let first = module.split('/').next().unwrap_or_default().to_owned();
                for module in [module, first].iter().filter(|module| !module.is_empty()) {
                    named(folder.join(module), true);
                    named(folder.join(format!("{module}.py")), true);
                }
                continue;
            }
            let is_by_place = family == Family::Other && (word.starts_with("./") || word.starts_with("../"));
            let is_loaded = loads.split_whitespace().any(|known| known == last);
            let is_pattern = has_patterns && last.starts_with('-') && last.ends_with('f');
            if is_by_place || is_loaded && family == Family::Other {
                named(folder.join(word), is_by_place);
                for end in LACKING_ENDS {
                    named(folder.join(format!("{word}.{end}")), true);
                }
            }
            let path = Path::new(word.trim_start_matches('/'));
            let end = path.extension().and_then(|end| end.to_str());
            let is_code =
                word.contains('/') && end.is_none() || end.is_some_and(|end| CODE_ENDS.contains(&end));
            if !is_by_place && (is_code || is_loaded || is_pattern) {
                named(path.to_owned(), false);
                named(folder.join(path), false);
            }
            if is_dynamic {
                let module = word.replace('.', "/");
                named(folder.join(format!("{module}.py")), false);
            }
        }
    }
    all
}
