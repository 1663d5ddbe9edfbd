//! The answers of the commands as text, in the document's forms. Untrusted text cannot forge a line of them.

pub mod reconciliation;

use super::item::{Item, Status};
use super::next::{Here, why_stopped};
use super::phase::Phase;
use super::state::State;
use super::transition::{Fixed, LoopState, gate};
use countersign_core::policy::{GateEnd, GatePolicy, GateResult};
use countersign_core::text;
use std::borrow::Cow;
use std::collections::HashMap;

const SHORT_CHARS: usize = 80;
const NO_FINDING: &str = "(no finding was recorded)";

/// The first line of a text, without control characters, at most 80 characters.
pub fn short(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = text::visible_line(first);
    match line.char_indices().nth(SHORT_CHARS) {
        Some(_) => line.chars().take(SHORT_CHARS - 1).chain(['…']).collect(),
        None => line.into_owned(),
    }
}

fn indented(text: &str) -> String {
    let lines = text.trim().lines().map(|line| match line.trim_end() {
        "" => Cow::Borrowed(""),
        line => text::visible(line),
    });
    lines.collect::<Vec<_>>().join("\n  ")
}

fn finding(item: &Item) -> &str {
    item.finding.as_deref().filter(|finding| !finding.trim().is_empty()).unwrap_or(NO_FINDING)
}

pub fn decompose_complete(state: &State, here: &Here) -> String {
    let mut out = format!("DECOMPOSE COMPLETE\n\nItems created: {}\n", state.items.len());
    for item in &state.items {
        out.push_str(&format!("- {}: {} (scope: {})\n", item.id, short(&item.check), item.scope));
    }
    out + &format!("\n{}\n", here.verify(state))
}

/// `7 total, 5 PASS, 2 FAIL`, and the number of open items unless that is 0.
pub fn counts(state: &State) -> String {
    let (pass, fail) = (state.count(Status::Pass), state.count(Status::Fail));
    format!("{} total, {pass} PASS, {fail} FAIL{}", state.items.len(), open_count(state))
}

fn open_count(state: &State) -> String {
    match state.count(Status::Todo) {
        0 => String::new(),
        open => format!(", {open} TODO"),
    }
}

fn status_line(state: &State, gated: &GateResult<'_>, policy: &GatePolicy) -> String {
    match gated.end {
        GateEnd::Pass => "Status: PASS".to_owned(),
        GateEnd::Fail => "Status: FAIL".to_owned(),
        GateEnd::Todo => format!("Status: FAIL (not verified yet: {})", gated.open.len()),
        GateEnd::Empty => "Status: FAIL (there are no items)".to_owned(),
        GateEnd::Ceiling | GateEnd::ItemCap => {
            format!("Status: FAIL (stopped: {})", why_stopped(state, gated, policy))
        }
    }
}

pub fn verification_complete(
    state: &State,
    policy: &GatePolicy,
    here: &Here,
    contradictions: &[String],
) -> String {
    let gated = gate(state, policy);
    if !contradictions.is_empty() {
        let (said, next) = (contradicted(contradictions), here.contradicted());
        return format!("VERIFICATION COMPLETE\n\n{said}Items: {}\n\n{next}\n", counts(state));
    }
    let (status, failed) = (status_line(state, &gated, policy), failed_list(state, &gated));
    let ending = ending(state, &gated, policy, here);
    format!("VERIFICATION COMPLETE\n\n{status}\nItems: {}\n{failed}{ending}", counts(state))
}

/// The items that do not keep the gate from passing, and the next step.
fn ending(state: &State, gated: &GateResult<'_>, policy: &GatePolicy, here: &Here) -> String {
    format!("{}\n{}\n", passed_over(state, gated), here.after_gate(state, gated, policy))
}

fn failed_list(state: &State, gated: &GateResult<'_>) -> String {
    list("Failed items:", state, &gated.failed, |item| short(finding(item)))
}

/// The items that do not keep the gate from passing and are always listed: waived and accepted ones.
fn passed_over(state: &State, gated: &GateResult<'_>) -> String {
    let title = format!("Waived at round {}:", state.iteration);
    let mut out = list(&title, state, &gated.waived, |item| match item.status {
        Status::Fail => short(finding(item)),
        _ => "not verified".to_owned(),
    });
    let reason = |item: &Item| short(item.acceptance_reason.as_deref().unwrap_or("(no reason was recorded)"));
    out.push_str(&list("Accepted by a person:", state, &gated.accepted, reason));
    out
}

fn list(title: &str, state: &State, ids: &[&str], words: impl Fn(&Item) -> String) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let by_id = state.by_id();
    let items = ids.iter().filter_map(|id| by_id.get(id));
    items.fold(format!("{title}\n"), |out, item| out + &format!("- {}: {}\n", item.id, words(item)))
}

/// The answer of the gate; `contradictions` are what the ledger contradicts in the state file.
pub fn gate_answer(state: &State, policy: &GatePolicy, here: &Here, contradictions: &[String]) -> String {
    let gated = gate(state, policy);
    if !contradictions.is_empty() {
        return format!("{}\n{}\n", contradicted(contradictions), here.contradicted());
    }
    format!("{}\n{}", status_line(state, &gated, policy), ending(state, &gated, policy, here))
}

fn contradicted(contradictions: &[String]) -> String {
    let lines: String =
        contradictions.iter().map(|line| format!("- {}\n", text::visible_line(line))).collect();
    format!("Status: FAIL (the ledger contradicts the state file)\n{lines}")
}

pub fn gate_without_file(here: &Here, is_dir: bool, next: &str) -> String {
    let dir = text::visible_line(&here.state_dir);
    let missing = match is_dir {
        true => format!("`{dir}` has no {}", here.phase.file_name()),
        false => format!("there is no state directory `{dir}`"),
    };
    format!("Status: FAIL ({missing})\n\n{next}\n")
}

pub fn blocking_failures<'s>(state: &'s State, policy: &GatePolicy) -> Vec<&'s Item> {
    let by_id = state.by_id();
    gate(state, policy).failed.iter().filter_map(|id| by_id.get(id).copied()).collect()
}

/// The fix of an item in the words of its finding, where no reviewer is asked.
pub fn fix_of(item: &Item) -> String {
    format!("{}\nAfter the fix, this must be true: {}", finding(item).trim(), item.check.trim())
}

pub fn fix_guidance(
    state: &State,
    policy: &GatePolicy,
    here: &Here,
    fix: impl Fn(&Item) -> String,
) -> String {
    let failed = blocking_failures(state, policy);
    let mut out = "FIX GUIDANCE\n\n".to_owned();
    for item in &failed {
        let (title, fix) = (short(finding(item)), indented(&fix(item)));
        out.push_str(&format!("Item {}: {title}\nScope: {}\nFix: {fix}\n\n", item.id, item.scope));
    }
    out + &fixing_next(&failed, state, policy, here)
}

/// The end of an answer to a fixer. Where the loop is over, the next step is not a fix.
fn fixing_next(failed: &[&Item], state: &State, policy: &GatePolicy, here: &Here) -> String {
    let gated = gate(state, policy);
    let none = if failed.is_empty() { "No blocking item has failed.\n\n" } else { "" };
    let next = match gated.end {
        GateEnd::Ceiling | GateEnd::ItemCap => here.after_gate(state, &gated, policy),
        _ if failed.is_empty() => here.after_gate(state, &gated, policy),
        _ => here.fixed(),
    };
    format!("{none}{next}\n")
}

pub fn execute_failed(state: &State, policy: &GatePolicy, here: &Here) -> String {
    let failed = blocking_failures(state, policy);
    let (pass, fail) = (state.count(Status::Pass), state.count(Status::Fail));
    let mut out = format!("{} items: {pass} PASS, {fail} FAIL{}\n\n", state.items.len(), open_count(state));
    for item in &failed {
        out.push_str(&format!("Item {} failed: {}\n", item.id, indented(finding(item))));
        out.push_str(&format!("  Scope: {}\n  Check: {}\n", item.scope, short(&item.check)));
    }
    if !failed.is_empty() {
        out.push('\n');
    }
    out + &fixing_next(&failed, state, policy, here)
}

pub fn recorded(state: &State, id: &str, policy: &GatePolicy, here: &Here) -> String {
    let status = state.item(id).map_or(Status::Todo, |item| item.status).name();
    let next = if gate(state, policy).open.is_empty() { here.gate() } else { here.verify(state) };
    format!("Recorded: {id} {status}\nItems: {}\n\n{next}\n", counts(state))
}

pub fn fixes_applied(state: &State, fixed: &Fixed, policy: &GatePolicy, here: &Here) -> String {
    let title = match !fixed.next_round && fixed.reopened.is_empty() {
        true => "Nothing to fix: no item has failed since the last fix",
        false => "Fixes applied",
    };
    let reopened: Vec<&str> = fixed.reopened.iter().map(String::as_str).collect();
    let reopened = list("To be verified again:", state, &reopened, |item| short(&item.check));
    let next = here.after_gate(state, &gate(state, policy), policy);
    format!("{title}\n\nRound: {}\n{reopened}\n{next}\n", state.iteration)
}

pub fn accepted(state: &State, id: &str, policy: &GatePolicy, here: &Here) -> String {
    let gated = gate(state, policy);
    format!("Accepted: {id}\n{}", ending(state, &gated, policy, here))
}

/// The overview of a phase; `by_word` are the items that passed without a review, and who said so.
pub fn overview(
    state: &State,
    policy: &GatePolicy,
    here: &Here,
    (by_word, contradictions): (&[(&str, String)], &[String]),
) -> String {
    let gated = gate(state, policy);
    let status = match contradictions.is_empty() {
        true => status_line(state, &gated, policy),
        false => contradicted(contradictions).trim_end().to_owned(),
    };
    let next = match contradictions.is_empty() {
        true => here.after_gate(state, &gated, policy),
        false => here.contradicted(),
    };
    let mut out = format!(
        "Phase: {}\nRound: {} of at most {} ({})\n{}\nItems: {}\n",
        state.phase,
        state.iteration,
        policy.ceiling_rounds,
        LoopState::of(state, policy).name(),
        status,
        counts(state)
    );
    out.push_str(&failed_list(state, &gated));
    out.push_str(&list("Not verified yet:", state, &gated.open, |item| short(&item.check)));
    out.push_str(&passed_over(state, &gated));
    let words: Vec<&str> = by_word.iter().map(|(id, _)| *id).collect();
    let who: HashMap<&str, &str> = by_word.iter().map(|(id, who)| (*id, who.as_str())).collect();
    let who = |item: &Item| short(who.get(item.id.as_str()).unwrap_or(&""));
    out.push_str(&list("Recorded as PASS without a review, by:", state, &words, who));
    out + &format!("\n{next}\n")
}

pub fn initialised(here: &Here, created: bool) -> String {
    let was = if created { "created" } else { "already existed" };
    let next = format!("NEXT: Begin with {}. Run: {}", here.phase, here.command("execute"));
    format!("State directory: {} ({was})\n\n{next}\n", text::visible_line(&here.state_dir))
}

pub fn reset(here: &Here, removed: bool) -> String {
    let was = if removed { "its state is removed" } else { "it had no state" };
    format!("Reset: {}, {was}\n\n{}\n", here.phase, here.decompose())
}

pub fn execute(here: &Here) -> String {
    format!("Phase: {}\nTask: {}\n\n{}\n", here.phase, task(here.phase), here.execute())
}

pub fn task(phase: Phase) -> &'static str {
    match phase {
        Phase::PlanStructure => {
            "Write the plan: milestones, each with its intent, acceptance criteria and tests, and the reason for every choice that is not obvious."
        }
        Phase::PlanCode => "Write the code changes of the plan, each linked to the intent it carries out.",
        Phase::PlanDocs => "Write the documentation of the plan: what stays true after the change, and why.",
        Phase::ImplCode => "Carry out the code of the plan, and meet every acceptance criterion.",
        Phase::ImplDocs => "Carry out the documentation of the plan, beside the code it is about.",
    }
}

#[cfg(test)]
mod tests;
