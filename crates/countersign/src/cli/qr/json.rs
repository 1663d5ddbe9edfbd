//! A phase for programs: the same keys in every answer about it.

use countersign_core::policy::{GateEnd, GatePolicy, Gated};
use countersign_doors::qr::transition::gate;
use countersign_doors::qr::words::{blocking_failures, short};
use countersign_doors::qr::{Here, Item, LoopState, State, Status, severity};
use serde_json::{Value, json};

/// The state of a phase, as of now.
pub fn state(state: &State, policy: &GatePolicy, here: &Here) -> Value {
    let gated = gate(state, policy);
    let by_id = state.by_id();
    let rows = |ids: &[&str]| -> Vec<Value> {
        ids.iter().filter_map(|id| by_id.get(id)).map(|item| row(item)).collect()
    };
    json!({
        "phase": state.phase.name(),
        "state_dir": here.state_dir,
        "round": state.iteration,
        "ceiling_rounds": policy.ceiling_rounds,
        "loop_state": LoopState::of(state, policy).name(),
        "status": one_bit(&gated),
        "gate": end(gated.end),
        "blocks_from": severity::word(gated.threshold),
        "items": {
            "total": state.items.len(),
            "pass": state.count(Status::Pass),
            "fail": state.count(Status::Fail),
            "todo": state.count(Status::Todo),
        },
        "failed": rows(&gated.failed),
        "open": rows(&gated.open),
        "waived": rows(&gated.waived),
        "accepted": rows(&gated.accepted),
        "next": here.after_gate(state, &gated, policy),
    })
}

fn one_bit(gated: &Gated<'_>) -> &'static str {
    match gated.end {
        GateEnd::Pass => "PASS",
        _ => "FAIL",
    }
}

fn end(end: GateEnd) -> &'static str {
    match end {
        GateEnd::Pass => "pass",
        GateEnd::Fail => "fail",
        GateEnd::Todo => "todo",
        GateEnd::Empty => "empty",
        GateEnd::Ceiling => "ceiling",
        GateEnd::ItemCap => "item_cap",
    }
}

/// An item in a list: what stands in the text form too.
fn row(item: &Item) -> Value {
    json!({
        "id": item.id,
        "scope": item.scope.as_str(),
        "severity": severity::word(item.severity),
        "status": item.status.name(),
        "finding": item.finding.as_deref().map(short),
        "acceptance_reason": item.acceptance_reason,
    })
}

/// The blocking failures in full, for a fixer.
pub fn failures(state: &State, policy: &GatePolicy, fix: impl Fn(&Item) -> String) -> Vec<Value> {
    let full = |item: &&Item| {
        json!({
            "id": item.id,
            "scope": item.scope.as_str(),
            "severity": severity::word(item.severity),
            "check": item.check,
            "finding": item.finding,
            "fix": fix(item),
        })
    };
    blocking_failures(state, policy).iter().map(full).collect()
}
