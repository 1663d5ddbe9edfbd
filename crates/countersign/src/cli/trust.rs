//! `countersign trust`: shows what decides how work is judged, and asks a person once.

use super::Failure;
use crate::ask::yes;
use crate::output::{Answer, Printer, bold, dim};
use clap::Args;
use countersign_app::answer::v1::trust::{GateFile, Trust, Variable};
use countersign_app::authority::trust::{Proposal, propose, revoke, show};
use countersign_app::project::current_folder;
use countersign_core::outcome::Outcome;
use countersign_core::text::{counted, visible, visible_line};
use std::fmt::Write;

const NOT_TRUSTED: &str = "not trusted: nothing was recorded\n";
const TRUST_HELP: &str = "\
Examples:
  countersign trust            show what decides how work is judged here, and ask once
  countersign trust --show     show what gates use now, and where it comes from
  countersign trust --revoke   take it back: gates wait for a person again
  countersign trust --keep-variable MY_MODEL   programs of gates get this variable too, with the value it has now

A gate (hook, task, run, qr, jobs, review --gate) uses only what a person has trusted: the configuration at the
remote's default branch, or the files of this folder where they differ or where there is no remote. Later edits of
these files change nothing until they are on that branch or are trusted again. `countersign help gates` explains it.";

#[derive(Debug, Args)]
#[command(after_help = TRUST_HELP)]
pub struct TrustOptions {
    /// Do not ask; still only for a person at a terminal
    #[arg(long, short, conflicts_with_all = ["show", "revoke"])]
    pub yes: bool,
    /// A variable that programs of gates need, with its present value; for several give it several times
    #[arg(long, value_name = "NAME", conflicts_with_all = ["show", "revoke"])]
    pub keep_variable: Vec<String>,
    /// Show what gates use now, and change nothing
    #[arg(long)]
    pub show: bool,
    /// Take it back
    #[arg(long, conflicts_with = "show")]
    pub revoke: bool,
}

pub async fn run(options: &TrustOptions, printer: &Printer) -> Result<Answer, Failure> {
    let here = current_folder()?;
    if options.show {
        let shown = show(here).await?;
        let mut text = text(&shown);
        let source = shown.source.clone().unwrap_or_default();
        let _ = writeln!(text, "\ngates use {}", visible_line(&source));
        return Ok(Answer::new(Outcome::Passed, text, shown));
    }
    if options.revoke {
        let gone = revoke(here).await?;
        let text = "taken back: gates wait until a person trusts this project again\n";
        return Ok(Answer::new(Outcome::Passed, text, gone));
    }
    let proposal = propose(here, &options.keep_variable).await?;
    if !options.yes {
        printer.show(&text(&proposal.shown));
    }
    match options.yes || agreed()? {
        true => recorded(proposal).await,
        false => Ok(Answer::new(Outcome::AwaitingPerson, NOT_TRUSTED, proposal.shown)),
    }
}

/// Asks at the first use of a gate. Whether the person said yes.
pub async fn at_first_use(why: &Failure, printer: &Printer) -> Result<bool, Failure> {
    printer.show(&format!("{}\n", visible_line(&why.message)));
    let said = asked(printer).await?;
    printer.warn(&said.json.warnings);
    printer.show(said.text.trim_end());
    Ok(said.exit_code() == Outcome::Passed.exit_code())
}

/// Shows what would be trusted and asks: what came of it.
pub async fn asked(printer: &Printer) -> Result<Answer, Failure> {
    let proposal = propose(current_folder()?, &[]).await?;
    printer.show(&text(&proposal.shown));
    match agreed()? {
        true => recorded(proposal).await,
        false => Ok(Answer::new(Outcome::AwaitingPerson, NOT_TRUSTED, proposal.shown)),
    }
}

fn agreed() -> Result<bool, Failure> {
    yes("Judge work by this from now on? [y/N] ").map_err(|error| Failure::internal(error.to_string()))
}

async fn recorded(proposal: Proposal) -> Result<Answer, Failure> {
    let trusted = proposal.record().await?;
    let used = match (&trusted.remote, trusted.vouched) {
        (Some(remote), false) => format!("{}/{}", remote.name, remote.branch),
        _ => "these files".to_owned(),
    };
    let text = format!("trusted: gates of {} use {used}\n", trusted.root.display());
    let differs = trusted.vouched && trusted.remote.is_some();
    let warning = "these files differ from the remote's branch: they count here until the branch has newer ones. Commit and push them for others";
    let warnings = differs.then(|| warning.to_owned()).into_iter().collect();
    Ok(Answer::new(Outcome::Passed, text, trusted).warned(warnings))
}

/// What would be trusted, in lines; the differences come last.
fn text(shown: &Trust) -> String {
    let mut out = format!("How work is judged in {}\n\n", shown.root.display());
    let mut line = |name: &str, words: &str| {
        let _ = writeln!(out, "{} {words}", bold(&format!("{name:<9}")));
    };
    if let Some(remote) = &shown.remote {
        let commit = remote.commit.get(..12).unwrap_or(&remote.commit);
        let words = format!("{}/{} of {} ({commit})", remote.name, remote.branch, remote.url);
        line("remote", &visible_line(&words));
    }
    let rules = match shown.rules.is_empty() {
        true => "the built-in rules".to_owned(),
        false => format!("{}: {}", counted(shown.rules.len(), "rule", "rules"), shown.rules.join(", ")),
    };
    line("rules", &visible_line(&rules));
    for reviewer in &shown.reviewers {
        line("reviewer", &visible_line(&format!("{}: {}", reviewer.name, reviewer.asks)));
        for program in &reviewer.programs {
            let problem =
                program.problem.as_ref().map(|words| format!(": gates do not start it, because {words}"));
            let words = format!("{}{}", program.path.display(), problem.unwrap_or_default());
            line("", &dim(&visible_line(&words)));
        }
        if let Some(problem) = &reviewer.problem {
            line("", &dim(&visible_line(&format!("gates do not ask it: {problem}"))));
        }
    }
    for command in &shown.commands {
        line("command", &visible_line(command));
    }
    for file in &shown.files {
        let GateFile { path, change } = file;
        line("file", &visible_line(&format!("{path} ({change})")));
    }
    for variable in &shown.variables {
        let Variable { name, value, change } = variable;
        let words = match (value, change.as_str()) {
            (_, "removed") => format!("{name} is not set any more"),
            (Some(value), change) => format!("{name}={value} ({change})"),
            (None, change) => format!("{name} is set, not shown ({change})"),
        };
        line("variable", &visible_line(&words));
    }
    if let Some(file) = &shown.user_file {
        line("yours", &visible_line(&file.display().to_string()));
    }
    if !shown.folders.is_empty() {
        let folders: Vec<String> = shown.folders.iter().map(|folder| folder.display().to_string()).collect();
        line("programs", &visible_line(&format!("of the system, and in {}", folders.join(", "))));
    }
    for note in &shown.notes {
        line("note", &visible_line(note));
    }
    if !shown.diff.is_empty() {
        let against =
            if shown.trusted_before { "what is trusted now" } else { "the remote's branch or nothing" };
        let _ = write!(out, "\nDifferences to {against}:\n\n{}", visible(&shown.diff));
    }
    out
}
