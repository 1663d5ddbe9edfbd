//! Detects languages, commands and file patterns of a project, by file names and a few manifests.

use super::patterns;
use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DetectedProject {
    pub languages: Vec<Language>,
    pub commands: Vec<Suggested>,
    /// Commands that install what tests need in a checkout, and what survives there.
    pub setup: Vec<String>,
    pub keep: Vec<String>,
    /// Patterns, here and below: for every kind of text.
    pub text: Vec<String>,
    pub code: Vec<String>,
    pub documents: Vec<String>,
    /// JSON, YAML and TOML that should parse.
    pub json: Vec<String>,
    pub yaml: Vec<String>,
    pub toml: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Language {
    pub name: &'static str,
    /// Its marker file.
    pub because_of: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggested {
    /// `test` or `lint`.
    pub does: &'static str,
    /// For `sh -c` in the project's root.
    pub command: String,
}

/// Reads a manifest; none where that fails.
pub type Manifest<'a> = &'a dyn Fn(&str) -> Option<String>;

const TEST: &str = "test";
const LINT: &str = "lint";

/// A kind of project: its name, its marker files, and its commands.
type Kind = (&'static str, &'static [&'static str], fn(&Look<'_>) -> Vec<(&'static str, &'static str)>);

const KINDS: &[Kind] = &[
    ("Rust", &["Cargo.toml"], |_| {
        vec![(TEST, "cargo test"), (LINT, "cargo clippy --all-targets -- -D warnings")]
    }),
    ("JavaScript", &["package.json"], javascript),
    ("Python", &["pyproject.toml", "pytest.ini", "setup.py", "setup.cfg", "requirements.txt"], python),
    ("Go", &["go.mod"], |_| vec![(TEST, "go test ./..."), (LINT, "go vet ./...")]),
    ("TypeScript", &["tsconfig.json"], typescript),
    ("Maven", &["pom.xml"], |_| vec![(TEST, "mvn -q test")]),
    ("Gradle", &["build.gradle", "build.gradle.kts"], |_| vec![(TEST, "gradle test")]),
    ("Elixir", &["mix.exs"], |_| vec![(TEST, "mix test"), (LINT, "mix format --check-formatted")]),
    ("Terraform", &["main.tf", "versions.tf", "providers.tf"], |_| {
        vec![(LINT, "terraform fmt -check -recursive")]
    }),
    ("OpenAPI", &["openapi.yaml", "openapi.yml", "openapi.json"], |_| vec![]),
    ("MkDocs", &["mkdocs.yml"], |_| vec![(TEST, "mkdocs build --strict -q -d \"$(mktemp -d)\"")]),
    ("Make", &["Makefile", "makefile", "GNUmakefile"], make),
];

struct Look<'a> {
    marker: &'a str,
    files: &'a [String],
    manifest: Manifest<'a>,
}

pub fn detect(files: &[String], manifest: Manifest<'_>) -> DetectedProject {
    let mut found = patterns::found(files);
    for (name, markers, commands) in KINDS {
        let Some(marker) = nearest(files, markers) else { continue };
        found.languages.push(Language { name, because_of: marker.to_owned() });
        let commands = commands(&Look { marker, files, manifest }).into_iter();
        let suggested =
            commands.filter_map(|(does, line)| Some(Suggested { does, command: at(marker, line)? }));
        found.commands.extend(suggested);
        let (setup, keep) = checkout(name, &Look { marker, files, manifest });
        found.setup.extend(setup.and_then(|line| at(marker, line)));
        let folder = marker.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
        let kept = keep.iter().map(|name| format!("{folder}{name}"));
        // What the project has there is judged.
        let is_free = |kept: &String| !files.iter().any(|file| file.starts_with(&format!("{kept}/")));
        let is_new = |kept: &String| !found.keep.contains(kept);
        let kept: Vec<String> = kept.filter(|kept| is_free(kept) && is_new(kept)).collect();
        found.keep.extend(kept);
    }
    found
}

/// What fills a checkout of the project, and what survives there.
fn checkout(kind: &str, look: &Look<'_>) -> (Option<&'static str>, &'static [&'static str]) {
    let folder = look.marker.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let has = |name: &str| look.files.contains(&format!("{folder}{name}"));
    let text = || (look.manifest)(look.marker).unwrap_or_default();
    match kind {
        "Rust" | "Maven" => (None, &["target"]),
        "JavaScript" => {
            let locks = [
                ("package-lock.json", "npm ci"),
                ("npm-shrinkwrap.json", "npm ci"),
                ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
                ("yarn.lock", "yarn install --frozen-lockfile"),
            ];
            let locked = locks.iter().find(|(lock, _)| has(lock)).map(|(_, command)| *command);
            let needs = || text().to_ascii_lowercase().contains("dependencies\"");
            (locked.or_else(|| needs().then_some("npm install --no-package-lock")), &["node_modules"])
        }
        "Python" if has("requirements.txt") => {
            (Some("python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt"), &[".venv"])
        }
        "Python" => (None, &[".venv"]),
        "Gradle" => (None, &["build", ".gradle"]),
        "Terraform" => (None, &[".terraform"]),
        "Elixir" => (Some("mix deps.get"), &["deps", "_build"]),
        _ => (None, &[]),
    }
}

/// The marker nearest to the root; of several in one folder, the first of the list.
fn nearest<'f>(files: &'f [String], markers: &[&str]) -> Option<&'f str> {
    let rank = |file: &str| markers.iter().position(|marker| *marker == base(file));
    let own = files.iter().filter(|file| !patterns::is_foreign(file));
    let marked = own.filter_map(|file| Some((file.matches('/').count(), rank(file)?, file.as_str())));
    marked.min().map(|(_, _, file)| file)
}

fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A command in the folder of its marker; none where the name of the folder needs quoting.
fn at(marker: &str, command: &str) -> Option<String> {
    let Some((folder, _)) = marker.rsplit_once('/') else { return Some(command.to_owned()) };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    (folder.chars().all(plain) && !folder.starts_with('-')).then(|| format!("cd {folder} && {command}"))
}

/// The commands of the scripts that exist; the default script of `npm init` is none.
fn javascript(look: &Look<'_>) -> Vec<(&'static str, &'static str)> {
    let text = (look.manifest)(look.marker).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let script = |name: &str| manifest["scripts"][name].as_str().filter(|s| !s.contains("no test specified"));
    let known = [(TEST, "npm test"), (LINT, "npm run lint")];
    known.into_iter().filter(|(does, _)| script(does).is_some()).collect()
}

/// Types are checked where a package says nothing about lint.
fn typescript(look: &Look<'_>) -> Vec<(&'static str, &'static str)> {
    let folder = look.marker.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let text = (look.manifest)(&format!("{folder}package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let has_lint = manifest["scripts"]["lint"].is_string();
    if has_lint { vec![] } else { vec![(LINT, "npx --no-install tsc --noEmit")] }
}

fn python(look: &Look<'_>) -> Vec<(&'static str, &'static str)> {
    let named = |name: &str| look.files.iter().any(|file| base(file) == name);
    let is_test = |file: &String| {
        let name = base(file);
        name.ends_with("_test.py") || name.starts_with("test_") && name.ends_with(".py")
    };
    let text = (look.manifest)(look.marker).unwrap_or_default();
    let mut commands = vec![];
    if named("pytest.ini") || named("pyproject.toml") || look.files.iter().any(is_test) {
        commands.push((TEST, "pytest"));
    }
    if named("ruff.toml") || text.contains("[tool.ruff") {
        commands.push((LINT, "ruff check ."));
    }
    commands
}

/// The commands of the targets that exist.
fn make(look: &Look<'_>) -> Vec<(&'static str, &'static str)> {
    let text = (look.manifest)(look.marker).unwrap_or_default();
    let target = |name: &str| {
        let rule = |line: &str| {
            line.split_once(':').is_some_and(|(targets, rest)| {
                !rest.starts_with('=') && targets.split_whitespace().any(|target| target == name)
            })
        };
        text.lines().any(|line| !line.starts_with(['\t', '#', '.']) && rule(line))
    };
    let known = [(TEST, "make test"), (LINT, "make lint")];
    known.into_iter().filter(|(does, _)| target(does)).collect()
}
