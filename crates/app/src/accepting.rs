//! What is accepted of the work that is handed in: debt of the baseline, and the exceptions in its files as far as the base
//! has them.

use crate::Failure;
use crate::authority::{self, FlagsFrom};
use crate::baseline;
use crate::project::Project;
use countersign_core::accepting::{Accepting, Exception, Written, exceptions, given};
use countersign_core::prompt::Body;
use countersign_core::submission::{Content, Material};
use countersign_core::text::decode;
use countersign_engine::engine::{Planner, Prepared};
use countersign_engine::git::Git;
use countersign_engine::workspace::{self, Root};
use std::collections::BTreeMap;

/// Larger files have no exceptions.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The same work, judged beside what is accepted of it.
pub async fn accept(project: &Project, planner: &Planner, prepared: Prepared) -> Result<Prepared, Failure> {
    if project.authority.is_none() && prepared.request.change.is_none() {
        baseline::in_files(project.root.path())?;
    }
    let submission = prepared.submission;
    let accepting = Accepting {
        baseline: planner.debts(&submission),
        exceptions: known(project, planner, &prepared.request.change, &submission.files).await?,
    };
    Ok(Prepared { submission: submission.accepting(accepting), ..prepared })
}

type Handed = Option<countersign_engine::engine::SubmittedChange>;

/// The exceptions in these files, without secrets, marked where the base has them too.
async fn known(
    project: &Project,
    planner: &Planner,
    change: &Handed,
    files: &[Material],
) -> Result<Vec<Exception>, Failure> {
    let found = look(planner.root.clone(), files).await?;
    if found.is_empty() {
        return Ok(vec![]);
    }
    let base = match change {
        Some(handed) => handed.change().base.clone(),
        None => base(project).await,
    };
    let git = Git::at(planner.root.path());
    let mut all = vec![];
    for (path, now) in found {
        let file =
            change.as_ref().and_then(|handed| handed.change().files.iter().find(|file| file.path == path));
        let before = file.and_then(|file| file.old_path.as_ref()).unwrap_or(&path);
        let then = match &base {
            Some(base) => git.file_at(base, before).await.ok().flatten().and_then(decode),
            None => None,
        };
        let then = then.map(|text| exceptions(before, &text)).unwrap_or_default();
        all.extend(given(now, &then));
    }
    for exception in &mut all {
        exception.reason = planner.redaction.redact(&exception.reason).0.into_owned();
    }
    Ok(all)
}

/// What a question about whole files takes for the base: where the branch left the default one; for a gate what it trusts.
async fn base(project: &Project) -> Option<String> {
    match project.authority {
        Some(_) => authority::base(project, FlagsFrom::Caller, None).await.ok()?.0,
        None => Git::at(project.root.path()).base(None, None).await.ok()?,
    }
}

/// The exceptions of each file that has some.
async fn look(root: Root, files: &[Material]) -> Result<BTreeMap<String, Vec<Written>>, Failure> {
    let is_read = |file: &&Material| {
        file.form.is_file() && file.content == Content::Text && file.size_bytes <= FILE_BYTES_MAX
    };
    let files: Vec<Material> = files.iter().filter(is_read).cloned().collect();
    let read = move || {
        let mut found = BTreeMap::new();
        for file in &files {
            // A file that changed meanwhile has no exceptions: its verdict will be stale.
            let Ok(Body::Text(text)) = workspace::read_body_now(&root, file) else { continue };
            let written = exceptions(&file.path, &text);
            if !written.is_empty() {
                found.insert(file.path.clone(), written);
            }
        }
        found
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| Failure::internal(error.to_string()))
}
