//! Where a project has its ledger, and opening it: only the one that this machine has seen last, and none that git tracks.

use crate::authority::is_ci;
use crate::{Failure, author};
use countersign_core::review::Actor;
use countersign_engine::fresh::now_ms;
use countersign_engine::git::{self, Git};
use countersign_engine::ledger::{HeadFile, LEDGER_FILE, Ledger, LedgerError, OUTSIDE_OF_GIT};
use serde::Serialize;
use std::path::{Path, PathBuf};

const IN_GIT: &str = "countersign";
/// Where the heads of ledgers are kept, below the home of the account.
const HEADS: &str = ".local/state/countersign/heads";
/// The stream of what people said about the ledger itself.
const STREAM: &str = "ledger";
const ACCEPTED: &str = "accepted";

/// The folder of the ledger: in the folder that all worktrees of a repository share, where nothing is committed or cleaned;
/// without git at the root of the project.
pub fn ledger_dir(root: &Path) -> PathBuf {
    match git::common_folder(root) {
        Some(git) => git.join(IN_GIT),
        None => root.join(OUTSIDE_OF_GIT),
    }
}

/// Our own folder among the files of the project: what agents work in, and where earlier versions had the ledger.
pub fn own_folder(root: &Path) -> PathBuf {
    git::main_worktree(root).unwrap_or_else(|| root.to_owned()).join(OUTSIDE_OF_GIT)
}

/// Makes git ignore our own folder, so that it is no change of the project. Tracked files there are work like any other.
pub fn hide_own_folder(root: &Path) -> Result<(), Failure> {
    Ok(Ledger::hide(&own_folder(root))?)
}

/// The ledger, to write to.
pub async fn open(root: &Path) -> Result<Ledger, LedgerError> {
    let (dir, head) = (ledger_dir(root), head(root));
    bring(root, &dir).await?;
    only_own(&dir, head.as_ref()).await?;
    require_seen(&dir, head.as_ref())?;
    let ledger = Ledger::open(&dir).await?;
    ledger.set_project(&project_path(root));
    followed(ledger, head).await
}

/// The ledger, if there is one; makes nothing.
pub async fn existing(root: &Path) -> Result<Option<Ledger>, LedgerError> {
    let (mut dir, head) = (ledger_dir(root), head(root));
    match bring(root, &dir).await {
        // What cannot be moved can be read.
        Err(LedgerError::ReadOnly(_)) => dir = own_folder(root),
        done => drop(done?),
    }
    only_own(&dir, head.as_ref()).await?;
    require_seen(&dir, head.as_ref())?;
    match Ledger::open_existing(&dir).await? {
        Some(ledger) => {
            ledger.set_project(&project_path(root));
            Ok(Some(followed(ledger, head).await?))
        }
        None => Ok(None),
    }
}

/// The ledger for a person to see, if there is one, and why it does not count.
pub async fn look(root: &Path) -> Result<(Option<Ledger>, Option<String>), LedgerError> {
    match existing(root).await {
        Err(LedgerError::NotTheLatest(words)) => {
            Ok((Ledger::open_existing(&ledger_dir(root)).await?, Some(words)))
        }
        found => Ok((found?, None)),
    }
}

/// The path of a project in its repository. It is the same in all worktrees.
pub fn project_path(root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let top = root.ancestors().find(|folder| git::is_repository(folder));
    let below = top.and_then(|top| root.strip_prefix(top).ok());
    below.map(|below| below.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Lets the ledger count as it is, because a person has seen why it does not. `words` are what they saw.
pub async fn accept(root: &Path, by: &Actor, words: &str) -> Result<(), Failure> {
    let (dir, head) = (ledger_dir(root), head(root));
    if let (Some(head), false) = (&head, Ledger::is_in(&dir)) {
        head.forget();
    }
    let ledger = Ledger::open(&dir).await?;
    ledger.verify().await?;
    if let Some(head) = head {
        ledger.keep_head(head, true).await?;
    }
    let body = serde_json::to_string(&Accepted { by, words });
    let body = body.map_err(|error| Failure::internal(error.to_string()))?;
    let mut transaction = ledger.transaction().await?;
    let seen = transaction.last_note(STREAM).await?.map_or(0, |note| note.n);
    transaction.note(STREAM, seen, &[(ACCEPTED, body)], now_ms()).await?;
    transaction.commit().await?;
    ledger.close().await;
    Ok(())
}

#[derive(Serialize)]
struct Accepted<'a> {
    by: &'a Actor,
    words: &'a str,
}

/// Moves the ledger of an earlier version here, once. One that git tracks came with the repository.
async fn bring(root: &Path, dir: &Path) -> Result<bool, LedgerError> {
    let earlier = own_folder(root);
    if earlier == dir || !Ledger::is_in(&earlier) {
        return Ok(false);
    }
    require_untracked(&earlier).await?;
    match Ledger::is_in(dir) {
        true => Ok(false),
        false => Ledger::take_over(&earlier, dir).await,
    }
}

/// Refuses a ledger that git tracks, as a file, a link or a submodule: then commits could bring verdicts along.
async fn require_untracked(earlier: &Path) -> Result<(), LedgerError> {
    let Some(top) = earlier.parent() else { return Ok(()) };
    if Ledger::is_left_to_move(earlier).is_ok_and(|is_one| !is_one) {
        return Ok(());
    }
    let tracked = Git::at(top).tracked(OUTSIDE_OF_GIT).await;
    let tracked = tracked.map_err(|error| LedgerError::Other(error.to_string()))?;
    let ledger = format!("{OUTSIDE_OF_GIT}/{LEDGER_FILE}");
    match tracked.into_iter().find(|path| path == OUTSIDE_OF_GIT || path.starts_with(&ledger)) {
        Some(path) => Err(LedgerError::Tracked(path)),
        None => Ok(()),
    }
}

/// A ledger that is gone is not one that never was. Another process may have made it just now.
fn require_seen(dir: &Path, head: Option<&HeadFile>) -> Result<(), LedgerError> {
    // What may not be looked at may be there.
    Ledger::require_readable(dir)?;
    match head {
        Some(head) if !Ledger::is_in(dir) => head.require_none().or_else(|gone| match Ledger::is_in(dir) {
            true => Ok(()),
            false => Err(gone),
        }),
        _ => Ok(()),
    }
}

async fn followed(ledger: Ledger, head: Option<HeadFile>) -> Result<Ledger, LedgerError> {
    if let Some(head) = head {
        ledger.keep_head(head, false).await?;
    }
    Ok(ledger)
}

/// Whether another repository with a ledger was in the place of this one, as far as this machine knows.
pub fn was_of_another(top: &Path) -> bool {
    let heads = author::home().filter(|_| !is_ci() && !cfg!(test)).map(|home| home.join(HEADS));
    heads.is_some_and(|heads| HeadFile::was_of_another(&top.join(".git"), IN_GIT, &heads))
}

/// The `head` of an export of a restored ledger, from where the judged work cannot write.
const HEAD_VARIABLE: &str = "COUNTERSIGN_LEDGER_HEAD";

/// In a job of CI only a ledger counts that this machine has written, or whose head is vouched for: one that comes from a cache
/// may have any answers, decisions and words of trust. Another one is moved out of the way; then a sentence says so.
pub async fn without_restored(root: &Path) -> Result<Option<String>, LedgerError> {
    let moved = only_own(&ledger_dir(root), head(root).as_ref()).await?;
    Ok(moved.map(|to| {
        format!(
            "a ledger was restored here, and anyone may have written it: nothing in it counts, and it is now in {} \
             ({HEAD_VARIABLE} says which ledger counts)",
            to.display()
        )
    }))
}

async fn only_own(dir: &Path, head: Option<&HeadFile>) -> Result<Option<PathBuf>, LedgerError> {
    if !is_ci() || cfg!(test) {
        return Ok(None);
    }
    if !Ledger::is_in(dir) {
        // A job may begin with none.
        head.inspect(|head| head.forget());
        return Ok(None);
    }
    if let Ok(Some(ledger)) = Ledger::open_existing(dir).await {
        let counts = counts_in_ci(&ledger, head).await;
        ledger.close().await;
        if counts {
            return Ok(None);
        }
    }
    head.inspect(|head| head.forget());
    Ledger::set_aside(dir).map(Some)
}

/// Whether this machine has written a ledger, or the job says that it counts up to its last event.
async fn counts_in_ci(ledger: &Ledger, head: Option<&HeadFile>) -> bool {
    let Some(head) = head else { return false };
    if ledger.is_known(head).await.unwrap_or(false) {
        return true;
    }
    let vouched = std::env::var(HEAD_VARIABLE).ok().filter(|vouched| !vouched.is_empty());
    let last = ledger.last_hash().await.ok().flatten();
    vouched.is_some()
        && last == vouched
        && ledger.verify().await.is_ok()
        && ledger.keep_head(head.clone(), true).await.is_ok()
}

/// Where the head of the ledger is kept: by the account, because `HOME` can be set.
fn head(root: &Path) -> Option<HeadFile> {
    if cfg!(test) {
        return None;
    }
    let owner = git::common_folder(root).unwrap_or_else(|| root.to_owned());
    HeadFile::of(&ledger_dir(root), &owner, &author::home()?.join(HEADS))
}
