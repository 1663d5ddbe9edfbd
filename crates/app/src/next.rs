//! The next steps after a review, as text for the reader of an answer.

use crate::reader::Reader;
use countersign_core::cost::BudgetOf;
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{NoVerdict, Outcome, Stop};
use countersign_core::policy::Overrides;
use countersign_core::review::{Failure, LeftOut, LeftOutBy, Review, State};
use std::path::Path;

/// The next steps, as commands. `again` is the command that submits the work again.
pub fn steps(review: &Review, again: &str, reader: Reader) -> Vec<String> {
    let id = &review.id;
    match review.standing() {
        Some(Outcome::NeedsWork) => needs_work(review, again),
        Some(Outcome::NoVerdict(NoVerdict::Stale)) => {
            vec![format!("the files changed: {again} to review the current files")]
        }
        Some(Outcome::NoVerdict(NoVerdict::NotSeen)) => {
            vec![format!(
                "leave the files out, or have a person name them in `unseen` of the rule; then {again}"
            )]
        }
        Some(Outcome::NoVerdict(_)) => {
            vec![format!("{again}: only the questions without an answer are asked again")]
        }
        Some(Outcome::BudgetReached) => {
            let raise =
                format!("raise the budget and {again}: only the questions without an answer are asked again");
            let anew = reader.person_decides(id.as_str(), || {
                format!("a person can renew the budget of the review: countersign unblock {id} --reason TEXT")
            });
            let mut reasons = review.round().into_iter().flat_map(|round| {
                round.assignments.iter().filter_map(|assignment| round.failure_of(assignment))
            });
            let of_day =
                |failure: &Failure| failure.why != NoVerdict::Budget || failure.budget == Some(BudgetOf::Day);
            match review.state {
                State::Settled(_) => vec![raise],
                // The budget of the day is no part of a review: its current value holds.
                _ if reasons.all(of_day) => {
                    vec![format!(
                        "{raise}; or wait: other reviews may release budget when they end, and a new daily budget starts at 00:00 UTC"
                    )]
                }
                // The budget of a review is fixed when it opens; only a person renews it.
                _ => vec![anew],
            }
        }
        Some(Outcome::AwaitingPerson) if review.state == State::AwaitingPerson => {
            let decides = reader.person_decides(id.as_str(), || {
                format!("a person decides: countersign approve|reject|fix|skip {id} --reason TEXT")
            });
            let new = review.accepted().into_iter().filter_map(|accepted| accepted.exception);
            match new.filter(|exception| !exception.is_given).count() {
                0 => vec![decides],
                _ => vec!["the work passes only by exceptions that are new in it".to_owned(), decides],
            }
        }
        Some(Outcome::Stopped(Stop::Withdrawn)) => vec![],
        Some(Outcome::Stopped(_)) => {
            vec![reader.person_decides(id.as_str(), || {
                // A rejected review has to be unblocked first.
                let approve = match (review.policy.overrides, &review.decided) {
                    (Overrides::Forbid, _) | (_, Some(_)) => String::new(),
                    _ => format!(", or countersign approve {id} --reason TEXT"),
                };
                format!("a person decides: countersign unblock {id} --reason TEXT{approve}")
            })]
        }
        _ => vec![],
    }
}

fn needs_work(review: &Review, again: &str) -> Vec<String> {
    let mut steps = vec![format!("fix the findings, then {again}")];
    let left_out = review.round().map(|round| round.left_out.as_slice()).unwrap_or_default();
    let files = |left_out: &LeftOut| matches!(left_out.why, LeftOutBy::Files(_));
    if left_out.iter().any(files) {
        steps.push("submit the files that were left out too, unless you delete or restore them".to_owned());
    }
    if !left_out.iter().all(files) {
        steps.push("weaker rules do not remove a finding: change the files it is about".to_owned());
    }
    if review.kept_failures() > 0 {
        steps.push(
            "these files failed before and did not change. Other notes, another reviewer or another subject do not \
             change that: change the files, or dispute a finding (countersign dispute FINDING --evidence TEXT)"
                .to_owned(),
        );
    }
    steps
}

pub fn self_review(instructions: &Path, id: &ReviewId) -> Vec<String> {
    vec![
        format!("review the work as {} says", instructions.display()),
        format!("then countersign rule {id} --from RESULTS"),
    ]
}
