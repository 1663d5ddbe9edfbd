//! The checks of what agent programs start: hooks and servers in their settings, which program they call, and whether keys
//! reach the server.

use crate::answer::v1::Check;
use crate::init::agents::{Entry, EntryKind, entries, on_path};
use crate::project::Project;
use countersign_core::text::visible_line;
use countersign_engine::workspace::Root;
use std::path::{Path, PathBuf};

/// A line for each entry that is installed.
pub fn installed(root: &Root, project: Option<&Project>, own: &Path) -> Vec<Check> {
    let variables = project.map(Project::key_variables).unwrap_or_default();
    let line = |(agent, found): (&str, Result<Entry, _>)| match found {
        Ok(entry) => check(&entry, root.path(), own, &variables),
        Err(fault) => {
            let fault: countersign_engine::config::Diagnostic = fault;
            let words = format!("{}: {}", fault.place.file().display(), fault.message);
            Check::warn(format!("settings {agent}"), words)
                .hint("correct the file: its entries are not known")
        }
    };
    entries(root).into_iter().map(line).collect()
}

fn check(entry: &Entry, root: &Path, own: &Path, variables: &[String]) -> Check {
    let what = match entry.kind {
        EntryKind::Hook => format!("hook {}", entry.agent),
        EntryKind::Server(..) => format!("mcp {}", entry.agent),
    };
    let line = entry.command.join(" ");
    let words = format!("`{}` calls `{}`", entry.file, visible_line(&line));
    let again = match entry.kind {
        EntryKind::Hook => format!("countersign init --agent {} --hook", entry.agent),
        EntryKind::Server(..) => format!("countersign init --agent {}", entry.agent),
    };
    let Some(program) = entry.command.first().filter(|program| !program.is_empty()) else {
        return Check::warn(what, format!("`{}` has an entry without a command", entry.file))
            .hint(format!("remove it, then run `{again}`"));
    };
    let Some(found) = resolved(program, root) else {
        return Check::warn(what, format!("{words}: there is no such program"))
            .hint("put `countersign` on the PATH of the agent program, or name its full path in the entry");
    };
    if !is_same(&found, own) {
        let words = format!("{words}: {}, which is not this program ({})", found.display(), own.display());
        return Check::warn(what, words)
            .hint("put the one that you want first on the PATH, or name its full path in the entry");
    }
    let words = format!("{words}: {}, this program", found.display());
    let EntryKind::Server(row, value) = &entry.kind else { return Check::ok(what, words) };
    match variables.iter().find(|variable| !row.variables.gives(value, variable)) {
        Some(variable) => {
            Check::warn(what, format!("{words}; `{variable}` does not reach it")).hint(format!(
                "`{}` clears the environment of its servers: add `{}` to the entry",
                entry.agent,
                row.variables.passes(variable).unwrap_or_default()
            ))
        }
        None => Check::ok(what, words),
    }
}

/// The file of a program: by its path, or by its name on the PATH.
fn resolved(program: &str, root: &Path) -> Option<PathBuf> {
    match program.contains('/') {
        true => Some(root.join(program)).filter(|file| file.is_file()),
        false => on_path(program),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
