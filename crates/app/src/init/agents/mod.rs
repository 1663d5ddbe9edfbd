//! Writes entries into the settings of agent programs, which start `countersign mcp` or call `countersign hook`, and
//! removes them.
//!
//! All new texts are computed before any file is written: one invalid file leaves all unchanged.

mod diff;
mod edit;
mod entries;
mod file;
mod hooks;
mod json_edit;
mod json_list;
mod json_scan;
mod server;
mod toml_edit;

pub use entries::{Entry, EntryKind, entries};
pub use hooks::names_hook;

use crate::Failure;
use crate::project::{current_folder, environment, root_at};
use countersign_engine::config::{self, Diagnostic, Environment, Flags, Place, Source};
use countersign_engine::installed;
use countersign_engine::programs::{Hook, PROGRAMS, Program, Programs, ServerEntry, listed};
use countersign_engine::workspace::Root;
use edit::{Fault, SpannedValue};
use file::Settings;
use std::path::{Path, PathBuf};

const ALL: &str = "all";

#[derive(Clone, Debug, Default)]
pub struct Tell {
    /// The agents by name; `all` for the installed ones.
    pub agents: Vec<String>,
    /// The hook instead of the server.
    pub hook: bool,
    pub remove: bool,
    /// Replace the arguments of an entry that has others.
    pub force: bool,
    pub dry_run: bool,
    /// The reviewer that the server asks.
    pub external_runner: Option<String>,
}

#[derive(Clone, Debug)]
pub struct EntryNotice {
    pub agent: &'static str,
    /// `mcp` or `hook`.
    pub entry: &'static str,
    /// The next step of the user.
    pub next: &'static str,
    pub file: PathBuf,
    pub remove: bool,
    pub changes: bool,
    pub diff: String,
}

/// Writes or removes the entries, or only computes the changes.
pub fn run(tell: &Tell) -> Result<Vec<EntryNotice>, Failure> {
    let chosen = chosen(PROGRAMS, &tell.agents, tell.remove)?;
    let hookless = |program: &&&Program| tell.hook && program.hook.is_none();
    if let Some(program) = chosen.iter().find(hookless)
        && !tell.agents.iter().any(|name| name == ALL)
    {
        let hooked = listed(PROGRAMS.hooks().map(|hook| hook.program.name), "and");
        return Err(Failure::usage(format!("{} has no hook that can keep an agent working", program.name))
            .hint(format!("programs with a hook: {hooked}")));
    }
    let root = root()?;
    let mut drafts = Drafts { root: &root, files: vec![] };
    let told = plan(&chosen, tell, &mut drafts)?;
    if !tell.dry_run {
        drafts.write()?;
    }
    Ok(told)
}

fn plan(
    chosen: &[&'static Program],
    tell: &Tell,
    drafts: &mut Drafts<'_>,
) -> Result<Vec<EntryNotice>, Failure> {
    let planned = chosen.iter().filter_map(|program| match tell.hook {
        true => program.hook.map(|hook| plan_hook(hook, tell, drafts)),
        false => program.server.as_ref().map(|entry| plan_server(program.name, entry, tell, drafts)),
    });
    let (told, problems): (Vec<_>, Vec<_>) = planned.partition(Result::is_ok);
    match problems.is_empty() {
        true => Ok(told.into_iter().flatten().collect()),
        false => Err(Failure::at(problems.into_iter().filter_map(Result::err).collect())),
    }
}

fn chosen(programs: Programs, named: &[String], remove: bool) -> Result<Vec<&'static Program>, Failure> {
    let mut chosen = vec![];
    for name in named {
        match programs.agents().find(|program| program.name == name) {
            Some(program) => chosen.push(program),
            // An entry can be removed also where its agent is not installed.
            None if name == ALL => {
                chosen.extend(programs.agents().filter(|one| remove || on_path(one.name).is_some()))
            }
            None => {
                let names: Vec<&str> = programs.agents().map(|program| program.name).collect();
                return Err(Failure::usage(format!("--agent: unknown agent `{name}`"))
                    .hint(format!("known agents: {}; `all` means every installed agent", names.join(", "))));
            }
        }
    }
    match chosen.is_empty() {
        true => Err(Failure::usage("no agent is installed").hint("name one: --agent claude")),
        // In the order of the table, each once.
        false => Ok(programs.all().filter(|one| chosen.iter().any(|named| named.name == one.name)).collect()),
    }
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    installed::find(name, Path::new("/"), std::env::var_os("PATH").as_deref())
}

/// The project's root, also where its configuration is invalid.
fn root() -> Result<Root, Failure> {
    let environment = Environment { config: None, reviewer: None, ..environment() };
    let found = config::gather(&current_folder()?, &Flags::default(), &environment)?.root;
    root_at(&found)
}

fn plan_server(
    agent: &'static str,
    entry: &ServerEntry,
    tell: &Tell,
    drafts: &mut Drafts<'_>,
) -> Result<EntryNotice, Diagnostic> {
    let (draft, standing) = drafts.find(entry)?;
    let text = draft.now.as_deref();
    let after = match (tell.remove, standing) {
        (true, None) => Ok(None),
        (true, Some(standing)) => without(entry, draft, standing).map(Some),
        (false, standing) => with(entry, tell, text, standing).map(|text| text.map(Some)),
    };
    let after = after.map_err(|fault| placed(&draft.settings, text.unwrap_or_default(), fault))?;
    let (file, changes, diff) = draft.set(after);
    Ok(EntryNotice { agent, entry: "mcp", next: entry.next, file, remove: tell.remove, changes, diff })
}

fn plan_hook(hook: Hook, tell: &Tell, drafts: &mut Drafts<'_>) -> Result<EntryNotice, Diagnostic> {
    let place = drafts.open(hook.file)?;
    let draft = &mut drafts.files[place];
    let text = draft.now.as_deref();
    let after = match tell.remove {
        true => hooks::without(hook, text),
        false => hooks::with(hook, text).map(|text| text.map(Some)),
    };
    let after = after.map_err(|fault| placed(&draft.settings, text.unwrap_or_default(), fault))?;
    // Countersign never makes a link, so a linked file is the user's and stays.
    let after = after.map(|text| text.or_else(|| draft.settings.linked.then(|| "{}\n".to_owned())));
    let (agent, (file, changes, diff)) = (hook.program.name, draft.set(after));
    Ok(EntryNotice { agent, entry: "hook", next: hook.next, file, remove: tell.remove, changes, diff })
}

/// The text with the entry; none if the entry is right already.
fn with(
    entry: &ServerEntry,
    tell: &Tell,
    text: Option<&str>,
    standing: Option<SpannedValue>,
) -> Result<Option<String>, Fault> {
    let arguments = server::arguments(tell.external_runner.as_deref());
    let members = server::members(entry.form, &arguments);
    let (format, path) = (entry.format, entry.path);
    let (Some(text), Some(standing)) = (text, standing) else {
        return match text.or(entry.new_file) {
            Some(text) => edit::insert(format, text, path, &members).map(Some),
            None => Ok(Some(edit::create(format, path, &members))),
        };
    };
    if ours(entry, &standing)? == arguments {
        return Ok(None);
    }
    if !tell.force {
        return Err(Fault {
            code: "differs",
            hint: "--force replaces them; nothing was changed",
            ..Fault::shape(standing.span, "this entry has other arguments")
        });
    }
    let (name, value) = server::changing(entry.form, &arguments);
    edit::set(format, text, &[path, &[name]].concat(), &value).map(Some)
}

/// The text without the entry; none if the file was only made for it.
fn without(entry: &ServerEntry, draft: &Draft, standing: SpannedValue) -> Result<Option<String>, Fault> {
    ours(entry, &standing)?;
    let left = edit::remove(entry.format, draft.now.as_deref().unwrap_or_default(), entry.path)?;
    let left = left.filter(|text| entry.new_file != Some(text));
    // Countersign never makes a link, so a linked file is the user's and stays.
    Ok(left.or_else(|| draft.settings.linked.then(|| edit::empty(entry.format).to_owned())))
}

fn ours(entry: &ServerEntry, standing: &SpannedValue) -> Result<Vec<String>, Fault> {
    server::ours(entry.form, &standing.value).ok_or_else(|| Fault {
        code: "foreign",
        hint: "rename it, or change it by hand (see `countersign help agents`); nothing was changed",
        ..Fault::shape(
            standing.span.clone(),
            "Countersign did not write this entry: it does not start `countersign mcp`",
        )
    })
}

fn placed(settings: &Settings, text: &str, fault: Fault) -> Diagnostic {
    let place = Place::new(&Source::new(&settings.path, text), fault.span);
    Diagnostic::new(fault.code, place, fault.message).with_hint(fault.hint)
}

struct Draft {
    settings: Settings,
    now: Option<String>,
}

impl Draft {
    /// Sets a new text, if there is one: the file, whether it changes, and the diff.
    fn set(&mut self, after: Option<Option<String>>) -> (PathBuf, bool, String) {
        let (changes, before) = (after.is_some(), self.now.clone());
        if let Some(after) = after {
            self.now = after;
        }
        let diff = diff::unified(self.settings.name, before.as_deref(), self.now.as_deref());
        (self.settings.path.clone(), changes, diff)
    }
}

/// All files. Two entries in one file are two edits of one draft.
struct Drafts<'r> {
    root: &'r Root,
    files: Vec<Draft>,
}

impl Drafts<'_> {
    /// The file that has the entry, else the one that should have it, and the current value.
    fn find(&mut self, entry: &ServerEntry) -> Result<(&mut Draft, Option<SpannedValue>), Diagnostic> {
        let mut belongs = None;
        for name in entry.files {
            let place = self.open(name)?;
            let Draft { settings, now } = &self.files[place];
            let Some(text) = now else { continue };
            let found =
                edit::look(entry.format, text, entry.path).map_err(|fault| placed(settings, text, fault))?;
            if found.is_some() {
                return Ok((&mut self.files[place], found));
            }
            belongs = belongs.or(Some(place));
        }
        let place = match belongs {
            Some(place) => place,
            None => self.open(entry.files.last().copied().unwrap_or_default())?,
        };
        Ok((&mut self.files[place], None))
    }

    fn open(&mut self, name: &'static str) -> Result<usize, Diagnostic> {
        let settings = Settings::read(self.root, name)?;
        let known = self.files.iter().position(|draft| draft.settings.real == settings.real);
        Ok(known.unwrap_or_else(|| {
            let now = settings.text.clone();
            self.files.push(Draft { settings, now });
            self.files.len() - 1
        }))
    }

    fn write(&self) -> Result<(), Failure> {
        let changed = self.files.iter().filter(|draft| draft.now != draft.settings.text);
        let mut written: Vec<&str> = vec![];
        for Draft { settings, now } in changed {
            settings.replace(now.as_deref()).map_err(|error| {
                let before = match written.is_empty() {
                    true => "nothing was written".to_owned(),
                    false => format!("these files were already written: {}", written.join(", ")),
                };
                Failure::internal(format!("`{}` cannot be written: {error}", settings.path.display()))
                    .hint(before)
            })?;
            written.push(settings.name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::WITH_MADE_UP;

    #[test]
    fn issue_15_8_a_made_up_program_is_told_of_us_by_its_row() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path()).unwrap();
        let file = folder.path().join(".made-up.json");
        let names = ["made-up".to_owned()];
        assert_eq!(
            chosen(PROGRAMS, &names, false).unwrap_err().outcome,
            countersign_core::outcome::Outcome::Usage
        );
        let chosen = chosen(WITH_MADE_UP, &names, false).unwrap();
        for (hook, entry, written) in
            [(false, "mcp", "\"command\": \"countersign\""), (true, "hook", "countersign hook made-up")]
        {
            let of = |remove| {
                let tell = Tell { hook, remove, ..Tell::default() };
                let mut drafts = Drafts { root: &root, files: vec![] };
                let told = plan(&chosen, &tell, &mut drafts).unwrap();
                drafts.write().unwrap();
                assert_eq!((told.len(), told[0].agent, told[0].entry), (1, "made-up", entry));
                assert!(told[0].changes && told[0].next.contains("made-up"), "{told:?}");
            };
            of(false);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(written), "{text}");
            of(true);
            assert!(!file.exists());
        }
    }
}
