//! People at the terminal of a run.

use countersign_doors::run::human::Shown;
use countersign_doors::run::run::{People, Said};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

/// Whoever sits there.
pub struct AtTerminal {
    pub cancel: CancellationToken,
}

impl People for AtTerminal {
    fn ask<'a>(
        &'a self,
        _shown: &'a Shown,
        _diff: &'a str,
        _files: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = io::Result<Said>> + Send + 'a>> {
        Box::pin(async move { Ok(Said::Nobody) })
    }

    fn go_on<'a>(&'a self, task: &'a str, error: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        let (task, error) = (task.to_owned(), error.to_owned());
        Box::pin(async move {
            if !io::stdin().is_terminal() {
                return false;
            }
            let asked = tokio::task::spawn_blocking(move || {
                let line = error.lines().next().unwrap_or_default();
                eprint!(
                    "{task} failed: {}\ngo on with the other tasks? [y/N] ",
                    countersign_core::text::visible_line(line)
                );
                io::stderr().flush()?;
                let mut typed = String::new();
                io::stdin().read_line(&mut typed)?;
                io::Result::Ok(matches!(typed.trim().to_lowercase().as_str(), "y" | "yes"))
            });
            tokio::select! {
                answer = asked => answer.is_ok_and(|answer| answer.unwrap_or(false)),
                () = self.cancel.cancelled() => false,
            }
        })
    }
}
