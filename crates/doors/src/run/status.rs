//! The lines of `status` for tasks, and the counts of their states.

use super::state::{ReviewStatus, Summary, TaskState};
use super::tasks::{Status, Task, TaskList};
use countersign_core::answer::remarks;
use countersign_core::text::{counted, visible_line};
use std::collections::{BTreeMap, HashMap};

/// States are padded to the length of `success`.
const STATE_WIDTH: usize = 7;

#[derive(Clone, Copy, Debug)]
pub struct TaskLine<'s> {
    pub task: &'s Task,
    pub summary: Option<&'s Summary>,
}

impl TaskLine<'_> {
    /// Its state; that of the list where it never ran.
    pub fn state(&self) -> TaskState {
        match (self.summary, self.task.status) {
            (Some(summary), _) => summary.state.clone(),
            (None, Status::Done) => TaskState::Success,
            (None, _) => TaskState::Pending,
        }
    }

    /// The line: `TASK-001: success (review: passed, 2 issues)`, or `TASK-003: pending` without a review.
    pub fn line(&self) -> String {
        let state = self.state();
        let state = visible_line(state.word());
        let id = &self.task.id;
        let review = self.summary.and_then(|summary| Some((summary.review_status.as_ref()?, summary.issues)));
        if state == TaskState::Running.word() && self.task.status == Status::Review {
            return format!("{id}: {state:STATE_WIDTH$} (review: awaiting a person)");
        }
        let Some((review, issues)) = review.filter(|(review, _)| **review != ReviewStatus::NotRun) else {
            return format!("{id}: {state}");
        };
        let issues = match issues {
            0 => String::new(),
            some => format!(", {}", counted(some, "issue", "issues")),
        };
        format!("{id}: {state:STATE_WIDTH$} (review: {}{issues})", visible_line(review.word()))
    }
}

pub fn standings<'s>(list: &'s TaskList, summaries: &'s [Summary]) -> Vec<TaskLine<'s>> {
    let by_id: HashMap<&str, &Summary> = summaries.iter().map(|one| (one.task_id.as_str(), one)).collect();
    let standing = |task: &'s Task| TaskLine { task, summary: by_id.get(task.id.as_str()).copied() };
    list.tasks().iter().map(standing).collect()
}

pub fn counts(standings: &[TaskLine<'_>]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for standing in standings {
        *counts.entry(standing.state().word().to_owned()).or_default() += 1;
    }
    counts
}

/// The number of issues in recorded findings: the number in `N issues found`, or the lines with a severity.
pub fn issues_in(findings: &str) -> usize {
    let plain = |line: &str| line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let stated = findings.lines().find_map(|line| {
        let line = plain(line);
        let (number, rest) = line.split_once(' ')?;
        (rest.starts_with("issues found") || rest.starts_with("issue found")).then(|| number.parse().ok())?
    });
    stated.unwrap_or_else(|| remarks(findings).len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tasks::parse;
    use countersign_engine::yaml::Source;

    fn summary(id: &str, state: &str, review: Option<&str>, issues: usize) -> Summary {
        Summary {
            task_id: id.into(),
            state: TaskState::from(state),
            attempts: 1,
            cost_usd: None,
            error_code: None,
            review_status: review.map(ReviewStatus::from),
            issues,
            review_id: None,
            started_at: None,
        }
    }

    /// RUN-6.
    #[test]
    fn run_6_status_shows_the_verdict_per_task() {
        let text: String = (1..=9)
            .map(|n| format!("### TASK-00{n}: n\nP0 | {}\n", if n == 8 { "DONE" } else { "TODO" }))
            .collect();
        let list = parse(&Source::new("t", &text)).list;
        let summaries = [
            summary("TASK-009", "gone\u{1b}[31m", Some("new\nword"), 0),
            summary("TASK-001", "success", Some("passed"), 0),
            summary("TASK-002", "success", Some("fixed"), 2),
            summary("TASK-003", "failed", Some("rejected"), 0),
            summary("TASK-004", "running", None, 0),
            summary("TASK-005", "failed", Some("failed"), 1),
            summary("TASK-006", "success", Some("not_run"), 0),
            summary("TASK-100", "success", Some("passed"), 0),
        ];
        let standings = standings(&list, &summaries);
        let lines: Vec<_> = standings.iter().map(TaskLine::line).collect();
        let expect = [
            "TASK-001: success (review: passed)",
            "TASK-002: success (review: fixed, 2 issues)",
            "TASK-003: failed  (review: rejected)",
            "TASK-004: running",
            "TASK-005: failed  (review: failed, 1 issue)",
            "TASK-006: success",
            "TASK-007: pending",
            "TASK-008: success",
        ];
        assert_eq!(lines[..8], expect);
        assert!(!lines[8].contains(['\u{1b}', '\n']), "{}", lines[8]);
        let counts = counts(&standings);
        assert_eq!((counts["success"], counts["failed"], counts["pending"], counts["running"]), (4, 2, 1, 1));
    }

    #[test]
    fn issues_are_counted_as_reviewers_write_them() {
        for (findings, expect) in [
            ("", 0),
            ("All good.", 0),
            ("2 issues found:\n  MAJOR: a (b.py:45)\n  MINOR: c (d.py:1)\n", 2),
            ("12 issues found:\n  MAJOR: a [cut: 10 of 99 bytes shown]", 12),
            ("1 issue found:\n  INFO: a", 1),
            ("- **MAJOR**: a\n- [minor]: b\n* NIT: c\nBLOCKER: d", 4),
            ("MAJOR improvements\nMAJORITY: no\nFine: yes", 0),
        ] {
            assert_eq!(issues_in(findings), expect, "{findings}");
        }
    }
}
