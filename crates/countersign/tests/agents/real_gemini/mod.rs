//! The Gemini reviewer with the real program.

mod ends;
mod held;
mod sizes;
mod verdicts;

use crate::bench::{Bench, Driven};
use countersign_testkit::{Act, Gemini, GeminiApi};

/// Gemini CLI.
pub const GEMINI: Driven = Driven {
    name: "gemini",
    executable: "node",
    keys: |_| String::new(),
    variables: |url| vec![("GOOGLE_GEMINI_BASE_URL", url.to_owned())],
    key_variable: "GEMINI_API_KEY",
};

fn bench(service: Gemini) -> Bench<GeminiApi> {
    Bench::of(GEMINI, service)
}

fn passing() -> Bench<GeminiApi> {
    bench(Gemini::always(Act::ruling("Complete", true, "fine")))
}

/// The text of the first question, without what the program says about itself before it.
fn question(bench: &Bench<GeminiApi>) -> String {
    let asked = bench.service.asked();
    let parts = asked[0].body["contents"][0]["parts"].as_array().unwrap().clone();
    assert_eq!(parts.len(), 2, "{parts:?}");
    parts[1]["text"].as_str().unwrap().to_owned()
}
