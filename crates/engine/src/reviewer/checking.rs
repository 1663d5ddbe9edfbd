//! The checks reviewer: every deterministic criterion of a question on each of its files, one file in memory at a time.

use super::command::SCRIPT_EDITED;
use super::{Brief, Failed, ReviewerReply, checks};
use crate::process::{self, Call, GuardProgram, ProcessEnd};
use countersign_core::answer::{Answer, Claim, Flaw, Ruling, bounded_flaws};
use countersign_core::check::{Check, RunCheck};
use countersign_core::criterion::Criterion;
use countersign_core::outcome::NoVerdict;
use countersign_core::prompt::Body;
use countersign_core::submission::Material;
use countersign_core::text;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const OUTPUT_LIMIT_BYTES: usize = 16 * 1024 * 1024;
const SHOWN_BYTES: usize = 2 * 1024;

/// The files of the project, as far as checks look at them.
pub trait Files: Send + Sync {
    /// What stands in a file, as it was gathered; an error if it has changed since.
    fn body(&self, file: &Material) -> Result<Body, Failed>;
    fn exists(&self, path: &str) -> bool;
    /// Holds files to what was gathered while a command reads them by their paths; an error if they are others now.
    fn hold(&self, files: &[Material]) -> Result<LetGo, Failed>;
}

/// Ends a hold: an error if a file was another at any moment since it was held.
pub type LetGo = Box<dyn FnOnce() -> Result<(), Failed> + Send>;

pub async fn rule_by_checks(
    guard: &GuardProgram,
    brief: &Brief,
    files: Arc<dyn Files>,
    cancel: &CancellationToken,
) -> ReviewerReply {
    let mut rulings = vec![];
    for criterion in &brief.criteria {
        let ruling = match &criterion.check {
            None => Err(Failed::new(NoVerdict::Unavailable, format!("`{}` has no check", criterion.name))),
            Some(Check::Run(check)) => {
                let run = rule_by_command(guard, criterion, check, brief, cancel);
                on_held_files(brief, files.clone(), run).await
            }
            Some(check) => look_at_all(criterion, check, brief, files.clone()).await,
        };
        match ruling {
            Ok(ruling) => rulings.push(ruling),
            Err(failed) => return ReviewerReply::bare(Err(failed)),
        }
    }
    ReviewerReply::bare(Ok(Answer::from_rulings(rulings)))
}

/// The ruling of a command, if the files stayed unchanged while it ran: it may read them at any moment.
async fn on_held_files(
    brief: &Brief,
    files: Arc<dyn Files>,
    run: impl Future<Output = Result<Ruling, Failed>>,
) -> Result<Ruling, Failed> {
    let all = brief.files.clone();
    let let_go = blocking(move || files.hold(&all)).await?;
    let ruling = run.await?;
    blocking(let_go).await?;
    Ok(ruling)
}

/// Works off the async runtime: a check may take a while on a long text.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failed> + Send + 'static,
) -> Result<T, Failed> {
    let lost =
        |error| Err(Failed::new(NoVerdict::Unavailable, format!("the check ended unexpectedly: {error}")));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(lost)
}

async fn look_at_all(
    criterion: &Criterion,
    check: &Check,
    brief: &Brief,
    files: Arc<dyn Files>,
) -> Result<Ruling, Failed> {
    let (name, check, all) = (criterion.name.clone(), check.clone(), brief.files.clone());
    blocking(move || {
        let (mut feedback, mut flaws) = (vec![], vec![]);
        for file in &all {
            if let Some((said, found)) = look_at(&check, file, files.as_ref())? {
                feedback.push(said);
                flaws.extend(found);
            }
        }
        let (passed, flaws) = (feedback.is_empty(), bounded_flaws(flaws));
        Ok(Ruling { flaws, ..Ruling::new(&name, passed, (!passed).then(|| feedback.join("\n"))) })
    })
    .await
}

/// What is wrong with one file, as a whole and one by one; none where it is in order. What cannot be looked at is no verdict.
fn look_at(check: &Check, file: &Material, files: &dyn Files) -> Result<Option<(String, Vec<Flaw>)>, Failed> {
    let no_verdict =
        |words: String| Err(Failed::new(NoVerdict::Unavailable, format!("`{}` {words}", file.path)));
    if file.size_bytes > checks::MAX_TEXT_BYTES as u64 {
        return Err(Failed::new(NoVerdict::TooLong, format!("`{}` is too long to be checked", file.path)));
    }
    let text = match files.body(file)? {
        Body::Text(text) => Some(text),
        Body::Binary { .. } => None,
        Body::Missing => return no_verdict("does not exist".into()),
        Body::Unreadable(error) => return no_verdict(format!("could not be read: {error}")),
        Body::Listed => return no_verdict("was not loaded".into()),
    };
    let subject = checks::Subject { path: &file.path, text: text.as_deref(), size_bytes: file.size_bytes };
    let defects = checks::look(check, &subject, &|path| files.exists(path));
    // A text that ends too early ends behind its last line.
    let last = text.as_deref().map_or(0, |text| text.lines().count());
    let flaw = |defect: &checks::Defect| {
        let line = defect.line.map(|line| line.min(last) as u64).filter(|line| *line > 0);
        Flaw::new(&defect.message, Some(Claim { file: Some(file.path.clone()), line, end_line: None }))
    };
    let flaws = defects.iter().map(flaw).collect();
    Ok((!defects.is_empty()).then(|| (checks::feedback(&file.path, &defects), flaws)))
}

/// Runs a `run:` check: a shell command in the project root, judged by its exit code. What does not end by itself in time, or cannot be started, is no verdict.
async fn rule_by_command(
    guard: &GuardProgram,
    criterion: &Criterion,
    check: &RunCheck,
    brief: &Brief,
    cancel: &CancellationToken,
) -> Result<Ruling, Failed> {
    let command = &check.command;
    let files = brief.files.iter().map(|file| argument(&file.path).into());
    let shell_line = || brief.surroundings.shell_line(command, &brief.root);
    let line = shell_line().map_err(|words| Failed::new(NoVerdict::Unavailable, words))?;
    let [shell, text] = line.words.as_slice() else {
        return Err(Failed::new(NoVerdict::Unavailable, "the check has no command"));
    };
    let (env, only_env) = brief.variables(&line);
    let call = Call {
        args: ["-c", text, "sh"].into_iter().map(Into::into).chain(files).collect(),
        cwd: brief.root.clone(),
        env,
        only_env,
        timeout: Duration::from_secs(check.timeout_seconds),
        stdout_limit_bytes: OUTPUT_LIMIT_BYTES,
        stderr_tail_bytes: SHOWN_BYTES,
        ..Call::new(shell)
    };
    let no_verdict = |why, words: String| Err(Failed::new(why, format!("`{command}` {words}")));
    let ended = match process::run(guard, call, cancel).await {
        Ok(ended) => ended,
        Err(error) => return no_verdict(NoVerdict::Unavailable, format!("could not be run: {error}")),
    };
    if shell_line().as_ref() != Ok(&line) {
        return no_verdict(NoVerdict::Unavailable, format!("gave no answer that counts: {SCRIPT_EDITED}"));
    }
    match ended.how {
        ProcessEnd::Exited(code) => {
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
        ProcessEnd::TimedOut => {
            no_verdict(NoVerdict::Timeout, format!("did not end within {} s", check.timeout_seconds))
        }
        ProcessEnd::TooMuchOutput { limit_bytes } => {
            no_verdict(NoVerdict::TooLong, format!("wrote more than {limit_bytes} bytes"))
        }
        how => no_verdict(NoVerdict::Unavailable, format!("did not end by itself: {how:?}")),
    }
}

/// A file name as an argument: one that begins with `-` must not pass for an option.
fn argument(path: &str) -> String {
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}
