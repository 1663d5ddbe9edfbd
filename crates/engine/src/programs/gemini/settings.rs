//! The program's settings: a file in a home of its own, so that none of the user's is in force.

use crate::programs::Form;
use serde_json::{Value, json};
use std::ffi::OsStr;

/// How often it asks its service. It waits five seconds before the second time; its default of ten takes four minutes.
const ATTEMPTS_MAX: u32 = 2;
/// How often it may go back and forth between its tools and the model.
const TURNS_MAX: u32 = 8;
/// The tools that look at files and do nothing else.
const READING_TOOLS: &[&str] = &["read_file", "list_directory", "glob", "grep_search"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignIn {
    Key,
    Vertex,
    Stored,
}

impl SignIn {
    /// A key, Vertex if it is asked for, or the stored sign-in. Without any of these the program says what is missing.
    pub fn of(form: &Form<'_>) -> Self {
        let is = |name: &str, wanted: fn(&OsStr) -> bool| variable(form, name).is_some_and(wanted);
        if form.base_url.is_some() || form.key_env.is_some() {
            Self::Key
        } else if is("GOOGLE_GENAI_USE_VERTEXAI", |value| value == "true") {
            Self::Vertex
        } else if form.credentials.is_some() && variable(form, "GEMINI_API_KEY").is_none() {
            Self::Stored
        } else {
            Self::Key
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Key => "gemini-api-key",
            Self::Vertex => "vertex-ai",
            Self::Stored => "oauth-personal",
        }
    }
}

/// A variable that says something.
pub fn variable<'f>(form: &Form<'f>, name: &str) -> Option<&'f OsStr> {
    let (_, value) = form.environment.iter().find(|(known, _)| known == name)?;
    Some(value.as_os_str()).filter(|value| !value.is_empty())
}

pub fn settings(sign_in: SignIn, reads_files: bool) -> Value {
    let tools = if reads_files { READING_TOOLS } else { &[] };
    json!({
        "security": {
            "auth": { "selectedType": sign_in.word() },
            // Otherwise it does not start in a folder that is not trusted, and ours must not be.
            "folderTrust": { "enabled": false },
        },
        "general": {
            "maxAttempts": ATTEMPTS_MAX,
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "topicUpdateNarration": false,
            "checkpointing": { "enabled": false },
            "plan": { "enabled": false },
        },
        "model": {
            "maxSessionTurns": TURNS_MAX,
            // A verdict is about what was sent, never about a summary of it.
            "compressionThreshold": 1,
            // Many rulings look alike, and a reply must not be cut for that.
            "disableLoopDetection": true,
        },
        // A list of tools is a list of all there are.
        "tools": { "core": tools, "useRipgrep": false },
        // Files with variables are looked for in the folder it runs in and all those above it.
        "advanced": { "ignoreLocalEnv": true },
        "context": {
            "fileName": "no-instructions-of-the-judged-project",
            "includeDirectoryTree": false,
            "memoryBoundaryMarkers": [],
        },
        "hooksConfig": { "enabled": false },
        "skills": { "enabled": false },
        "experimental": { "enableAgents": false },
        "ide": { "enabled": false },
        "privacy": { "usageStatisticsEnabled": false },
        // Where its record goes is said by variables: to a file, and to no service.
        "telemetry": { "enabled": true, "target": "local" },
    })
}
