//! Variables of the program: its sign-in, and what is the same in every call.

/// Variables that are handed on.
pub const KEPT: &[&str] = &[
    "GEMINI_API_KEY",
    "GEMINI_API_KEY_AUTH_MECHANISM",
    "GEMINI_CLI_CUSTOM_HEADERS",
    "GEMINI_MODEL",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
];

/// Families of variables that are handed on, where the variable before them is there.
pub const FAMILIES: &[(Option<&str>, &str)] = &[(Some("GOOGLE_GENAI_USE_VERTEXAI"), "GOOGLE_")];

/// Variables that are the same in every call.
pub const SET: &[(&str, &str)] = &[
    // Nothing of a folder that is not trusted is loaded: settings, hooks, servers, instructions, skills. The
    // program refuses to work there unless its settings ask for no trust at all.
    ("GEMINI_RESTRICTED_MODE", "true"),
    // In one process: a second one below it would not hear of signals.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    // A sign-in that is no longer good is a failure, and no reason to open a window.
    ("NO_BROWSER", "true"),
    ("NO_COLOR", "1"),
];
