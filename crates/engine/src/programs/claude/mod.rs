//! The `claude` program in its judging form: it reads and does not write; the judged work cannot configure it.

mod call;
mod parse_output;
mod work;

use super::{
    Credentials, Dialect, Facts, FileFormat, HOOK_SECONDS, Hook, Mark, Program, ProgramName, ServerEntry,
    ServerForm, ServerVariables, Vendor,
};

pub static FACTS: Facts = Facts {
    name: "claude",
    called: ProgramName {
        name: "`claude`",
        install: "https://code.claude.com/docs",
        sign_in: "run `claude` once and sign in, or set ANTHROPIC_API_KEY",
    },
    vendor: Some(Vendor::Anthropic),
    may_see_project: true,
    chooses_service: false,
    caps_cost: true,
    light_model: Some("haiku"),
    steering: &["ANTHROPIC_BEDROCK_", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_VERTEX_", "CLAUDE_CODE_USE_"],
    prompt_max_bytes: 10_000_000,
    reads_files: true,
    model_variable: Some("ANTHROPIC_MODEL"),
    kept: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "ANTHROPIC_MODEL",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_CLIENT_CERT",
        "CLAUDE_CODE_CLIENT_KEY",
        "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ],
    families: &[
        (None, "ANTHROPIC_DEFAULT_"),
        (Some("CLAUDE_CODE_USE_BEDROCK"), "AWS_"),
        (Some("CLAUDE_CODE_USE_BEDROCK"), "ANTHROPIC_BEDROCK_"),
        (Some("CLAUDE_CODE_USE_VERTEX"), "ANTHROPIC_VERTEX_"),
        (Some("CLAUDE_CODE_USE_VERTEX"), "CLOUD_ML_"),
        (Some("CLAUDE_CODE_USE_VERTEX"), "GOOGLE_"),
        (Some("CLAUDE_CODE_USE_VERTEX"), "VERTEX_"),
    ],
    set: &[
        // `@path` in what is judged would be read and sent, from anywhere on the disk.
        ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
        ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
        ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
        // Only the program sees the wait that the service asks for, so it retries itself, for a short time.
        ("CLAUDE_CODE_MAX_RETRIES", "3"),
        // A verdict is about what was sent, never about a summary; whether it is too long, only the service knows.
        ("DISABLE_COMPACT", "1"),
        ("CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE", "100000000"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
    ],
    credentials: Credentials {
        variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        folder_variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        file: ".credentials.json",
    },
    working: work::WORKING,
    reports_cost: true,
    sends_again: true,
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
        Mark::new("CLAUDECODE"),
        Mark::new("CLAUDE_CODE_CHILD_SESSION"),
        Mark::new("CLAUDE_CODE_ENTRYPOINT"),
        Mark::new("CLAUDE_CODE_SESSION_ID"),
    ],
    // The native installer has its versions in `~/.local/share/claude/versions`.
    packages: &["@anthropic-ai/claude-code", "@anthropic-ai/claude-agent-sdk", "claude/versions"],
    gate_files: &[
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/agents/",
        ".claude/commands/",
        ".claude/hooks/",
        ".claude/output-styles/",
        ".claude/plugins/",
        ".claude/skills/",
        ".claude/workflows/",
        ".claude-plugin/",
        ".mcp.json",
    ],
    reviewer: Some(&FACTS),
    server: Some(ServerEntry {
        files: &[".mcp.json"],
        format: FileFormat::Json(Dialect::STRICT),
        path: &["mcpServers", "countersign"],
        new_file: None,
        form: ServerForm::CommandAndArgs,
        variables: ServerVariables::All,
        next: "start `claude` here once and approve the server",
    }),
    hook: Some(Hook {
        program: &FACTS,
        title: "Stop of Claude Code",
        event: "Stop",
        project_variable: Some("CLAUDE_PROJECT_DIR"),
        shell_marks: &["CLAUDECODE"],
        forgets_held: false,
        hold: "block",
        file: ".claude/settings.json",
        dialect: Dialect::STRICT,
        path: ["hooks", "Stop"],
        timeout: HOOK_SECONDS,
        next: "`/hooks` in `claude` shows the hook; it runs in projects that are trusted",
    }),
};
