//! The hook entry in an agent's settings: inserts and removes it.

use super::edit::{Fault, SpannedValue};
use super::json_list;
use countersign_engine::programs::{Hook, PROGRAMS};
use countersign_engine::yaml::read_at_most;
use serde_json::{Value, json};
use std::path::Path;

const SETTINGS_MAX_BYTES: usize = 64 * 1024 * 1024;

/// Whether settings in a folder name our hook, also where they are invalid.
pub fn names_hook(folder: &Path) -> bool {
    let named = |hook: Hook| {
        let text = read_at_most(&folder.join(hook.file), SETTINGS_MAX_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(&command(hook))
    };
    PROGRAMS.hooks().any(named)
}

fn command(hook: Hook) -> String {
    format!("countersign hook {}", hook.program.name)
}

fn entry(hook: Hook) -> Value {
    json!({ "hooks": [{ "type": "command", "command": command(hook), "timeout": hook.timeout }] })
}

fn find(hook: Hook, text: &str) -> Result<Option<(usize, SpannedValue)>, Fault> {
    let all = json_list::elements(text, hook.dialect, &hook.path)?;
    Ok(all.into_iter().enumerate().find(|(_, element)| commands(hook, &element.value).any(|ours| ours)))
}

/// Whether it is ours, for each hook of a group.
fn commands(hook: Hook, group: &Value) -> impl Iterator<Item = bool> {
    let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
    hooks.map(move |one| one.get("command").and_then(Value::as_str).is_some_and(|line| is_ours(hook, line)))
}

/// Whether a command line runs our hook, by name or by path.
fn is_ours(hook: Hook, line: &str) -> bool {
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        [program, "hook", name] => {
            name == hook.program.name && program.rsplit('/').next() == Some("countersign")
        }
        _ => false,
    }
}

/// The command line of our hook, by words, where the text has it.
pub fn command_line(hook: Hook, text: &str) -> Result<Option<Vec<String>>, Fault> {
    let Some((_, group)) = find(hook, text)? else { return Ok(None) };
    let all = group.value["hooks"].as_array().into_iter().flatten();
    let mut lines = all.filter_map(|one| one["command"].as_str()).filter(|line| is_ours(hook, line));
    Ok(lines.next().map(|line| line.split_whitespace().map(str::to_owned).collect()))
}

/// The text with the hook; none if it has the hook already.
pub fn with(hook: Hook, text: Option<&str>) -> Result<Option<String>, Fault> {
    let Some(text) = text else { return Ok(Some(json_list::create(&hook.path, &entry(hook)))) };
    match find(hook, text)? {
        Some(_) => Ok(None),
        None => json_list::append(text, hook.dialect, &hook.path, &entry(hook)).map(Some),
    }
}

/// The text without the hook (inner none: the file was only made for it); none if it has no hook.
pub fn without(hook: Hook, text: Option<&str>) -> Result<Option<Option<String>>, Fault> {
    let Some(text) = text else { return Ok(None) };
    let Some((place, element)) = find(hook, text)? else { return Ok(None) };
    if commands(hook, &element.value).count() > 1 {
        return Err(Fault {
            code: "foreign",
            hint: "remove it by hand; nothing was changed",
            ..Fault::shape(element.span, "the hook is in a group with other hooks")
        });
    }
    json_list::take_out(text, hook.dialect, &hook.path, place).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn again_changes_nothing_and_taking_out_gives_back_what_was_there() {
        for hook in PROGRAMS.hooks() {
            for before in [None, Some("{}\n"), Some("{\n  \"model\": \"x\"\n}\n")] {
                let put = with(hook, before).unwrap().unwrap();
                assert_eq!(with(hook, Some(&put)), Ok(None), "{put}");
                assert_eq!(without(hook, Some(&put)), Ok(Some(before.map(str::to_owned))), "{put}");
                assert_eq!(without(hook, before), Ok(None));
            }
        }
    }

    #[test]
    fn only_what_calls_us_is_ours() {
        let claude = PROGRAMS.named("claude").unwrap().hook.unwrap();
        for (line, ours) in [
            ("countersign hook claude", true),
            ("/opt/bin/countersign hook claude", true),
            ("countersign hook codex", false),
            ("countersign hook claude; rm x", false),
            ("not-countersign hook claude", false),
            ("countersign review", false),
        ] {
            assert_eq!(is_ours(claude, line), ours, "{line}");
        }
        let beside =
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}, {"command": "countersign hook claude"}]}]}}"#;
        assert_eq!(with(claude, Some(beside)), Ok(None));
        assert_eq!(without(claude, Some(beside)).unwrap_err().code, "foreign");
    }
}
