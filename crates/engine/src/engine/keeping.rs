//! Keeps what was judged beside the ledger while it is judged, and finds it again to show it. No verdict depends on it: where
//! it cannot be kept, that is said once.

use super::planner::Planner;
use super::{Engine, Prepared, ProgressEvent, Ticket};
use crate::contents::{Contents, FILE_BYTES_MAX, Judged, NotKept};
use crate::ledger::{Ledger, Stored};
use crate::workspace::{self, Root};
use countersign_core::prompt::Body;
use countersign_core::redact::Redaction;
use countersign_core::review::Route;
use countersign_core::submission::{Content, Form, Material};
use countersign_core::text::counted;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::CancellationToken;

/// Keeping in the background. It stops when this is dropped.
pub(super) struct Keeping {
    task: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Engine {
    /// Begins to keep what a ticket is about, while it is judged. A recorded answer was kept when it was given.
    pub(super) fn begin_keeping(&self, ticket: &Ticket) -> Option<Keeping> {
        let wanted = match ticket.route {
            Route::Recorded => vec![],
            _ => judged(&ticket.prepared),
        };
        self.keep(ticket.prepared.clone(), wanted)
    }

    /// Waits for it, and keeps what there are findings about, however much was judged.
    pub(super) async fn end_keeping(
        &self,
        keeping: Option<Keeping>,
        ticket: &Ticket,
        stored: &Stored,
        cancel: &CancellationToken,
    ) {
        let end = async {
            let Some(mut keeping) = keeping else { return };
            // What went wrong in it was said.
            let _ = (&mut keeping.task).await;
            let found = found(&ticket.prepared, stored);
            if found.is_empty() {
                return;
            }
            if let Some(mut keeping) = self.keep(ticket.prepared.clone(), found) {
                let _ = (&mut keeping.task).await;
            }
        };
        tokio::select! {
            () = end => {}
            () = cancel.cancelled() => {}
        }
    }

    /// Keeps these materials, by their index.
    fn keep(&self, prepared: Arc<Prepared>, wanted: Vec<usize>) -> Option<Keeping> {
        let contents = contents(self.0.ledger.dir()?, self.0.planner.keep_contents_days);
        let stop = Arc::<AtomicBool>::default();
        let (engine, stopped) = (self.clone(), stop.clone());
        let task = spawn_blocking(move || {
            match keep_now(&contents, &engine.0.planner, &prepared, &wanted, &stopped) {
                Ok(0) => {}
                Ok(left_out) => {
                    let files = counted(left_out, "judged file is", "judged files are");
                    engine.say_not_kept(format!("{files} not kept for `show`: a limit is reached"));
                }
                Err(error) => {
                    let words = "judged files are not kept for `show`";
                    engine.say_not_kept(format!("{words}: {error}. No verdict depends on it"));
                }
            }
        });
        Some(Keeping { task, stop })
    }

    fn say_not_kept(&self, words: String) {
        if !self.0.said_not_kept.swap(true, Ordering::Relaxed) {
            self.say(ProgressEvent::Warning(words));
        }
    }
}

fn contents(ledger: &Path, days: u32) -> Contents {
    Contents::beside(ledger, days, SystemTime::now())
}

/// Every text of the files that questions are about: what was handed in, and where lines of findings are in.
fn judged(prepared: &Prepared) -> Vec<usize> {
    let files = &prepared.submission.files;
    let asked = prepared.plan.assignments.iter().flat_map(|assignment| &assignment.files);
    texts_of(files, &asked.filter_map(|index| Some(files.get(*index)?.path.as_str())).collect())
}

/// The files that findings name.
fn found(prepared: &Prepared, stored: &Stored) -> Vec<usize> {
    let findings: Vec<_> = [stored.review.findings(), stored.review.waived()].concat();
    let flaws = findings.iter().flat_map(|finding| &finding.flaws);
    let paths = flaws.filter_map(|flaw| Some(flaw.location.as_ref()?.file.as_str())).collect();
    texts_of(&prepared.submission.files, &paths)
}

fn texts_of(files: &[Material], paths: &HashSet<&str>) -> Vec<usize> {
    let is_wanted = |(_, file): &(usize, &Material)| is_text(file) && paths.contains(file.path.as_str());
    files.iter().enumerate().filter(is_wanted).map(|(index, _)| index).collect()
}

fn is_text(file: &Material) -> bool {
    matches!(file.content, Content::Text | Content::Cut)
}

/// Returns how many were left out for want of room.
fn keep_now(
    contents: &Contents,
    planner: &Planner,
    prepared: &Prepared,
    wanted: &[usize],
    stop: &AtomicBool,
) -> io::Result<usize> {
    let Some(mut keeper) = contents.keeper()? else { return Ok(0) };
    let redaction = planner.redaction.identity();
    for index in wanted {
        if stop.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let Some(file) = prepared.submission.files.get(*index) else { continue };
        if keeper.has(&file.digest, redaction) {
            continue;
        }
        // What has changed meanwhile has no text that was judged.
        let Some(text) = text_of(&planner.root, prepared, *index, file) else { continue };
        let (text, _) = planner.redaction.redact(&text);
        keeper.add(&Judged { digest: &file.digest, text: &text, redaction })?;
    }
    let left_out = keeper.left_out;
    keeper.sweep().map(|()| left_out)
}

fn text_of(root: &Root, prepared: &Prepared, index: usize, file: &Material) -> Option<String> {
    match file.form {
        Form::File => text_now(root, file),
        Form::Patch | Form::Summary => prepared.request.change.as_ref()?.text(index).map(str::to_owned),
    }
}

/// The text of a file, if it is what was judged.
fn text_now(root: &Root, file: &Material) -> Option<String> {
    if file.size_bytes > FILE_BYTES_MAX {
        return None;
    }
    match workspace::read_body_now(root, file) {
        Ok(Body::Text(text)) => Some(text),
        _ => None,
    }
}

/// Finds what was judged, to show it: the file itself while it is the same, else what was kept.
pub struct JudgedFiles {
    root: Root,
    contents: Option<Contents>,
    redaction: Redaction,
}

/// A text as it was judged, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedText {
    pub text: String,
    pub now: FileNow,
    /// When it was kept, to the day; none where it was not looked for, because the file is the same.
    pub at: Option<SystemTime>,
}

/// What became of a file since it was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileNow {
    Same,
    Changed,
    Gone,
}

/// Why a text cannot be shown as it was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotShown {
    NotText,
    /// It is longer than what is kept.
    TooLong,
    /// It has changed, and was not kept or is not kept any more.
    NotKept,
    /// It has changed, and what was kept of it is not what was written.
    Edited,
}

impl JudgedFiles {
    pub fn new(root: Root, ledger: &Ledger, keep_contents_days: u32, redaction: Redaction) -> Self {
        let contents = ledger.dir().map(|dir| contents(dir, keep_contents_days));
        Self { root, contents, redaction }
    }

    /// The text of a material. Reads files: not for the async runtime.
    pub fn text(&self, file: &Material) -> Result<JudgedText, NotShown> {
        if !is_text(file) {
            return Err(NotShown::NotText);
        }
        if file.form.is_file() && file.size_bytes > FILE_BYTES_MAX {
            return Err(NotShown::TooLong);
        }
        let hidden = |text: String| self.redaction.hide(&text);
        if file.form.is_file()
            && let Some(text) = text_now(&self.root, file)
        {
            return Ok(JudgedText { text: hidden(text), now: FileNow::Same, at: None });
        }
        let now = match self.root.join(&file.path).symlink_metadata() {
            Ok(_) => FileNow::Changed,
            Err(_) => FileNow::Gone,
        };
        let kept = self.contents.as_ref().map_or(Err(NotKept::Gone), |contents| contents.find(&file.digest));
        match kept {
            // Other secrets may be replaced today than when it was kept.
            Ok(kept) => Ok(JudgedText { text: hidden(kept.text), now, at: Some(kept.at) }),
            Err(NotKept::Gone) => Err(NotShown::NotKept),
            Err(NotKept::Edited) => Err(NotShown::Edited),
        }
    }
}
