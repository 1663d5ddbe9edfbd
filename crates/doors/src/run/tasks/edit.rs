//! Edits of `tasks.md`: a new status, a ticked checklist. All other bytes stay, line endings included.

use super::Status;
use super::scan::{Section, scan};
use countersign_core::markdown::{replaced, split_mark};
use std::ops::Range;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("tasks.md has no task {0} any more")]
    Missing(String),
    #[error("tasks.md has {0} more than once")]
    Twice(String),
    #[error("task {0} of tasks.md has no line with priority and status")]
    NoStatus(String),
}

/// The text with this task in this status: the word, and the sign before it, if there is one.
pub(in crate::run) fn set_status(text: &str, id: &str, status: Status) -> Result<String, EditError> {
    let (mark, body) = split_mark(text);
    let section = find(body, id)?;
    let good = |span: &Range<usize>| body.get(span.clone()).is_some_and(|word| Status::of(word).is_some());
    let meta = section.meta.filter(|meta| good(&meta.status));
    let meta = meta.ok_or_else(|| EditError::NoStatus(id.to_owned()))?;
    let mut changes = vec![(meta.status, status.word())];
    changes.extend(meta.sign.map(|sign| (sign, status.sign())));
    Ok(mark.to_owned() + &replaced(body, changes))
}

/// The text with every box of this task's checklist ticked, and how many were open.
pub(in crate::run) fn tick_checklist(text: &str, id: &str) -> Result<(String, usize), EditError> {
    let (mark, body) = split_mark(text);
    let section = find(body, id)?;
    let ticks = section.items.into_iter().map(|(tick, _)| tick);
    let open: Vec<_> =
        ticks.filter(|tick| body.get(tick.clone()) == Some(" ")).map(|tick| (tick, "x")).collect();
    let count = open.len();
    Ok((mark.to_owned() + &replaced(body, open), count))
}

fn find(body: &str, id: &str) -> Result<Section, EditError> {
    let sections = scan(body).sections.into_iter();
    let mut same = sections.filter(|section| body.get(section.id.clone()) == Some(id));
    match (same.next(), same.next()) {
        (Some(section), None) => Ok(section),
        (Some(_), Some(_)) => Err(EditError::Twice(id.to_owned())),
        (None, _) => Err(EditError::Missing(id.to_owned())),
    }
}
