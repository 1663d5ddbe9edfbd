//! The `opencode` program in its judging form: no tools, and only our home and settings; the judged work cannot configure it.

mod call;
mod parse_output;

use super::program::used;
use super::{
    Credentials, Dialect, Facts, FileFormat, Mark, ModelArgument, Program, ProgramName, ServerEntry,
    ServerForm, ServerVariables, Working,
};
use serde_json::Value;

pub static FACTS: Facts = Facts {
    name: "opencode",
    called: ProgramName {
        name: "`opencode`",
        install: "https://opencode.ai",
        sign_in: "run `opencode auth login`, or set the key of its provider and name the model",
    },
    vendor: None,
    // It takes every AGENTS.md that lies beside a file it reads for instructions, and nothing turns that off.
    may_see_project: false,
    chooses_service: true,
    caps_cost: false,
    light_model: None,
    steering: &["OPENCODE_CONFIG", "OPENCODE_CONFIG_", "OPENCODE_DISABLE_", "OPENCODE_EXPERIMENTAL_"],
    prompt_max_bytes: call::PROMPT_MAX_BYTES,
    reads_files: false,
    model_variable: None,
    kept: call::KEPT,
    families: &[],
    set: &[
        // Its settings, agents, plugins and instructions are not taken from the folder it runs in.
        ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
        ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
        ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
        ("OPENCODE_PURE", "1"),
        // It connects to the model's service alone.
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
    ],
    credentials: Credentials {
        variables: call::KEYS,
        folder_variable: Some("XDG_DATA_HOME"),
        folder: ".local/share",
        file: "opencode/auth.json",
    },
    working: WORKING,
    reports_cost: true,
    sends_again: true,
    patience: Some(parse_output::patience),
    prepare: call::prepare,
    parse_output: parse_output::parse_output,
    // It gets no files to read: everything is in the question.
    opened: |_| None,
    record: None,
};

pub static PROGRAM: Program = Program {
    name: FACTS.name,
    vendor: FACTS.vendor,
    marks: &[
        Mark::new("OPENCODE"),
        Mark::new("OPENCODE_PID"),
        // A name that others use for other things.
        Mark { name: "AGENT", value: Some("1") },
    ],
    packages: &["opencode-ai"],
    gate_files: &[".opencode/", "opencode.json", "opencode.jsonc"],
    reviewer: Some(&FACTS),
    server: Some(ServerEntry {
        files: &["opencode.jsonc", "opencode.json"],
        format: FileFormat::Json(Dialect::LOOSE),
        path: &["mcp", "countersign"],
        // opencode itself adds this line to a file that lacks it.
        new_file: Some("{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n"),
        form: ServerForm::LocalCommand,
        variables: ServerVariables::All,
        next: "`opencode mcp list` shows the server",
    }),
    hook: None,
};

const WORKING: Working = Working {
    args: &["run", "--format", "json"],
    model: ModelArgument::Next("-m"),
    last: &[],
    own: &["run"],
    set: &[],
    parse_output: parse_output::parse_output,
    live,
};

fn live(event: &Value) -> Option<String> {
    let part = &event["part"];
    match event["type"].as_str()? {
        "text" => part["text"].as_str().map(str::to_owned),
        "tool_use" => Some(used(part["tool"].as_str()?, &part["state"]["input"])),
        _ => None,
    }
}
