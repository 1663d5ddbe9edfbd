//! The program's settings in a call: what is off, and where its service is.

use crate::programs::Form;
use std::ffi::OsString;

/// How often it sends a question again, and asks again for a reply that broke off. Only it sees the waits asked for.
const SENT_AGAIN: u32 = 2;
const STREAMED_AGAIN: u32 = 1;

/// What must be off. A version that does not know one of these is not run.
const OFF: &[&str] = &["hooks", "plugins", "apps", "unbounded_connection_retries"];
/// Off where there are no files to read: all tools. Some models keep a tool in their list that does nothing.
const OFF_WITHOUT_FILES: &[&str] = &["shell_tool", "unified_exec", "code_mode_host"];
/// What a version has or has not, and is off.
const OFF_WHERE_KNOWN: &[&str] = &[
    "api_key_model_discovery",
    "browser_use",
    "computer_use",
    "daemon_auto_start",
    "goals",
    "image_generation",
    "memories",
    "mentions_v2",
    "multi_agent",
    "plugin_discovery_prefetch",
    "plugin_sharing",
    "remote_plugin",
    "shell_snapshot",
    "skill_mcp_dependency_install",
    "skill_search",
    "sleep_tool",
    "tool_suggest",
    "view_image",
    "workspace_dependencies",
];

/// Settings that are the same in every call.
const ALWAYS: &[&str] = &[
    // Instructions, settings and skills of the project, and of the folders above the one it runs in.
    "project_doc_max_bytes=0",
    "project_root_markers=[]",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    // What it would say to the model beside the question.
    "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    // Tools that are no features.
    "agents.enabled=false",
    "tools.experimental_request_user_input.enabled=false",
    "tools.update_plan.enabled=false",
    "web_search=\"disabled\"",
    // Its shell, where it has one, has no keys and reads no start files.
    "allow_login_shell=false",
    "shell_environment_policy.inherit=\"core\"",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "hide_agent_reasoning=true",
    "model_provider=\"countersign\"",
];

pub fn off(reads_files: bool) -> impl Iterator<Item = OsString> {
    let without = if reads_files { &[][..] } else { OFF_WITHOUT_FILES };
    let known = OFF.iter().chain(without).flat_map(|name| ["--disable".into(), (*name).into()]);
    let perhaps = OFF_WHERE_KNOWN.iter().flat_map(|name| setting(format!("features.{name}=false")));
    known.chain(perhaps)
}

/// Everything else that is set.
pub fn settings(form: &Form<'_>, instructions: &str) -> impl Iterator<Item = OsString> {
    let always = ALWAYS.iter().map(|text| (*text).to_owned());
    let instructions = format!("model_instructions_file={}", toml(instructions));
    let model = form.model.map(|model| format!("model={}", toml(model)));
    let provider = format!("model_providers.countersign={}", provider(form));
    always.chain([instructions, provider]).chain(model).flat_map(setting)
}

fn setting(text: String) -> [OsString; 2] {
    ["-c".into(), text.into()]
}

/// Its service. The built-in entry of the vendor takes no bounds, so it is written again under the vendor's name.
fn provider(form: &Form<'_>) -> String {
    let mut keys = vec![
        "wire_api=\"responses\"".to_owned(),
        format!("request_max_retries={SENT_AGAIN}"),
        format!("stream_max_retries={STREAMED_AGAIN}"),
    ];
    match form.base_url {
        Some(url) => keys.extend(["name=\"countersign\"".to_owned(), format!("base_url={}", toml(url))]),
        None => keys.extend([
            "name=\"OpenAI\"".to_owned(),
            "env_http_headers={\"OpenAI-Organization\"=\"OPENAI_ORGANIZATION\",\"OpenAI-Project\"=\"OPENAI_PROJECT\"}"
                .to_owned(),
        ]),
    }
    match (form.key_env, form.base_url) {
        (Some(variable), _) => keys.push(format!("env_key={}", toml(variable))),
        (None, None) => keys.push("requires_openai_auth=true".to_owned()),
        (None, Some(_)) => {}
    }
    format!("{{{}}}", keys.join(","))
}

/// A text as TOML has it. JSON's escapes are TOML's too, and only one sign more has to be escaped.
fn toml(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn form<'a>(base_url: Option<&'a str>, key_env: Option<&'a str>) -> Form<'a> {
        Form {
            base_url,
            key_env,
            system_prompt: "",
            payload: "",
            folder: Path::new("/work"),
            ..Form::example()
        }
    }

    #[test]
    fn a_sign_in_goes_to_its_own_service_and_a_key_where_it_is_named_for() {
        let table = [
            (None, None, true, false),
            (None, Some("KEY"), false, true),
            (Some("http://x/v1"), None, false, false),
            (Some("http://x/v1"), Some("KEY"), false, true),
        ];
        for (base_url, key_env, signed_in, key) in table {
            let provider = provider(&form(base_url, key_env));
            assert_eq!(provider.contains("requires_openai_auth=true"), signed_in, "{provider}");
            assert_eq!(provider.contains("env_key=\"KEY\""), key, "{provider}");
            assert_eq!(provider.contains("base_url=\"http://x/v1\""), base_url.is_some(), "{provider}");
            assert!(provider.contains("request_max_retries=2,stream_max_retries=1"), "{provider}");
        }
    }

    #[test]
    fn no_value_ends_its_own_text() {
        for text in ["a", "\"} x={\"", "a\\", "a\nb", "\u{7f}\u{1}", "é", "'''"] {
            let read: toml::Table = toml::from_str(&format!("v={}", toml(text))).unwrap();
            assert_eq!(read["v"].as_str(), Some(text));
        }
        let form = Form { model: Some("x\"\nsandbox_mode=\"danger-full-access"), ..form(None, None) };
        let words: Vec<_> = settings(&form, "/i").collect();
        assert_eq!(*words.last().unwrap(), "model=\"x\\\"\\nsandbox_mode=\\\"danger-full-access\"");
    }
}
