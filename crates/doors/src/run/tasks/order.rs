//! Which tasks can run now, and in which order.

use super::{Status, Task, TaskList};

/// What can run now: what is in progress, then what is to be done and waits for nothing; by priority, and within
/// one priority in the order of the file. Tasks in review or blocked wait for a person.
pub(in crate::run) fn ready<'l>(list: &'l TaskList, milestone: Option<&str>) -> Vec<&'l Task> {
    let can_run = |task: &&Task| match task.status {
        Status::InProgress => true,
        Status::Todo => waits_for(list, task).is_empty(),
        Status::Review | Status::Done | Status::Blocked => false,
    };
    let wanted = |task: &&Task| milestone.is_none_or(|wanted| in_milestone(task, wanted));
    let mut tasks: Vec<_> = list.tasks().iter().filter(wanted).filter(can_run).collect();
    tasks.sort_by_key(|task| (task.status != Status::InProgress, task.priority));
    tasks
}

/// The dependencies of a task that are not done. One that does not exist is not done.
pub(in crate::run) fn waits_for<'t>(list: &TaskList, task: &'t Task) -> Vec<&'t str> {
    let done = |id: &str| list.get(id).is_some_and(|other| other.status == Status::Done);
    task.depends_on.iter().map(String::as_str).filter(|id| !done(id)).collect()
}

/// Whether a task stands under a milestone whose name has this in it, in any case.
pub(in crate::run) fn in_milestone(task: &Task, wanted: &str) -> bool {
    task.milestone.as_ref().is_some_and(|name| name.to_lowercase().contains(&wanted.trim().to_lowercase()))
}
