//! The command line, settings and environment of a question. Its home and all its folders are private to the question: in
//! the user's it would find agents, plugins, skills and instructions, and leave packages and logs.

use crate::programs::{Form, Setup};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The longest prompt it was seen to read and send whole.
pub const PROMPT_MAX_BYTES: usize = 10_000_000;

/// Variables that it gets: where the sign-in is, and the keys of common providers. Others are named with `key_env`.
pub const KEPT: &[&str] = &[
    "XDG_DATA_HOME",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY",
    "OPENCODE_API_KEY",
];

/// Those that hold a key.
pub const KEYS: &[&str] = KEPT.split_at(1).1;

/// The file of the system prompt: a variable is limited to 128 KiB, and references in it would be followed.
const SYSTEM_PROMPT: &str = "system-prompt.md";
/// The folder of its settings, which is also the one it works in.
const SETTINGS: &str = "config/opencode";
/// The name of the provider for a service of the user's.
const PROVIDER: &str = "countersign";
/// How many tokens a reply of such a service may have: 32000 is more than many models take with a question.
const REPLY_TOKENS: u32 = 8192;
/// Stands for `{` where it begins no reference to a file or variable.
const BRACE: char = '\u{e000}';

pub fn prepare(form: &Form<'_>) -> Setup {
    let mut args: Vec<OsString> =
        ["run", "--format", "json", "--agent", "reviewer", "--title", "review"].map(OsString::from).into();
    // From wherever else it worked, it would load plugins out of every folder above, whatever is turned off.
    args.extend(["--dir".into(), form.private.join(SETTINGS).into_os_string()]);
    // It retries without output; only its log says why, and when it asks again.
    args.extend(["--print-logs", "--log-level", "INFO"].map(OsString::from));
    if let Some(model) = form.model {
        let provider = form.base_url.map(|_| format!("{PROVIDER}/")).unwrap_or_default();
        // In one word, so that no model's name is taken for an option.
        args.push(format!("--model={provider}{model}").into());
    }
    let mut files = no_packages();
    files.push((SYSTEM_PROMPT.into(), form.system_prompt.to_owned()));
    let sign_in = form.credentials.map(|file| ("data/opencode/auth.json".into(), file.to_owned()));
    Setup {
        args,
        prompt: crate::programs::prompt(form.payload, false),
        set: variables(form),
        files,
        links: sign_in.into_iter().collect(),
    }
}

fn variables(form: &Form<'_>) -> Vec<(OsString, OsString)> {
    let folders = [
        ("HOME", "home"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
    ];
    let folders = folders.map(|(name, folder)| (name.into(), form.private.join(folder).into()));
    let settings = settings(form).to_string().replace(BRACE, "\\u007b");
    folders.into_iter().chain([("OPENCODE_CONFIG_CONTENT".into(), settings.into())]).collect()
}

/// It would install a package for plugins beside its settings; these say that it is there.
fn no_packages() -> Vec<(PathBuf, String)> {
    let wanted = json!({ "dependencies": { "@opencode-ai/plugin": "*" } });
    let folder = Path::new(SETTINGS);
    vec![
        (folder.join("node_modules/none"), String::new()),
        (folder.join("package.json"), wanted.to_string()),
        (folder.join("package-lock.json"), json!({ "packages": { "": wanted } }).to_string()),
    ]
}

fn settings(form: &Form<'_>) -> Value {
    let prompt = format!("{{file:{}}}", form.private.join(SYSTEM_PROMPT).display());
    let deny = json!({
        "edit": "deny", "bash": "deny", "webfetch": "deny", "websearch": "deny", "task": "deny",
        "skill": "deny", "external_directory": "deny",
    });
    let reviewer = json!({
        "mode": "primary", "description": "reviewer", "prompt": prompt,
        "tools": { "*": false }, "permission": deny,
    });
    let mut settings = json!({
        "agent": { "reviewer": reviewer },
        "permission": deny,
        "tools": { "*": false },
        "share": "disabled",
        "autoupdate": false,
        "snapshot": false,
        "lsp": false,
        "formatter": false,
        // A question that is too long would be summarised and asked again.
        "compaction": { "auto": false, "prune": false },
        "plugin": [],
        "mcp": {},
        "instructions": [],
    });
    if let Some(url) = form.base_url {
        settings["enabled_providers"] = json!([PROVIDER]);
        settings["provider"] = json!({ PROVIDER: provider(form, url) });
    } else if !chooses_opencode(form) {
        // Without any sign-in it would send the work to models of its own that are free of charge, and public.
        settings["disabled_providers"] = json!(["opencode"]);
    }
    settings
}

/// Whether the user wants the models that the makers of the program serve.
fn chooses_opencode(form: &Form<'_>) -> bool {
    form.model.is_some_and(|model| model.starts_with("opencode/"))
        || form.environment.iter().any(|(name, value)| name == "OPENCODE_API_KEY" && !value.is_empty())
}

/// A service of the user's, with its one model.
fn provider(form: &Form<'_>, url: &str) -> Value {
    let literal = |text: &str| text.replace('{', &BRACE.to_string());
    let mut options = json!({ "baseURL": literal(url) });
    if let Some(variable) = form.key_env {
        options["apiKey"] = json!(format!("{{env:{variable}}}"));
    }
    let models: serde_json::Map<_, _> = form
        .model
        .map(|model| (literal(model), json!({ "limit": { "context": 0, "output": REPLY_TOKENS } })))
        .into_iter()
        .collect();
    json!({ "npm": "@ai-sdk/openai-compatible", "name": PROVIDER, "options": options, "models": models })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form<'a>(model: Option<&'a str>, base_url: Option<&'a str>) -> Form<'a> {
        Form {
            model,
            base_url,
            key_env: Some("MY_KEY"),
            system_prompt: "judge {env:HOME}",
            credentials: Some(Path::new("/home/me/.local/share/opencode/auth.json")),
            ..Form::example()
        }
    }

    fn variable(setup: &Setup, wanted: &str) -> String {
        let (_, value) = setup.set.iter().find(|(name, _)| name == wanted).unwrap();
        value.clone().into_string().unwrap()
    }

    fn given(form: &Form<'_>) -> Value {
        serde_json::from_str(&variable(&prepare(form), "OPENCODE_CONFIG_CONTENT")).unwrap()
    }

    #[test]
    fn it_has_no_tools_and_may_do_nothing() {
        for reads_files in [false, true] {
            let settings = given(&Form { reads_files, ..form(None, None) });
            let reviewer = &settings["agent"]["reviewer"];
            assert_eq!((&settings["tools"]["*"], &reviewer["tools"]["*"]), (&json!(false), &json!(false)));
            for what in ["edit", "bash", "webfetch", "external_directory"] {
                assert_eq!(
                    (&settings["permission"][what], &reviewer["permission"][what]),
                    (&json!("deny"), &json!("deny"))
                );
            }
            assert_eq!(settings["share"], "disabled");
        }
    }

    /// Only there it looks into no folder above.
    #[test]
    fn it_works_in_the_folder_of_its_settings() {
        let setup = prepare(&form(None, None));
        let at = setup.args.iter().position(|word| word == "--dir").unwrap();
        let settings = Path::new(&variable(&setup, "XDG_CONFIG_HOME")).join("opencode");
        assert_eq!(Path::new(&setup.args[at + 1]), settings);
    }

    #[test]
    fn every_folder_of_its_own_is_private_and_only_the_sign_in_is_the_users() {
        let setup = prepare(&form(None, None));
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            assert!(variable(&setup, name).starts_with("/private/"), "{name}");
        }
        let [(at, target)] = setup.links.as_slice() else { panic!("{:?}", setup.links) };
        assert_eq!(
            Path::new("/private").join(at),
            Path::new(&variable(&setup, "XDG_DATA_HOME")).join("opencode/auth.json")
        );
        assert_eq!(target, Path::new("/home/me/.local/share/opencode/auth.json"));
    }

    /// References in settings are followed: the system prompt is one, so that those in it are not.
    #[test]
    fn nothing_but_our_own_references_is_followed() {
        let hostile = form(Some("m{file:/etc/passwd}"), Some("http://x/{env:HOME}"));
        let text = variable(&prepare(&hostile), "OPENCODE_CONFIG_CONTENT");
        assert_eq!(text.matches("{file:").count(), 1);
        assert!(text.contains("\"{file:/private/system-prompt.md}\""), "{text}");
        assert_eq!(text.matches("{env:").count(), 1);
        assert!(text.contains("\"{env:MY_KEY}\"") && !text.contains("judge"), "{text}");
        let provider = &given(&hostile)["provider"]["countersign"];
        assert_eq!(provider["options"]["baseURL"], "http://x/{env:HOME}");
        assert!(provider["models"]["m{file:/etc/passwd}"].is_object(), "{provider}");
    }

    #[test]
    fn a_model_is_one_word_and_belongs_to_its_service() {
        let last = |form: &Form<'_>| prepare(form).args.pop().unwrap().into_string().unwrap();
        assert_eq!(last(&form(None, None)), "INFO");
        assert_eq!(last(&form(Some("openai/gpt-5"), None)), "--model=openai/gpt-5");
        assert_eq!(last(&form(Some("qwen/3"), Some("http://x/v1"))), "--model=countersign/qwen/3");
    }

    /// Work never goes to a public service that the user did not choose.
    #[test]
    fn the_free_models_are_used_only_by_choice() {
        let is_off = |form: &Form<'_>| given(form)["disabled_providers"] == json!(["opencode"]);
        assert!(is_off(&form(None, None)) && is_off(&form(Some("openai/gpt-5"), None)));
        assert!(!is_off(&form(Some("opencode/big-pickle"), None)));
        let signed_in = [("OPENCODE_API_KEY".into(), "key".into())];
        assert!(!is_off(&Form { environment: &signed_in, ..form(None, None) }));
        assert_eq!(given(&form(Some("m"), Some("http://x")))["enabled_providers"], json!(["countersign"]));
    }
}
