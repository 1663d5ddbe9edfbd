//! Variables of the program: its sign-in, and what is the same in every call.

/// Variables that are handed on.
pub const KEPT: &[&str] = &[
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
];

/// Families of variables that are handed on, where the variable before them is there.
pub const FAMILIES: &[(Option<&str>, &str)] = &[
    (None, "ANTHROPIC_DEFAULT_"),
    (Some("CLAUDE_CODE_USE_BEDROCK"), "AWS_"),
    (Some("CLAUDE_CODE_USE_BEDROCK"), "ANTHROPIC_BEDROCK_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "ANTHROPIC_VERTEX_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "CLOUD_ML_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "GOOGLE_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "VERTEX_"),
];

/// Variables that are the same in every call.
pub const SET: &[(&str, &str)] = &[
    // `@path` in what is judged would be read and sent, from anywhere on the disk.
    ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    // It alone sees for how long the service wants to be left alone, so it tries again, and not for long.
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    // A verdict is about what was sent, never about a summary of it; whether that is too long, the service
    // knows, while the program only guesses.
    ("DISABLE_COMPACT", "1"),
    ("CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE", "100000000"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];
