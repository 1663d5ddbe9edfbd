//! Runs a worker on a prompt: an agent program in its working form, or any command. The prompt goes in by standard input
//! or a file. Judging the result is not done here.

use crate::private;
use crate::process::{self, Call, Ended, GuardProgram, ProcessEnd, Surplus, Tap};
use crate::programs::{Facts, PROGRAMS, ParsedOutput, Problem, ReplyBody, Usage, not_exited};
use crate::scratch::Scratch;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How much of the end of a worker's output is kept in memory.
pub(crate) const OUTPUT_BYTES: usize = 8 * 1024 * 1024;
const STDERR_TAIL_BYTES: usize = 16 * 1024;
/// The longest prompt that fits into an argument, beside others.
const ARGUMENT_BYTES: usize = 100 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worker {
    /// An agent program, with what the user adds to its command line.
    Program {
        program: &'static Facts,
        path: String,
        /// The model, where not its own choice.
        model: Option<String>,
        more: Vec<String>,
    },
    /// Any command, with `{prompt}`, `{prompt_file}` and `{model}`. Without the first two the prompt is its input.
    Command { argv: Vec<String>, model: Option<String> },
}

#[derive(Clone, Debug)]
pub struct WorkRequest<'a> {
    pub prompt: &'a str,
    pub folder: &'a Path,
    pub timeout: Duration,
    /// The name under which hooks of the program know that they run below us.
    pub mark: &'a str,
    pub environment: &'a [(OsString, OsString)],
    /// Who hears in words what it does, as it comes.
    pub tap: Option<Tap>,
}

#[derive(Clone, Debug)]
pub struct WorkResult {
    /// What it said last, or why there is nothing.
    pub said: Result<String, Problem>,
    /// What it cost, as far as it says so.
    pub usage: Option<Usage>,
    pub ended: Ended,
}

impl Worker {
    /// From the words of a command: a program we know is called in its working form, anything else as it is.
    pub fn from_words(words: &[String], model: Option<String>) -> Option<Self> {
        let (first, more) = words.split_first()?;
        let name = Path::new(first).file_name().and_then(OsStr::to_str).unwrap_or(first);
        let templated = words.iter().any(|word| word.contains("{prompt"));
        Some(match PROGRAMS.reviewer(name) {
            Some(program) if !templated => {
                let own = program.working.own;
                let more = more.iter().filter(|word| !own.contains(&word.as_str())).cloned().collect();
                Self::Program { program, path: first.clone(), model, more }
            }
            _ => Self::Command { argv: words.to_vec(), model },
        })
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Program { program, .. } => program.name,
            Self::Command { argv, .. } => argv.first().map_or("", String::as_str),
        }
    }

    /// What is started: a path, or a name on the `PATH`.
    pub fn program(&self) -> &str {
        match self {
            Self::Program { path, .. } => path,
            Self::Command { argv, .. } => argv.first().map_or("", String::as_str),
        }
    }

    /// Works to the end. No process of it runs any more when this returns.
    pub async fn work(
        &self,
        guard: &GuardProgram,
        request: WorkRequest<'_>,
        cancel: &CancellationToken,
    ) -> std::io::Result<WorkResult> {
        let private = Scratch::new("work")?;
        let mut call = self.call(&request, private.path())?;
        call.scratch = Some(private.path().to_owned());
        let ended = process::run(guard, call, cancel).await?;
        let parsed = self.parse_output(&ended);
        let said = parsed.said.map(|said| said.text());
        Ok(WorkResult { said, usage: parsed.usage, ended })
    }

    fn call(&self, request: &WorkRequest<'_>, private: &Path) -> std::io::Result<Call> {
        let mut call = match self {
            Self::Program { program, path, model, more } => {
                let mut call = Call::new(path);
                call.args = program.working.line(model.as_deref(), more);
                call.stdin = request.prompt.as_bytes().to_vec();
                call
            }
            Self::Command { argv, model } => command(argv, model.as_deref(), request.prompt, private)?,
        };
        // A program that finds the marks of the session that started us believes that it is part of that session.
        let kept =
            |(name, value): &&(OsString, OsString)| !PROGRAMS.marks().any(|(mark, _)| mark.is(name, value));
        call.env = request.environment.iter().filter(kept).cloned().collect();
        if let Self::Program { program, .. } = self {
            call.env.extend(program.working.set.iter().map(|(name, value)| (name.into(), value.into())));
        }
        call.env.push(("COUNTERSIGN_CALL".into(), request.mark.into()));
        call.only_env = true;
        call.cwd = request.folder.to_owned();
        call.timeout = request.timeout;
        call.stdout_limit_bytes = OUTPUT_BYTES;
        call.surplus = Surplus::Forgets;
        call.stderr_tail_bytes = STDERR_TAIL_BYTES;
        call.tap = request.tap.clone().map(|tap| self.in_words(tap));
        Ok(call)
    }

    /// Turns the events a program writes into text.
    fn in_words(&self, tap: Tap) -> Tap {
        let Self::Program { program, .. } = self else { return tap };
        let live = program.working.live;
        let rest: Mutex<Vec<u8>> = Mutex::default();
        Tap::new(move |piece| {
            let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
            rest.extend_from_slice(piece);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                match serde_json::from_slice::<Value>(&line) {
                    Ok(event) => {
                        if let Some(words) = live(&event) {
                            tap.write(format!("{words}\n").as_bytes());
                        }
                    }
                    Err(_) => tap.write(&line),
                }
            }
            // A line without an end is dropped at some length.
            if rest.len() > OUTPUT_BYTES {
                rest.clear();
            }
        })
    }

    fn parse_output(&self, ended: &Ended) -> ParsedOutput {
        match self {
            Self::Program { program, .. } => (program.working.parse_output)(ended),
            Self::Command { .. } => {
                let said = match &ended.how {
                    ProcessEnd::Exited(0) => {
                        Ok(ReplyBody::Text(String::from_utf8_lossy(&ended.stdout).into_owned()))
                    }
                    other => Err(not_exited(other, &ended.stderr_tail)),
                };
                ParsedOutput { said, usage: None }
            }
        }
    }
}

fn command(argv: &[String], model: Option<&str>, prompt: &str, private: &Path) -> std::io::Result<Call> {
    let file: PathBuf = private.join("prompt.md");
    let mut by_input = true;
    let mut words = vec![];
    for word in argv {
        let mut word = word.replace("{model}", model.unwrap_or_default());
        if word.contains("{prompt_file}") {
            private::write(&file, prompt)?;
            word = word.replace("{prompt_file}", &file.to_string_lossy());
            by_input = false;
        }
        if word.contains("{prompt}") {
            if prompt.len() > ARGUMENT_BYTES || prompt.contains('\0') {
                return Err(std::io::Error::other(format!(
                    "the prompt has {} bytes and an argument holds {ARGUMENT_BYTES}: use {{prompt_file}} instead of \
                     {{prompt}}, or use neither to get it on standard input",
                    prompt.len()
                )));
            }
            word = word.replace("{prompt}", prompt);
            by_input = false;
        }
        words.push(word);
    }
    let mut words = words.into_iter();
    let program = words.next().ok_or_else(|| std::io::Error::other("the command is empty"))?;
    let mut call = Call::new(program);
    call.args = words.map(Into::into).collect();
    if by_input {
        call.stdin = prompt.as_bytes().to_vec();
    }
    Ok(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_known_program_works_in_its_own_form_and_anything_else_as_it_is_written() {
        let worker = Worker::from_words(&words("/opt/bin/claude -p --add-dir /x"), None).unwrap();
        let Worker::Program { program, path, more, .. } = &worker else { panic!("{worker:?}") };
        assert_eq!((*program, path.as_str()), (&crate::programs::claude::FACTS, "/opt/bin/claude"));
        assert_eq!(more, &["--add-dir", "/x"]);
        for line in ["ollama run qwen", "claude -p {prompt}", "./agent.sh"] {
            let worker = Worker::from_words(&words(line), None).unwrap();
            assert_eq!(worker, Worker::Command { argv: words(line), model: None }, "{line}");
        }
        assert_eq!(Worker::from_words(&[], None), None);
    }

    #[test]
    fn a_prompt_goes_in_where_the_command_wants_it() {
        let private = tempfile::tempdir().unwrap();
        let made = |line: &str, prompt: &str| command(&words(line), Some("m"), prompt, private.path());
        let call = made("ollama run {model}", "do").unwrap();
        assert_eq!((call.args, call.stdin), (vec!["run".into(), "m".into()], b"do".to_vec()));
        let call = made("x {prompt}", "do").unwrap();
        assert_eq!((call.args, call.stdin), (vec!["do".into()], vec![]));
        let call = made("x --file={prompt_file}", "do").unwrap();
        let file = call.args[0].to_str().unwrap().strip_prefix("--file=").unwrap().to_owned();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "do");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "others may not read it");
        let long = "x".repeat(ARGUMENT_BYTES + 1);
        assert!(made("x {prompt}", &long).unwrap_err().to_string().contains("{prompt_file}"));
        assert!(made("x {prompt_file}", &long).is_ok() && made("x", &long).is_ok());
    }
}
