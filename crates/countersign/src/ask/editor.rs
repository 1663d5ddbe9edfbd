//! Runs `$EDITOR` on the changed files, as git does: through the shell, since it may have arguments.

use rustix::termios::OptionalActions;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

const FILES_MAX: usize = 100;
const GRACE_SECONDS: u64 = 3;

/// Shown if judged files were edited: a verdict and a decision belong to exact bytes.
const NOT_JUDGED: &str =
    "Your edits were not judged: a and s merge the work without them, f lets the agent continue from them.";

/// Opens the editor and waits for it. Returns a message for the person, if any.
pub async fn edit(files: &[PathBuf], cancel: &CancellationToken) -> Option<String> {
    let editor = std::env::var_os("EDITOR").filter(|editor| !editor.is_empty());
    let Some(editor) = editor else {
        return Some("EDITOR is not set; try: export EDITOR=vi".to_owned());
    };
    let there: Vec<PathBuf> = files.iter().filter(|file| file.is_file()).map(|file| operand(file)).collect();
    if there.is_empty() {
        return Some("There is no changed file to edit.".to_owned());
    }
    // The editor must be in the foreground of the terminal, so it runs without the guard.
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg("eval \"$EDITOR \\\"\\$@\\\"\"").arg("editor").args(there.iter().take(FILES_MAX));
    command.env("EDITOR", &editor).stdin(Stdio::inherit()).kill_on_drop(true);
    // An editor that is killed leaves the terminal in its own modes.
    let modes = rustix::termios::tcgetattr(std::io::stdin());
    let before = stamps(&there);
    let ended = match countersign_engine::process::spawn(&mut command) {
        Ok(child) => wait(child, cancel).await,
        Err(error) => Err(error),
    };
    if let Ok(modes) = modes {
        let _ = rustix::termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
    }
    match ended {
        Ok(_) if stamps(&there) != before => Some(NOT_JUDGED.to_owned()),
        Ok(true) if there.len() > FILES_MAX => {
            Some(format!("Only the first {FILES_MAX} of {} files were opened.", there.len()))
        }
        Ok(true) => None,
        Ok(false) => Some("The editor failed.".to_owned()),
        Err(error) => Some(format!("The editor could not be started: {error}")),
    }
}

/// Modification time and size of each file; none where it is missing.
fn stamps(files: &[PathBuf]) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |file: &PathBuf| {
        let found = file.metadata().ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    files.iter().map(stamp).collect()
}

/// A path that does not look like an option.
fn operand(file: &Path) -> PathBuf {
    if file.is_relative() { Path::new(".").join(file) } else { file.to_owned() }
}

async fn wait(mut child: Child, cancel: &CancellationToken) -> std::io::Result<bool> {
    tokio::select! {
        ended = child.wait() => return ended.map(|status| status.success()),
        () = cancel.cancelled() => {}
    }
    let id = child.id().and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(id) = id {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
    let ended = tokio::time::timeout(Duration::from_secs(GRACE_SECONDS), child.wait()).await;
    Ok(ended.is_ok_and(|ended| ended.is_ok_and(|status| status.success())))
}
