//! Variables of the program: its sign-in, and the way to its service.

/// Variables that sign it in.
pub const KEYS: &[&str] = &["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"];

/// Variables that are handed on. `CODEX_HOME` says where the user's sign-in is; in a call it is another.
pub const KEPT: &[&str] = &[
    "CODEX_API_KEY",
    "CODEX_ACCESS_TOKEN",
    "CODEX_HOME",
    "CODEX_CA_CERTIFICATE",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
];
