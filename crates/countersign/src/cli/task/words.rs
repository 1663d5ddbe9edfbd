//! What `countersign task` says: text for people, keys for programs.

use crate::output::{Answer, Reader, bold, dim};
use countersign_core::answer::ReviewResult;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_doors::service::event::{ServiceEvent, TaskReview};
use countersign_doors::service::pipeline::Finished;
use countersign_doors::service::task::{Home, Task, TaskStatus};
use countersign_engine::config::Trigger;
use serde_json::{Value, json};

/// A task for programs.
pub fn task_json(task: &Task, reviewed_now: bool) -> Value {
    let plan = match &task.home {
        Home::Plan { file } => Some(file),
        Home::Ledger => None,
    };
    json!({
        "id": task.id, "title": task.title, "scope": task.scope, "acceptance": task.acceptance,
        "status": task.status.word(), "plan": plan, "review_running": reviewed_now,
    })
}

/// One task for programs, with what is known only where a review has just ended.
fn one(task: &Task, reviewed_now: bool, review: Option<&TaskReview>, next: &[String]) -> Value {
    json!({
        "task": task_json(task, reviewed_now), "review": review, "max_revisions": null, "notification": null,
        "next": next,
    })
}

/// A task in a line.
fn line(task: &Task) -> String {
    format!("{} {} [{}]", visible_line(&task.id), visible_line(&task.title), task.status.word())
}

/// A task that moved.
pub fn moved(task: &Task, words: &str) -> Answer {
    let text = format!("{}: {words}\n", line(task));
    Answer::new(Outcome::Passed, text, one(task, false, None, &[]))
}

/// A task that waits for somebody to ask for its review.
pub fn waits(task: &Task, trigger: Trigger) -> Answer {
    let next = format!("countersign task review {}", typed(&task.id));
    let text = format!(
        "{}: waits for its review (`review.trigger` is {})\n{}\n",
        line(task),
        trigger.word(),
        dim(&format!("next: {next}"))
    );
    Answer::new(Outcome::AwaitingPerson, text, one(task, false, None, &[next]))
}

fn typed(id: &str) -> String {
    visible_line(id).into_owned()
}

/// All tasks.
pub fn listed(tasks: &[Task], active: &[bool]) -> Answer {
    let mut text = String::new();
    for (task, now) in tasks.iter().zip(active) {
        let now = if *now { " (review running)" } else { "" };
        text.push_str(&format!("{}{now}\n", line(task)));
    }
    if tasks.is_empty() {
        text.push_str("there are no tasks: write a PLAN.md, or countersign task add TITLE\n");
    }
    let all: Vec<Value> = tasks.iter().zip(active).map(|(task, now)| task_json(task, *now)).collect();
    let running = tasks.iter().zip(active).filter(|(_, now)| **now).map(|(task, _)| task.id.as_str());
    let running: Vec<&str> = running.collect();
    Answer::new(Outcome::Passed, text, json!({ "tasks": all, "active_reviews": running }))
}

/// One task, with its last review.
pub fn shown(task: &Task, last: Option<&ServiceEvent>, reviewed_now: bool) -> Answer {
    let mut text = format!("{}\n", bold(&line(task)));
    for (label, value) in [("scope", &task.scope), ("acceptance", &task.acceptance)] {
        if let Some(value) = value {
            text.push_str(&format!("  {label}: {}\n", visible_line(value)));
        }
    }
    if reviewed_now {
        text.push_str("  a review is under way\n");
    }
    let review = last.map(|event| &event.happened().review);
    if let Some(review) = review {
        text.push_str(&review_text(review));
    }
    let json = one(task, reviewed_now, review, &[]);
    match task.status {
        TaskStatus::Complete => Answer::new(Outcome::Passed, text, json),
        TaskStatus::Skipped => Answer::new(Outcome::Skipped, text, json),
        // Looking at a task that is not over is no outcome.
        _ => Answer::pending(text, json).done(),
    }
}

/// What a review came to, in a few words.
pub fn result_words(review: &TaskReview) -> String {
    match &review.error {
        Some(why) => format!("no verdict: {why}"),
        None => format!("{} in attempt {}", review.result.word(), review.attempt),
    }
}

fn review_text(review: &TaskReview) -> String {
    let TaskReview { issues, summary, .. } = review;
    let mut text = format!("  {}\n", visible_line(&result_words(review)));
    if !summary.trim().is_empty() {
        text.push_str(&format!("  {}\n", visible_line(summary)));
    }
    text.extend(issues.iter().map(|issue| format!("  - {}\n", visible_line(issue))));
    text
}

/// How a review ended, and what to do now.
pub fn finished(finished: &Finished) -> Answer {
    let Finished { task, happened, outcome, max_revisions, .. } = finished;
    let review = &happened.review;
    let id = typed(&task.id);
    let again = format!("countersign task done {id}");
    let mut text = match (&review.error, review.result) {
        (Some(why), _) => format!("{}: no verdict: {}\n", line(task), visible_line(why)),
        (None, ReviewResult::Approved) => format!("{}: approved\n", line(task)),
        (None, result) => {
            format!("{}: {} (attempt {} of {max_revisions})\n", line(task), result.word(), review.attempt)
        }
    };
    if !review.summary.trim().is_empty() {
        text.push_str(&format!("  {}\n", visible_line(&review.summary)));
    }
    text.extend(review.issues.iter().map(|issue| format!("  - {}\n", visible_line(issue))));
    let next = match task.status {
        TaskStatus::InProgress => {
            let found = finished.judged.as_ref().and_then(|(_, stored)| stored.review.findings().pop());
            let dispute = found.map(|found| {
                format!("or, where it is wrong: countersign dispute {} --evidence TEXT", found.id)
            });
            let mend = ["mend what was found".to_owned(), format!("then {again}")];
            mend.into_iter().chain(dispute).collect()
        }
        TaskStatus::AwaitingReview if *outcome == Outcome::AwaitingPerson => {
            vec![Reader::of_command().person_decides(&id, || {
                format!("a person decides: countersign approve|reject|fix|skip {id} --reason TEXT")
            })]
        }
        TaskStatus::AwaitingReview => vec![format!("countersign task review {id}")],
        TaskStatus::Blocked => {
            let id = review.id.clone().unwrap_or_default();
            vec![Reader::of_command().person_decides(&id, || {
                format!("a person decides: countersign unblock {id} --reason TEXT, or approve")
            })]
        }
        _ => vec![],
    };
    if let Some(told) = &happened.notification {
        text.push_str(&format!("{}: {}\n", bold(&visible_line(&told.title)), visible_line(&told.message)));
    }
    text.extend(next.iter().map(|next| format!("{}\n", dim(&format!("next: {next}")))));
    let mut json = one(task, false, Some(review), &next);
    json["max_revisions"] = json!(max_revisions);
    json["notification"] = json!(happened.notification);
    Answer::new(*outcome, text, json)
}
