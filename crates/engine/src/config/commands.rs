//! `commands:`: the tests and lint of a project, and the checkout in which they run.

use super::settings::{Merge, key};
use crate::yaml::{At, Given, ProblemList, quoted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Commands of the project.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Commands")]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `test` or `lint`")]
pub(super) struct WrittenCommands {
    /// Runs the tests, in a shell at the root. Without it they are found by the files of the project.
    #[schemars(length(min = 1))]
    pub test: Given<String>,
    /// Runs lint, in a shell at the root.
    #[schemars(length(min = 1))]
    pub lint: Given<String>,
    /// Installs what tests and lint need and git ignores, such as `npm ci`: in a shell at the root of the checkout, once for
    /// each state of the files. Only what `keep` names survives of it.
    #[schemars(length(min = 1))]
    pub setup: Given<String>,
    /// Paths in the checkout that survive, relative to the root, and that git ignores.
    #[schemars(extend("default" = ["node_modules", "target", ".venv"]))]
    pub keep: Given<Vec<At<String>>>,
    /// Where tests and lint run: `checkout` has exactly the judged files; `worktree` is the folder of the work, and the
    /// result is only told to reviewers.
    #[schemars(extend("default" = "checkout"))]
    pub tests_in: Given<TestsIn>,
}

/// Where tests and lint run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestsIn {
    /// A checkout of exactly the judged files.
    #[default]
    Checkout,
    /// The folder of the work.
    Worktree,
}

/// How tests and lint get the files that are judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandsConfig {
    pub setup: Option<String>,
    /// None where no file says so.
    pub keep: Option<Vec<String>>,
    pub tests_in: TestsIn,
}

/// Reports kept paths that lead elsewhere.
pub(super) fn check(sink: &mut ProblemList, commands: &WrittenCommands) {
    for at in commands.keep.items() {
        let Some(path) = &at.value else { continue };
        if let Some(why) = problem(path) {
            let message = format!("`keep` cannot have {}: {why}", quoted(path));
            let hint = "name a folder inside the project that git ignores, such as `node_modules`";
            sink.report_with_hint("bad-path", &at.span, message, hint);
        }
    }
}

fn problem(path: &str) -> Option<&'static str> {
    let plain = path.trim_end_matches('/');
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    match plain {
        "" => Some("it is empty"),
        _ if plain.contains(['*', '?', '[', '\\']) => Some("it is a path, not a pattern"),
        _ if !plain.split('/').all(is_name) => Some("it must stay inside the project, without `.` and `..`"),
        _ if plain.split('/').any(|part| part.eq_ignore_ascii_case(".git")) => {
            Some("git keeps its own files there")
        }
        _ => None,
    }
}

impl Merge<'_> {
    pub(super) fn commands(&mut self) -> CommandsConfig {
        let paths = |paths: &Vec<At<String>>| {
            let plain = |at: &At<String>| Some(at.value.as_ref()?.trim_end_matches('/').to_owned());
            Some(paths.iter().filter_map(plain).collect())
        };
        let show = |paths: &Option<Vec<String>>| match paths {
            Some(paths) => format!("[{}]", paths.join(", ")),
            None => {
                format!("[{}], where the project has no files there", crate::tested::USUAL_KEEP.join(", "))
            }
        };
        CommandsConfig {
            setup: self.text(key!(commands.setup)),
            keep: self.pick(key!(commands.keep), None, paths, show),
            tests_in: self.word(key!(commands.tests_in), TestsIn::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_paths_stay_inside() {
        for path in ["node_modules", "node_modules/", "web/node_modules", ".venv", "a b"] {
            assert_eq!(problem(path), None, "{path}");
        }
        for path in
            ["", "/", "..", "../x", "a/../b", "/tmp", "./x", "a/./b", ".", "a//b", "*", "x/.git", ".GIT"]
        {
            assert!(problem(path).is_some(), "{path}");
        }
    }
}
