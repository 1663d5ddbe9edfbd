//! The command line and environment of a question.

use crate::programs::{Form, Setup};
use countersign_core::cost::MICRO;
use std::path::Path;

/// Its own file with the system prompt: as an argument it could not be longer than 128 KiB.
const SYSTEM_PROMPT: &str = "system-prompt.md";

/// How often it may go back and forth between its tools and the model.
const TURNS_MAX: u32 = 8;

pub fn prepare(form: &Form<'_>) -> Setup {
    let tools = if form.reads_files { "Read,Grep,Glob" } else { "" };
    let mut args = vec!["-p".into(), "--output-format".into()];
    match form.reads_files {
        // With an event for everything it does: whether it opened the files it has to read.
        true => args.extend(["stream-json".into(), "--verbose".into()]),
        false => args.push("json".into()),
    }
    args.extend([
        "--json-schema".into(),
        form.shape.schema().to_string().into(),
        "--system-prompt-file".into(),
        form.private.join(SYSTEM_PROMPT).into(),
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
    ]);
    if let Some(model) = form.model {
        // In one word, so that no model's name is taken for an option.
        args.push(format!("--model={model}").into());
    }
    if let Some(most) = form.most_microusd {
        #[expect(clippy::cast_precision_loss, reason = "no budget is that large")]
        args.push(format!("--max-budget-usd={}", most as f64 / MICRO as f64).into());
    }
    Setup {
        args,
        prompt: crate::programs::prompt(form.payload, form.reads_files),
        set: vec![("CLAUDE_CODE_TMPDIR".into(), form.private.join("temporary").into())],
        files: vec![(Path::new(SYSTEM_PROMPT).to_owned(), form.system_prompt.to_owned())],
        links: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(model: Option<&str>, reads_files: bool) -> Vec<String> {
        let form = Form { model, reads_files, folder: Path::new("/work"), ..Form::example() };
        let setup = prepare(&form);
        assert_eq!(setup.files, [("system-prompt.md".into(), "judge".to_owned())]);
        setup.args.into_iter().map(|word| word.into_string().unwrap()).collect()
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
            assert_eq!(after(&line, "--system-prompt-file"), "/private/system-prompt.md");
        }
    }

    #[test]
    fn it_is_told_what_a_question_may_cost_where_money_is_counted() {
        let capped = |most_microusd| prepare(&Form { most_microusd, ..Form::example() }).args;
        assert!(capped(Some(1_500_000)).contains(&"--max-budget-usd=1.5".into()));
        assert_eq!(capped(None).len() + 1, capped(Some(1)).len());
    }

    #[test]
    fn a_model_is_one_word_and_only_there_if_configured() {
        assert!(!line(None, false).iter().any(|word| word.starts_with("--model")));
        assert_eq!(line(Some("--dangerous"), false).last().unwrap(), "--model=--dangerous");
    }
}
