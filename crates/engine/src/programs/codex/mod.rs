//! The `codex` program in its judging form: without files to read it has nothing it could act with, and
//! nothing of what it judges can tell it how to work.

mod call;
mod environment;
mod heard;
mod settings;

pub(super) use heard::hear as hear_work;

use super::{Called, Credentials, Facts, Vendor};

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "codex",
    called: Called {
        name: "`codex`",
        install: "https://developers.openai.com/codex",
        sign_in: "run `codex login`, or set CODEX_API_KEY",
    },
    vendor: Some(Vendor::OpenAi),
    prompt_max_bytes: call::PROMPT_MAX_BYTES,
    // Its sandbox keeps it from writing, and lets it read the whole disk.
    reads_files: false,
    model_variable: None,
    kept: environment::KEPT,
    families: &[],
    set: &[],
    credentials: Credentials {
        variables: environment::KEYS,
        folder_variable: Some("CODEX_HOME"),
        folder: ".codex",
        file: "auth.json",
    },
    reports_cost: false,
    prepare: call::prepare,
    hear: heard::hear,
    opened: heard::opened,
    record: None,
};
