//! The `opencode` program in its judging form: it has no tools, no home and no settings but ours, so nothing of
//! what it judges can tell it how to work.

mod call;
mod heard;

pub(super) use heard::hear as hear_work;

use super::{Called, Credentials, Facts};

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "opencode",
    called: Called {
        name: "`opencode`",
        install: "https://opencode.ai",
        sign_in: "run `opencode auth login`, or set the key of its provider and name the model",
    },
    vendor: None,
    prompt_max_bytes: call::PROMPT_MAX_BYTES,
    reads_files: false,
    model_variable: None,
    kept: call::KEPT,
    families: &[],
    set: call::SET,
    credentials: Credentials {
        variables: call::KEYS,
        folder_variable: Some("XDG_DATA_HOME"),
        folder: ".local/share",
        file: "opencode/auth.json",
    },
    reports_cost: true,
    prepare: call::prepare,
    hear: heard::hear,
    opened: heard::opened,
    record: None,
};
