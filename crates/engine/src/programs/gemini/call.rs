//! The command line and environment of a question, and the home the program finds.

use crate::programs::{Form, Setup};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

const SYSTEM_PROMPT: &str = "system-prompt.md";
/// Its home below the private folder: where it looks for its settings and keeps its sessions.
const HOME: &str = "home";
/// By default a small model reads the question and chooses the model that answers: the judged work could choose its judge.
const DEFAULT_MODEL: &str = "pro";
/// It does not start without a key, and a service that needs none must not get the user's.
const NO_KEY: &str = "none";

pub fn prepare(form: &Form<'_>) -> Setup {
    let sign_in = SignIn::of(form);
    let own = |name: &str| PathBuf::from(HOME).join(".gemini").join(name);
    let stored = form.credentials.filter(|_| sign_in == SignIn::Stored);
    Setup {
        args: args(form),
        prompt: crate::programs::prompt(&unmentioned(form.payload), form.reads_files),
        set: set(form),
        files: vec![
            (SYSTEM_PROMPT.into(), form.system_prompt.to_owned()),
            (own("settings.json"), settings(sign_in, form.reads_files).to_string()),
        ],
        // A link, so that a renewed sign-in is the user's too.
        links: stored.map(|file| (own("oauth_creds.json"), file.to_owned())).into_iter().collect(),
    }
}

fn args(form: &Form<'_>) -> Vec<OsString> {
    let mut args = vec!["--output-format".into(), "json".into()];
    let chosen = variable(form, "GEMINI_MODEL").is_some();
    if let Some(model) = form.model.or((!chosen).then_some(DEFAULT_MODEL)) {
        // In one word, so that no model's name is taken for an option.
        args.push(format!("--model={model}").into());
    }
    args
}

fn set(form: &Form<'_>) -> Vec<(OsString, OsString)> {
    let mut set = vec![
        ("GEMINI_CLI_HOME".into(), form.private.join(HOME).into()),
        ("GEMINI_SYSTEM_MD".into(), form.private.join(SYSTEM_PROMPT).into()),
        // By variables, because they win over settings that it may find in a project.
        ("GEMINI_TELEMETRY_OUTFILE".into(), form.private.join(super::record::FILE).into()),
        ("GEMINI_TELEMETRY_ENABLED".into(), "true".into()),
        ("GEMINI_TELEMETRY_TARGET".into(), "local".into()),
        ("GEMINI_TELEMETRY_LOG_PROMPTS".into(), "true".into()),
        ("GEMINI_TELEMETRY_TRACES_ENABLED".into(), "false".into()),
    ];
    if let Some(url) = form.base_url {
        set.push(("GOOGLE_GEMINI_BASE_URL".into(), url.into()));
        // They may hold a sign-in of the user's.
        set.push(("GEMINI_CLI_CUSTOM_HEADERS".into(), "".into()));
    }
    if form.base_url.is_some() || form.key_env.is_some() {
        let key = form.key_env.and_then(|name| variable(form, name));
        // A configured key that is not set is missing; without a configured key none is needed.
        let missing = if form.key_env.is_some() { "" } else { NO_KEY };
        set.push(("GEMINI_API_KEY".into(), key.unwrap_or(missing.as_ref()).to_owned()));
    }
    set
}

/// The program takes `@` for the beginning of a file name and puts such files into the question, unless it is escaped.
fn unmentioned(payload: &str) -> Cow<'_, str> {
    const SAID: &str =
        "Before every at sign in it stands a backslash, as in `\\@`, which is not part of the work.";
    match payload.contains('@') {
        true => Cow::Owned(format!("{SAID}\n\n{}", payload.replace('@', "\\@"))),
        false => Cow::Borrowed(payload),
    }
}

/// How often it asks its service by itself. Its default of ten takes four minutes; asking again is done by us.
const ATTEMPTS_MAX: u32 = 1;
/// How often it may go back and forth between its tools and the model.
const TURNS_MAX: u32 = 8;
/// The tools that look at files and do nothing else.
const READING_TOOLS: &[&str] = &["read_file", "list_directory", "glob", "grep_search"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignIn {
    Key,
    Vertex,
    Stored,
}

impl SignIn {
    /// A key, Vertex if it is asked for, or the stored sign-in. Without any of these the program says what is missing.
    fn of(form: &Form<'_>) -> Self {
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

fn variable<'f>(form: &Form<'f>, name: &str) -> Option<&'f OsStr> {
    let (_, value) = form.environment.iter().find(|(known, _)| known == name)?;
    Some(value.as_os_str()).filter(|value| !value.is_empty())
}

/// A file in a home of its own, so that none of the user's settings is in force.
fn settings(sign_in: SignIn, reads_files: bool) -> Value {
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

#[cfg(test)]
mod tests;
