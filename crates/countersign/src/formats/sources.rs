//! Reports of typed answers: of a verdict, a run, a task, and of what failed.

use super::report::{Item, Kind, OWN, Passed, Place, Report};
use crate::output::{accepted_why, gate_words, listed, outcome_words, reasons, totals};
use countersign_app::answer::v1::baseline::Accepted;
use countersign_app::answer::v1::run::{NotRun, Results, TaskResult, TaskState};
use countersign_app::answer::v1::task::OneTask;
use countersign_app::answer::v1::{
    Answer, AssignmentState, Coverage, Failed, Finding, Mistake, ShownFlaw, Verdict,
};
use countersign_core::answer::{Location, ReviewResult};
use countersign_core::outcome::Outcome;
use countersign_core::text::counted;
use serde_json::Value;
use std::path::Path;

/// The place of what is wrong in a file of rules or work.
fn place(location: &Location) -> Place {
    Place { path: location.file.clone(), line: location.line, end_line: location.end_line }
}

fn in_file(path: &str) -> Place {
    Place { path: path.to_owned(), line: None, end_line: None }
}

impl Report {
    pub fn of_verdict(answer: &Answer<Verdict>) -> Self {
        let verdict = &answer.own;
        let outcome = answer.outcome.map(|outcome| outcome.0);
        let found = [(Kind::Blocks, &verdict.findings), (Kind::Advice, &verdict.waived)];
        let mut items: Vec<Item> = found
            .into_iter()
            .flat_map(|(kind, findings)| findings.iter().flat_map(move |finding| items_of(kind, finding)))
            .collect();
        items.extend(verdict.accepted.iter().flat_map(accepted));
        for (targets, why, details) in reasons(&verdict.assignments) {
            let words = format!("{}: {}\n{}", listed(&targets), why.words(), details.join("\n"));
            // The first target only: how many have the same reason changes from run to run.
            let first = targets.first().copied().unwrap_or_default();
            let own = Item::own(Kind::NoVerdict, &format!("{}/{first}", why.name()), words.trim());
            items.push(Item { target: listed(&targets), ..own });
        }
        items.extend(verdict.coverage.iter().flat_map(not_judged));
        let passed = verdict.assignments.iter().filter(|one| one.state != AssignmentState::NoVerdict);
        let passed = passed.flat_map(|assignment| {
            let rule = assignment.planned.rule.clone().unwrap_or_default();
            let rulings = assignment.rulings.iter().flatten().filter(|ruling| ruling.passed);
            rulings.map(move |ruling| Passed {
                rule: rule.clone(),
                criterion: ruling.criterion.clone(),
                target: assignment.planned.target.clone(),
            })
        });
        Self {
            outcome,
            headline: totals(verdict, outcome),
            review: Some(verdict.review.id.to_string()),
            items,
            passed: passed.collect(),
            notes: notes(answer),
            next: verdict.next.clone(),
            folder: verdict.folder.clone(),
        }
        .finished()
    }

    pub fn of_run(answer: &Answer<Value>, results: &Results, next: Vec<String>) -> Self {
        let outcome = answer.outcome.map(|outcome| outcome.0);
        let (done, open): (Vec<_>, Vec<_>) =
            results.tasks.iter().partition(|task| task.state == TaskState::Success);
        let mut items: Vec<Item> = open.into_iter().map(task_item).collect();
        items.extend(results.not_run.iter().map(not_run));
        let passed = done.iter().map(|task| Passed {
            rule: "run".to_owned(),
            criterion: task.review_status.clone().unwrap_or_default(),
            target: task.task.clone(),
        });
        let mut notes = answer.warnings.clone();
        notes.extend(results.stopped.iter().map(|why| format!("stopped: {why}")));
        let count = counted(results.tasks.len() + results.not_run.len(), "task", "tasks");
        let headline = format!("{}: {count}, {} done", outcome_words(outcome), done.len());
        Self { outcome, headline, items, passed: passed.collect(), notes, next, ..Self::default() }.finished()
    }

    pub fn of_task(answer: &Answer<Value>, task: &OneTask) -> Self {
        let outcome = answer.outcome.map(|outcome| outcome.0);
        let title = format!("{} {}", task.task.id, task.task.title);
        let mut items = vec![];
        let mut notes = answer.warnings.clone();
        if let Some(review) = &task.review {
            let kind = match (&review.error, review.result) {
                (Some(_), _) => Kind::NoVerdict,
                (None, ReviewResult::Approved) => Kind::Advice,
                (None, _) => Kind::Blocks,
            };
            let words = review.error.iter().chain(&review.issues);
            items.extend(words.map(|issue| Item {
                rule: "task".to_owned(),
                criterion: "review".to_owned(),
                target: title.clone(),
                ..Item::own(kind, issue, issue)
            }));
            notes.push(review.summary.clone());
        } else {
            items.push(Item { target: title.clone(), ..Item::own(Kind::NotJudged, "task", "no review yet") });
        }
        let headline = format!("{title}: {}", outcome_words(outcome));
        let review = task.review.as_ref().and_then(|review| review.id.clone());
        notes.retain(|note| !note.trim().is_empty());
        Self { outcome, headline, review, items, notes, next: task.next.clone(), ..Self::default() }
            .finished()
    }

    /// Of a change that no rule is about.
    pub fn of_nothing(headline: String, files: &[String], warnings: &[String]) -> Self {
        let names: Vec<&str> = files.iter().map(String::as_str).collect();
        let own = Item::own(Kind::NotCovered, "files", format!("no rule is about: {}", listed(&names)));
        let items = vec![Item { place: files.first().map(|path| in_file(path)), ..own }];
        let outcome = Some(Outcome::NothingToJudge);
        Self { outcome, headline, items, notes: warnings.to_vec(), ..Self::default() }.finished()
    }

    /// Of an answer about nothing that was judged.
    pub fn of_other(answer: &Answer<Value>, text: &str) -> Self {
        let outcome = answer.outcome.map(|outcome| outcome.0);
        let first = text.lines().next().unwrap_or_default();
        let headline = format!("{}: {first}", outcome_words(outcome));
        let items = vec![Item::own(Kind::NotJudged, "answer", "this command asked no reviewer")];
        Self { outcome, headline, items, notes: answer.warnings.clone(), ..Self::default() }.finished()
    }

    /// Of what failed. `top` is the folder of the repository: paths are relative to it.
    pub fn of_failure(failed: &Failed, top: &Path) -> Self {
        let error = &failed.error;
        let mistakes = match error.problems.as_slice() {
            [] => std::slice::from_ref(&error.first),
            problems => problems,
        };
        let mut items: Vec<Item> = mistakes.iter().map(|mistake| mistake_item(mistake, top)).collect();
        if error.problems_left_out > 0 {
            let words = format!("{} more mistakes", error.problems_left_out);
            items.push(Item::own(Kind::Error, "more", words));
        }
        let outcome = Some(failed.outcome.0);
        let headline = format!("{}: {}", outcome_words(outcome), error.first.message);
        Self { outcome, headline, items, notes: failed.warnings.clone(), ..Self::default() }.finished()
    }
}

/// An item for each thing that is wrong.
fn items_of(kind: Kind, finding: &Finding) -> Vec<Item> {
    let criterion = finding.criterion.clone().unwrap_or_else(|| "the whole".to_owned());
    let item = |n: usize, shown: &ShownFlaw| {
        let flaw = &shown.flaw;
        let mut message = flaw.message.clone();
        if let Some(dropped) = &flaw.location_dropped {
            message.push_str(&format!(" (location dropped: {dropped})"));
        }
        if flaw.outside_change {
            message.push_str(" (outside the change)");
        }
        // What the reviewer says about all of them, once.
        if n == 0 && !finding.feedback.trim().is_empty() && !finding.feedback.contains(&flaw.message) {
            message.push_str(&format!("\n{}", finding.feedback.trim()));
        }
        Item {
            rule: finding.rule.clone(),
            criterion: criterion.clone(),
            help: finding.question.clone().unwrap_or_default(),
            severity: Some(finding.severity),
            place: flaw.location.as_ref().map(place).or_else(|| finding.file.as_deref().map(in_file)),
            target: finding.target.clone(),
            reviewer: Some(finding.reviewer.clone()),
            ..Item::own(kind, flaw.fingerprint.as_str(), message)
        }
    };
    finding.findings.iter().enumerate().map(|(n, shown)| item(n, shown)).collect()
}

/// A finding that is accepted, with the reason.
fn accepted(one: &Accepted) -> Vec<Item> {
    let mut shown = ShownFlaw::from(one.flaw.clone());
    shown.flaw.message.push_str(&format!(" [{}]", accepted_why(one)));
    let finding = Finding { findings: vec![shown], feedback: String::new(), ..one.finding.clone() };
    items_of(Kind::Accepted, &finding)
}

fn not_judged(coverage: &Coverage) -> Vec<Item> {
    let mut items = vec![];
    for file in &coverage.not_seen {
        let kind = if file.allowed { Kind::PassedUnseen } else { Kind::NotSeen };
        let words = format!("{}: {}", file.path, file.why);
        items.push(Item { place: Some(in_file(&file.path)), ..Item::own(kind, &file.path, words) });
    }
    if let Some(first) = coverage.not_covered.first() {
        let names: Vec<&str> = coverage.not_covered.iter().map(String::as_str).collect();
        let files = counted(names.len(), "file", "files");
        let words = format!("{files} not covered by any rule: {}", listed(&names));
        items.push(Item { place: Some(in_file(first)), ..Item::own(Kind::NotCovered, "files", words) });
    }
    if let Some(first) = coverage.excluded.first() {
        let names: Vec<&str> = coverage.excluded.iter().map(String::as_str).collect();
        let words =
            format!("{} excluded from the rules: {}", counted(names.len(), "file", "files"), listed(&names));
        items.push(Item { place: Some(in_file(first)), ..Item::own(Kind::NotCovered, "excluded", words) });
    }
    items
}

fn notes(answer: &Answer<Verdict>) -> Vec<String> {
    let verdict = &answer.own;
    let mut notes: Vec<String> = verdict.coverage.iter().map(|coverage| coverage.words.clone()).collect();
    notes.extend(
        verdict
            .coverage
            .iter()
            .filter_map(|coverage| coverage.rules_from.as_ref().map(|from| format!("judged by {from}"))),
    );
    notes.extend(verdict.left_out.iter().map(|one| format!("left out: {}", one.words)));
    notes.extend(verdict.passed_after_notes.iter().map(|one| {
        format!("passed after new notes on unchanged files: {} ({}) {}", one.criterion, one.rule, one.target)
    }));
    let review = &verdict.review;
    notes.extend(review.disputes.iter().map(|dispute| format!("disputed: {}", dispute.words)));
    notes.extend(review.lifts.iter().map(|lift| format!("unblocked by {}", lift.words)));
    notes.extend(review.decisions.iter().map(|decision| format!("decided: {}", decision.words)));
    notes.extend(gate_words(verdict));
    notes.extend(answer.warnings.iter().map(|warning| format!("warning: {warning}")));
    notes
}

fn task_item(task: &TaskResult) -> Item {
    let (kind, criterion, words) = match task.state {
        TaskState::AwaitingPerson => (Kind::NoVerdict, "awaiting_person", "waits for a person".to_owned()),
        TaskState::Failed => {
            let code = task.error_code.as_deref().unwrap_or("failed");
            (Kind::Blocks, code, task.error.clone().unwrap_or_default())
        }
        TaskState::Stopped | TaskState::Success => {
            (Kind::NoVerdict, "stopped", "the next run continues from here".to_owned())
        }
    };
    let message = format!("{}: {words}", task.task);
    Item {
        rule: "run".to_owned(),
        criterion: criterion.to_owned(),
        target: task.task.clone(),
        ..Item::own(kind, &task.task, message)
    }
}

fn not_run(task: &NotRun) -> Item {
    let message = format!("{}: not run: {}", task.task, task.why);
    Item { target: task.task.clone(), ..Item::own(Kind::NoVerdict, &task.task, message) }
}

fn mistake_item(mistake: &Mistake, top: &Path) -> Item {
    let place = mistake.file.as_ref().map(|file| {
        let path = Path::new(file).strip_prefix(top).unwrap_or(Path::new(file));
        let line = mistake.line.and_then(|line| u64::try_from(line).ok());
        Place { path: path.display().to_string(), line, end_line: None }
    });
    let mut message = mistake.message.clone();
    if let Some(hint) = &mistake.hint {
        message.push_str(&format!("\nhelp: {hint}"));
    }
    Item {
        rule: OWN.to_owned(),
        criterion: mistake.code.clone(),
        place,
        ..Item::own(Kind::Error, &mistake.message, message)
    }
}

/// The report of a command that is under way, for files that readers could take for the answer.
pub fn unfinished() -> Report {
    let words = "the command has not ended, so there is no verdict";
    Report { headline: words.to_owned(), ..Report::default() }.finished()
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::*;

    /// Issue 20: what is no pass is an item of its own, whatever the outcome.
    #[test]
    fn issue_20_no_outcome_but_a_pass_is_an_empty_success() {
        let others = Outcome::ALL.into_iter().map(Some).chain([None]);
        for outcome in others {
            let report = Report { outcome, headline: "h".to_owned(), ..Report::default() }.finished();
            let passes = outcome.is_some_and(|outcome| outcome.exit_code() == 0);
            assert_eq!(report.items.is_empty(), passes, "{outcome:?}");
            for format in [Format::Sarif, Format::Junit, Format::Gitlab, Format::Rdjson, Format::Github] {
                let text = format.render(&report).unwrap();
                let says = match format {
                    Format::Sarif => text.contains(r#""level":"error","locations""#),
                    Format::Junit => text.contains("<error "),
                    Format::Gitlab => text.contains("blocker"),
                    Format::Rdjson => text.contains(r#""severity":"ERROR""#),
                    _ => text.contains("::error "),
                };
                assert_eq!(says, !passes, "{format:?} {outcome:?}: {text}");
            }
        }
    }
}
