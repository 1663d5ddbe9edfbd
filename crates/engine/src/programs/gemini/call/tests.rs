//! What the program is given, for every way to sign in.

use super::*;
use serde_json::Value;
use std::path::Path;

fn form() -> Form<'static> {
    Form { ..Form::example() }
}

fn settings_of(setup: &Setup) -> Value {
    let (path, text) = setup.files.last().unwrap();
    assert_eq!(path, Path::new("home/.gemini/settings.json"));
    serde_json::from_str(text).unwrap()
}

fn given<'s>(setup: &'s Setup, name: &str) -> Option<&'s str> {
    setup.set.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.to_str())
}

#[test]
fn tools_are_off_unless_files_are_to_be_read() {
    assert_eq!(settings_of(&prepare(&form()))["tools"]["core"], serde_json::json!([]));
    let reading = settings_of(&prepare(&Form { reads_files: true, ..form() }));
    let tools = reading["tools"]["core"].as_array().unwrap();
    assert!(tools.contains(&"read_file".into()));
    for tool in
        ["write_file", "replace", "run_shell_command", "web_fetch", "google_web_search", "save_memory"]
    {
        assert!(!tools.contains(&tool.into()), "{tool}");
    }
}

#[test]
fn a_model_is_one_word_and_never_chosen_by_what_is_judged() {
    let chosen = [("GEMINI_MODEL".into(), "flash".into())];
    let table = [
        (form(), Some("--model=pro")),
        (Form { model: Some("--yolo"), ..form() }, Some("--model=--yolo")),
        (Form { environment: &chosen, ..form() }, None),
        (Form { model: Some("x"), environment: &chosen, ..form() }, Some("--model=x")),
    ];
    for (form, model) in table {
        let args = prepare(&form).args;
        assert_eq!(args.get(2).and_then(|word| word.to_str()), model);
    }
}

#[test]
fn somebody_signs_in_as_they_are_used_to() {
    let key: (OsString, OsString) = ("GEMINI_API_KEY".into(), "k".into());
    let vertex: (OsString, OsString) = ("GOOGLE_GENAI_USE_VERTEXAI".into(), "true".into());
    let file = Some(Path::new("/user/.gemini/oauth_creds.json"));
    let table = [
        (vec![], None, "gemini-api-key", false),
        (vec![key.clone()], None, "gemini-api-key", false),
        (vec![key.clone()], file, "gemini-api-key", false),
        (vec![("GEMINI_API_KEY".into(), "".into())], file, "oauth-personal", true),
        (vec![], file, "oauth-personal", true),
        (vec![vertex, key], file, "vertex-ai", false),
    ];
    for (environment, credentials, kind, linked) in table {
        let setup = prepare(&Form { environment: &environment, credentials, ..form() });
        assert_eq!(settings_of(&setup)["security"]["auth"]["selectedType"], kind, "{environment:?}");
        assert_eq!(!setup.links.is_empty(), linked, "{environment:?}");
        assert_eq!(given(&setup, "GEMINI_API_KEY"), None);
    }
}

/// The address may come from the judged project: the user's own key and sign-in stay away from it.
#[test]
fn another_service_gets_the_key_that_is_named_for_it_and_no_other() {
    let environment = [("GEMINI_API_KEY".into(), "mine".into()), ("ITS_KEY".into(), "its".into())];
    let file = Some(Path::new("/user/.gemini/oauth_creds.json"));
    let table = [(None, "none"), (Some("ITS_KEY"), "its"), (Some("NOT_SET"), "")];
    for (key_env, key) in table {
        let base_url = Some("http://x");
        let form = Form { base_url, key_env, environment: &environment, credentials: file, ..form() };
        let setup = prepare(&form);
        assert_eq!(given(&setup, "GOOGLE_GEMINI_BASE_URL"), base_url);
        assert_eq!(given(&setup, "GEMINI_API_KEY"), Some(key));
        assert_eq!(given(&setup, "GEMINI_CLI_CUSTOM_HEADERS"), Some(""));
        assert_eq!(settings_of(&setup)["security"]["auth"]["selectedType"], "gemini-api-key");
        assert!(setup.links.is_empty());
    }
}

#[test]
fn no_at_sign_stands_free() {
    let plain = prepare(&form()).prompt;
    assert!(plain.ends_with("\n\nwork\n") && !plain.contains("backslash"), "{plain}");
    let prompt = prepare(&Form { payload: "@a \\@b c@d \"@./\"\n@@", ..form() }).prompt;
    assert!(prompt.ends_with("\n\n\\@a \\\\@b c\\@d \"\\@./\"\n\\@\\@\n"), "{prompt}");
    assert!(prompt.contains("which is not part of the work."));
    let free = prompt.match_indices('@').filter(|(at, _)| !prompt[..*at].ends_with('\\'));
    assert_eq!(free.count(), 0, "{prompt}");
}
