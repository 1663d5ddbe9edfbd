//! The input of a hook: the JSON that an agent program writes.

use countersign_core::digest::Digest;
use countersign_core::ids::Subject;
use countersign_core::text::visible_line;
use countersign_engine::programs::Hook;
use serde::Deserialize;
use std::path::PathBuf;

const SESSION_BYTES_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopping {
    pub session: String,
    pub folder: PathBuf,
    /// Whether a hook held it before; otherwise a person wrote to it.
    pub was_held: bool,
    /// The digest of its prompt, where the program does not tell reliably whether the agent was held.
    pub prompt: Option<String>,
    pub transcript: Option<PathBuf>,
}

impl Stopping {
    /// The subject of all stops of a session; with [`Self::prompt`], of all stops after one prompt.
    pub fn subject(&self, hook: Hook) -> Subject {
        let parts = [hook.program.name, &self.session];
        Subject::new(super::DOOR, parts.into_iter().chain(self.prompt.as_deref()))
    }
}

#[derive(Deserialize)]
struct Fields {
    session_id: Option<String>,
    cwd: Option<PathBuf>,
    hook_event_name: Option<String>,
    stop_hook_active: Option<bool>,
    transcript_path: Option<PathBuf>,
    prompt: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputError {
    /// It is of another event: the hook is installed in the wrong place, and no agent stops.
    OtherEvent(String),
    /// It cannot be parsed, and an agent may be about to stop.
    NotUnderstood(String),
}

impl From<String> for InputError {
    fn from(words: String) -> Self {
        Self::NotUnderstood(words)
    }
}

pub fn read(hook: Hook, bytes: &[u8]) -> Result<Stopping, InputError> {
    let written: Fields = serde_json::from_slice(bytes)
        .map_err(|error| format!("standard input is not the input of a hook: {error}"))?;
    let missing = |key: &str| format!("`{key}` is missing in the input of the hook");
    if let Some(other) = written.hook_event_name.as_deref().filter(|name| *name != hook.event) {
        let event = hook.event;
        let words = format!("this hook is for the event {event}, but was called for {}", visible_line(other));
        return Err(InputError::OtherEvent(words));
    }
    let session = written.session_id.filter(|id| !id.trim().is_empty());
    let session = session.ok_or_else(|| missing("session_id"))?;
    if session.len() > SESSION_BYTES_MAX {
        return Err(format!("`session_id` has more than {SESSION_BYTES_MAX} bytes").into());
    }
    let folder = written.cwd.ok_or_else(|| missing("cwd"))?;
    if !folder.is_absolute() {
        return Err(
            format!("`cwd` is not an absolute path: {}", visible_line(&folder.to_string_lossy())).into()
        );
    }
    let was_held = written.stop_hook_active.ok_or_else(|| missing("stop_hook_active"))?;
    let prompt = match hook.forgets_held {
        false => None,
        true => {
            let prompt = written.prompt.ok_or_else(|| missing("prompt"))?;
            Some(Digest::of(prompt.as_bytes()).short().to_owned())
        }
    };
    Ok(Stopping {
        session,
        folder,
        was_held: was_held || prompt.is_some(),
        prompt,
        transcript: written.transcript_path.filter(|path| path.is_absolute()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_engine::programs::PROGRAMS;

    fn hook(name: &str) -> Hook {
        PROGRAMS.named(name).unwrap().hook.unwrap()
    }

    /// SVC-11.
    #[test]
    fn svc_11_what_programs_write_is_read() {
        let stopping = |was_held, transcript: Option<&str>| Stopping {
            session: "s-1".into(),
            folder: "/p".into(),
            was_held,
            prompt: None,
            transcript: transcript.map(PathBuf::from),
        };
        let prompt = Some(Digest::of(b"p").short().to_owned());
        let table = [
            (
                hook("claude"),
                r#"{"session_id":"s-1","transcript_path":"/t.jsonl","cwd":"/p","permission_mode":"default",
                "hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done"}"#,
                stopping(true, Some("/t.jsonl")),
            ),
            (
                hook("codex"),
                r#"{"session_id":"s-1","turn_id":"1","transcript_path":null,"cwd":"/p","hook_event_name":"Stop",
                "model":"m","stop_hook_active":false,"last_assistant_message":null}"#,
                stopping(false, None),
            ),
            (
                hook("gemini"),
                r#"{"session_id":"s-1","transcript_path":"","cwd":"/p","hook_event_name":"AfterAgent",
                "timestamp":"2026-01-01T00:00:00Z","prompt":"p","prompt_response":"r","stop_hook_active":false}"#,
                Stopping { prompt, ..stopping(true, None) },
            ),
        ];
        for (hook, input, expected) in table {
            assert_eq!(read(hook, input.as_bytes()), Ok(expected), "{hook:?}");
        }
    }

    #[test]
    fn what_is_no_input_is_named() {
        let of = |change: &str| {
            let whole = r#"{"session_id":"s","cwd":"/p","hook_event_name":"Stop","stop_hook_active":false}"#
                .to_owned();
            match change.split_once("=>") {
                Some((from, to)) => whole.replace(from, to),
                None => change.to_owned(),
            }
        };
        let table = [
            ("", "is not the input of a hook"),
            ("[1]", "is not the input of a hook"),
            ("{", "is not the input of a hook"),
            ("\"stop_hook_active\":false=>\"stop_hook_active\":\"no\"", "is not the input of a hook"),
            ("\"cwd\"=>\"session_id\"", "duplicate field"),
            ("\"s\"=>\" \"", "`session_id` is missing"),
            ("\"cwd\":\"/p\",=>", "`cwd` is missing"),
            ("/p=>p", "`cwd` is not an absolute path"),
            (",\"stop_hook_active\":false=>", "`stop_hook_active` is missing"),
            ("\"Stop\"=>\"SubagentStop\"", "is for the event Stop, but was called for SubagentStop"),
        ];
        for (change, expected) in table {
            let found = read(hook("claude"), of(change).as_bytes()).unwrap_err();
            let is_other = change.contains("SubagentStop");
            let (InputError::OtherEvent(words) | InputError::NotUnderstood(words)) = &found;
            assert!(words.contains(expected), "{change}: {found:?}");
            assert_eq!(matches!(found, InputError::OtherEvent(_)), is_other, "{change}");
        }
        let long = of("\"s\"=>\"LONG\"").replace("LONG", &"x".repeat(SESSION_BYTES_MAX + 1));
        let words = "`session_id` has more than 200 bytes".to_owned();
        assert_eq!(read(hook("claude"), long.as_bytes()), Err(InputError::NotUnderstood(words)));
    }
}
