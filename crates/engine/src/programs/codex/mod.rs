//! The `codex` program in its judging form: without files to read it has no tools; the judged work cannot configure it.

mod call;
mod parse_output;

use super::program::used;
use super::{
    Credentials, Dialect, Facts, FileFormat, HOOK_SECONDS, Hook, Mark, ModelArgument, Program, ProgramName,
    ServerEntry, ServerForm, ServerVariables, Vendor, Working,
};
use serde_json::Value;

pub static FACTS: Facts = Facts {
    name: "codex",
    called: ProgramName {
        name: "`codex`",
        install: "https://developers.openai.com/codex",
        sign_in: "run `codex login`, or set CODEX_API_KEY",
    },
    vendor: Some(Vendor::OpenAi),
    may_see_project: true,
    chooses_service: true,
    caps_cost: false,
    light_model: None,
    steering: &["CODEX_CA_CERTIFICATE", "CODEX_HOME"],
    prompt_max_bytes: call::PROMPT_MAX_BYTES,
    // Its sandbox keeps it from writing, and lets it read the whole disk.
    reads_files: false,
    model_variable: None,
    // `CODEX_HOME` says where the user's sign-in is; in a call it is another folder.
    kept: &[
        "CODEX_API_KEY",
        "CODEX_ACCESS_TOKEN",
        "CODEX_HOME",
        "CODEX_CA_CERTIFICATE",
        "OPENAI_ORGANIZATION",
        "OPENAI_PROJECT",
    ],
    families: &[],
    set: &[],
    credentials: Credentials {
        variables: &["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"],
        folder_variable: Some("CODEX_HOME"),
        folder: ".codex",
        file: "auth.json",
    },
    working: WORKING,
    reports_cost: false,
    sends_again: false,
    patience: None,
    prepare: call::prepare,
    parse_output: parse_output::parse_output,
    opened: parse_output::opened,
    record: None,
};

pub static PROGRAM: Program = Program {
    name: FACTS.name,
    vendor: FACTS.vendor,
    marks: &[
        Mark::new("CODEX_THREAD_ID"),
        Mark::new("CODEX_SESSION_ID"),
        Mark::new("CODEX_CI"),
        Mark::new("CODEX_TOOL_CALL_ID"),
        Mark::new("CODEX_SANDBOX"),
        Mark::new("CODEX_SANDBOX_NETWORK_DISABLED"),
    ],
    packages: &[
        "@openai/codex",
        "codex-linux-sandbox",
        "codex-x86_64-unknown-linux-musl",
        "codex-aarch64-unknown-linux-musl",
    ],
    gate_files: &[".codex/", ".agents/"],
    reviewer: Some(&FACTS),
    server: Some(ServerEntry {
        files: &[".codex/config.toml"],
        format: FileFormat::Toml,
        path: &["mcp_servers", "countersign"],
        new_file: None,
        form: ServerForm::CommandAndArgs,
        variables: ServerVariables::Listed("env_vars"),
        next: "start `codex` here once and trust the project: it reads this file only then",
    }),
    hook: Some(Hook {
        program: &FACTS,
        title: "Stop of Codex",
        event: "Stop",
        project_variable: None,
        shell_marks: &["CODEX_TOOL_CALL_ID", "CODEX_SANDBOX_NETWORK_DISABLED"],
        forgets_held: false,
        hold: "block",
        file: ".codex/hooks.json",
        dialect: Dialect::STRICT,
        path: ["hooks", "Stop"],
        timeout: HOOK_SECONDS,
        next: "start `codex` here once, trust the project, and trust the hook with `/hooks`: until then Codex skips it \
               silently",
    }),
};

const WORKING: Working = Working {
    args: &["exec", "--json", "--color", "never", "--skip-git-repo-check", "-s", "workspace-write"],
    model: ModelArgument::Next("-m"),
    last: &["-"],
    own: &["exec"],
    set: &[],
    parse_output: parse_output::parse_output,
    live,
};

fn live(event: &Value) -> Option<String> {
    let item = &event["item"];
    match (event["type"].as_str()?, item["type"].as_str()?) {
        ("item.completed", "agent_message") => item["text"].as_str().map(str::to_owned),
        ("item.started", "command_execution") => Some(format!("$ {}", item["command"].as_str()?)),
        ("item.completed", "file_change") => Some(used("file_change", &item["changes"][0])),
        _ => None,
    }
}
