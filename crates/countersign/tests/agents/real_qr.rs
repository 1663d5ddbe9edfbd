//! Reviews in items with the real programs: the whole loop with `claude` as reviewer and as fixer, and items from
//! each of the others.

use crate::bench::Bench;
use crate::real_codex::CODEX;
use crate::real_gemini::GEMINI;
use crate::real_opencode::OPENCODE;
use countersign_testkit::{Act, Asked, Chat, Dialect, Gemini, Messages, Ran, Responses, Running};
use serde_json::{Value, json};

const PLAN: &str = "# Plan\n\n## Milestone M1: Parse\n\nAcceptance: TO BE WRITTEN\n\n## Milestone M2: Write\n\nAcceptance: fine\n";

fn items() -> Value {
    json!({ "items": [
        { "scope": "*", "check": "Verify milestone definitions", "severity": "SHOULD" },
        { "scope": "milestone:M1", "check": "Check acceptance criteria", "severity": "MUST" },
    ] })
}

fn run<D: Dialect>(bench: &Bench<D>, words: &[&str]) -> Ran {
    Running::start(&mut bench.command(words)).wait()
}

/// What the model does: breaks the plan into items, fails one of them as long as the plan is not mended, says how to
/// mend it, and as the fixer reads the plan and writes it.
fn model(plan: String) -> impl FnMut(&Asked) -> Act + Send + 'static {
    move |asked: &Asked| {
        let is = |words: &str| asked.text.contains(words);
        if is("You break a quality review into items") {
            return Act::answer(items());
        }
        if is("You write instructions for somebody who mends") {
            return Act::answer(
                json!({ "fixes": [{ "id": "plan-002", "fix": "Write the acceptance criteria of M1." }] }),
            );
        }
        if is("FIX GUIDANCE") {
            return match asked.text.matches("tool_result").count() {
                0 => Act::Use { tool: "Read", input: json!({ "file_path": plan }) },
                1 => {
                    let content = PLAN.replace("TO BE WRITTEN", "it parses");
                    Act::Use { tool: "Write", input: json!({ "file_path": plan, "content": content }) }
                }
                _ => Act::Say { text: "Fixes applied", stop: "end_turn" },
            };
        }
        let id = if is("**plan-002**") { "plan-002" } else { "plan-001" };
        let passed = id == "plan-001" || !is("TO BE WRITTEN");
        Act::ruling(id, passed, if passed { "" } else { "Acceptance criteria missing for M1" })
    }
}

/// QR-14.
#[test]
fn qr_14_the_whole_loop_with_claude_as_reviewer_and_fixer() {
    let mut bench = Bench::new(Messages::always(Act::Hang));
    bench.project.write("plan.md", PLAN);
    let plan = bench.project.path("plan.md").canonicalize().unwrap().display().to_string();
    bench.service = Messages::minded(model(plan));
    let fixer = "claude -p --permission-mode acceptEdits --setting-sources= --strict-mcp-config";
    let words = ["qr", "loop", "--artifact", "plan.md", "--reviewer", "claude", "--fixer", fixer];
    let ran = run(&bench, &words).exits(0);
    assert!(
        ran.stdout.starts_with("VERIFICATION COMPLETE\n\nStatus: PASS\nItems: 2 total, 2 PASS, 0 FAIL\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("round 1: 2 total, 1 PASS, 1 FAIL") && ran.stderr.contains("round 2 begins"),
        "{}",
        ran.stderr
    );
    assert!(bench.project.read("plan.md").contains("Acceptance: it parses"));
    let costs = run(&bench, &["costs", "--json"]).exits(0).json();
    assert!(costs["total"]["usd"].as_f64().unwrap() > 0.0, "{costs}");
    // A fixer is the user's own program, with a temporary folder of its own.
    bench.assert_nothing_runs();
}

/// Items from a program, after a first reply that is none.
fn decomposes<D: Dialect>(bench: &Bench<D>, reviewer: &str) {
    bench.project.write("plan.md", PLAN);
    std::fs::create_dir(bench.project.path("state")).unwrap();
    let place = ["--state-dir", "state", "--phase", "plan-structure"];
    let words = ["qr", "decompose", "--artifact", "plan.md", "--reviewer", reviewer];
    let ran = run(bench, &[&words[..], &place].concat()).exits(0);
    assert!(
        ran.stdout.starts_with("DECOMPOSE COMPLETE\n\nItems created: 2\n- plan-001: Verify milestone"),
        "{}",
        ran.stdout
    );
    let asked = bench.service.asked();
    assert_eq!(asked.len(), 2, "asked again once");
    assert!(asked[1].text.contains("could not be used: there are no items"), "{}", asked[1].text);
    bench.assert_nothing_runs();
}

fn second_time_lucky() -> (Vec<Act>, Act) {
    (vec![Act::answer(json!({ "items": [] }))], Act::answer(items()))
}

/// QR-2.
#[test]
fn qr_2_items_from_claude() {
    let (first, then) = second_time_lucky();
    decomposes(&Bench::new(Messages::scripted(first, then)), "claude");
}

/// QR-2.
#[test]
fn qr_2_items_from_codex() {
    let (first, then) = second_time_lucky();
    let bench = Bench::of(CODEX, Responses::scripted(first, then));
    bench.configure("", "").trust();
    decomposes(&bench, "main");
    assert!(bench.service.asked()[0].text.contains("\"items\""), "the schema is that of items");
}

/// QR-2.
#[test]
fn qr_2_items_from_gemini() {
    let (first, then) = second_time_lucky();
    decomposes(&Bench::of(GEMINI, Gemini::scripted(first, then)), "gemini");
}

/// QR-2.
#[test]
fn qr_2_items_from_opencode() {
    let (first, then) = second_time_lucky();
    let bench = Bench::of(OPENCODE, Chat::scripted(first, then));
    bench.configure("", "").trust();
    decomposes(&bench, "main");
}
