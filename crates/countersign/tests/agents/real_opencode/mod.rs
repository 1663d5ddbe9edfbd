//! The opencode reviewer with the real program. A call takes seconds and half a gigabyte, so each has several
//! expectations.

mod ends;
mod held;
mod sizes;
mod verdicts;

use crate::bench::{Bench, Driven};
use countersign_testkit::{Act, Chat, ChatApi};

/// opencode, with a service of the user's.
pub const OPENCODE: Driven = Driven {
    name: "opencode",
    executable: "opencode",
    keys: |url| format!(", base_url: '{url}/v1', model: vendor/gpt-test, key_env: CHAT_KEY"),
    variables: |_| vec![],
    key_variable: "CHAT_KEY",
};

/// A configured reviewer and a service for it.
pub fn bench(service: Chat) -> Bench<ChatApi> {
    let bench = Bench::of(OPENCODE, service);
    bench.configure("", "");
    bench
}

/// One that passes everything.
pub fn passing() -> Bench<ChatApi> {
    bench(Chat::always(Act::ruling("Complete", true, "fine")))
}
