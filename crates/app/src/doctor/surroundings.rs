//! The checks of what every review needs: the guard, git, the configuration, the ledger.

use crate::Failure;
use crate::answer::v1::{Check, hint_of};
use crate::init::agents::on_path;
use crate::project::Project;
use crate::validate;
use countersign_core::rule::Rule;
use countersign_engine::ledger::{FORMAT, Ledger};
use countersign_engine::process::{self, Call, Ended, GuardProgram, ProcessEnd};
use countersign_engine::scratch::Scratch;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The slowest known program needs six seconds for its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);
const VERSION_BYTES: usize = 4096;
const LAST_EVENTS: u32 = 100;

pub async fn guard(guard: &GuardProgram, cancel: &CancellationToken) -> Check {
    let words = match process::run(guard, short_call("true"), cancel).await {
        Ok(Ended { how: ProcessEnd::Exited(0), .. }) => {
            return Check::ok("guard", "starts and stops programs");
        }
        Ok(ended) => format!("the guard could not run the test program `true`: {:?}", ended.how),
        Err(error) => format!("it cannot be started: {error}"),
    };
    Check::fail("guard", countersign_core::outcome::Outcome::Internal, words)
        .hint("the guard is the countersign program itself: check that its file exists and is executable")
}

pub async fn git(guard: &GuardProgram, cancel: &CancellationToken) -> Check {
    let Some(path) = on_path("git") else {
        return Check::warn("git", "not found on the PATH")
            .hint("reviews of files work without git; --change needs it");
    };
    match version(&path, guard, cancel).await {
        Some(version) => Check::ok("git", format!("{}: {version}", path.display())),
        None => Check::warn("git", format!("{}: it does not report its version", path.display())),
    }
}

/// What gates judge by.
pub fn gate(gate: &Result<Project, Failure>) -> Check {
    match gate {
        Ok(project) => {
            let source = project.authority.as_ref().map(|authority| authority.source.to_string());
            let source = source.unwrap_or_default();
            let known = format!(": this gate uses {source}");
            let notices: Vec<String> =
                project.notices().iter().map(|notice| notice.replace(&known, "")).collect();
            let words = format!("they use {source}");
            match notices.is_empty() {
                true => Check::ok("gates", words),
                false => Check::warn("gates", format!("{words}; {}", notices.join("; "))),
            }
        }
        Err(failure) => {
            let check = Check::warn("gates", failure.message.clone());
            failure.hint.clone().into_iter().fold(check, Check::hint)
        }
    }
}

/// The version of a known program. Never run this for a program of the user, which may do anything.
pub async fn version(program: &Path, guard: &GuardProgram, cancel: &CancellationToken) -> Option<String> {
    let mut call = short_call(program);
    call.args = vec!["--version".into()];
    let ended =
        process::run(guard, call, cancel).await.ok().filter(|ended| ended.how == ProcessEnd::Exited(0))?;
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn short_call(program: impl Into<OsString>) -> Call {
    let mut call = Call::new(program);
    // Not in the project: a program may write into its folder.
    call.cwd = "/".into();
    call.timeout = VERSION_TIMEOUT;
    call.stdout_limit_bytes = VERSION_BYTES;
    call
}

/// An invalid configuration: the first mistake, and the command that shows all.
pub fn unusable_configuration(failure: &Failure) -> Check {
    let words = match failure.diagnostics.as_slice() {
        [] => failure.message.clone(),
        [first, ..] => first.words(),
    };
    let line = Check::fail("configuration", failure.outcome, words);
    match failure.diagnostics.len() + failure.left_out {
        0 => line.hint(failure.hint.clone().unwrap_or_else(|| {
            "`countersign config --show-origin` shows where settings come from".to_owned()
        })),
        1 => match failure.diagnostics.first() {
            Some(only) if !only.has_line() => line.hint(hint_of(only)),
            _ => line.hint("`countersign validate` shows the place"),
        },
        several => line.hint(format!("`countersign validate` shows all {several} mistakes")),
    }
}

/// The configuration, and whether there is a reviewer for its questions.
pub fn configuration(project: &Project) -> Vec<Check> {
    if project.config.file.is_none() {
        let words = format!("none in {} or above", project.config.root.display());
        return vec![Check::warn("configuration", words).hint("`countersign init` writes one")];
    }
    let valid = match validate::check_rules(project) {
        Ok(valid) => valid,
        Err(failure) => return vec![unusable_configuration(&failure)],
    };
    let mut lines = vec![Check::ok("configuration", valid.words().unwrap_or_default())];
    let asks = |rule: &&Rule| rule.criteria.iter().any(|criterion| criterion.check.is_none());
    let reviewers = project.each_reviewer();
    let no_reviewer = !reviewers.iter().any(|(_, panelist)| !matches!(panelist, Ok(None)));
    if let Some(rule) = project.config.rules.iter().find(asks).filter(|_| no_reviewer) {
        let why = match reviewers.first() {
            None => "no reviewer is configured".to_owned(),
            Some((name, _)) => format!("`{name}` answers none"),
        };
        let words = format!("rule '{}' asks questions, and {why}", rule.name);
        let hint = "add `reviewers:` to countersign.yml, or name one with --reviewer";
        lines.push(Check::warn("reviewers", words).hint(hint));
    }
    lines
}

/// Whether a reviewer can get a folder of its own; none where it can.
pub fn temporary_folder() -> Option<Check> {
    let error = Scratch::new("doctor").err()?;
    let words = format!("{}: no folder can be made in it: {error}", std::env::temp_dir().display());
    let check = Check::unavailable("temporary folder", words);
    Some(check.hint("make it writable, or set TMPDIR to a folder that is"))
}

pub async fn ledger(project: &Project) -> Check {
    let dir = project.ledger_dir();
    let failed = |Failure { outcome, message, hint, .. }: Failure| Check {
        hint,
        ..Check::fail("ledger", outcome, format!("{}: {message}", dir.display()))
    };
    let ledger = match project.existing_ledger().await {
        Ok(Some(ledger)) => ledger,
        Ok(None) if !Ledger::is_writable(&dir) => {
            let words = format!("none yet, and {} cannot be made, so gates cannot judge", dir.display());
            return Check::warn("ledger", words).hint("make the folder that it belongs to writable");
        }
        Ok(None) => {
            return Check::ok("ledger", format!("none yet; the first review creates {}", dir.display()));
        }
        Err(failure) => return failed(failure),
    };
    let mut events = ledger.recent(None, LAST_EVENTS).await;
    if events.is_ok()
        && Ledger::is_writable(&dir)
        && let Err(error) = ledger.try_to_write().await
    {
        events = Err(error);
    }
    ledger.close().await;
    match events {
        Ok(events) => {
            let (dir, count) = (dir.display(), events.len());
            let words = format!("{dir}: format {FORMAT}, latest events checked: {count}, no error");
            if !Ledger::is_writable(&project.ledger_dir()) {
                return Check::warn(
                    "ledger",
                    format!("{words}; it cannot be written, so gates cannot judge"),
                )
                .hint("make this folder and its files writable");
            }
            Check::ok("ledger", format!("{words}; `countersign log --verify` checks all"))
        }
        Err(error) => failed(error.into()),
    }
}
