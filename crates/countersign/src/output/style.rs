//! Colours, few: none without a terminal, under NO_COLOR or with `--color never`.

use anstyle::{AnsiColor, Style};
use countersign_core::criterion::Severity;
use countersign_core::outcome::Outcome;

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

pub fn bold(text: &str) -> String {
    painted(Style::new().bold(), text)
}

pub fn dim(text: &str) -> String {
    painted(Style::new().dimmed(), text)
}

pub fn warning(text: &str) -> String {
    painted(AnsiColor::Yellow.on_default().bold(), text)
}

pub fn error(text: &str) -> String {
    painted(AnsiColor::Red.on_default().bold(), text)
}

pub fn paint_severity(severity: Severity, text: &str) -> String {
    match severity {
        Severity::Must => painted(AnsiColor::Red.on_default(), text),
        Severity::Should => painted(AnsiColor::Yellow.on_default(), text),
        Severity::May => dim(text),
    }
}

pub fn paint_outcome(outcome: Option<Outcome>, text: &str) -> String {
    let colour = match outcome {
        Some(Outcome::Passed | Outcome::NothingToJudge) => AnsiColor::Green,
        Some(Outcome::Overridden | Outcome::Skipped | Outcome::AwaitingPerson) => AnsiColor::Cyan,
        Some(Outcome::NeedsWork | Outcome::NoVerdict(_)) => AnsiColor::Yellow,
        Some(_) => AnsiColor::Red,
        None => AnsiColor::Blue,
    };
    painted(colour.on_default().bold(), text)
}
