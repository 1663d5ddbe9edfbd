//! The command line and environment of a question.

use crate::programs::{Form, Setup};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The longest prompt the program reads; it counts characters, of which there are never more than bytes.
pub const PROMPT_MAX_BYTES: usize = 1_048_576;

/// Its own folder: home and configuration, with the sign-in and nothing else of the user's.
const HOME: &str = "codex";
const INSTRUCTIONS: &str = "codex/instructions.md";
const SCHEMA: &str = "codex/schema.json";
/// Where it runs if it may see the project: beside it, because it loads skills from the folder it runs in.
const DESK: &str = "desk";
const PROJECT: &str = "desk/project";
const IN_PROJECT: &str = "The work to be judged follows. Files that are named and not shown are in the folder `project`, \
    under the same relative paths.";

pub fn prepare(form: &Form<'_>) -> Setup {
    let mut args: Vec<OsString> = ["exec", "--json", "--color", "never"].map(OsString::from).to_vec();
    args.extend(
        ["--ephemeral", "--skip-git-repo-check", "--ignore-rules", "-s", "read-only"].map(Into::into),
    );
    args.extend(["--output-schema".into(), form.private.join(SCHEMA).into()]);
    if form.reads_files {
        args.extend(["-C".into(), form.private.join(DESK).into()]);
    }
    args.extend(off(form.reads_files));
    let instructions = form.private.join(INSTRUCTIONS);
    args.extend(settings(form, &instructions.to_string_lossy()));
    args.push("-".into());
    let home = form.private.join(HOME);
    Setup {
        args,
        prompt: match form.reads_files {
            true => format!("{IN_PROJECT}\n\n{}\n", form.payload),
            false => crate::programs::prompt(form.payload, false),
        },
        set: vec![("CODEX_HOME".into(), home.clone().into()), ("HOME".into(), home.into())],
        files: vec![
            (INSTRUCTIONS.into(), form.system_prompt.to_owned()),
            (SCHEMA.into(), form.shape.strict_schema().to_string()),
        ],
        links: links(form),
    }
}

/// The user's sign-in is for the vendor's own service. It is linked, because the program renews it in place.
fn links(form: &Form<'_>) -> Vec<(PathBuf, PathBuf)> {
    let sign_in = form.credentials.filter(|_| form.base_url.is_none());
    let sign_in = sign_in.map(|file| (Path::new(HOME).join("auth.json"), file.to_owned()));
    let project = form.reads_files.then(|| (PROJECT.into(), form.folder.to_owned()));
    sign_in.into_iter().chain(project).collect()
}

/// How often it sends a question again by itself: it would wait for as long as its service says, so we do that.
const SENT_AGAIN: u32 = 0;

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

fn off(reads_files: bool) -> impl Iterator<Item = OsString> {
    let without = if reads_files { &[][..] } else { OFF_WITHOUT_FILES };
    let known = OFF.iter().chain(without).flat_map(|name| ["--disable".into(), (*name).into()]);
    let perhaps = OFF_WHERE_KNOWN.iter().flat_map(|name| setting(format!("features.{name}=false")));
    known.chain(perhaps)
}

/// Everything else that is set.
fn settings(form: &Form<'_>, instructions: &str) -> impl Iterator<Item = OsString> {
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
        format!("stream_max_retries={SENT_AGAIN}"),
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

    fn form<'a>() -> Form<'a> {
        Form {
            folder: Path::new("/work"),
            credentials: Some(Path::new("/home/u/.codex/auth.json")),
            ..Form::example()
        }
    }

    fn line(form: &Form<'_>) -> Vec<String> {
        prepare(form).args.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    fn has(line: &[String], words: &[&str]) -> bool {
        line.windows(words.len()).any(|window| window == words)
    }

    #[test]
    fn its_home_is_private_and_has_the_sign_in_and_nothing_else() {
        let setup = prepare(&form());
        let home = |name: &str| (OsString::from(name), OsString::from("/private/codex"));
        assert_eq!(setup.set, [home("CODEX_HOME"), home("HOME")]);
        assert_eq!(setup.links, [("codex/auth.json".into(), "/home/u/.codex/auth.json".into())]);
        let elsewhere = Form { base_url: Some("http://x/v1"), ..form() };
        assert_eq!(prepare(&elsewhere).links, [], "a sign-in is for its own service only");
    }

    #[test]
    fn there_are_no_tools_unless_files_are_to_be_read() {
        let given = line(&form());
        let project = line(&Form { reads_files: true, ..form() });
        for feature in ["shell_tool", "unified_exec", "code_mode_host"] {
            assert!(has(&given, &["--disable", feature]) && !has(&project, &["--disable", feature]));
        }
        for line in [&given, &project] {
            for words in [["-s", "read-only"], ["--disable", "hooks"], ["-c", "agents.enabled=false"]] {
                assert!(has(line, &words), "{words:?}");
            }
            assert!(has(line, &["-c", "project_doc_max_bytes=0"]) && has(line, &["--ignore-rules"]));
        }
    }

    /// Beside the project and not in it: what is there would be taken for its own.
    #[test]
    fn it_never_runs_in_the_project() {
        let setup = prepare(&Form { reads_files: true, credentials: None, ..form() });
        assert!(setup.args.windows(2).any(|words| words == ["-C", "/private/desk"]));
        assert_eq!(setup.links, [("desk/project".into(), "/work".into())]);
        assert!(
            setup.prompt.starts_with("The work to be judged follows.") && setup.prompt.contains("`project`")
        );
    }

    #[test]
    fn the_schema_leaves_no_key_out() {
        let setup = prepare(&form());
        let (_, schema) = setup.files.iter().find(|(path, _)| path == Path::new(SCHEMA)).unwrap();
        assert_eq!(*schema, form().shape.strict_schema().to_string());
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
            let provider = provider(&Form { base_url, key_env, ..form() });
            assert_eq!(provider.contains("requires_openai_auth=true"), signed_in, "{provider}");
            assert_eq!(provider.contains("env_key=\"KEY\""), key, "{provider}");
            assert_eq!(provider.contains("base_url=\"http://x/v1\""), base_url.is_some(), "{provider}");
            assert!(provider.contains("request_max_retries=0,stream_max_retries=0"), "{provider}");
        }
    }

    #[test]
    fn no_value_ends_its_own_text() {
        for text in ["a", "\"} x={\"", "a\\", "a\nb", "\u{7f}\u{1}", "é", "'''"] {
            let read: toml::Table = toml::from_str(&format!("v={}", toml(text))).unwrap();
            assert_eq!(read["v"].as_str(), Some(text));
        }
        let form = Form { model: Some("x\"\nsandbox_mode=\"danger-full-access"), ..form() };
        let words: Vec<_> = settings(&form, "/i").collect();
        assert_eq!(*words.last().unwrap(), "model=\"x\\\"\\nsandbox_mode=\\\"danger-full-access\"");
    }
}
