//! Holds the files that reviewers and commands read themselves: they must be what was handed in for as long as they can
//! be read.

use super::submitted_change::wanted;
use super::{Engine, EngineError, Result};
use crate::reviewer::{Brief, Failed, Files, LetGo, ReviewerReply};
use crate::scratch::Scratch;
use crate::workspace::{self, Changed, GuardedFile, HeldFiles, Root};
use countersign_core::outcome::NoVerdict;
use countersign_core::prompt::Body;
use countersign_core::review::Confirmation;
use countersign_core::submission::{Content, Form, Material, Submission};
use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Copies of what the question does not show.
    Copies,
    Project,
    /// The project, where it may fix what it finds. The caller reads the files again.
    ProjectToMend,
}

impl Access {
    pub(super) fn of(sees_project: bool) -> Self {
        if sees_project { Self::Project } else { Self::Copies }
    }
}

/// A question with the folder its reviewer has for itself.
pub(super) struct Private {
    pub brief: Brief,
    pub _folder: Scratch,
    pub held: Option<HeldFiles>,
}

impl Private {
    /// Ends the hold. The answer is taken away where the reviewer may have read something else than was handed in.
    pub(super) async fn let_go<T>(self, told: ReviewerReply<T>) -> ReviewerReply<T> {
        let Some(held) = self.held.filter(|_| told.result.is_ok()) else { return told };
        let ended = tokio::task::spawn_blocking(move || held.end().map_err(stale)).await;
        let ended = ended.unwrap_or_else(|error| {
            let words = format!("the files could not be checked again: {error}");
            Err(Failed::new(NoVerdict::Unavailable, words))
        });
        told.and_then(|said| ended.map(|()| said))
    }
}

/// Holds files while they are read by their paths.
pub(super) async fn hold(root: Root, files: Vec<GuardedFile>) -> Result<Option<HeldFiles>, Failed> {
    if files.is_empty() {
        return Ok(None);
    }
    let held = tokio::task::spawn_blocking(move || hold_now(&root, files)).await;
    held.unwrap_or_else(|error| Err(not_held(&io::Error::other(error)))).map(Some)
}

fn hold_now(root: &Root, files: Vec<GuardedFile>) -> Result<HeldFiles, Failed> {
    HeldFiles::begin(root, files).map_err(|error| not_held(&error))?.map_err(stale)
}

/// The files of the project behind what was handed in. A summary stands for none.
pub(super) fn kept(materials: &[Material]) -> Vec<GuardedFile> {
    materials.iter().filter(|material| material.form != Form::Summary).map(GuardedFile::of).collect()
}

pub(super) fn stale(changed: Changed) -> Failed {
    Failed::new(NoVerdict::Stale, changed.to_string())
}

pub(super) fn no_private_folder(error: io::Error) -> Failed {
    Failed::new(NoVerdict::Unavailable, format!("no private folder for the reviewer: {error}"))
}

fn not_held(error: &io::Error) -> Failed {
    let words = format!("the files could not be watched for changes while they are read: {error}");
    Failed::new(NoVerdict::Unavailable, words)
}

impl Engine {
    /// Whether the files are still what was handed in.
    pub(super) async fn look_at_files(&self, submission: &Submission) -> Result<Confirmation> {
        let root = &self.0.planner.root;
        if let Some(of) = &submission.change
            && workspace::fingerprint(root, &wanted(of)).await? != of.fingerprint
        {
            return Ok(Confirmation::Changed);
        }
        let in_change = submission.change.is_some();
        // Also in a change: git may take other bytes of a file for the same, and checks do not.
        let files: Vec<_> = submission.files.iter().filter(|file| can_be_gathered(file, in_change)).collect();
        let paths = files.iter().map(|file| (file.path.clone(), file.output)).collect();
        let now = workspace::gather(root, paths).await;
        let now = now.map_err(EngineError::io("could not look at the files again"))?;
        // What was shown beside them too.
        let named: Vec<_> = submission.guidance_files.iter().map(|named| &named.file).collect();
        let context =
            workspace::gather(root, named.iter().map(|file| (file.path.clone(), 0)).collect()).await;
        let context = context.map_err(EngineError::io("could not look at the files again"))?;
        let is_same = now.iter().eq(files) && context.iter().eq(named);
        Ok(if is_same { Confirmation::Same } else { Confirmation::Changed })
    }
}

/// Whether a material is a file at its path. One of a change that could not be read may have another name.
fn can_be_gathered(file: &Material, in_change: bool) -> bool {
    file.form.is_file() && !(in_change && matches!(file.content, Content::Unreadable(_)))
}

/// The project, as checks look at it.
pub(super) struct ProjectFiles {
    pub root: Root,
}

impl Files for ProjectFiles {
    fn body(&self, file: &Material) -> Result<Body, Failed> {
        workspace::read_body_now(&self.root, file).map_err(stale)
    }

    fn exists(&self, path: &str) -> bool {
        self.root.relative(self.root.path(), path.as_ref()).is_ok_and(|path| self.root.join(&path).exists())
    }

    fn hold(&self, files: &[Material]) -> Result<LetGo, Failed> {
        let held = hold_now(&self.root, kept(files))?;
        Ok(Box::new(|| held.end().map_err(stale)))
    }
}
