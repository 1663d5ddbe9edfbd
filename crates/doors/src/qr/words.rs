//! The document's text forms. Callers read them as they are; nothing foreign can forge a line of them.

pub mod reconciliation;

use super::item::{Item, Status};
use super::loop_state::LoopState;
use super::next::{Here, why_stopped};
use super::phase::Phase;
use super::state::State;
use super::transition::{Fixed, gate};
use countersign_core::policy::{GateEnd, GatePolicy, Gated};
use countersign_core::text;
use std::borrow::Cow;
use std::collections::HashMap;

/// How much of a finding or a check stands in a list.
const SHORT_CHARS: usize = 80;
/// What stands for a finding nobody wrote.
const NO_FINDING: &str = "(no finding was recorded)";

/// A text on one short line: its first line, nothing in it that acts, at most 80 characters.
pub fn short(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = text::visible_line(first);
    match line.char_indices().nth(SHORT_CHARS) {
        Some(_) => line.chars().take(SHORT_CHARS - 1).chain(['…']).collect(),
        None => line.into_owned(),
    }
}

/// A text of several lines, of which only the first stands at the margin.
pub fn indented(text: &str) -> String {
    let lines = text.trim().lines().map(|line| match line.trim_end() {
        "" => Cow::Borrowed(""),
        line => text::visible(line),
    });
    lines.collect::<Vec<_>>().join("\n  ")
}

fn finding(item: &Item) -> &str {
    item.finding.as_deref().filter(|finding| !finding.trim().is_empty()).unwrap_or(NO_FINDING)
}

/// After items were made.
pub fn decompose_complete(state: &State, here: &Here) -> String {
    let mut out = format!("DECOMPOSE COMPLETE\n\nItems created: {}\n", state.items.len());
    for item in &state.items {
        out.push_str(&format!("- {}: {} (scope: {})\n", item.id, short(&item.check), item.scope));
    }
    out + &format!("\n{}\n", here.verify())
}

/// `7 total, 5 PASS, 2 FAIL`, and how many are open where any are.
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

/// `Status: PASS`, or FAIL with what keeps it from passing.
pub fn status_line(state: &State, gated: &Gated<'_>, policy: &GatePolicy) -> String {
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

/// After items were verified.
pub fn verification_complete(state: &State, policy: &GatePolicy, here: &Here) -> String {
    let gated = gate(state, policy);
    let mut out = format!(
        "VERIFICATION COMPLETE\n\n{}\nItems: {}\n",
        status_line(state, &gated, policy),
        counts(state)
    );
    out.push_str(&failed_list(state, &gated));
    out.push_str(&passed_over(state, &gated));
    out + &format!("\n{}\n", here.after_gate(state, &gated, policy))
}

fn failed_list(state: &State, gated: &Gated<'_>) -> String {
    list("Failed items:", state, &gated.failed, |item| short(finding(item)))
}

/// What does not keep the gate from passing and is still said, always: what was waived, and what was accepted.
pub fn passed_over(state: &State, gated: &Gated<'_>) -> String {
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

/// The gate: one bit, what was passed over, and what to do.
pub fn gate_answer(state: &State, policy: &GatePolicy, here: &Here) -> String {
    let gated = gate(state, policy);
    format!(
        "{}\n{}\n{}\n",
        status_line(state, &gated, policy),
        passed_over(state, &gated),
        here.after_gate(state, &gated, policy)
    )
}

/// The gate of a phase that has no file.
pub fn gate_without_file(here: &Here, is_dir: bool, next: &str) -> String {
    let dir = text::visible_line(&here.state_dir);
    let missing = match is_dir {
        true => format!("`{dir}` has no {}", here.phase.file_name()),
        false => format!("there is no state directory `{dir}`"),
    };
    format!("Status: FAIL ({missing})\n\n{next}\n")
}

/// The items a fixer is told about: what failed and blocks in this round.
pub fn blocking_failures<'s>(state: &'s State, policy: &GatePolicy) -> Vec<&'s Item> {
    let by_id = state.by_id();
    gate(state, policy).failed.iter().filter_map(|id| by_id.get(id).copied()).collect()
}

/// What to do about an item, from its own words: for where nobody is asked.
pub fn fix_of(item: &Item) -> String {
    format!("{}\nThen this must hold: {}", finding(item).trim(), item.check.trim())
}

/// Instructions for the blocking failures, each in the words of `fix`.
pub fn fix_guidance(
    state: &State,
    policy: &GatePolicy,
    here: &Here,
    fix: impl Fn(&Item) -> String,
) -> String {
    let failed = blocking_failures(state, policy);
    let mut out = "FIX GUIDANCE\n\n".to_owned();
    if failed.is_empty() {
        let gated = gate(state, policy);
        return out + "Nothing that blocks has failed.\n\n" + &here.after_gate(state, &gated, policy) + "\n";
    }
    for item in failed {
        let title = short(finding(item));
        out.push_str(&format!(
            "Item {}: {title}\nScope: {}\nFix: {}\n\n",
            item.id,
            item.scope,
            indented(&fix(item))
        ));
    }
    out + &fixing_next(state, policy, here) + "\n"
}

/// What a fixer does next: nothing more where the loop is over.
fn fixing_next(state: &State, policy: &GatePolicy, here: &Here) -> String {
    let gated = gate(state, policy);
    match gated.end {
        GateEnd::Ceiling | GateEnd::ItemCap => here.after_gate(state, &gated, policy),
        _ => here.fixed(),
    }
}

/// What the executor of a phase that failed is told: the overview, and every blocking failure in full.
pub fn execute_failed(state: &State, policy: &GatePolicy, here: &Here) -> String {
    let failed = blocking_failures(state, policy);
    let (pass, fail) = (state.count(Status::Pass), state.count(Status::Fail));
    let mut out = format!("{} items: {pass} PASS, {fail} FAIL{}\n\n", state.items.len(), open_count(state));
    for item in &failed {
        out.push_str(&format!("Item {} failed: {}\n", item.id, indented(finding(item))));
        out.push_str(&format!("  Scope: {}\n  Check: {}\n", item.scope, short(&item.check)));
    }
    if failed.is_empty() {
        let gated = gate(state, policy);
        return out + "Nothing that blocks has failed.\n\n" + &here.after_gate(state, &gated, policy) + "\n";
    }
    format!("{out}\n{}\n", fixing_next(state, policy, here))
}

/// After a ruling was recorded.
pub fn recorded(state: &State, id: &str, policy: &GatePolicy, here: &Here) -> String {
    let status = state.item(id).map_or(Status::Todo, |item| item.status);
    let gated = gate(state, policy);
    let next = match gated.open.as_slice() {
        [] => here.gate(),
        _ => here.verify(),
    };
    format!("Recorded: {id} {status}\nItems: {}\n\n{next}\n", counts(state))
}

/// After a fix.
pub fn fixes_applied(state: &State, fixed: &Fixed, policy: &GatePolicy, here: &Here) -> String {
    let nothing = !fixed.next_round && fixed.reopened.is_empty();
    let mut out = match nothing {
        true => "Nothing to fix: no item has failed since the last fix\n\n".to_owned(),
        false => "Fixes applied\n\n".to_owned(),
    };
    out.push_str(&format!("Round: {}\n", state.iteration));
    let reopened: Vec<&str> = fixed.reopened.iter().map(String::as_str).collect();
    out.push_str(&list("To be verified again:", state, &reopened, |item| short(&item.check)));
    let gated = gate(state, policy);
    out + &format!("\n{}\n", here.after_gate(state, &gated, policy))
}

/// After a person took an item as it is.
pub fn accepted(state: &State, id: &str, policy: &GatePolicy, here: &Here) -> String {
    let gated = gate(state, policy);
    format!("Accepted: {id}\n{}\n{}\n", passed_over(state, &gated), here.after_gate(state, &gated, policy))
}

/// The overview of a phase, worked out now, with what passed on whose word.
pub fn overview(state: &State, policy: &GatePolicy, here: &Here, by_word: &[(&str, String)]) -> String {
    let gated = gate(state, policy);
    let mut out = format!(
        "Phase: {}\nRound: {} of at most {} ({})\n{}\nItems: {}\n",
        state.phase,
        state.iteration,
        policy.ceiling_rounds,
        LoopState::of(state, policy),
        status_line(state, &gated, policy),
        counts(state)
    );
    out.push_str(&failed_list(state, &gated));
    out.push_str(&list("Not verified yet:", state, &gated.open, |item| short(&item.check)));
    out.push_str(&passed_over(state, &gated));
    let words: Vec<&str> = by_word.iter().map(|(id, _)| *id).collect();
    let who: HashMap<&str, &str> = by_word.iter().map(|(id, who)| (*id, who.as_str())).collect();
    let who = |item: &Item| short(who.get(item.id.as_str()).unwrap_or(&""));
    out.push_str(&list("Passed on a word, without a review:", state, &words, who));
    out + &format!("\n{}\n", here.after_gate(state, &gated, policy))
}

/// After the state directory was made.
pub fn initialised(here: &Here, created: bool) -> String {
    let was = if created { "created" } else { "was there already" };
    let next = format!("NEXT: Begin with {}. Run: {}", here.phase, here.command("execute"));
    format!("State directory: {} ({was})\n\n{next}\n", text::visible_line(&here.state_dir))
}

/// After a phase began again.
pub fn reset(here: &Here, removed: bool) -> String {
    let was = if removed { "its state is removed" } else { "it had no state" };
    format!("Reset: {}, {was}\n\n{}\n", here.phase, here.decompose())
}

/// What the executor of a phase is told to do.
pub fn execute(here: &Here) -> String {
    format!("Phase: {}\nTask: {}\n\n{}\n", here.phase, task(here.phase), here.execute())
}

/// The work of a phase.
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
