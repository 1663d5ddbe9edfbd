//! The `opencode` program in its judging form.

use super::{Called, Credentials, Facts, Form, Heard, Kind, Problem, Setup};
use crate::process::Ended;

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "opencode",
    called: Called {
        name: "`opencode`",
        install: "https://opencode.ai",
        sign_in: "run `opencode auth login`, or set the key of its provider",
    },
    vendor: None,
    prompt_max_bytes: 10_000_000,
    reads_files: false,
    model_variable: None,
    kept: &[],
    families: &[],
    set: &[],
    credentials: Credentials {
        variables: &[],
        folder_variable: None,
        folder: ".local/share/opencode",
        file: "auth.json",
    },
    reports_cost: true,
    prepare,
    hear,
};

fn prepare(form: &Form<'_>) -> Setup {
    Setup { prompt: super::prompt(form.payload, form.reads_files), ..Setup::default() }
}

fn hear(_: &Ended) -> Heard {
    Heard { said: Err(Problem::new(Kind::Garbled, "")), usage: None }
}
