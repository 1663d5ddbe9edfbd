//! Progress while reviewers run: a line per assignment with its elapsed time, on standard error.

use super::style;
use countersign_core::happening::Happening;
use countersign_core::ids::ReviewId;
use countersign_core::text::visible_line;
use countersign_engine::engine::Engine;
use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use tokio::sync::broadcast::error::RecvError;

/// How often the waiting line is drawn anew on a terminal.
const TICK: Duration = Duration::from_millis(500);

/// Shows what happens, or nothing.
pub struct Progress {
    quiet: bool,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Shows what happens in an engine while something else runs.
    pub async fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> T {
        if self.quiet {
            return work.await;
        }
        let mut happenings = engine.watch();
        let mut lines = Lines::new();
        let mut tick = tokio::time::interval(TICK);
        tokio::pin!(work);
        let done = loop {
            tokio::select! {
                biased;
                happening = happenings.recv() => match happening {
                    Ok(happening) => lines.show(&happening),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break work.await,
                },
                done = &mut work => break done,
                _ = tick.tick() => lines.draw_waiting(),
            }
        };
        while let Ok(happening) = happenings.try_recv() {
            lines.show(&happening);
        }
        lines.clear_waiting();
        done
    }
}

/// What is being waited for.
struct Lines {
    /// By review and assignment.
    asked: HashMap<(ReviewId, usize), (String, Instant)>,
    /// The round that was announced.
    round: Option<u32>,
    /// Whether it was said that somebody else performs the round.
    attached: bool,
    /// Only a terminal gets a line that changes.
    terminal: bool,
    waiting: bool,
}

impl Lines {
    fn new() -> Self {
        Self {
            asked: HashMap::new(),
            round: None,
            attached: false,
            terminal: std::io::stderr().is_terminal(),
            waiting: false,
        }
    }

    fn show(&mut self, happening: &Happening) {
        match happening {
            Happening::Round { round, .. } if self.round == Some(*round) => {}
            Happening::Round { round, assignments, answered, .. } => {
                self.round = Some(*round);
                let reused =
                    if *answered > 0 { format!(", {answered} answered already") } else { String::new() };
                let noun = if *assignments == 1 { "assignment" } else { "assignments" };
                self.line(&style::dim(&format!("round {round}: {assignments} {noun}{reused}")));
            }
            Happening::Waiting { .. } if self.attached => {}
            Happening::Waiting { review } => {
                self.attached = true;
                self.line(&style::dim(&format!(
                    "{review} is being judged by another process; waiting for its verdict"
                )));
            }
            Happening::Asked { review, assignment, label, reviewer, again } => {
                let again = if *again { " (again)" } else { "" };
                let label = format!("{} [{}{again}]", visible_line(label), visible_line(reviewer));
                self.asked.insert((review.clone(), *assignment), (label, Instant::now()));
            }
            Happening::Answered { review, assignment, failed } => {
                let said = match failed {
                    0 => "ok".to_owned(),
                    1 => "1 finding".to_owned(),
                    n => format!("{n} findings"),
                };
                self.answered(review, *assignment, &said);
            }
            Happening::AskFailed { review, assignment, why, detail } => {
                let said = format!("no answer ({}): {}", why.name(), visible_line(detail));
                self.answered(review, *assignment, &said);
            }
            // Runs say what happens to their tasks in lines of their own.
            _ => {}
        }
    }

    fn answered(&mut self, review: &ReviewId, assignment: usize, said: &str) {
        if let Some((label, since)) = self.asked.remove(&(review.clone(), assignment)) {
            self.line(&format!("  {:>7.1}s  {label}  {said}", since.elapsed().as_secs_f32()));
        }
    }

    fn line(&mut self, line: &str) {
        self.clear_waiting();
        let _ = writeln!(anstream::stderr(), "{line}");
    }

    /// One line that says what is still out.
    fn draw_waiting(&mut self) {
        let longest = self.asked.values().min_by_key(|(_, since)| *since);
        let Some((label, since)) = longest.filter(|_| self.terminal) else { return };
        let line =
            format!("  {:>7.1}s  waiting for {}: {label}", since.elapsed().as_secs_f32(), self.asked.len());
        let line: String = line.chars().take(100).collect();
        let mut err = anstream::stderr();
        let _ = write!(err, "\r\x1b[K{}", style::dim(&line));
        let _ = err.flush();
        self.waiting = true;
    }

    fn clear_waiting(&mut self) {
        if self.waiting {
            let _ = write!(anstream::stderr(), "\r\x1b[K");
            self.waiting = false;
        }
    }
}
