//! The command line and environment of a question.

use super::settings;
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
    args.extend(settings::off(form.reads_files));
    let instructions = form.private.join(INSTRUCTIONS);
    args.extend(settings::settings(form, &instructions.to_string_lossy()));
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
}
