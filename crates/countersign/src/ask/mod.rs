//! The human gate of a run at a terminal: shows the findings and asks until there is a decision.
//!
//! The choice is typed as a line; a full screen is only open while the pager shows a text.

mod editor;
mod pager;

use crate::terminal::{self, Input};
use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use countersign_app::author::actor;
use countersign_app::decide::{Decide, decide};
use countersign_app::project::Project;
use countersign_app::{Code, Failure};
use countersign_core::criterion::Severity;
use countersign_core::review::{State, Verb};
use countersign_core::text::visible_line;
use countersign_doors::run::human::{
    CHOICES, Choice, GateSummary, INVALID, Line, MORE_CHOICES, PROMPT, choice, lines,
};
use countersign_doors::run::run::{Asked, HumanGate, PersonAnswer, Question};
use countersign_engine::ledger::Stored;
use pager::Left;
pub use pager::diff;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The recorded reason where none was typed.
pub const REASON: &str = "at the terminal";

pub struct TerminalGate {
    pub project: Arc<Project>,
    pub cancel: CancellationToken,
}

impl HumanGate for TerminalGate {
    fn ask<'a>(&'a self, question: Question<'a>) -> Asked<'a> {
        Box::pin(async move { Ok(self.decided(question).await?) })
    }

    fn go_on<'a>(&'a self, task: &'a str, error: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move { go_on(task, error, &self.cancel).await.unwrap_or(false) })
    }
}

impl TerminalGate {
    /// Asks, and records the decision about exactly the work that was shown. Where another decision was recorded first,
    /// that one counts.
    async fn decided(&self, question: Question<'_>) -> Result<PersonAnswer<Box<Stored>>, Failure> {
        let Question { shown, diff, files, engine, stored } = question;
        let failed = |error: io::Error| Failure {
            code: Code::Run,
            ..Failure::internal(format!("the terminal cannot be used: {error}"))
        };
        let (verb, reason) = match ask(shown, diff, files, &self.cancel).await.map_err(failed)? {
            PersonAnswer::Decided((verb, reason)) => (verb, reason),
            PersonAnswer::NotPresent => return Ok(PersonAnswer::NotPresent),
            PersonAnswer::Interrupted => return Ok(PersonAnswer::Interrupted),
        };
        let (id, about) = (&stored.review.id, stored.review.digest().cloned());
        let given = Decide { action: verb.into(), by: actor(), reason: Some(reason), about };
        match decide(&self.project, engine, id, given).await {
            Ok(stored) => Ok(PersonAnswer::Decided(Box::new(stored))),
            Err(failure) => {
                let now = engine.get(id).await?;
                if now.review.state == State::AwaitingPerson {
                    return Err(failure);
                }
                say(&format!("Nothing was decided: {}", visible_line(&failure.message)), "\n")
                    .map_err(failed)?;
                Ok(PersonAnswer::Decided(Box::new(now)))
            }
        }
    }
}

/// Asks whether to continue after a task failed for good. Only `y` or `yes` means yes.
pub async fn go_on(task: &str, error: &str, cancel: &CancellationToken) -> io::Result<bool> {
    if !terminal::is_there() {
        return Ok(false);
    }
    say(&format!("{} failed: {}", visible_line(task), visible_line(error)), "\n")?;
    say("Continue with the other tasks? [y/N] ", "")?;
    let mut input = Input::new()?;
    let typed = tokio::select! {
        () = cancel.cancelled() => None,
        line = input.line() => line?,
    };
    Ok(is_yes(&typed.unwrap_or_default()))
}

/// Asks a question that only `y` or `yes` agrees to. Without a terminal nobody agrees.
pub fn yes(question: &str) -> io::Result<bool> {
    if !terminal::is_there() {
        return Ok(false);
    }
    say(question, "")?;
    let mut typed = String::new();
    io::stdin().read_line(&mut typed)?;
    Ok(is_yes(&typed))
}

fn is_yes(typed: &str) -> bool {
    matches!(typed.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Asks a person for a decision and its reason. Without a terminal, or once it is closed, nothing is decided, and the task waits. `diff` is the change,
/// `files` are those it touches, to open in an editor.
pub async fn ask(
    shown: &GateSummary,
    diff: &str,
    files: &[PathBuf],
    cancel: &CancellationToken,
) -> io::Result<Said> {
    if !terminal::is_there() {
        return Ok(PersonAnswer::NotPresent);
    }
    match (Gate { shown, diff, files, cancel }).ask().await {
        Err(error) if terminal::is_closed(&error) => Ok(PersonAnswer::NotPresent),
        said => said,
    }
}

/// A decision with its reason.
pub type Said = PersonAnswer<(Verb, String)>;

struct Gate<'g> {
    shown: &'g GateSummary,
    diff: &'g str,
    files: &'g [PathBuf],
    cancel: &'g CancellationToken,
}

impl Gate<'_> {
    async fn ask(&self) -> io::Result<Said> {
        let mut input = Input::new()?;
        let lines = lines(self.shown);
        if longer_than_screen(&lines)
            && let Some(said) = left(pager::page(for_pager(&lines), &mut input, self.cancel).await?)
        {
            return Ok(said);
        }
        lines.iter().try_for_each(print)?;
        loop {
            say(PROMPT, "")?;
            let line = tokio::select! {
                () = self.cancel.cancelled() => {
                    say("\n", "")?;
                    return Ok(PersonAnswer::Interrupted);
                }
                line = input.line() => line?,
            };
            let Some(typed) = line else { return Ok(PersonAnswer::NotPresent) };
            match choice(&typed) {
                Choice::Decide(verb, reason) => {
                    let reason = reason.unwrap_or_else(|| REASON.to_owned());
                    return Ok(PersonAnswer::Decided((verb, reason)));
                }
                Choice::Invalid => say(INVALID, "\n")?,
                Choice::Diff => {
                    if let Some(said) = self.show_diff(&mut input).await? {
                        return Ok(said);
                    }
                    say_choices()?;
                }
                Choice::Edit => {
                    input.pause();
                    if let Some(words) = editor::edit(self.files, self.cancel).await {
                        say(&visible_line(&words), "\n")?;
                    }
                    say_choices()?;
                }
            }
        }
    }

    async fn show_diff(&self, input: &mut Input) -> io::Result<Option<Said>> {
        if self.diff.trim().is_empty() {
            say("There is no change to show.", "\n")?;
            return Ok(None);
        }
        let text = pager::diff(self.diff, terminal::is_coloured());
        Ok(left(pager::page(text, input, self.cancel).await?))
    }
}

fn say_choices() -> io::Result<()> {
    say(&format!("{CHOICES}\n{MORE_CHOICES}"), "\n")
}

fn left(left: Left) -> Option<Said> {
    match left {
        Left::Read => None,
        Left::Closed => Some(PersonAnswer::NotPresent),
        Left::Interrupted => Some(PersonAnswer::Interrupted),
    }
}

fn longer_than_screen(lines: &[Line]) -> bool {
    let Ok((columns, rows)) = ratatui::crossterm::terminal::size() else { return false };
    if columns == 0 || rows == 0 {
        return false;
    }
    let needed = |line: &Line| terminal::wrap::rows(line.text(), usize::from(columns)).len().max(1);
    // One row more for what is typed.
    lines.iter().map(needed).sum::<usize>() + 1 > usize::from(rows)
}

fn for_pager(lines: &[Line]) -> Vec<(String, ratatui::style::Style)> {
    use ratatui::style::Style;
    // The choices are shown below the prompt, after the pager.
    let read = lines.iter().filter(|line| ![CHOICES, MORE_CHOICES].contains(&line.text()));
    let style = |line: &Line| match line {
        Line::Issue(severity, _) if terminal::is_coloured() => {
            Style::new().fg(terminal::severity_color(*severity))
        }
        Line::Title(_) => Style::new().bold(),
        _ => Style::new(),
    };
    read.map(|line| (line.text().to_owned(), style(line))).collect()
}

/// Prints a line in its colours; the stream drops them under NO_COLOR.
fn print(line: &Line) -> io::Result<()> {
    let style = match line {
        Line::Rule(_) => Style::new().dimmed(),
        Line::Title(_) => Style::new().bold(),
        Line::Issue(Severity::Must, _) => AnsiColor::Red.on_default(),
        Line::Issue(Severity::Should, _) => AnsiColor::Yellow.on_default(),
        Line::Issue(Severity::May, _) => AnsiColor::Cyan.on_default(),
        Line::Plain(_) => Style::new(),
    };
    say(&format!("{style}{}{style:#}", line.text()), "\n")
}

fn say(text: &str, end: &str) -> io::Result<()> {
    let mut out = AutoStream::auto(io::stdout());
    write!(out, "{text}{end}")?;
    out.flush()
}
