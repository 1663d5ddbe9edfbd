//! Progress while reviewers run, on standard error: one line that changes; with `-v` a line for each answer.

use super::{Printer, style};
use crate::formats::harmless;
use countersign_core::ids::ReviewId;
use countersign_core::progress::ProgressEvent;
use countersign_core::text::{counted, visible_line};
use countersign_engine::engine::Engine;
use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use tokio::sync::broadcast::error::RecvError;

/// How many answers it takes to say how long the rest may take.
const ENOUGH: usize = 3;
const TICK: Duration = Duration::from_millis(500);

impl Printer {
    /// Shows the progress of an engine during a future.
    pub async fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> T {
        if self.quiet {
            return work.await;
        }
        let mut events = engine.watch();
        let mut lines = Lines::new(self.verbose);
        let mut tick = tokio::time::interval(TICK);
        tokio::pin!(work);
        let done = loop {
            tokio::select! {
                biased;
                happening = events.recv() => match happening {
                    Ok(happening) => lines.show(&happening),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break work.await,
                },
                done = &mut work => break done,
                _ = tick.tick() => lines.draw(),
            }
        };
        while let Ok(happening) = events.try_recv() {
            lines.show(&happening);
        }
        lines.clear();
        done
    }
}

/// The open questions, and how much of the round is done.
struct Lines {
    /// By review and assignment.
    asked: HashMap<(ReviewId, usize), (String, Instant)>,
    round: Option<u32>,
    /// When it began here, and how many of its assignments were answered then.
    began: (Instant, usize),
    /// How many assignments it has, and how many are done.
    all: usize,
    done: usize,
    /// Whether the line about another process was printed.
    attached: bool,
    verbose: bool,
    /// Only a terminal gets a line that changes.
    terminal: bool,
    drawn: bool,
}

impl Lines {
    fn new(verbose: bool) -> Self {
        Self {
            asked: HashMap::new(),
            round: None,
            began: (Instant::now(), 0),
            all: 0,
            done: 0,
            attached: false,
            verbose,
            terminal: std::io::stderr().is_terminal(),
            drawn: false,
        }
    }

    fn show(&mut self, happening: &ProgressEvent) {
        match happening {
            ProgressEvent::Round { round, .. } if self.round == Some(*round) => {}
            ProgressEvent::Round { round, assignments, answered, .. } => {
                self.round = Some(*round);
                (self.began, self.all, self.done) = ((Instant::now(), *answered), *assignments, *answered);
                let cached = if *answered > 0 { format!(", {answered} cached") } else { String::new() };
                let questions = counted(*assignments, "question", "questions");
                self.line(&style::dim(&format!("round {round}: {questions}{cached}")));
            }
            ProgressEvent::Waiting { .. } if self.attached => {}
            ProgressEvent::Waiting { review } => {
                self.attached = true;
                self.line(&style::dim(&format!("another process judges {review}; waiting for its verdict")));
            }
            ProgressEvent::Asked { review, assignment, label, reviewer, again } => {
                let again = if *again { ", again" } else { "" };
                let label = format!("{} [{}{again}]", visible_line(label), visible_line(reviewer));
                self.asked.insert((review.clone(), *assignment), (label, Instant::now()));
            }
            ProgressEvent::Answered { review, assignment, failed } => {
                let said = match failed {
                    0 => "ok".to_owned(),
                    n => counted(*n, "finding", "findings"),
                };
                self.done += 1;
                self.answered(review, *assignment, &said, self.verbose);
            }
            ProgressEvent::AskFailed { review, assignment, why, detail } => {
                let said = format!("no answer ({}): {}", why.name(), visible_line(detail));
                self.answered(review, *assignment, &said, true);
            }
            ProgressEvent::Warning(words) => {
                self.line(&format!("{}: {}", style::warning("warning"), visible_line(words)));
            }
            // A run prints its own lines about tasks.
            _ => {}
        }
    }

    fn answered(&mut self, review: &ReviewId, assignment: usize, said: &str, shown: bool) {
        let Some((label, since)) = self.asked.remove(&(review.clone(), assignment)) else { return };
        if shown {
            self.line(&format!("  {:>7.1}s  {label}  {said}", since.elapsed().as_secs_f32()));
        }
    }

    fn line(&mut self, line: &str) {
        self.clear();
        let _ = writeln!(anstream::stderr(), "{}", harmless(line));
    }

    /// One line: how much is done, and how long the rest may take.
    fn draw(&mut self) {
        if self.asked.is_empty() || !self.terminal {
            return;
        }
        let left = self.seconds_left().map(|seconds| format!(", about {} left", length(seconds)));
        let line = format!(
            "{}/{} done, {} running{}",
            self.done,
            self.all,
            self.asked.len(),
            left.unwrap_or_default()
        );
        let mut err = anstream::stderr();
        let _ = write!(err, "\r\x1b[K{}", style::dim(&line));
        let _ = err.flush();
        self.drawn = true;
    }

    /// Worked out from the answers of this round; none before there are a few.
    fn seconds_left(&self) -> Option<u64> {
        let (since, before) = self.began;
        let here = self.done.checked_sub(before).filter(|done| *done >= ENOUGH)?;
        let each = since.elapsed().as_secs_f64() / here as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time to show")]
        Some((each * self.all.saturating_sub(self.done) as f64).ceil() as u64)
    }

    fn clear(&mut self) {
        if self.drawn {
            let _ = write!(anstream::stderr(), "\r\x1b[K");
            self.drawn = false;
        }
    }
}

fn length(seconds: u64) -> String {
    match seconds {
        0..90 => format!("{seconds} s"),
        90..5400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}
