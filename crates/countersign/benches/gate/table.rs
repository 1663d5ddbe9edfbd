//! The answer: one row per figure, as Markdown, so that it can be read and pasted.

use std::fmt;
use std::time::Duration;

/// Figures with what they should be and how they were taken.
#[derive(Default)]
pub struct Table(Vec<[String; 4]>);

impl Table {
    /// Adds a row, and tells whoever waits.
    pub fn add(&mut self, figure: impl Into<String>, measured: String, target: &str, how: impl Into<String>) {
        let figure = figure.into();
        eprintln!("{figure}: {measured}");
        self.0.push([figure, measured, target.to_owned(), how.into()]);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["figure", "measured", "target", "how"].map(str::to_owned);
        let rule = ["---"; 4].map(str::to_owned);
        for row in [&head, &rule].into_iter().chain(&self.0) {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

/// A time in the unit that reads best.
pub fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

/// A CPU time, as finely as the kernel tells it.
pub fn cpu_time(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// A size in MB, which are millions.
pub fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}
