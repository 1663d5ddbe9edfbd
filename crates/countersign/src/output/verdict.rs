//! A verdict in words: findings by file, what to do next, cost, and the verdict with its totals as the last line.

use super::excerpt::push_excerpt;
use super::style::{bold, dim, paint_outcome, paint_severity};
use crate::terminal;
use countersign_app::answer::v1::baseline::{Accepted, AcceptedKind, BaselineFinding, Excepted};
use countersign_app::answer::v1::{Assignment, AssignmentState, Finding, PassedAfterNotes, Review, Verdict};
use countersign_core::criterion::Severity;
use countersign_core::judge::RoundEnd;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::text::{counted, visible, visible_line};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many names are listed before the others are only counted.
const LISTED: usize = 5;
/// How many findings that do not block are shown, beside those of the baseline.
const ACCEPTED_SHOWN: usize = 20;
const INDENT: &str = "         ";

pub fn outcome_words(standing: Option<Outcome>) -> String {
    standing.map_or_else(|| "under way".to_owned(), |outcome| outcome.to_string())
}

/// A verdict, with these next steps; `named` with the names of findings, by which they can be disputed.
pub fn verdict_text(verdict: &Verdict, next: &[String], named: bool) -> String {
    let review = &verdict.review;
    let standing = review.outcome.map(|outcome| outcome.0);
    let mut out = String::new();
    let Some(round) = review.round else { return out };
    out.push_str(&format!("{}\n", dim(&about(review, round))));
    push_findings(&mut out, &verdict.findings, None, named);
    let heading = "These findings do not block this round:";
    push_findings(&mut out, &verdict.waived, Some(heading), named);
    push_accepted(&mut out, &verdict.accepted);
    push_fixed(&mut out, &verdict.baseline_fixed);
    for left_out in &verdict.left_out {
        out.push_str(&format!("\nleft out: {}\n", visible_line(&left_out.words)));
    }
    for passed in &verdict.passed_after_notes {
        let PassedAfterNotes { rule, criterion, target } = passed;
        let words = format!("passed after new notes on unchanged files: {criterion} ({rule}) {target}");
        out.push_str(&format!("\n{}\n", visible_line(&words)));
    }
    push_fixes(&mut out, verdict);
    if named {
        push_passing(&mut out, &verdict.assignments);
    }
    push_unanswered(&mut out, verdict);
    push_passed_over(&mut out, &verdict.assignments);
    for dispute in &review.disputes {
        out.push_str(&format!("\ndisputed: {}\n", visible_line(&dispute.words)));
    }
    for lift in &review.lifts {
        out.push_str(&format!("\nunblocked by {}\n", visible_line(&lift.words)));
    }
    for decision in &review.decisions {
        out.push_str(&format!("\ndecided: {}\n", visible_line(&decision.words)));
    }
    out.push_str(&format!("\n{}\n", footer(verdict)));
    if let Some(coverage) = &verdict.coverage {
        out.push_str(&format!("{}\n", dim(&coverage.words)));
    }
    for (i, step) in next.iter().enumerate() {
        out.push_str(&format!(
            "{} {}\n",
            if i == 0 { bold("next:") } else { "     ".to_owned() },
            visible_line(step)
        ));
    }
    out.push_str(&format!("{}\n", paint_outcome(standing, &totals(verdict, standing))));
    out
}

/// Why a finding is accepted.
pub fn accepted_why(one: &Accepted) -> String {
    match (&one.exception, one.by) {
        (Some(Excepted { line, reason, is_given, .. }), _) => {
            let new = if *is_given { "" } else { "new, a person has the last word; " };
            format!("exception in line {line}: {new}because {reason}")
        }
        (None, AcceptedKind::Baseline) => "in the baseline".to_owned(),
        (None, _) => "already there".to_owned(),
    }
}

/// What does not block, a line each. Of the baseline only how much it is: it is in a file that people review.
fn push_accepted(out: &mut String, accepted: &[Accepted]) {
    let shown = accepted.iter().filter(|one| one.by != AcceptedKind::Baseline);
    for (n, one) in shown.enumerate() {
        if n == ACCEPTED_SHOWN {
            let more = accepted.iter().filter(|one| one.by != AcceptedKind::Baseline).count() - n;
            out.push_str(&format!("\nand {more} more that do not block\n"));
            break;
        }
        let criterion = one.finding.criterion.as_deref().unwrap_or("the whole");
        let why = accepted_why(one);
        let words = one.flaw.words();
        let first = words.lines().next().unwrap_or_default();
        let line = format!("{criterion} ({}): {first} [{why}]", one.finding.rule);
        out.push_str(&format!("\n{} {}\n", dim("does not block:"), visible_line(&line)));
    }
}

fn push_fixed(out: &mut String, fixed: &[BaselineFinding]) {
    if fixed.is_empty() {
        return;
    }
    let count = counted(fixed.len(), "finding of the baseline is", "findings of the baseline are");
    out.push_str(&format!("\n{count} fixed: countersign baseline --prune takes what is fixed out\n"));
}

/// The outcome with the counts of what was found.
pub fn totals(verdict: &Verdict, standing: Option<Outcome>) -> String {
    let (mut words, findings) = (outcome_words(standing), &verdict.findings);
    if standing == Some(Outcome::Passed) && !verdict.passed_after_notes.is_empty() {
        words.push_str(" after new notes on unchanged files");
    }
    if !findings.is_empty() {
        let places: BTreeSet<&str> = findings.iter().map(place).collect();
        let (count, files) =
            (counted(findings.len(), "finding", "findings"), counted(places.len(), "file", "files"));
        let separator = if words.contains(':') { ';' } else { ':' };
        words.push_str(&format!("{separator} {count} in {files}"));
        match findings.iter().filter(|finding| finding.severity == Severity::Must).count() {
            0 => {}
            musts => words.push_str(&format!(", {musts} must")),
        }
    }
    if !verdict.waived.is_empty() {
        let count = counted(verdict.waived.len(), "finding does", "findings do");
        words.push_str(&format!("; {count} not block"));
    }
    let count = |by: AcceptedKind| verdict.accepted.iter().filter(|accepted| accepted.by == by).count();
    for (count, one, several) in [
        (count(AcceptedKind::AlreadyThere), "already there", "already there"),
        (count(AcceptedKind::Baseline), "in the baseline", "in the baseline"),
        (count(AcceptedKind::Exception), "exception", "exceptions"),
    ] {
        if count > 0 {
            words.push_str(&format!("; {}", counted(count, one, several)));
        }
    }
    words
}

fn place(finding: &Finding) -> &str {
    finding.file.as_ref().unwrap_or(&finding.target)
}

/// Text of a reviewer, wrapped at words where a terminal shows it.
fn push_wrapped(out: &mut String, text: &str) {
    for row in terminal::wrap::rows(text, terminal::columns().saturating_sub(INDENT.len())) {
        out.push_str(&format!("{INDENT}{}\n", row.trim_end()));
    }
}

fn about(review: &Review, round: u32) -> String {
    let digest = review.digest.as_ref().map_or("", |digest| digest.short());
    format!("{} · {} · round {round} · {digest}", review.id, visible_line(review.subject.as_str()))
}

fn push_findings(out: &mut String, findings: &[Finding], heading: Option<&str>, named: bool) {
    if findings.is_empty() {
        return;
    }
    if let Some(heading) = heading {
        out.push_str(&format!("\n{}\n", dim(heading)));
    }
    let mut by_place: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        by_place.entry(place(finding)).or_default().push(finding);
    }
    for (place, findings) in by_place {
        out.push_str(&format!("\n{}\n", bold(&visible_line(place))));
        for finding in findings {
            let criterion = finding.criterion.as_deref().unwrap_or("the whole");
            let rule = visible_line(&finding.rule).into_owned();
            out.push_str(&format!(
                "  {} {} {}\n",
                paint_severity(finding.severity, &format!("{:<6}", finding.severity.to_string())),
                bold(&visible_line(criterion)),
                dim(&format!("({rule}){}", if named { format!(" {}", finding.id) } else { String::new() }))
            ));
            push_wrapped(out, &finding.words);
            if named {
                finding.findings.iter().for_each(|shown| push_excerpt(out, shown));
            }
        }
    }
}

/// What reviewers found that changed the files themselves: it was judged again, and is still worth knowing.
fn push_fixes(out: &mut String, verdict: &Verdict) {
    for fixed in &verdict.fixed {
        let heading =
            format!("In round {} the reviewer changed files itself. Its findings were:", fixed.round);
        out.push_str(&format!("\n{}\n", dim(&heading)));
        let found = if fixed.found.is_empty() { "it did not name any" } else { &fixed.found };
        push_wrapped(out, found);
    }
}

/// What reviewers wrote about what they let pass, the same text once.
fn push_passing(out: &mut String, assignments: &[Assignment]) {
    let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
    for assignment in assignments.iter().filter(|one| one.state == AssignmentState::Passed) {
        let (Some(who), Some(text)) = (&assignment.ruled_by, &assignment.feedback) else { continue };
        if known.insert((who, text)) {
            out.push_str(&format!("\n{}\n", dim(&format!("{} wrote:", visible_line(who)))));
            push_wrapped(out, &visible(text));
        }
    }
}

fn push_unanswered(out: &mut String, verdict: &Verdict) {
    if verdict.shown.end == Some(RoundEnd::Stale) {
        out.push_str("\nThe files changed during the review, so this verdict does not apply to them.\n");
    }
    if verdict.shown.end == Some(RoundEnd::Superseded) {
        out.push_str("\nOther work was submitted meanwhile.\n");
    }
    for (targets, why, details) in reasons(&verdict.assignments) {
        let words = format!("{}: {}", listed(&targets), why.words());
        out.push_str(&format!("\n{} {}\n", bold("no verdict"), visible_line(&words)));
        for detail in details {
            push_wrapped(out, &visible_line(&detail));
        }
    }
}

/// Why there are no rulings, each reason once, with all it is the reason for.
pub fn reasons(assignments: &[Assignment]) -> Vec<(Vec<&str>, NoVerdict, Vec<String>)> {
    let mut reasons: Vec<(Vec<&str>, NoVerdict, Vec<String>)> = vec![];
    let mut known: HashMap<(NoVerdict, Vec<String>), usize> = HashMap::new();
    for assignment in assignments {
        let Some(why) = assignment.unanswered else { continue };
        let details: Vec<String> = match assignment.not_answered.as_slice() {
            [only] => vec![only.detail.clone()],
            [] => assignment.detail.iter().cloned().collect(),
            several => several.iter().map(|one| format!("{}: {}", one.reviewer, one.detail)).collect(),
        };
        let place = *known.entry((why, details.clone())).or_insert(reasons.len());
        if place == reasons.len() {
            reasons.push((vec![], why, details));
        }
        reasons[place].0.push(&assignment.planned.target);
    }
    reasons
}

/// The first names; all of them are in the JSON.
pub fn listed(names: &[&str]) -> String {
    match names.get(..LISTED) {
        Some(first) if names.len() > LISTED => {
            format!("{} and {} more", first.join(", "), names.len() - LISTED)
        }
        _ => names.join(", "),
    }
}

/// Reviewers that were not there, where another one answered: once for each reason, however often.
fn push_passed_over(out: &mut String, assignments: &[Assignment]) {
    let mut seen: BTreeMap<(&str, &str, &str), u32> = BTreeMap::new();
    for assignment in assignments {
        let Some(instead) = assignment.ruled_by.as_deref() else { continue };
        for failed in assignment.not_answered.iter().filter(|failed| failed.reviewer != instead) {
            *seen.entry((&failed.reviewer, &failed.detail, instead)).or_default() += 1;
        }
    }
    for ((who, detail, instead), times) in seen {
        let questions = counted(times, "question", "questions");
        let words = format!("{who} was not available for {questions}, {instead} answered instead: {detail}");
        out.push_str(&format!("\n{}\n", visible_line(&words)));
    }
}

fn footer(verdict: &Verdict) -> String {
    let Verdict { review, cost, redacted, shown, .. } = verdict;
    let mut parts = vec![format!("{} asked, {} reused", cost.questions_asked, cost.rulings_reused)];
    let ruled: BTreeSet<&str> =
        verdict.assignments.iter().filter_map(|one| one.ruled_by.as_deref()).collect();
    if !ruled.is_empty() {
        parts.push(format!("ruled by {}", ruled.into_iter().collect::<Vec<_>>().join(", ")));
    }
    if let Some(left) = review.attempts_left.filter(|_| !shown.over) {
        parts.push(counted(left, "try left", "tries left"));
    }
    if review.rule_changes > 0 {
        let times = counted(review.rule_changes, "time", "times");
        parts.push(format!("the rules changed {times} during this review"));
    }
    if *redacted > 0 {
        parts.push(format!("{} replaced", counted(*redacted, "secret", "secrets")));
    }
    if shown.paid {
        parts.push(cost.spent.words());
    }
    parts.extend(gate_words(verdict));
    dim(&parts.join(" · "))
}

/// Whether gates count a pass.
pub fn gate_words(verdict: &Verdict) -> Option<String> {
    let gates = verdict.gates.as_ref()?;
    let passed = verdict.review.outcome.is_some_and(|outcome| outcome.0 == Outcome::Passed);
    let words = match gates.count {
        true => "gates count it".to_owned(),
        false => format!("gates do not count it: {}", visible_line(&gates.why.join("; "))),
    };
    passed.then_some(words)
}
