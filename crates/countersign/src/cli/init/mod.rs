//! `countersign init`: a first `countersign.yml` for the project. Never overwrites a file. With
//! `--agent`, settings of agents instead.

mod agents;

use super::{Failure, Global};
use crate::output::{Answer, Printer, bold};
use clap::Args;
use countersign_app::author::{actor, is_agent};
use countersign_app::init::agents::on_path;
use countersign_app::init::compose::{Reviewer, compose};
use countersign_app::init::detect::{DetectedProject, Language, detect};
use countersign_app::init::hold;
use countersign_app::project::{Project, current_folder, environment};
use countersign_app::validate;

use countersign_core::outcome::Outcome;
use countersign_core::text::{counted, visible_line};
use countersign_engine::config::{Config, Environment, FILE_NAME};
use countersign_engine::programs::PROGRAMS;
use countersign_engine::workspace::{self, Root};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const INIT_HELP: &str = "\
Examples:
  countersign init                                 look at the project and write rules for its files
  countersign init --dry-run                       print the file and write nothing
  countersign init --reviewer command:./judge.sh   with questions for a reviewer, switched on
  countersign init --agent claude --agent codex    let these agents start `countersign mcp` in this project
  countersign init --agent all --dry-run           show what that would change for every installed agent
  countersign init --agent claude --remove         remove it again
  countersign init --agent claude --hook           keep agents working until their changes pass
  countersign init --agent claude --hook --reviewer claude    all at once: rules, reviewer, hook and trust

An existing countersign.yml is checked and not changed; with --agent none is written, unless --reviewer names one. At a
terminal it ends with the question of `countersign trust`, because gates use nothing that no person has trusted.";

#[derive(Debug, Args)]
#[command(after_help = INIT_HELP)]
pub struct InitOptions {
    /// The reviewer: {programs}, command:PROGRAM, replay:FILE or self
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// Print what would be written and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Let this agent start `countersign mcp` in this project: {agents}, or all that
    /// are installed; may be repeated
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// With --agent: have the program call `countersign hook` when an agent stops, instead of starting the server
    #[arg(long, requires = "agent", conflicts_with = "external_runner")]
    pub hook: bool,
    /// With --agent: remove the entry
    #[arg(long, requires = "agent", conflicts_with_all = ["force", "external_runner"])]
    pub remove: bool,
    /// With --agent: replace the arguments of an entry that has others
    #[arg(long, requires = "agent")]
    pub force: bool,
    /// With --agent: the reviewer of the outputs of steps; the server is started with the same option
    #[arg(long, value_name = "NAME", requires = "agent", value_parser = runner_name)]
    pub external_runner: Option<String>,
}

/// A name that can stand in a file and be read back as a value of its option.
fn runner_name(typed: &str) -> Result<String, String> {
    match typed.is_empty() || typed.starts_with('-') || typed.contains(char::is_control) {
        true => Err("a name does not begin with `-` and has no control characters".to_owned()),
        false => Ok(typed.to_owned()),
    }
}

/// Longer manifests are not read.
const MANIFEST_BYTES: u64 = 256 * 1024;

pub async fn run(global: &Global, options: &InitOptions, printer: &Printer) -> Result<Answer, Failure> {
    if options.agent.is_empty() {
        let answer = file(global, options, printer)?;
        return ended_in_trust(answer, options, printer).await;
    }
    let written = match options.reviewer {
        Some(_) if !options.remove => Some(file(global, options, printer)?),
        _ => None,
    };
    let mut answer = agents::run(global, options, printer)?;
    if let Some(written) = written {
        answer.text = format!("{}\n{}", written.text, answer.text);
    }
    if !options.hook || options.remove || options.dry_run {
        return Ok(answer);
    }
    answer.json.warnings.extend(countersign_app::hook::installed(global.config.as_deref()).await);
    for program in &options.agent {
        let tested = countersign_app::hook::test(program).await;
        answer.text.push_str(&match tested {
            Ok(None) => String::new(),
            Ok(Some(found)) => format!(
                "{} the hook of {program} starts {}, which read its input and answered; no reviewer was asked\n",
                bold("tested:"),
                found.display()
            ),
            Err(words) => format!("{} the hook of {program} does not work: {words}\n", bold("tested:")),
        });
    }
    ended_in_trust(answer, options, printer).await
}

/// At a terminal: the question of `countersign trust`. Says what to commit, so that others have the same gate.
async fn ended_in_trust(
    mut answer: Answer,
    options: &InitOptions,
    printer: &Printer,
) -> Result<Answer, Failure> {
    if options.dry_run {
        return Ok(answer);
    }
    let files = countersign_app::authority::trust::to_commit(current_folder()?).await;
    let commit = match files.is_empty() || printer.quiet {
        true => String::new(),
        false => format!("{} git add {} && git commit\n", bold("commit:"), files.join(" ")),
    };
    if !asks(printer) {
        answer.text.push_str(&commit);
        return Ok(answer);
    }
    printer.print(&answer);
    let said = super::trust::asked(printer).await?;
    answer.json.warnings = said.json.warnings;
    // After what was asked about, which may be long.
    Ok(Answer { text: said.text + &commit, printed: false, ..answer })
}

/// Whether `init` ends in the question of `countersign trust`.
fn asks(printer: &Printer) -> bool {
    !printer.json() && crate::terminal::is_there() && actor().is_person()
}

/// Writes a first configuration, or checks the one that is there.
fn file(global: &Global, options: &InitOptions, printer: &Printer) -> Result<Answer, Failure> {
    if global.config.is_some() {
        return Err(Failure::usage(format!("init writes {FILE_NAME} and takes no --config")));
    }
    // A new file ignores reviewers of the environment or of another file.
    let environment = Environment { config: None, reviewer: None, ..environment() };
    let project = Project::find_at(current_folder()?, global.config.as_deref(), None, &environment)?;
    if project.config.file.is_some() {
        return already_there(&project, options.dry_run);
    }
    let reviewer = options.reviewer.as_deref().map(|typed| reviewer(typed, &project)).transpose()?;
    let files = workspace::walk(&project.root, "").map_err(|problem| Failure::usage(problem.to_string()))?;
    let found = detect(&files.files, &|path| manifest(&project.root, path));
    let text = compose(&found, reviewer.as_ref());
    let file = project.config.root.join(FILE_NAME);
    let config = hold(&file, &text, &files.files)?;
    if options.dry_run {
        printer.note(&format!("dry run: {} would be written", file.display()));
    } else {
        write_new(&file, &text)?;
    }
    let made = Made { file, text, found, config, dry_run: options.dry_run };
    Ok(made.answer(printer).warned(files.left_out()))
}

/// An existing file belongs to the user: it is checked and not changed.
fn already_there(project: &Project, dry_run: bool) -> Result<Answer, Failure> {
    let valid = validate::check(project)?;
    let file = valid.file.as_deref().unwrap_or(&project.config.root);
    let text =
        format!("{} exists and is not changed\n{}\n", file.display(), valid.words().unwrap_or_default());
    let json = json!({
        "file": valid.file, "already_there": true, "written": false, "dry_run": dry_run, "content": null,
        "rules": valid.rules, "criteria": valid.criteria, "found": null, "agents": agents_json(),
        "next": ["countersign review", "countersign doctor"],
    });
    Ok(Answer::new(Outcome::Passed, text, json).warned(valid.left_out))
}

/// A reviewer as it is written into the file: with paths relative to the root.
fn reviewer(typed: &str, project: &Project) -> Result<Reviewer, Failure> {
    let from_root = |path: &str| match project.root.relative(&project.here, Path::new(path)) {
        Ok(relative) => relative,
        Err(_) => project.here.join(path).to_string_lossy().into_owned(),
    };
    let word = |(i, word): (usize, &str)| match i {
        0 if word.starts_with('/') => word.to_owned(),
        0 if word.contains('/') => match from_root(word) {
            outside if outside.starts_with('/') => outside,
            inside => format!("./{inside}"),
        },
        i if i > 0 && project.here.join(word).is_file() => from_root(word),
        _ => word.to_owned(),
    };
    if let Some(program) = typed.strip_prefix("command:").filter(|program| !program.trim().is_empty()) {
        return Ok(Reviewer::Command(program.split_whitespace().enumerate().map(word).collect()));
    }
    if let Some(file) = typed.strip_prefix("replay:").filter(|file| !file.is_empty()) {
        return Ok(Reviewer::Replay(from_root(file)));
    }
    if let Some(program) = PROGRAMS.reviewer(typed) {
        return Ok(Reviewer::Program(program));
    }
    match typed {
        "self" => Ok(Reviewer::SelfReview),
        _ => Err(Failure::usage(format!("--reviewer `{typed}` cannot be written into a new file"))
            .hint(format!("{}, command:PROGRAM ARGS, replay:FILE or self", PROGRAMS.reviewer_names()))),
    }
}

fn manifest(root: &Root, path: &str) -> Option<String> {
    let mut text = String::new();
    File::open(root.join(path)).ok()?.take(MANIFEST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let failure = |error: std::io::Error| {
        Failure::internal(format!("`{}` cannot be written: {error}", file.display()))
            .hint("`countersign init --dry-run` shows what would be in it")
    };
    let mut new = OpenOptions::new().write(true).create_new(true).open(file).map_err(failure)?;
    new.write_all(text.as_bytes()).and_then(|()| new.sync_all()).map_err(|error| {
        // Half a file would look complete.
        let _ = std::fs::remove_file(file);
        failure(error)
    })
}

struct Made {
    file: PathBuf,
    text: String,
    found: DetectedProject,
    config: Config,
    dry_run: bool,
}

impl Made {
    fn answer(self, printer: &Printer) -> Answer {
        let text = if self.dry_run { self.text.clone() } else { self.words(printer) };
        let json = json!({
            "file": self.file, "already_there": false, "written": !self.dry_run, "dry_run": self.dry_run,
            "content": self.text, "rules": self.config.rules.len(), "criteria": self.criteria(),
            "found": self.found, "agents": agents_json(),
            "next": ["countersign review", "countersign doctor"],
        });
        Answer::new(Outcome::Passed, text, json)
    }

    fn criteria(&self) -> usize {
        self.config.rules.iter().map(|rule| rule.criteria.len()).sum()
    }

    fn words(&self, printer: &Printer) -> String {
        let rules: Vec<&str> = self.config.rules.iter().map(|rule| rule.name.as_str()).collect();
        let counts =
            [counted(rules.len(), "rule", "rules"), counted(self.criteria(), "criterion", "criteria")];
        let mut out = format!("wrote {}: {}\n\n", self.file.display(), counts.join(", "));
        let mut line = |name: &str, words: &str| {
            out.push_str(&format!("{} {}\n", bold(&format!("{name:<8}")), visible_line(words)));
        };
        let language = |language: &Language| format!("{} ({})", language.name, language.because_of);
        let languages: Vec<String> = self.found.languages.iter().map(language).collect();
        if !languages.is_empty() {
            line("found", &languages.join(", "));
        }
        line("rules", &rules.join(", "));
        let commands: Vec<&str> = self.found.commands.iter().map(|one| one.command.as_str()).collect();
        if !commands.is_empty() {
            line("commands", &format!("{}: commented out", commands.join("; ")));
        }
        if !rules.contains(&"change") {
            line("change", "questions for a reviewer: commented out until you name one");
        }
        for (agent, path) in agents() {
            if let Some(path) = path {
                line("agents", &format!("{agent} is installed: {}", path.display()));
            }
        }
        if printer.quiet {
            return out;
        }
        out.push_str(&format!("\n{} countersign review    judge the project by it\n", bold("next:")));
        out.push_str("      countersign doctor    see whether everything is in place\n");
        // A person is asked right after this, and an agent cannot say it.
        if !asks(printer) && !is_agent() {
            out.push_str("      countersign trust     say that gates may use it\n");
        }
        out
    }
}

fn agents() -> impl Iterator<Item = (&'static str, Option<PathBuf>)> {
    PROGRAMS.agents().map(|program| (program.name, on_path(program.name)))
}

fn agents_json() -> Value {
    agents().map(|(name, path)| json!({ "name": name, "path": path })).collect()
}
