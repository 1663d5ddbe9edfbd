//! `countersign init --agent`: tells agents to start `countersign mcp` in this project, or to call `countersign hook` when
//! they stop, and untells them.
//!
//! Everything is worked out before anything is written: what is wrong with one file leaves all as they are.

mod diff;
mod edit;
mod file;
mod hooks;
mod json_edit;
mod json_list;
mod json_scan;
mod report;
mod targets;
mod toml_edit;

pub use hooks::names_hook;

use crate::cli::arguments::InitOptions;
use crate::cli::{Failure, Global};
use crate::output::{Answer, Printer};
use countersign_app::project::{current_folder, environment};
use countersign_engine::config::{self, Diagnostic, Environment, Flags, Place, Problems, Source};
use countersign_engine::installed;
use countersign_engine::programs::Program;
use countersign_engine::workspace::Root;
use edit::{Fault, Standing};
use file::Settings;
use hooks::{HOOKS, HookTarget};
use report::{Report, State};
use std::path::{Path, PathBuf};
use targets::{TARGETS, Target};

/// Every agent that is installed.
const ALL: &str = "all";

/// What is to be done with each entry.
struct Wish {
    arguments: Vec<String>,
    remove: bool,
    force: bool,
}

/// Writes the entries, takes them out, or shows what that would change.
pub fn run(global: &Global, options: &InitOptions, printer: &Printer) -> Result<Answer, Failure> {
    if global.config.is_some() {
        return Err(Failure::usage("init --agent writes settings of agents and takes no --config"));
    }
    let wish = Wish {
        arguments: targets::arguments(options.external_runner.as_deref()),
        remove: options.remove,
        force: options.force,
    };
    let chosen = chosen(&options.agent, options.remove)?;
    let hookless = |program: &Program| HOOKS.iter().all(|hook| hook.program != *program);
    if let Some(program) = chosen.iter().find(|program| options.hook && hookless(program))
        && !options.agent.iter().any(|name| name == ALL)
    {
        return Err(Failure::usage(format!("{} has no hook to hold an agent with", program.facts().name))
            .hint("claude, codex and gemini have one"));
    }
    let root = root()?;
    let mut drafts = Drafts { root: &root, files: vec![] };
    let mut reports = vec![];
    let mut problems = vec![];
    let planned: Vec<_> = match options.hook {
        true => {
            let targets = HOOKS.iter().filter(|target| chosen.contains(&target.program));
            targets.map(|target| plan_hook(target, options.remove, &mut drafts)).collect()
        }
        false => {
            let targets = TARGETS.iter().filter(|target| chosen.contains(&target.program));
            targets.map(|target| plan(target, &wish, &mut drafts)).collect()
        }
    };
    for planned in planned {
        match planned {
            Ok(report) => reports.push(report),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(Failure::from(Problems { listed: problems, left_out: 0 }));
    }
    match options.dry_run {
        true => printer.note("this would change; nothing is written"),
        false => drafts.write()?,
    }
    Ok(report::answer(reports, options, printer.quiet))
}

/// The agents that were named, each once.
fn chosen(named: &[String], remove: bool) -> Result<Vec<Program>, Failure> {
    let mut chosen = vec![];
    for name in named {
        match Program::named(name) {
            Some(program) => chosen.push(program),
            // An entry can be taken out whether or not its agent is still there.
            None if name == ALL && remove => chosen.extend(Program::ALL),
            None if name == ALL => {
                chosen.extend(Program::ALL.into_iter().filter(|program| is_installed(*program)))
            }
            None => {
                return Err(Failure::usage(format!("--agent `{name}` is not known"))
                    .hint("claude, codex, gemini, opencode, or all that are installed: all"));
            }
        }
    }
    match chosen.is_empty() {
        true => Err(Failure::usage("no agent is installed").hint("name one: --agent claude")),
        false => Ok(chosen),
    }
}

fn is_installed(program: Program) -> bool {
    on_path(program.facts().name).is_some()
}

fn on_path(name: &str) -> Option<PathBuf> {
    installed::find(name, Path::new("/"), std::env::var_os("PATH").as_deref())
}

/// The project's root; whether its configuration is valid does not matter here.
fn root() -> Result<Root, Failure> {
    let environment = Environment { config: None, reviewer: None, ..environment() };
    let found = config::gather(&current_folder()?, &Flags::default(), &environment)?.root;
    Root::new(&found).map_err(|error| {
        Failure::usage(format!("the project root `{}` cannot be used: {error}", found.display()))
    })
}

/// One entry: where it is, and what has to change.
fn plan(target: &'static Target, wish: &Wish, drafts: &mut Drafts<'_>) -> Result<Report, Diagnostic> {
    let (draft, standing) = drafts.find(target)?;
    let before = draft.now.clone();
    let text = before.as_deref();
    let problem = |fault: Fault| placed(&draft.settings, text.unwrap_or_default(), fault);
    let after = match (wish.remove, standing) {
        (true, None) => None,
        (true, Some(standing)) => Some(without(target, draft, standing).map_err(problem)?),
        (false, standing) => with(target, wish, text, standing).map_err(problem)?.map(Some),
    };
    let state = State::of(wish.remove, after.is_some());
    if let Some(after) = after {
        draft.now = after;
    }
    let diff = diff::unified(draft.settings.name, before.as_deref(), draft.now.as_deref());
    let Target { program, entry, next, .. } = *target;
    Ok(Report { program, entry, next, file: draft.settings.path.clone(), state, diff })
}

/// One hook: the same in a list.
fn plan_hook(
    target: &'static HookTarget,
    remove: bool,
    drafts: &mut Drafts<'_>,
) -> Result<Report, Diagnostic> {
    let place = drafts.open(target.file)?;
    let draft = &mut drafts.files[place];
    let before = draft.now.clone();
    let text = before.as_deref();
    let after = match remove {
        true => target.without(text),
        false => target.with(text).map(|text| text.map(Some)),
    };
    let after = after.map_err(|fault| placed(&draft.settings, text.unwrap_or_default(), fault))?;
    let state = State::of(remove, after.is_some());
    if let Some(after) = after {
        // We never make a link, so a linked file is somebody's whatever is in it.
        draft.now = after.or_else(|| draft.settings.linked.then(|| "{}\n".to_owned()));
    }
    let diff = diff::unified(draft.settings.name, before.as_deref(), draft.now.as_deref());
    let HookTarget { program, next, .. } = *target;
    Ok(Report { program, entry: "hook", next, file: draft.settings.path.clone(), state, diff })
}

/// The text with the entry; nothing if it is there as it should be.
fn with(
    target: &Target,
    wish: &Wish,
    text: Option<&str>,
    standing: Option<Standing>,
) -> Result<Option<String>, Fault> {
    let members = target.form.members(&wish.arguments);
    let (format, path) = (target.format, target.path);
    let (Some(text), Some(standing)) = (text, standing) else {
        return match text.or(target.new_file) {
            Some(text) => format.insert(text, path, &members).map(Some),
            None => Ok(Some(format.create(path, &members))),
        };
    };
    if ours(target, &standing)? == wish.arguments {
        return Ok(None);
    }
    if !wish.force {
        return Err(Fault {
            code: "differs",
            hint: "--force replaces them; nothing was changed",
            ..Fault::shape(standing.span, "this entry has other arguments")
        });
    }
    let (name, value) = target.form.changing(&wish.arguments);
    format.set(text, &[path, &[name]].concat(), &value).map(Some)
}

/// The text without the entry; nothing if the file was made for it.
fn without(target: &Target, draft: &Draft, standing: Standing) -> Result<Option<String>, Fault> {
    ours(target, &standing)?;
    let left = target.format.remove(draft.now.as_deref().unwrap_or_default(), target.path)?;
    let left = left.filter(|text| target.new_file != Some(text));
    // We never make a link, so a linked file is somebody's whatever is in it.
    Ok(left.or_else(|| draft.settings.linked.then(|| target.format.empty().to_owned())))
}

fn ours(target: &Target, standing: &Standing) -> Result<Vec<String>, Fault> {
    target.form.ours(&standing.value).ok_or_else(|| Fault {
        code: "foreign",
        hint: "it is not touched: rename it, or change it by hand as docs/agents.md shows",
        ..Fault::shape(
            standing.span.clone(),
            "this entry was written by somebody else, and does not start `countersign mcp`",
        )
    })
}

fn placed(settings: &Settings, text: &str, fault: Fault) -> Diagnostic {
    let place = Place::new(&Source::new(&settings.path, text), fault.span);
    Diagnostic::new(fault.code, place, fault.message).with_hint(fault.hint)
}

/// A file, and what it is to hold.
struct Draft {
    settings: Settings,
    now: Option<String>,
}

/// Every file that was looked at. Two entries in one file are two edits of one draft.
struct Drafts<'r> {
    root: &'r Root,
    files: Vec<Draft>,
}

impl Drafts<'_> {
    /// The file an entry is in, else the one it belongs in, and what stands there now.
    fn find(&mut self, target: &Target) -> Result<(&mut Draft, Option<Standing>), Diagnostic> {
        let mut belongs = None;
        for name in target.files {
            let place = self.open(name)?;
            let Draft { settings, now } = &self.files[place];
            let Some(text) = now else { continue };
            let found =
                target.format.look(text, target.path).map_err(|fault| placed(settings, text, fault))?;
            if found.is_some() {
                return Ok((&mut self.files[place], found));
            }
            belongs = belongs.or(Some(place));
        }
        let place = match belongs {
            Some(place) => place,
            None => self.open(target.files.last().copied().unwrap_or_default())?,
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
                    false => format!("written before it: {}", written.join(", ")),
                };
                Failure::internal(format!("`{}` cannot be written: {error}", settings.path.display()))
                    .hint(before)
            })?;
            written.push(settings.name);
        }
        Ok(())
    }
}
