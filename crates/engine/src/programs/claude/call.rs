//! The command line and the prompt of a question.

use countersign_core::prompt::response_schema;
use std::ffi::OsString;
use std::path::Path;

/// Its name on the PATH.
pub const PROGRAM: &str = "claude";

/// The longest prompt the program reads.
pub const PROMPT_MAX_BYTES: usize = 10_000_000;

/// How often it may go back and forth between its tools and the model.
const TURNS_MAX: u32 = 8;

/// What is particular about a question.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    /// The model, where not the program's own choice.
    pub model: Option<&'a str>,
    /// A file with the system prompt. As an argument it could not be longer than 128 KiB.
    pub system_prompt_file: &'a Path,
    /// Whether there are files it has to read itself.
    pub reads_files: bool,
}

/// The arguments of a question.
pub fn arguments(form: &Form<'_>) -> Vec<OsString> {
    let tools = if form.reads_files { "Read,Grep,Glob" } else { "" };
    let mut args: Vec<OsString> = vec![
        "-p".into(),
        "--output-format".into(),
        "json".into(),
        "--json-schema".into(),
        response_schema().to_string().into(),
        "--system-prompt-file".into(),
        form.system_prompt_file.into(),
        "--tools".into(),
        tools.into(),
        "--permission-mode".into(),
        "dontAsk".into(),
        // No settings of the project or the user: hooks in them would run, and could review again.
        "--setting-sources=".into(),
        "--strict-mcp-config".into(),
        "--disable-slash-commands".into(),
        "--no-session-persistence".into(),
        "--max-turns".into(),
        TURNS_MAX.to_string().into(),
    ];
    if let Some(model) = form.model {
        // In one word, so that no model's name is taken for an option.
        args.push(format!("--model={model}").into());
    }
    args
}

/// What the program reads. It takes a prompt that begins with `/` for a command of its own, so the first words
/// are always ours.
pub fn prompt(payload: &str, reads_files: bool) -> String {
    let files = if reads_files {
        " Files that are named and not shown are in the current folder, under the same relative paths; nothing \
         outside of it can be read."
    } else {
        ""
    };
    format!("The work to be judged follows.{files}\n\n{payload}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(model: Option<&str>, reads_files: bool) -> Vec<String> {
        let form = Form { model, system_prompt_file: Path::new("/private/system.md"), reads_files };
        arguments(&form).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    fn after<'l>(line: &'l [String], flag: &str) -> &'l str {
        let at = line.iter().position(|word| word == flag).unwrap();
        &line[at + 1]
    }

    #[test]
    fn tools_are_off_unless_files_are_to_be_read() {
        assert_eq!(after(&line(None, false), "--tools"), "");
        assert_eq!(after(&line(None, true), "--tools"), "Read,Grep,Glob");
    }

    #[test]
    fn nothing_of_the_judged_project_is_loaded() {
        for line in [line(None, false), line(Some("sonnet"), true)] {
            for flag in ["--setting-sources=", "--strict-mcp-config", "--disable-slash-commands"] {
                assert!(line.iter().any(|word| word == flag), "{flag}");
            }
            assert_eq!(after(&line, "--permission-mode"), "dontAsk");
            assert_eq!(after(&line, "--system-prompt-file"), "/private/system.md");
        }
    }

    #[test]
    fn a_model_is_one_word_and_only_there_if_configured() {
        assert!(!line(None, false).iter().any(|word| word.starts_with("--model")));
        assert_eq!(line(Some("--dangerous"), false).last().unwrap(), "--model=--dangerous");
    }

    #[test]
    fn a_prompt_never_begins_with_what_is_judged() {
        for payload in ["/cost", "@/etc/hostname", "", "!ls"] {
            for reads_files in [true, false] {
                let prompt = prompt(payload, reads_files);
                assert!(prompt.starts_with("The work to be judged follows."));
                assert!(prompt.ends_with(&format!("\n\n{payload}\n")));
            }
        }
    }
}
