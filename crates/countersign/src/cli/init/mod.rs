//! `countersign init`: a first `countersign.yml` for the project. Never overwrites a file. With
//! `--agent`, settings of agents instead.

mod agents;

use super::{Failure, Global};
use crate::ask::yes;
use crate::output::{Answer, Printer, bold};
use clap::Args;
use countersign_app::author::{actor, is_agent};
use countersign_app::init::agents::on_path;
use countersign_app::init::compose::{Reviewer, compose, pack_rule};
use countersign_app::init::detect::{DetectedProject, Language, detect};
use countersign_app::init::hold;
use countersign_app::init::packs::{Packed, pack};
use countersign_app::project::{Project, current_folder, environment};
use countersign_app::validate;

use countersign_core::outcome::Outcome;
use countersign_core::text::{counted, visible_line};
use countersign_engine::config::{Config, Environment, FILE_NAME, short_service};
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
  countersign init --yes                           write it without questions; a person still has to trust it
  countersign init --reviewer openai:qwen3@http://127.0.0.1:8080/v1      with a model on this machine
  countersign init --pack security --pack docs     with rules about these subjects
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
    /// The reviewer: {programs}, command:PROGRAM, replay:FILE or self; or a service: anthropic, openai,
    /// anthropic:MODEL, openai:MODEL or openai:MODEL@URL
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// With the rules of this pack: security, docs, spec, migrations or api; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "agent")]
    pub pack: Vec<String>,
    /// With --pack: write its planted examples and their clean twins to this file, to measure a reviewer on them
    #[arg(long, value_name = "FILE", requires = "pack")]
    pub cases: Option<PathBuf>,
    /// Ask nothing at a terminal, and trust nothing either
    #[arg(long)]
    pub yes: bool,
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

/// The services that are written by their vendor alone: the model to begin with, and the variable of the key.
const MODELS: [(&str, &str, &str); 2] =
    [("anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY"), ("openai", "gpt-5-mini", "OPENAI_API_KEY")];
/// Longer manifests are not read.
const MANIFEST_BYTES: u64 = 256 * 1024;

pub async fn run(global: &Global, options: &InitOptions, printer: &Printer) -> Result<Answer, Failure> {
    if options.agent.is_empty() {
        let answer = file(global, options, printer)?;
        return ended_in_trust(answer, options, printer).await;
    }
    if options.hook && !options.remove {
        countersign_app::hook::require_repository()?;
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
    if options.yes || !asks(printer) {
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
    let typed = options.reviewer.clone();
    let files = workspace::walk(&project.root, "").map_err(|problem| Failure::usage(problem.to_string()))?;
    let found = detect(&files.files, &|path| manifest(&project.root, path));
    let packs = packs(options, &found, &files.files)?;
    if project.config.file.is_some() {
        let answer = already_there(&project, options.dry_run, &packs)?;
        write_cases(options, &packs)?;
        return Ok(answer);
    }
    let is_asked = asks(printer) && !options.yes && !options.dry_run && options.agent.is_empty();
    let typed = match typed {
        None if is_asked => offered_reviewer()?,
        typed => typed,
    };
    let reviewer = typed.as_deref().map(|typed| reviewer(typed, &project)).transpose()?;
    let text = compose(&found, reviewer.as_ref(), &packs);
    let file = project.config.root.join(FILE_NAME);
    let config = hold(&file, &text, &files.files)?;
    if is_asked && !agrees(&format!("Write {} with {}? [y/N] ", file.display(), counts(&config)))? {
        return Err(
            Failure::usage("nothing was written").hint("`countersign init --dry-run` prints the file")
        );
    }
    if options.dry_run {
        printer.note(&format!("dry run: {} would be written", file.display()));
    } else {
        write_new(&file, &text)?;
        write_cases(options, &packs)?;
    }
    let made = Made { file, text, found, config, dry_run: options.dry_run };
    Ok(made.answer(printer).warned(files.left_out()))
}

/// An existing file belongs to the user: it is checked and not changed.
fn already_there(project: &Project, dry_run: bool, packs: &[Packed]) -> Result<Answer, Failure> {
    let valid = validate::check(project)?;
    let file = valid.file.as_deref().unwrap_or(&project.config.root);
    let mut text =
        format!("{} exists and is not changed\n{}\n", file.display(), valid.words().unwrap_or_default());
    let rules: String = packs.iter().map(pack_rule).collect();
    if !rules.is_empty() {
        text.push_str(&format!("\nAdd this to its `rules`:\n\n{rules}"));
    }
    let content = (!rules.is_empty()).then_some(rules);
    let json = json!({
        "file": valid.file, "already_there": true, "written": false, "dry_run": dry_run, "content": content,
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
    if let Some(service) = service(typed) {
        return service;
    }
    match typed {
        "self" => Ok(Reviewer::SelfReview),
        _ => Err(Failure::usage(format!("--reviewer `{typed}` cannot be written into a new file")).hint(
            format!(
                "{}, anthropic, openai, openai:MODEL@URL, command:PROGRAM ARGS, replay:FILE or self",
                PROGRAMS.reviewer_names()
            ),
        )),
    }
}

/// A service: its vendor alone stands for a model that is good enough to begin with.
fn service(typed: &str) -> Option<Result<Reviewer, Failure>> {
    let named = MODELS.iter().find(|(api, ..)| *api == typed);
    let full = named.map_or_else(|| typed.to_owned(), |(api, model, _)| format!("{api}:{model}"));
    let service = short_service(&full)?;
    let api = if full.starts_with("anthropic:") { "anthropic" } else { "openai" };
    let made = service.map_err(|words| Failure::usage(format!("--reviewer: {words}")));
    Some(made.map(|service| {
        let model = service.asked.model.unwrap_or_default();
        Reviewer::Service { api, model, base_url: service.base_url }
    }))
}

/// What is there to be asked and was not named: an agent program, or the key of a vendor. A person says yes or no.
fn offered_reviewer() -> Result<Option<String>, Failure> {
    let has_key = |key: &str| std::env::var_os(key).is_some_and(|value| !value.is_empty());
    let programs = PROGRAMS.reviewers().map(|facts| facts.name).filter(|name| on_path(name).is_some());
    let services = MODELS.iter().filter(|(_, _, key)| has_key(key)).map(|(api, ..)| *api);
    for name in programs.chain(services) {
        if agrees(&format!("Ask {name} the questions that need a reviewer? [y/N] "))? {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}

fn agrees(question: &str) -> Result<bool, Failure> {
    yes(question).map_err(|error| Failure::internal(error.to_string()))
}

fn packs(options: &InitOptions, found: &DetectedProject, files: &[String]) -> Result<Vec<Packed>, Failure> {
    let packed = |name: &String| pack(name)?.for_files(found, files);
    options.pack.iter().map(packed).collect::<Result<_, String>>().map_err(Failure::usage)
}

fn write_cases(options: &InitOptions, packs: &[Packed]) -> Result<(), Failure> {
    let Some(file) = options.cases.as_ref().filter(|_| !options.dry_run) else { return Ok(()) };
    let cases: String = packs.iter().map(|packed| packed.pack.cases).collect();
    write_new(file, &cases)
}

fn counts(config: &Config) -> String {
    let criteria: usize = config.rules.iter().map(|rule| rule.criteria.len()).sum();
    format!(
        "{}, {}",
        counted(config.rules.len(), "rule", "rules"),
        counted(criteria, "criterion", "criteria")
    )
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
        let mut out = format!("wrote {}: {}\n\n", self.file.display(), counts(&self.config));
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
