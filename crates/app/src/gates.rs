//! Whether gates count a review, by what is trusted now.

use crate::Failure;
use crate::answer::v1::Gates;
use crate::project::Project;
use crate::review_request::built_in_rules;
use countersign_core::review::Review;
use countersign_core::text::counted;
use countersign_engine::ledger::Ledger;

/// Whether gates count the latest round of a review. None where nobody looked up what gates use.
pub fn of(project: &Project, ledger: &Ledger, review: &Review) -> Result<Option<Gates>, Failure> {
    if !ledger.is_kept() {
        return Ok(Some(Gates { count: false, why: vec!["it is not recorded".to_owned()] }));
    }
    let gate = match (&project.gate, &project.authority) {
        (Some(Ok(gate)), _) => gate.as_ref(),
        (Some(Err(why)), _) => return Ok(Some(Gates { count: false, why: vec![why.clone()] })),
        (None, Some(_)) => project,
        (None, None) => return Ok(None),
    };
    let rules = match gate.config.rules.as_slice() {
        [] => built_in_rules()?,
        rules => rules.to_vec(),
    };
    let seen = gate.planner(None)?.at_gate(rules, &gate.config.policy, review);
    let mut why: Vec<String> = vec![];
    let mut reasons: Vec<_> = seen.advisory.iter().map(|(_, reason)| *reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let count = seen.advisory.iter().filter(|(_, other)| *other == reason).count();
        why.push(format!("{}: {}", counted(count, "answer", "answers"), reason.words()));
    }
    if seen.unasked > 0 {
        why.push(format!("a gate would ask {}", counted(seen.unasked, "question", "questions")));
    }
    if seen.blocked > 0 {
        why.push(format!("a gate would not let {} pass", counted(seen.blocked, "finding", "findings")));
    }
    Ok(Some(Gates { count: seen.counts(), why }))
}
