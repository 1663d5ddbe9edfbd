//! The `gemini` program in its judging form: a home of its own, a folder it does not trust, and no tools where
//! the question carries everything.

mod call;
mod environment;
mod heard;
mod record;
mod settings;

pub(super) use heard::hear as hear_work;

use super::{Called, Credentials, Facts, Record, Vendor};

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "gemini",
    called: Called {
        name: "`gemini`",
        install: "https://geminicli.com",
        sign_in: "run `gemini` once and sign in, or set GEMINI_API_KEY",
    },
    vendor: Some(Vendor::Google),
    prompt_max_bytes: call::PROMPT_MAX_BYTES,
    reads_files: false,
    model_variable: Some("GEMINI_MODEL"),
    kept: environment::KEPT,
    families: environment::FAMILIES,
    set: environment::SET,
    credentials: Credentials {
        variables: &["GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
        folder_variable: None,
        folder: ".gemini",
        file: "oauth_creds.json",
    },
    reports_cost: false,
    prepare: call::prepare,
    hear: heard::hear,
    opened: heard::opened,
    record: Some(Record { file: record::FILE, check: record::check }),
};
