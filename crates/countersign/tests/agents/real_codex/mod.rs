//! The Codex reviewer with the real program.

mod ends;
mod held;
mod sizes;
mod verdicts;

use crate::bench::{Bench, Driven};
use countersign_testkit::{Act, Responses, ResponsesApi};

/// Codex CLI.
pub const CODEX: Driven = Driven {
    name: "codex",
    executable: "codex",
    keys: |url| format!(", base_url: '{url}/v1', key_env: SERVICE_KEY"),
    variables: |_| vec![],
    key_variable: "SERVICE_KEY",
};

/// A configured project, and a service that does the same with every question.
fn always(act: Act) -> Bench<ResponsesApi> {
    configured(Responses::always(act))
}

/// A project that is configured for a service.
fn configured(service: Responses) -> Bench<ResponsesApi> {
    let bench = Bench::of(CODEX, service);
    bench.configure("", "");
    bench
}
