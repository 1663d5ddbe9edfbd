//! `countersign review`: judge files against criteria.

use super::arguments::ReviewOptions;
use super::{Failure, Global};
use crate::output::{Answer, Printer, Spent, next_steps, verdict_json, verdict_text};
use crate::project::Project;
use countersign_core::criterion::{Criterion, first_double};
use countersign_core::ids::{ID_LETTERS, Subject, letters};
use countersign_core::outcome::Outcome;
use countersign_core::plan::{PlanError, glob_set};
use countersign_core::policy::{Attempts, Policy};
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use countersign_engine::config::{self, Config, Diagnostic, Environment, FileBytes, Flags, Gathered, Origin};
use countersign_engine::engine::{Engine, EngineError, Planner, Prepared, Request, Ticket};
use countersign_engine::reviewer::checks;
use countersign_engine::workspace;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// The name of the one output the command line has.
const OUTPUT: &str = "files";
const NOTES_LIMIT_BYTES: u64 = 1024 * 1024;

/// Judges, or with `--dry-run` shows what would be asked.
pub async fn run(
    global: &Global,
    options: ReviewOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let mut project = Project::find(global, options.reviewer.clone())?;
    project.author = options.author.or(project.author);
    let planner = project.planner(options.max_inline_files)?;
    let mut warnings = vec![];
    let request = request(&project, &options, &mut warnings).await?;
    let prepared = prepare(&planner, &project, request, &options).await?;
    warnings.extend(left_aside(&prepared));
    if options.dry_run {
        return super::review_preview::run(&project, &planner, &prepared, printer, warnings).await;
    }
    let engine = project.engine(planner).await?;
    let ticket = engine.submit(prepared).await?;
    conclude(&engine, &ticket, printer, cancel, &again(&options), warnings).await
}

/// Waits for the end of a round, prints the answer and notes that it was read.
pub async fn conclude(
    engine: &Engine,
    ticket: &Ticket,
    printer: &Printer,
    cancel: &CancellationToken,
    again: &str,
    warnings: Vec<String>,
) -> Result<Answer, Failure> {
    let stored = printer.progress().during(engine, engine.wait(ticket, cancel)).await?;
    let outcome = ticket.outcome(&stored);
    let mut next = next_steps(&stored.review, again);
    if outcome == Outcome::AwaitingPerson {
        engine.renew_self_review(ticket).await?;
        let file = engine.self_review_file(&ticket.review).path;
        next = vec![
            format!("review the work as {} says", file.display()),
            format!("then countersign rule {} --from RESULTS", ticket.review),
        ];
    }
    let spent = Spent::of(engine.ledger(), &stored.review).await?;
    let hints = if printer.quiet { &[] } else { next.as_slice() };
    let mut answer =
        Answer::new(outcome, verdict_text(&stored, &spent, hints), verdict_json(&stored, &spent, &next));
    answer.warnings = warnings;
    answer.printed = true;
    // Only an answer that reached somebody is delivered; otherwise the same submission gets it again.
    if printer.print(&answer) && !cancel.is_cancelled() {
        engine.delivered(ticket).await?;
    }
    engine.ledger().clone().close().await;
    Ok(answer)
}

/// The command that hands the same in again.
fn again(options: &ReviewOptions) -> String {
    match &options.subject {
        Some(subject) => format!("run the same command again (--subject {subject})"),
        None => "run the same command again".to_owned(),
    }
}

pub async fn request(
    project: &Project,
    options: &ReviewOptions,
    warnings: &mut Vec<String>,
) -> Result<Request, Failure> {
    let mut rules = rules(&project.config, options)?;
    if rules.is_empty() && project.config.file.is_none() && !options.paths.is_empty() {
        rules = built_in_rules()?;
        warnings
            .push("there is no countersign.yml: judged by the built-in questions about a change".to_owned());
    }
    if rules.is_empty() {
        return Err(no_rules(&project.config));
    }
    let files = files(project, options, warnings)?;
    if options.criterion.is_empty() && options.paths.is_empty() {
        unmatched(&project.config, &files)?;
    }
    let files = if options.paths.is_empty() { concerned(&rules, files)? } else { files };
    if files.is_empty() {
        return Err(Failure::usage("there is no file to judge")
            .hint("name files or folders that are not ignored by git"));
    }
    let notes = match &options.notes {
        None => None,
        Some(path) => Some(notes(&project.here.join(path)).await?),
    };
    let (subject, policy) = subject(&project.config, options)?;
    Ok(Request {
        subject,
        rules,
        policy,
        outputs: vec![Output { name: OUTPUT.to_owned(), kind: OutputKind::Files }],
        files: files.into_iter().map(|path| (path, 0)).collect(),
        notes,
        fresh: options.no_cache,
    })
}

/// The rules: from the command line, else from the configuration.
fn rules(config: &Config, options: &ReviewOptions) -> Result<Vec<Rule>, Failure> {
    if options.criterion.is_empty() {
        // Somebody named on the command line is asked everything, also where a rule names another.
        let asked = |rule: &Rule| Rule {
            reviewer: rule.reviewer.clone().filter(|_| config.reviewer.is_none()),
            ..rule.clone()
        };
        return Ok(config.rules.iter().map(asked).collect());
    }
    let criteria = options.criterion.iter().map(|typed| criterion(typed)).collect::<Result<Vec<_>, _>>()?;
    if let Some((first, second)) = first_double(&criteria) {
        let (first, second) = (&criteria[first].name, &criteria[second].name);
        return Err(Failure::usage(format!("--criterion `{second}` has the same name as `{first}`")));
    }
    let scope = if options.each_file { Scope::Output(OUTPUT.to_owned()) } else { Scope::Whole };
    let guidance = options.guidance.clone();
    Ok(vec![Rule { name: "review".to_owned(), scope, criteria, guidance, reviewer: None }])
}

/// The questions about a change that `init` writes, for a project that has written down nothing.
fn built_in_rules() -> Result<Vec<Rule>, Failure> {
    let bytes = super::init::default_questions().into_bytes();
    let file = FileBytes { path: "the built-in questions".into(), bytes };
    let gathered = Gathered {
        root: PathBuf::new(),
        root_origin: Origin::Default,
        project: Some(file),
        project_origin: Origin::Default,
        user: None,
    };
    Ok(config::resolve(&gathered, &Flags::default(), &Environment::default(), &checks::problem)?.rules)
}

fn criterion(typed: &str) -> Result<Criterion, Failure> {
    let wrong = || {
        Failure::usage(format!("--criterion `{typed}` is not NAME=QUESTION"))
            .hint("for example --criterion 'Complete=Is every step spelled out?'")
    };
    let (name, question) = typed.split_once('=').ok_or_else(wrong)?;
    match (name.trim(), question.trim()) {
        ("", _) | (_, "") => Err(wrong()),
        (name, question) => Ok(Criterion::must(name, question)),
    }
}

fn no_rules(config: &Config) -> Failure {
    match config.require_file() {
        Err(problem) => Failure::usage(problem.message)
            .hint("`countersign init` writes one; or name PATHS, with --criterion NAME=QUESTION or by the built-in questions"),
        Ok(file) => Failure::usage(format!("{} has no rules", file.display())),
    }
}

/// The files the paths lead to: named files as they are, folders by what git would not ignore.
fn files(
    project: &Project,
    options: &ReviewOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, Failure> {
    let path_failure = |problem: workspace::PathProblem| Failure::from(EngineError::from(problem));
    let mut files = vec![];
    if options.paths.is_empty() {
        if !options.criterion.is_empty() {
            return Err(
                Failure::usage("--criterion needs PATHS to judge").hint("name the files or folders to judge")
            );
        }
        let found = workspace::walk(&project.root, "").map_err(path_failure)?;
        warnings.extend(found.left_out);
        files = found.files;
    }
    for path in &options.paths {
        let relative = project.root.relative(&project.here, path).map_err(path_failure)?;
        if project.root.join(&relative).is_dir() {
            let found = workspace::walk(&project.root, &relative).map_err(path_failure)?;
            warnings.extend(found.left_out);
            files.extend(found.files);
        } else {
            workspace::require_file(&project.root, &relative).map_err(path_failure)?;
            files.push(relative);
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// Of all files of the project, those a rule is for.
fn concerned(rules: &[Rule], files: Vec<String>) -> Result<Vec<String>, Failure> {
    let mut sets = vec![];
    for rule in rules {
        match &rule.scope {
            Scope::Files { patterns, .. } => sets.push(glob_set(patterns).map_err(Failure::usage)?),
            Scope::Whole | Scope::Output(_) => return Ok(files),
        }
    }
    Ok(files.into_iter().filter(|file| sets.iter().any(|set| set.is_match(file))).collect())
}

/// A rule that is for no file of the project is a mistake in the configuration, not a pass.
pub fn unmatched(config: &Config, files: &[String]) -> Result<(), Failure> {
    let mut problems = vec![];
    for (rule, source) in config.rules.iter().zip(&config.rule_sources) {
        let Scope::Files { patterns, .. } = &rule.scope else { continue };
        let set = glob_set(patterns).map_err(Failure::usage)?;
        if files.iter().any(|file| set.is_match(file)) {
            continue;
        }
        let place = source.patterns.first().unwrap_or(&source.name).clone();
        let message = format!("rule '{}' matches no file of the project", rule.name);
        problems.push(Diagnostic::new("scope_without_match", place, message).with_hint(
            "patterns are relative to the project root; `*` stays within a folder, `**` crosses them; ignored files do not count",
        ));
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::at(problems)) }
}

async fn notes(path: &std::path::Path) -> Result<String, Failure> {
    let read = workspace::read_notes(path, NOTES_LIMIT_BYTES).await;
    read.map_err(|error| Failure::usage(format!("the notes in `{}` cannot be read: {error}", path.display())))
}

/// Unnamed work is looked at once; a name makes it a loop.
fn subject(config: &Config, options: &ReviewOptions) -> Result<(Subject, Policy), Failure> {
    match &options.subject {
        Some(name) if name.trim().is_empty() => Err(Failure::usage("--subject needs a name")),
        Some(name) => Ok((Subject::new("cli", [name.as_str()]), config.policy.clone())),
        None => {
            let mut random = [0; ID_LETTERS];
            getrandom::fill(&mut random).map_err(|error| Failure::internal(error.to_string()))?;
            let policy = Policy { attempts: Attempts::Once, ..config.policy.clone() };
            Ok((Subject::new("cli", [letters(random).as_str()]), policy))
        }
    }
}

pub async fn prepare(
    planner: &Planner,
    project: &Project,
    request: Request,
    options: &ReviewOptions,
) -> Result<Prepared, Failure> {
    let prepared = match planner.prepare(request).await {
        Ok(prepared) => prepared,
        Err(EngineError::Plan(PlanError::NothingToJudge)) => {
            let rules: Vec<_> = project.config.rules.iter().map(|rule| rule.name.as_str()).collect();
            return Err(Failure::usage("no rule is for any of these files")
                .hint(format!("rules: {}; add a rule, or use --criterion", rules.join(", "))));
        }
        Err(error) => return Err(error.into()),
    };
    // A file somebody named must not pass because no rule looked at it.
    let named = |path: &String| {
        let meant = |typed: &PathBuf| project.root.relative(&project.here, typed).ok();
        options.paths.iter().any(|typed| meant(typed).as_ref() == Some(path))
    };
    let unjudged = prepared.plan.unjudged.iter().map(|file| &prepared.submission.files[*file].path);
    match unjudged.into_iter().find(|path| named(path)) {
        None => Ok(prepared),
        Some(path) => {
            Err(Failure::usage(format!("no rule is for `{path}`")).hint("add a rule for it, or leave it out"))
        }
    }
}

/// What is not looked at, said aloud.
fn left_aside(prepared: &Prepared) -> Vec<String> {
    let mut warnings = vec![];
    let unjudged = &prepared.plan.unjudged;
    if let Some(first) = unjudged.first() {
        let path = &prepared.submission.files[*first].path;
        let others =
            if unjudged.len() > 1 { format!(" and {} more", unjudged.len() - 1) } else { String::new() };
        warnings.push(format!("no rule is for `{path}`{others}: not judged"));
    }
    for rule in &prepared.plan.not_applicable {
        warnings.push(format!("rule '{rule}' is for none of these files"));
    }
    warnings
}
