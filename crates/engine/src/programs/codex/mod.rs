//! The `codex` program in its judging form.

use super::{Called, Credentials, Facts, Form, Heard, Kind, Problem, Setup, Vendor};
use crate::process::Ended;

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "codex",
    called: Called {
        name: "`codex`",
        install: "https://developers.openai.com/codex",
        sign_in: "run `codex login`, or set CODEX_API_KEY",
    },
    vendor: Some(Vendor::OpenAi),
    prompt_max_bytes: 10_000_000,
    reads_files: false,
    model_variable: None,
    kept: &["CODEX_API_KEY"],
    families: &[],
    set: &[],
    credentials: Credentials {
        variables: &["CODEX_API_KEY"],
        folder_variable: Some("CODEX_HOME"),
        folder: ".codex",
        file: "auth.json",
    },
    reports_cost: false,
    prepare,
    hear,
};

fn prepare(form: &Form<'_>) -> Setup {
    Setup { prompt: super::prompt(form.payload, form.reads_files), ..Setup::default() }
}

fn hear(_: &Ended) -> Heard {
    Heard { said: Err(Problem::new(Kind::Garbled, "")), usage: None }
}
