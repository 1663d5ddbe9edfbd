//! A verdict: file, criterion, severity, finding, what to do next, tries left, cost.

use super::spent::Spent;
use super::style::{bold, dim, paint_outcome};
use countersign_app::reader::Reader;
use countersign_app::time::rfc3339;
use countersign_core::cost::BudgetOf;
use countersign_core::answer::{Answer, Ruling};
use countersign_core::judge::{Finding, RoundEnd};
use countersign_core::outcome::{NoVerdict, Outcome, Stop};
use countersign_core::plan::{Assignment, Candidate, ReviewerKind, Target};
use countersign_core::policy::Overrides;
use countersign_core::review::{By, Failure, Review, Round, State};
use countersign_core::text::{visible, visible_line};
use countersign_engine::ledger::Stored;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many names are listed before the others are only counted.
const LISTED: usize = 5;

/// An outcome in words for people.
pub fn outcome_words(standing: Option<Outcome>) -> String {
    standing.map_or_else(|| "under way".to_owned(), |outcome| outcome.to_string())
}

/// The verdict for people.
pub fn verdict_text(stored: &Stored, spent: &Spent, next: &[String]) -> String {
    verdict_words(stored, spent, next, false)
}

/// The same with the names of findings, by which they can be disputed.
pub fn verdict_text_with_names(stored: &Stored, spent: &Spent, next: &[String]) -> String {
    verdict_words(stored, spent, next, true)
}

fn verdict_words(stored: &Stored, spent: &Spent, next: &[String], named: bool) -> String {
    let review = &stored.review;
    let standing = review.standing();
    let mut out = String::new();
    let Some(round) = review.round() else { return out };
    out.push_str(&format!(
        "{}  {}\n",
        paint_outcome(standing, &outcome_words(standing)),
        dim(&about(review, round))
    ));
    push_findings(&mut out, &review.findings(), None, named);
    let heading = "Does not block in this round, and is worth a look:";
    push_findings(&mut out, &review.waived(), Some(heading), named);
    push_fixes(&mut out, review);
    push_unanswered(&mut out, round);
    push_passed_over(&mut out, round);
    for dispute in &review.disputes {
        out.push_str(&format!("\ndisputed: {}\n", visible_line(&dispute.words())));
    }
    for (by, reason) in &review.lifts {
        out.push_str(&format!("\nlet go on by {}\n", visible_line(&format!("{}: {reason}", by.words()))));
    }
    for decision in &review.decisions {
        out.push_str(&format!("\ndecided: {}\n", visible_line(&decision.words())));
    }
    out.push_str(&format!("\n{}\n", footer(review, round, spent)));
    for (i, step) in next.iter().enumerate() {
        out.push_str(&format!(
            "{} {}\n",
            if i == 0 { bold("next:") } else { "     ".to_owned() },
            visible_line(step)
        ));
    }
    out
}

fn about(review: &Review, round: &Round) -> String {
    format!(
        "{} · {} · round {} · {}",
        review.id,
        visible_line(review.subject.as_str()),
        round.n,
        round.submission.digest.short()
    )
}

fn push_findings(out: &mut String, findings: &[Finding], heading: Option<&str>, named: bool) {
    if findings.is_empty() {
        return;
    }
    if let Some(heading) = heading {
        out.push_str(&format!("\n{}\n", dim(heading)));
    }
    let mut by_place: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        by_place.entry(place_words(finding)).or_default().push(finding);
    }
    for (place, findings) in by_place {
        out.push_str(&format!("\n{}\n", bold(&visible_line(&place))));
        for finding in findings {
            let criterion = finding.criterion.as_deref().unwrap_or("the whole");
            let rule = visible_line(&finding.rule).into_owned();
            out.push_str(&format!(
                "  {:<6} {} {}\n",
                finding.severity.to_string(),
                bold(&visible_line(criterion)),
                dim(&format!("({rule}){}", if named { format!(" {}", finding.id) } else { String::new() }))
            ));
            for line in visible(&finding.words()).lines() {
                out.push_str(&format!("         {line}\n"));
            }
        }
    }
}

/// What reviewers found that changed the files themselves: it was judged again, and is still worth knowing.
fn push_fixes(out: &mut String, review: &Review) {
    for (round, found) in review.fixes() {
        let heading = format!("In round {} the reviewer changed files itself. It had found:", round.n);
        out.push_str(&format!("\n{}\n", dim(&heading)));
        let found = if found.is_empty() { "nothing that it names" } else { found };
        visible(found).lines().for_each(|line| out.push_str(&format!("         {line}\n")));
    }
}

fn push_unanswered(out: &mut String, round: &Round) {
    if round.end == Some(RoundEnd::Stale) {
        out.push_str(
            "\nThe files changed while they were judged, so this verdict is about something that is gone.\n",
        );
    }
    if round.end == Some(RoundEnd::Superseded) {
        out.push_str("\nOther work was handed in meanwhile.\n");
    }
    for (targets, why, details) in reasons(round) {
        let words = format!("{}: {}", listed(&targets), why.words());
        out.push_str(&format!("\n{} {}\n", bold("no verdict"), visible_line(&words)));
        for detail in details {
            out.push_str(&format!("         {}\n", visible_line(&detail)));
        }
    }
}

/// Why there are no rulings, each reason once, with all it is the reason for.
fn reasons(round: &Round) -> Vec<(Vec<String>, NoVerdict, Vec<String>)> {
    let mut reasons: Vec<(Vec<String>, NoVerdict, Vec<String>)> = vec![];
    let mut known: HashMap<(NoVerdict, Vec<String>), usize> = HashMap::new();
    for unanswered in &round.judgement.unanswered {
        let Some(assignment) = round.assignments.get(unanswered.assignment) else { continue };
        let several = round.failures_of(assignment).count() > 1;
        let detail = |(candidate, failure): (&Candidate, &Failure)| match several {
            true => format!("{}: {}", candidate.reviewer, failure.detail),
            false => failure.detail.clone(),
        };
        let details: Vec<String> = round.failures_of(assignment).map(detail).collect();
        let place = *known.entry((unanswered.why, details.clone())).or_insert(reasons.len());
        if place == reasons.len() {
            reasons.push((vec![], unanswered.why, details));
        }
        reasons[place].0.push(assignment.target_words());
    }
    reasons
}

/// Names, as many as anybody reads; all of them are in the JSON.
fn listed(names: &[String]) -> String {
    match names.get(..LISTED) {
        Some(first) if names.len() > LISTED => {
            format!("{} and {} more", first.join(", "), names.len() - LISTED)
        }
        _ => names.join(", "),
    }
}

/// Reviewers that were not there, where somebody else answered: once for each reason, however often.
fn push_passed_over(out: &mut String, round: &Round) {
    let mut seen: BTreeMap<(&str, &str, &str), u32> = BTreeMap::new();
    for assignment in &round.assignments {
        let Some((_, given)) = round.answer_to(assignment) else { continue };
        for (candidate, failure) in round.failures_of(assignment) {
            let (who, instead) = (candidate.reviewer.as_str(), ruled_by(&given.by));
            if who != instead {
                *seen.entry((who, failure.detail.as_str(), instead)).or_default() += 1;
            }
        }
    }
    for ((who, detail, instead), times) in seen {
        let questions = counted(times, "question", "questions");
        let words = format!("{who} was not available for {questions}, {instead} answered instead: {detail}");
        out.push_str(&format!("\n{}\n", visible_line(&words)));
    }
}

fn footer(review: &Review, round: &Round, spent: &Spent) -> String {
    let (asked, reused) = round.asked_and_reused();
    let mut parts = vec![format!("{asked} asked, {reused} reused")];
    let ruled: BTreeSet<&str> = round.answers.values().map(|given| ruled_by(&given.by)).collect();
    if !ruled.is_empty() {
        parts.push(format!("ruled by {}", ruled.into_iter().collect::<Vec<_>>().join(", ")));
    }
    if let Some(left) = review.policy.attempts_left(review.attempts) {
        let done = matches!(review.state, State::Settled(_));
        if !done {
            parts.push(counted(left, "try left", "tries left"));
        }
    }
    if review.rule_changes > 0 {
        let times = counted(review.rule_changes, "time", "times");
        parts.push(format!("the rules changed {times} during this review"));
    }
    let redacted = round.redacted();
    if redacted > 0 {
        parts.push(format!("{redacted} {} replaced", if redacted == 1 { "secret" } else { "secrets" }));
    }
    let paid = |assignment: &Assignment| {
        let asked = |candidate: &Candidate| candidate.kind == ReviewerKind::Asked;
        assignment.candidates.iter().any(asked)
    };
    if round.assignments.iter().any(paid) {
        parts.push(spent.words());
    }
    dim(&parts.join(" · "))
}

fn counted(n: u32, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

/// The file where it is about one, else what was looked at.
fn place_words(finding: &Finding) -> String {
    finding.file.clone().unwrap_or_else(|| target_words(&finding.target))
}

fn target_words(target: &Target) -> String {
    match target {
        Target::All => "all files together".to_owned(),
        Target::Matching => "all matching files together".to_owned(),
        Target::Output(name) => format!("output '{name}'"),
        Target::File(path) => path.clone(),
    }
}

/// The verdict for programs.
pub fn verdict_json(stored: &Stored, spent: &Spent, next: &[String]) -> Value {
    let review = &stored.review;
    let round = review.round();
    let (asked, reused) = round.map_or((0, 0), Round::asked_and_reused);
    let assignments: Vec<Value> = round.map_or(vec![], |round| {
        round.assignments.iter().map(|assignment| ruled_json(review, round, assignment)).collect()
    });
    json!({
        "review": review_json(stored),
        "findings": review.findings().iter().map(finding_json).collect::<Vec<_>>(),
        "waived": review.waived().iter().map(finding_json).collect::<Vec<_>>(),
        "fixed": review.fixes().map(|(round, found)| json!({ "round": round.n, "found": found })).collect::<Vec<_>>(),
        "assignments": assignments,
        "redacted": round.map_or(0, Round::redacted),
        "cost": { "questions_asked": asked, "rulings_reused": reused, "tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out, "usd": spent.usd(), "questions_with_unknown_cost": spent.unknown, "questions_with_unknown_tokens": spent.tokens_unknown },
        "next": next,
    })
}

fn review_json(stored: &Stored) -> Value {
    let review = &stored.review;
    let standing = review.standing();
    json!({
        "id": review.id,
        "subject": review.subject,
        "outcome": standing.map(Outcome::name),
        "reason": standing.and_then(Outcome::reason),
        "round": review.round().map(|round| round.n),
        "attempts": review.attempts,
        "attempts_left": review.policy.attempts_left(review.attempts),
        "digest": review.digest(),
        "rule_changes": review.rule_changes,
        "lifts": review.lifts.iter().map(|(by, reason)| json!({ "by": by.name, "person": by.is_person(), "reason": reason })).collect::<Vec<_>>(),
        "disputes": review.disputes.iter().map(|dispute| json!({
            "finding": dispute.finding, "criterion": dispute.criterion, "upheld": dispute.upheld,
            "review": dispute.review, "reviewer": dispute.reviewer, "by": dispute.by.name,
            "person": dispute.by.is_person(), "feedback": dispute.feedback,
        })).collect::<Vec<_>>(),
        "decisions": review.decisions.iter().map(|decision| json!({
            "verb": decision.verb, "by": decision.by.name, "person": decision.by.is_person(),
            "reason": decision.reason, "digest": decision.digest, "at": rfc3339(decision.at_ms),
        })).collect::<Vec<_>>(),
        "opened_at": rfc3339(stored.opened_ms),
        "changed_at": rfc3339(stored.changed_ms),
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "id": finding.id,
        "rule": finding.rule,
        "file": finding.file,
        "target": target_words(&finding.target),
        "criterion": finding.criterion,
        "severity": finding.severity,
        "feedback": finding.feedback,
        "reviewer": finding.reviewer,
        "findings": finding.flaws,
    })
}

/// The rulings of an answer: what a failed one found is spelled out, also where its reviewer did not do so.
fn rulings_json(answer: &Answer, about: &str) -> Value {
    let ruling = |ruling: &Ruling| {
        let flaws = if ruling.passed { vec![] } else { answer.flaws_on(Some(ruling), about) };
        json!({
            "criterion": ruling.criterion, "passed": ruling.passed, "feedback": ruling.feedback, "findings": flaws,
        })
    };
    answer.rulings.iter().map(ruling).collect()
}

/// An assignment as it is planned: what a program can rely on in every answer.
pub fn assignment_json(
    review_rules: &[countersign_core::rule::Rule],
    assignment: &Assignment,
    files: &[countersign_core::submission::Material],
) -> Value {
    let file = |index: &usize| {
        let file = files.get(*index)?;
        Some(json!({ "path": file.path, "digest": file.digest, "size_bytes": file.size_bytes }))
    };
    json!({
        "rule": review_rules.get(assignment.rule).map(|rule| &rule.name),
        "target": assignment.target_words(),
        "files": assignment.files.iter().filter_map(file).collect::<Vec<_>>(),
        "criteria": assignment.asks(review_rules).map(|criterion| &criterion.name).collect::<Vec<_>>(),
        "reviewer": assignment.candidates.first().map(|candidate| &candidate.reviewer),
        "key": assignment.candidates.first().map(|candidate| &candidate.key),
    })
}

fn ruled_json(review: &Review, round: &Round, assignment: &Assignment) -> Value {
    let mut value = assignment_json(&review.rules, assignment, &round.submission.files);
    let about = assignment.about(&round.submission.files);
    let given = round.answer_to(assignment);
    let failure = round.failure_of(assignment);
    let state = match (given, failure) {
        (Some((_, given)), _) if !given.answer.fails() => "passed",
        (Some(_), _) => "failed",
        (None, Some(_)) => "no_verdict",
        (None, None) => "open",
    };
    value["state"] = json!(state);
    value["ruled_by"] = json!(given.map(|(_, given)| ruled_by(&given.by)));
    value["reused"] = json!(given.is_some_and(|(_, given)| matches!(given.by, By::Reused { .. })));
    value["why"] = json!(failure.filter(|_| given.is_none()).map(|failure| failure.why.name()));
    value["detail"] = json!(failure.filter(|_| given.is_none()).map(|failure| &failure.detail));
    let not_answered = round.failures_of(assignment).map(|(candidate, failure)| {
        json!({ "reviewer": candidate.reviewer, "why": failure.why.name(), "detail": failure.detail })
    });
    value["not_answered"] = json!(not_answered.collect::<Vec<_>>());
    value["redacted"] = json!(given.map_or(0, |(_, given)| given.answer.redacted));
    value["rulings"] = json!(given.map(|(_, given)| rulings_json(&given.answer, about)));
    value
}

fn ruled_by(by: &By) -> &str {
    match by {
        By::Call { reviewer, .. } | By::Reused { reviewer, .. } | By::Disputed { reviewer, .. } => reviewer,
        By::SelfReview { .. } => "self",
    }
}

/// What to do next, as commands.
pub fn next_steps(review: &Review, again: &str, reader: Reader) -> Vec<String> {
    let id = &review.id;
    match review.standing() {
        Some(Outcome::NeedsWork) => vec![format!("fix the findings, then {again}")],
        Some(Outcome::NoVerdict(NoVerdict::Stale)) => vec![format!("{again} for the files as they are now")],
        Some(Outcome::NoVerdict(_)) => vec![format!("{again}: only what has no ruling yet is asked")],
        Some(Outcome::BudgetReached) => {
            let raise = format!("raise the budget and {again}: only what has no ruling yet is asked");
            let anew = reader.person_decides(id.as_str(), || {
                format!("a person gives the review its budget anew: countersign unblock {id} --reason TEXT")
            });
            let mut reasons = review.round().into_iter().flat_map(|round| {
                round.assignments.iter().filter_map(|assignment| round.failure_of(assignment))
            });
            let of_day =
                |failure: &Failure| failure.why != NoVerdict::Budget || failure.budget == Some(BudgetOf::Day);
            match review.state {
                State::Settled(_) => vec![raise],
                // That of the day is no part of a review: it holds as it is written now.
                _ if reasons.all(of_day) => {
                    vec![format!(
                        "{raise}; other reviews may leave room when they end, and another day (UTC) has a budget of its own"
                    )]
                }
                // What a review was opened under holds until it is over; only people give it more.
                _ => vec![anew],
            }
        }
        Some(Outcome::AwaitingPerson) if review.state == State::AwaitingPerson => {
            vec![reader.person_decides(id.as_str(), || {
                format!("a person decides: countersign approve|reject|fix|skip {id} --reason TEXT")
            })]
        }
        Some(Outcome::Stopped(Stop::Withdrawn)) => vec![],
        Some(Outcome::Stopped(_)) => {
            vec![reader.person_decides(id.as_str(), || {
                // What a person rejected is decided: they let it go on first.
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
