//! A change that does not fit into one question: as many files as fit into each, and one question about all of them in a
//! few lines.

use super::{Batch, ReviewerKind, Target, files_where};
use crate::prompt::DIFF_BYTES_MAX;
use crate::submission::{Form, Submission};

pub(super) fn split(
    whole: Target,
    files: Vec<usize>,
    submission: &Submission,
    room: Option<u64>,
) -> Vec<(Target, Vec<usize>)> {
    let summary = files_where(submission, |file| file.form == Form::Summary);
    let packs = packs(files, submission, room).into_iter();
    let mut targets: Vec<_> = packs.map(|files| (Target::Matching.of(&files, submission), files)).collect();
    if !summary.is_empty() {
        targets.push((whole, summary));
    }
    targets
}

pub(super) fn fits(files: &[usize], submission: &Submission, room: Option<u64>) -> bool {
    let bytes: u64 = files.iter().map(|file| submission.files[*file].size_bytes).sum();
    room.is_none_or(|room| bytes <= room)
}

/// The files in their order, so that those of one folder stay together, each where the ones before it leave room. A file
/// that fits nowhere is alone: it does not take the others with it.
fn packs(files: Vec<usize>, submission: &Submission, room: Option<u64>) -> Vec<Vec<usize>> {
    let mut packs: Vec<Vec<usize>> = vec![];
    let mut open: Vec<usize> = vec![];
    for file in files {
        if !fits(&[file], submission, room) {
            packs.push(vec![file]);
            continue;
        }
        open.push(file);
        if !fits(&open, submission, room) {
            open.pop();
            packs.push(std::mem::replace(&mut open, vec![file]));
        }
    }
    packs.extend((!open.is_empty()).then_some(open));
    packs
}

/// How many bytes fit into a question to the first reviewer. The author of a self-review reads everything.
pub(super) fn room(batches: &[&Batch], submission: &Submission) -> Option<u64> {
    let first = |batch: &&Batch| {
        let judges = &batch.judges;
        let by_author = judges.first().is_some_and(|judge| judge.kind == ReviewerKind::SelfReview);
        judges.iter().find(|judge| judge.kind == ReviewerKind::Asked && !by_author).cloned()
    };
    let asked = batches.iter().find_map(first)?;
    let most = submission.change.as_ref().map(|_| DIFF_BYTES_MAX as u64);
    asked.room_bytes.into_iter().chain(most).min()
}
