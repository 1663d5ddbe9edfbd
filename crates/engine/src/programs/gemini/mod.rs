//! The `gemini` program in its judging form.

use super::{Called, Credentials, Facts, Form, Heard, Kind, Problem, Setup, Vendor};
use crate::process::Ended;

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "gemini",
    called: Called {
        name: "`gemini`",
        install: "https://geminicli.com",
        sign_in: "run `gemini` once and sign in, or set GEMINI_API_KEY",
    },
    vendor: Some(Vendor::Google),
    prompt_max_bytes: 10_000_000,
    reads_files: false,
    model_variable: Some("GEMINI_MODEL"),
    kept: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    families: &[],
    set: &[],
    credentials: Credentials {
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        folder_variable: None,
        folder: ".gemini",
        file: "oauth_creds.json",
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
