//! The texts of `countersign task`.

use crate::formats::Report;
use crate::output::{Answer, bold, dim};
use countersign_app::answer::v1;
use countersign_app::answer::v1::task::{OneTask, Task, Tasks};
use countersign_app::task::{Reviewed, WithoutReview};
use countersign_core::answer::ReviewResult;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_doors::service::event::TaskReview;

fn line(task: &Task) -> String {
    let other =
        task.plan_says.map(|status| format!(" (the plan says {})", status.word())).unwrap_or_default();
    format!("{} {} [{}]{other}", visible_line(&task.id), visible_line(&task.title), task.status.word())
}

fn next(answer: &OneTask) -> String {
    answer.next.iter().map(|next| format!("{}\n", dim(&format!("next: {next}")))).collect()
}

pub fn moved(answer: &OneTask, words: &str) -> Answer {
    Answer::new(Outcome::Passed, format!("{}: {words}\n", line(&answer.task)), answer)
}

/// A task about which no reviewer needs to be asked.
pub fn did(did: WithoutReview, answer: &OneTask) -> Answer {
    let words = match did {
        WithoutReview::Nothing => "is already complete".to_owned(),
        WithoutReview::Completed => "is complete: reviews are switched off (`review.enabled`)".to_owned(),
        WithoutReview::Waits(trigger) => {
            format!("waits for its review (`review.trigger` is {})", trigger.word())
        }
    };
    let text = format!("{}: {words}\n{}", line(&answer.task), next(answer));
    reported(Answer::new(did.outcome(), text, answer), answer)
}

pub fn listed(answer: v1::Answer<Tasks>) -> Answer {
    let row = |task: &Task| {
        let now = if task.review_running { " (review running)" } else { "" };
        format!("{}{now}\n", line(task))
    };
    let text = match answer.own.tasks.is_empty() {
        true => "there are no tasks: write a PLAN.md, or countersign task add TITLE\n".to_owned(),
        false => answer.own.tasks.iter().map(row).collect(),
    };
    Answer::of(answer, text)
}

pub fn shown(answer: &OneTask) -> Answer {
    let task = &answer.task;
    let mut text = format!("{}\n", bold(&line(task)));
    for (label, value) in [("scope", &task.scope), ("acceptance", &task.acceptance)] {
        if let Some(value) = value {
            text.push_str(&format!("  {label}: {}\n", visible_line(value)));
        }
    }
    if task.review_running {
        text.push_str("  a review is under way\n");
    }
    if let Some(review) = &answer.review {
        text.push_str(&format!("  {}\n{}", visible_line(&result_words(review)), found(review)));
    }
    reported(Answer::of(answer.clone().shown(), text), answer)
}

pub fn result_words(review: &TaskReview) -> String {
    match &review.error {
        Some(why) => format!("no verdict: {why}"),
        None => format!("{} in attempt {}", review.result.word(), review.attempt),
    }
}

fn found(review: &TaskReview) -> String {
    let mut text = match review.summary.trim().is_empty() {
        true => String::new(),
        false => format!("  {}\n", visible_line(&review.summary)),
    };
    text.extend(review.issues.iter().map(|issue| format!("  - {}\n", visible_line(issue))));
    text
}

pub fn finished(reviewed: &Reviewed) -> Answer {
    let answer = &reviewed.answer;
    let mut text = format!("{}: ", line(&answer.task));
    if let Some(review) = &answer.review {
        text.push_str(&match (&review.error, review.result) {
            (Some(why), _) => format!("no verdict: {}\n", visible_line(why)),
            (None, ReviewResult::Approved) => "approved\n".to_owned(),
            (None, result) => {
                let most = answer.max_revisions.unwrap_or_default();
                format!("{} (attempt {} of {most})\n", result.word(), review.attempt)
            }
        });
        text.push_str(&found(review));
    }
    if let Some(told) = &answer.notification {
        text.push_str(&format!("{}: {}\n", bold(&visible_line(&told.title)), visible_line(&told.message)));
    }
    text.push_str(&next(answer));
    reported(Answer::new(reviewed.outcome, text, answer).warned(reviewed.warnings.clone()), answer)
}

fn reported(answer: Answer, task: &OneTask) -> Answer {
    let report = Report::of_task(&answer.json, task);
    answer.reporting(report)
}
