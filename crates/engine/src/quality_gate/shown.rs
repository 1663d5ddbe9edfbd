//! From paths as handed in to what a reviewer is shown of them. No file is touched on the async runtime.

use super::{MAX_PROMPT_BYTES, QualityGateError, StepWork};
use crate::workspace::{self, PathProblem, Root};
use countersign_core::prompt::{self, Body, Shown};
use countersign_core::rule::Rule;
use countersign_core::submission::{Content, Submission};
use std::io;
use std::path::{Component, Path};

/// Looks at every file of a step.
pub(super) async fn lay_out(work: &StepWork, rules: &[Rule]) -> Result<Submission, QualityGateError> {
    let outputs = work.named_outputs()?;
    let (root, given) = (work.root.clone(), work.given_paths(&outputs));
    let resolve = move || {
        given
            .into_iter()
            .map(|(path, output)| Ok((project_path(&root, path)?, output)))
            .collect::<Result<_, _>>()
    };
    let resolved: Result<Vec<_>, PathProblem> =
        tokio::task::spawn_blocking(resolve).await.map_err(io::Error::other)?;
    let files = workspace::gather(&work.root, resolved?).await?;
    Ok(Submission::new(rules, outputs, files, None))
}

/// The path relative to the root. One that plainly stands inside and cannot be followed is kept as it is: that
/// it is missing or cannot be read is shown to the reviewer, and reading it is refused should it lead out.
fn project_path(root: &Root, given: String) -> Result<String, PathProblem> {
    match root.relative(root.path(), Path::new(&given)) {
        Err(problem @ PathProblem::Unreadable { .. }) => {
            let path = Path::new(&given);
            let inside = path.strip_prefix(root.path()).unwrap_or(path);
            let plain =
                inside.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            inside.to_str().filter(|_| plain).map(str::to_owned).ok_or(problem)
        }
        other => other,
    }
}

/// What is shown of these files: contents where they fit, else paths.
pub(super) async fn show(
    work: &StepWork,
    submission: &Submission,
    files: &[usize],
    max_inline_files: usize,
) -> Result<Vec<Shown>, QualityGateError> {
    let files: Vec<_> = files.iter().filter_map(|file| submission.files.get(*file)).collect();
    // What is not text is a line in the prompt, whatever its size.
    let text = files.iter().filter(|file| file.content == Content::Text);
    let bytes = text.map(|file| file.size_bytes).sum();
    let inline = prompt::fits_inline(files.len(), bytes, Some(max_inline_files), MAX_PROMPT_BYTES);
    let mut shown = Vec::with_capacity(files.len());
    for file in files {
        let body = if inline { workspace::read_body(&work.root, file).await? } else { Body::Listed };
        let output = submission.output_name(file).to_owned();
        shown.push(Shown { path: file.path.clone(), output, body });
    }
    Ok(shown)
}
