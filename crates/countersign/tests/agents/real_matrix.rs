//! Every failure of a service, for every reviewer: what the review comes to, its exit code, how many requests were made, and
//! how many processes are left. `golden/matrix.txt` is the table; `UPDATE_GOLDEN=1` writes it again.

use crate::bench::{Bench, CLAUDE, Driven, detail};
use crate::real_codex::CODEX;
use crate::real_gemini::GEMINI;
use crate::real_opencode::OPENCODE;
use countersign_testkit::{
    Act, ChatApi, Dialect, GeminiApi, Loopback, MessagesApi, ResponsesApi, eventually,
};
use std::path::Path;

const KEYED: fn(&str) -> String = |url| format!(", base_url: '{url}/v1', model: m, key_env: SERVICE_KEY");
const ANTHROPIC: Driven = Driven {
    name: "anthropic",
    executable: "countersign",
    keys: KEYED,
    variables: |_| vec![],
    key_variable: "SERVICE_KEY",
};
const OPENAI: Driven = Driven { name: "openai", ..ANTHROPIC };

/// How an API says what went wrong: status, type and words.
type Refusal = (u16, &'static str, &'static str);

/// What differs from one API to the next.
#[derive(Clone, Copy)]
struct Words {
    key: Refusal,
    access: Refusal,
    credit: Refusal,
    model: Refusal,
    limit: Refusal,
    busy: Refusal,
    broken: Refusal,
}

const MESSAGES: Words = Words {
    key: (401, "authentication_error", "invalid x-api-key"),
    access: (403, "permission_error", "Your key may not use this model"),
    credit: (400, "invalid_request_error", "Your credit balance is too low to access the API."),
    model: (404, "not_found_error", "model: nope-1"),
    limit: (429, "rate_limit_error", "This request would exceed your rate limit"),
    busy: (529, "overloaded_error", "Overloaded"),
    broken: (500, "api_error", "Internal server error"),
};
const OPEN: Words = Words {
    key: (401, "invalid_api_key", "Incorrect API key provided"),
    access: (403, "forbidden", "Your key may not use this model"),
    credit: (
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing",
    ),
    model: (404, "model_not_found", "The model `nope-1` does not exist or you do not have access to it."),
    limit: (429, "rate_limit_exceeded", "Rate limit reached"),
    busy: (503, "server_is_overloaded", "The engine is overloaded"),
    broken: (500, "server_error", "The server had an error"),
};
const GOOGLE: Words = Words {
    key: (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    access: (403, "PERMISSION_DENIED", "Your key may not use this model"),
    credit: (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
    model: (404, "NOT_FOUND", "models/nope-1 is not found for API version v1beta."),
    limit: (429, "RESOURCE_EXHAUSTED", "Too many requests"),
    busy: (503, "UNAVAILABLE", "The model is overloaded."),
    broken: (500, "INTERNAL", "An internal error has occurred."),
};

/// A failure, and what the service does: one thing after the other, and then the last for ever.
type Row = (&'static str, Vec<Act>, Act);

fn rows(words: Words) -> Vec<Row> {
    let error = |(status, kind, message)| Act::error(status, kind, message);
    let asking =
        |(status, kind, message), seconds| Act::Error { status, kind, message, retry_after: Some(seconds) };
    let pass = || Act::ruling("Complete", true, "fine");
    let always = |name, act: Act| (name, vec![], act);
    vec![
        always("an answer", pass()),
        ("429 twice, then an answer", vec![error(words.limit); 2], pass()),
        ("503 once, then an answer", vec![error(words.busy)], pass()),
        always("429, retry-after 3600", asking(words.limit, 3600)),
        always("overloaded", error(words.busy)),
        always("500", error(words.broken)),
        always("wrong key", error(words.key)),
        always("403", error(words.access)),
        always("no credit", error(words.credit)),
        always("unknown model", error(words.model)),
        always("reply breaks off", Act::Cut),
        always("a web page", Act::Page),
        always("empty reply", Act::Say { text: "", stop: "end_turn" }),
        always("plain text", Act::Say { text: "It all looks fine. passed: true", stop: "end_turn" }),
        always("a pass without rulings", Act::Raw("{\"passed\": true, \"feedback\": \"good\"}".to_owned())),
        always("cut at the limit", Act::Say { text: "{\"passed\": true", stop: "max_tokens" }),
    ]
}

/// The lines of one reviewer.
fn column<D: Dialect>(driven: Driven, words: Words) -> Vec<(&'static str, String)> {
    rows(words).into_iter().map(|(failure, first, last)| (failure, cell::<D>(driven, first, last))).collect()
}

fn cell<D: Dialect>(driven: Driven, first: Vec<Act>, last: Act) -> String {
    let bench = Bench::of(driven, Loopback::<D>::scripted(first, last));
    bench.configure(", timeout_seconds: 100", "");
    let ran = bench.run_configured(&[]);
    let json = ran.json();
    let outcome = json["reason"].as_str().or(json["outcome"].as_str()).unwrap_or("?").to_owned();
    eventually("its processes end", || bench.processes().is_empty());
    let left = bench.processes().len();
    let words = detail(&json).split(" (").next().unwrap_or_default().replace("127.0.0.1:", "HOST ");
    let words = words.split_once("HOST ").map_or(words.clone(), |(before, after)| {
        format!("{before}HOST{}", after.trim_start_matches(|letter: char| letter.is_ascii_digit()))
    });
    // What a question cost that led to nothing is unknown, unless the service did not take it.
    let tokens = if json["cost"]["tokens_in"] == 0 { "0" } else { "not 0" };
    let asked = match bench.service.asked().len() {
        // How often these two ask by themselves depends on how quickly they are ended, or on what they read first.
        3..=6 if ["claude", "opencode"].contains(&driven.name) => "3-6".to_owned(),
        exactly => exactly.to_string(),
    };
    format!("{outcome:<12} {:>4} {asked:>8} {tokens:>6} {left:>4}  {words}", ran.code)
}

#[test]
fn issue_23_every_failure_has_its_outcome_and_leaves_nothing() {
    let columns = std::thread::scope(|scope| {
        let all = [
            ("anthropic", scope.spawn(|| column::<MessagesApi>(ANTHROPIC, MESSAGES))),
            ("openai", scope.spawn(|| column::<ChatApi>(OPENAI, OPEN))),
            ("claude", scope.spawn(|| column::<MessagesApi>(CLAUDE, MESSAGES))),
            ("codex", scope.spawn(|| column::<ResponsesApi>(CODEX, OPEN))),
            ("gemini", scope.spawn(|| column::<GeminiApi>(GEMINI, GOOGLE))),
            ("opencode", scope.spawn(|| column::<ChatApi>(OPENCODE, OPEN))),
        ];
        all.map(|(name, column)| (name, column.join().unwrap()))
    });
    let mut table =
        format!("{:<26} {:<10} {:<12} exit requests tokens left  words\n", "failure", "reviewer", "outcome");
    for at in 0..columns[0].1.len() {
        for (name, column) in &columns {
            let (failure, cell) = &column[at];
            table.push_str(format!("{failure:<26} {name:<10} {cell}").trim_end());
            table.push('\n');
        }
    }
    println!("{table}");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/golden/matrix.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(&golden, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&golden).unwrap(), table);
}
