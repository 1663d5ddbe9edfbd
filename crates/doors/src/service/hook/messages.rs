//! The messages of hooks to agents and people. Texts of reviewers are quoted, bounded, and without control characters.

use crate::service::task::Notification;
use countersign_core::judge::Finding;
use countersign_core::notify::About;
use countersign_core::outcome::{Outcome, Stop};
use countersign_core::policy::{Attempts, MAX_EMPTY_ROUNDS, MAX_SESSION_LIFTS};
use countersign_core::review::Review;
use countersign_core::text::{cut_noted, neutralise, visible_line};
use countersign_engine::programs::Hook;

const FINDINGS_MAX: usize = 20;
const FINDING_BYTES_MAX: usize = 1500;
const ALL_BYTES_MAX: usize = 12_000;

/// Why an agent goes on: what was found, what to do, how to object, how often it may come back.
pub fn findings(review: &Review) -> String {
    let mut out = format!(
        "Countersign has reviewed what changed, and it is not accepted yet ({}, review {}).\n\nWhat to fix:\n",
        attempt(review),
        review.id
    );
    let all = review.findings();
    let mut left_out = all.len();
    let begins = out.len();
    for (n, found) in all.iter().enumerate().take(FINDINGS_MAX) {
        let line = finding(n + 1, found);
        if n > 0 && out.len() - begins + line.len() > ALL_BYTES_MAX {
            break;
        }
        out.push_str(&line);
        left_out -= 1;
    }
    if left_out > 0 {
        out.push_str(&format!("and {left_out} more: countersign show {}\n", review.id));
    }
    out.push_str(
        "\nFix these in the files, then stop again: what changed is reviewed again. If you stop again with the same files and the same findings, the review stops, and Countersign informs a person.\n",
    );
    out.push_str(&objection(review));
    out
}

fn objection(review: &Review) -> String {
    format!(
        "If a finding is wrong, do not change the work for it: run countersign dispute FINDING --evidence TEXT with the id in \
         brackets, and another reviewer judges it, once. If it is withdrawn, stop again. If it is upheld and you still \
         cannot fix it, tell your user: review {} then waits for a person.\n",
        review.id
    )
}

fn finding(n: usize, finding: &Finding) -> String {
    let place = finding.file.as_deref().map_or("the change as a whole".into(), visible_line);
    let criterion = finding.criterion.as_deref().map_or("the whole".into(), visible_line);
    let feedback = neutralise(finding.words().trim()).0.into_owned();
    // Indented, so that no line looks like one of ours.
    let feedback = cut_noted(&feedback, FINDING_BYTES_MAX).replace('\n', "\n   ");
    let (severity, rule) = (finding.severity, visible_line(&finding.rule));
    format!("{n}. {place}: {criterion} ({severity}, rule {rule}) [{}]\n   {feedback}\n", finding.id)
}

fn attempt(review: &Review) -> String {
    match review.policy.attempts {
        Attempts::AtMost(max) => format!("attempt {} of {max}", review.attempts),
        Attempts::Once => format!("attempt {}", review.attempts),
    }
}

/// Why an agent goes on that has to review its own work.
pub fn self_review(review: &Review, file: &str) -> String {
    format!(
        "Countersign asks you to review your own work before you stop: do what {file} says, then run \
         countersign rule {} --from RESULTS, and stop again.",
        review.id
    )
}

/// Why an agent goes on although nothing was found.
pub fn no_verdict(review: &Review, outcome: Outcome) -> String {
    format!(
        "Countersign could not review the change ({outcome}; try {} of {MAX_EMPTY_ROUNDS}). The review failed because of an error. There are no findings, so do not change the files. {}Stop again to try once more. If all tries fail, Countersign informs a person.",
        review.empty_rounds,
        reasons(review)
    )
}

/// Why an agent goes on although the review itself could not be done.
pub fn held_by_failure(why: &str, tries: u32) -> String {
    format!(
        "Countersign could not review what changed (try {tries} of {MAX_EMPTY_ROUNDS}): {}. The review failed; this \
         is not a finding, so change nothing because of it. Countersign informs a person, who must repair it. If you caused the error, undo your change. Stop again to try once more. If all tries fail, you may stop, and the work stays without a review.",
        why.trim_end_matches('.')
    )
}

/// What a person is told where the review itself could not be done.
pub fn failed(why: &str, what_to_do: Option<&str>) -> String {
    let next = what_to_do.map(|words| format!(" {words}.")).unwrap_or_default();
    format!("Countersign: the work is not reviewed: {}.{next}", why.trim_end_matches('.'))
}

/// What a person is told when an agent stops without having passed.
pub fn stopped(review: &Review, outcome: Outcome) -> String {
    let id = &review.id;
    let what = match outcome {
        Outcome::Stopped(_) => format!("the work was not accepted ({outcome}, {})", attempt(review)),
        Outcome::AwaitingPerson => "the work waits for a person".to_owned(),
        _ => format!("the work was not reviewed ({outcome}). {}", reasons(review)),
    };
    let first = review.findings().first().map(|found| {
        let place = found.file.as_deref().map_or("the change".into(), visible_line);
        format!(" First finding: {place}: {}.", cut_noted(&visible_line(&found.feedback), 200))
    });
    let waits = format!("Review {id} waits for a person: countersign show {id} says what they can do.");
    let next = match outcome {
        Outcome::Stopped(why) if goes_on_when_written_to(review, why) => {
            format!("Send the agent a message if it should continue with other work. {waits}")
        }
        Outcome::Stopped(_) | Outcome::AwaitingPerson => waits,
        _ => format!("countersign show {id} has the reasons; the next stop tries again."),
    };
    format!("Countersign: {}.{} {next}", what.trim_end_matches([' ', '.']), first.unwrap_or_default())
}

/// Whether a message to the agent is enough to have a stopped review go on.
fn goes_on_when_written_to(review: &Review, why: Stop) -> bool {
    matches!(why, Stop::AttemptsUsedUp | Stop::NotConverging) && review.session_lifts < MAX_SESSION_LIFTS
}

/// The notification for people who do not look at the program; none of a pass.
pub fn notification(hook: Hook, folder: &str, outcome: Outcome, told: &str) -> Option<(About, Notification)> {
    let (about, lead) = match outcome {
        Outcome::Passed | Outcome::Overridden | Outcome::Skipped => return None,
        Outcome::AwaitingPerson => (About::PersonNeeded, "Person Needed"),
        Outcome::NoVerdict(_) | Outcome::BudgetReached => (About::NoVerdict, "No Verdict"),
        _ => (About::ReviewFailed, "Review Failed"),
    };
    let title = format!("{lead}: {} in {}", hook.program.name, visible_line(folder));
    let message = told.strip_prefix("Countersign: ").unwrap_or(told).to_owned();
    Some((about, Notification::new(title, message)))
}

/// Why there is no verdict, each reason once.
fn reasons(review: &Review) -> String {
    let Some(round) = review.round() else { return String::new() };
    let failed = round.assignments.iter().filter(|assignment| round.answer_to(assignment).is_none());
    let mut details: Vec<String> = vec![];
    for failure in failed.filter_map(|assignment| round.failure_of(assignment)) {
        let detail = cut_noted(&visible_line(&failure.detail), 300).into_owned();
        if !details.contains(&detail) && details.len() < 3 {
            details.push(detail);
        }
    }
    if details.is_empty() { String::new() } else { format!("{}. ", details.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::outcome::NoVerdict;
    use countersign_engine::programs::PROGRAMS;

    /// SVC-15.
    #[test]
    fn svc_15_people_are_told_what_it_is_about() {
        let table = [
            (Outcome::Passed, None),
            (Outcome::Skipped, None),
            (
                Outcome::Stopped(Stop::AttemptsUsedUp),
                Some((About::ReviewFailed, "Review Failed: codex in shop")),
            ),
            (Outcome::AwaitingPerson, Some((About::PersonNeeded, "Person Needed: codex in shop"))),
            (Outcome::NoVerdict(NoVerdict::Timeout), Some((About::NoVerdict, "No Verdict: codex in shop"))),
            (Outcome::BudgetReached, Some((About::NoVerdict, "No Verdict: codex in shop"))),
        ];
        for (outcome, expected) in table {
            let found = notification(
                PROGRAMS.named("codex").unwrap().hook.unwrap(),
                "shop",
                outcome,
                "Countersign: look",
            );
            assert!(found.as_ref().is_none_or(|(_, one)| one.message == "look"), "{outcome}");
            let found = found.map(|(about, one)| (about, one.title));
            assert_eq!(found, expected.map(|(about, title)| (about, title.to_owned())), "{outcome}");
        }
    }
}
