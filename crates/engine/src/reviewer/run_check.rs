//! The `run:` check: a shell command in the project root, judged by its exit code.

use super::{Brief, Failed};
use crate::process::{self, Call, GuardProgram, How};
use countersign_core::answer::Ruling;
use countersign_core::check::RunCheck;
use countersign_core::criterion::Criterion;
use countersign_core::outcome::NoVerdict;
use countersign_core::text;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const OUTPUT_LIMIT_BYTES: usize = 16 * 1024 * 1024;
const SHOWN_BYTES: usize = 2 * 1024;

/// Runs the command. What does not end by itself in time, or cannot be started, is no verdict.
pub async fn rule(
    guard: &GuardProgram,
    criterion: &Criterion,
    check: &RunCheck,
    brief: &Brief,
    cancel: &CancellationToken,
) -> Result<Ruling, Failed> {
    let command = &check.command;
    let files = brief.files.iter().map(|file| argument(&file.path).into());
    let call = Call {
        args: ["-c", command, "sh"].into_iter().map(Into::into).chain(files).collect(),
        cwd: brief.root.clone(),
        env: vec![("COUNTERSIGN_CALL".into(), brief.call.as_str().into())],
        timeout: Duration::from_secs(check.timeout_seconds),
        stdout_limit_bytes: OUTPUT_LIMIT_BYTES,
        stderr_tail_bytes: SHOWN_BYTES,
        ..Call::new("sh")
    };
    let no_verdict = |why, words: String| Err(Failed::new(why, format!("`{command}` {words}")));
    let ended = match process::run(guard, call, cancel).await {
        Ok(ended) => ended,
        Err(error) => return no_verdict(NoVerdict::Unavailable, format!("could not be run: {error}")),
    };
    match ended.how {
        How::Exited(code) => {
            let passed = code == check.exit_code;
            let output = String::from_utf8_lossy(&ended.stdout);
            let tail = |text| text::cut_front_words(text, SHOWN_BYTES);
            let output = format!("{}\n{}", tail(&output), tail(&ended.stderr_tail));
            let feedback = format!(
                "`{command}` ended with exit code {code}, expected {}:\n{}",
                check.exit_code,
                output.trim()
            );
            Ok(Ruling::new(&criterion.name, passed, (!passed).then_some(feedback)))
        }
        How::TimedOut => {
            no_verdict(NoVerdict::Timeout, format!("did not end within {} seconds", check.timeout_seconds))
        }
        How::TooMuchOutput { limit_bytes } => {
            no_verdict(NoVerdict::TooLong, format!("wrote more than {limit_bytes} bytes"))
        }
        how => no_verdict(NoVerdict::Unavailable, format!("did not end by itself: {how:?}")),
    }
}

/// A file name as an argument: one that begins with `-` must not pass for an option.
fn argument(path: &str) -> String {
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}
