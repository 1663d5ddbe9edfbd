//! The `gemini` program in its judging form: its own home, an untrusted folder, no tools if the question has everything.

mod call;
mod parse_output;
mod record;

use super::{
    Credentials, Dialect, Facts, FileFormat, HOOK_SECONDS, Hook, Mark, ModelArgument, Program, ProgramName,
    Record, ServerEntry, ServerForm, ServerVariables, Vendor, Working,
};

pub static FACTS: Facts = Facts {
    name: "gemini",
    called: ProgramName {
        name: "`gemini`",
        install: "https://geminicli.com",
        sign_in: "run `gemini` once and sign in, or set GEMINI_API_KEY",
    },
    vendor: Some(Vendor::Google),
    may_see_project: true,
    chooses_service: true,
    caps_cost: false,
    light_model: None,
    steering: &["GEMINI_CLI_", "GOOGLE_GENAI_USE_"],
    // It would cut a longer one and go on.
    prompt_max_bytes: 8 * 1024 * 1024,
    reads_files: false,
    model_variable: Some("GEMINI_MODEL"),
    kept: &[
        "GEMINI_API_KEY",
        "GEMINI_API_KEY_AUTH_MECHANISM",
        "GEMINI_CLI_CUSTOM_HEADERS",
        "GEMINI_MODEL",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_PROJECT_ID",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
    ],
    families: &[(Some("GOOGLE_GENAI_USE_VERTEXAI"), "GOOGLE_")],
    set: &[
        // It loads no settings, hooks, servers, instructions or skills from an untrusted folder, and refuses to work there
        // unless its settings switch trust off.
        ("GEMINI_RESTRICTED_MODE", "true"),
        // In one process: a second one below it would get no signals.
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        // An expired sign-in is a failure; the program must not open a window.
        ("NO_BROWSER", "true"),
        ("NO_COLOR", "1"),
    ],
    credentials: Credentials {
        variables: &["GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
        folder_variable: None,
        folder: ".gemini",
        file: "oauth_creds.json",
    },
    // It writes one report at its end, so there is nothing to watch.
    working: Working {
        args: &["--output-format", "json", "--approval-mode", "yolo"],
        model: ModelArgument::Next("-m"),
        last: &[],
        own: &["-p"],
        // It would otherwise not begin without a person, and would run below another one of itself.
        set: &[("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("GEMINI_CLI_NO_RELAUNCH", "true")],
        parse_output: parse_output::parse_output,
        live: |_| None,
    },
    reports_cost: false,
    sends_again: false,
    patience: None,
    prepare: call::prepare,
    parse_output: parse_output::parse_output,
    opened: parse_output::opened,
    record: Some(Record { file: record::FILE, check: record::check }),
};

pub static PROGRAM: Program = Program {
    name: FACTS.name,
    vendor: FACTS.vendor,
    marks: &[Mark::new("GEMINI_CLI")],
    packages: &["@google/gemini-cli"],
    gate_files: &[".gemini/"],
    reviewer: Some(&FACTS),
    server: Some(ServerEntry {
        files: &[".gemini/settings.json"],
        format: FileFormat::Json(Dialect::COMMENTS),
        path: &["mcpServers", "countersign"],
        new_file: None,
        form: ServerForm::CommandAndArgs,
        variables: ServerVariables::Set("env"),
        next: "start `gemini` here once and trust the folder: only then it starts the server",
    }),
    hook: Some(Hook {
        program: &FACTS,
        title: "AfterAgent of Gemini CLI",
        event: "AfterAgent",
        project_variable: Some("GEMINI_PROJECT_DIR"),
        shell_marks: &["GEMINI_CLI"],
        // It forgets that it was held as soon as its agent uses a tool. What it was asked stays the same.
        forgets_held: true,
        hold: "deny",
        file: ".gemini/settings.json",
        dialect: Dialect::COMMENTS,
        path: ["hooks", "AfterAgent"],
        timeout: HOOK_SECONDS * 1000,
        next: "start `gemini` here once and trust the folder: only then it runs the hook",
    }),
};
