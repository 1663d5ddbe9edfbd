//! The `gemini` program in its judging form: its own home, an untrusted folder, no tools if the question has everything.

mod call;
mod parse_output;
mod record;
mod settings;
mod work;

use super::{
    Called, Credentials, Dialect, Facts, FileFormat, HOOK_SECONDS, Hook, Mark, Program, Record, ServerEntry,
    ServerForm, Vendor,
};

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "gemini",
    called: Called {
        name: "`gemini`",
        install: "https://geminicli.com",
        sign_in: "run `gemini` once and sign in, or set GEMINI_API_KEY",
    },
    vendor: Some(Vendor::Google),
    may_see_project: true,
    chooses_service: true,
    caps_cost: false,
    light_model: None,
    steering: &["GOOGLE_GENAI_USE_"],
    prompt_max_bytes: call::PROMPT_MAX_BYTES,
    reads_files: false,
    model_variable: Some("GEMINI_MODEL"),
    kept: call::KEPT,
    families: call::FAMILIES,
    set: call::SET,
    credentials: Credentials {
        variables: &["GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
        folder_variable: None,
        folder: ".gemini",
        file: "oauth_creds.json",
    },
    working: work::WORKING,
    reports_cost: false,
    prepare: call::prepare,
    hear: parse_output::parse_output,
    opened: parse_output::opened,
    record: Some(Record { file: record::FILE, check: record::check }),
};

/// Its row.
pub static PROGRAM: Program = Program {
    name: FACTS.name,
    vendor: FACTS.vendor,
    marks: &[Mark::new("GEMINI_CLI")],
    gate_files: &[".gemini/settings.json", ".gemini/commands/"],
    reviewer: Some(&FACTS),
    server: Some(ServerEntry {
        files: &[".gemini/settings.json"],
        format: FileFormat::Json(Dialect::COMMENTS),
        path: &["mcpServers", "countersign"],
        new_file: None,
        form: ServerForm::CommandAndArgs,
        next: "start `gemini` here once and trust the folder: it starts no server before",
    }),
    hook: Some(Hook {
        program: &FACTS,
        title: "AfterAgent of Gemini CLI",
        event: "AfterAgent",
        project_variable: Some("GEMINI_PROJECT_DIR"),
        // It forgets that it was held as soon as its agent uses a tool. What it was asked stays the same.
        forgets_held: true,
        hold: "deny",
        file: ".gemini/settings.json",
        dialect: Dialect::COMMENTS,
        path: ["hooks", "AfterAgent"],
        timeout: HOOK_SECONDS * 1000,
        next: "start `gemini` here once and trust the folder: it runs no hook before",
    }),
};
