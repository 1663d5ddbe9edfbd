//! The command reviewer: any program that reads a brief from its standard input and writes a reply to its standard output,
//! as JSON. A non-zero exit is no verdict, whatever it printed.

use super::{Asks, Brief, Failed, ReviewerReply};
use crate::installed;
use crate::process::{self, Call, Ended, GuardProgram, ProcessEnd};
use crate::programs::{ReplyBody, Usage, microusd};
use crate::surroundings::Line;
use countersign_core::digest::{Digest, Parts};
use countersign_core::outcome::NoVerdict;
use countersign_core::prompt::Body;
use countersign_core::text;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Goes up when the brief's keys change their meaning.
const BRIEF_VERSION: u32 = 1;
const STDERR_TAIL_BYTES: usize = 2 * 1024;
pub(super) const SCRIPT_EDITED: &str = "a script of it was edited while it ran";

/// A program and its arguments, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub argv: Vec<String>,
    pub model: Option<String>,
}

impl Command {
    /// What makes its answers its own: the arguments and the bytes of the files they name.
    pub fn identity(&self, root: &Path) -> String {
        format!("command {}", digest_of_words("command/1", &self.argv, self.model.as_deref(), root))
    }

    /// The arguments with absolute paths for files of the project; a bare program name is looked up on the PATH.
    fn resolved(&self, root: &Path) -> Vec<String> {
        let resolve = |(i, word): (usize, &String)| {
            let path = root.join(word);
            let names_a_file = path.is_file() && (i > 0 || word.contains('/'));
            if names_a_file { path.to_string_lossy().into_owned() } else { word.clone() }
        };
        self.argv.iter().enumerate().map(resolve).collect()
    }

    /// The words as they are started for a question.
    fn line(&self, brief: &Brief) -> Result<Line, String> {
        let (root, surroundings) = (&brief.root, &brief.surroundings);
        let words = if surroundings.gate.is_some() { self.argv.clone() } else { self.resolved(root) };
        surroundings.line(&words, root, &brief.folder)
    }

    pub fn from_anywhere(&self, root: &Path) -> Self {
        Self { argv: self.resolved(root), model: self.model.clone() }
    }

    pub async fn ask(
        &self,
        guard: &GuardProgram,
        brief: &Brief,
        cancel: &CancellationToken,
    ) -> ReviewerReply {
        self.ask_raw(guard, brief, cancel).await.and_then(|said| brief.ruled(&said))
    }

    /// Asks the program, and comes back with its words.
    pub async fn ask_raw(
        &self,
        guard: &GuardProgram,
        brief: &Brief,
        cancel: &CancellationToken,
    ) -> ReviewerReply<ReplyBody> {
        let line = match self.line(brief) {
            Ok(line) => line,
            Err(words) => return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words)),
        };
        let mut argv = line.words.clone().into_iter();
        let Some(program) = argv.next() else {
            let words = "the reviewer has an empty command";
            return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words));
        };
        let stdin = match brief_json(brief, self.model.as_deref()) {
            Ok(stdin) => stdin,
            Err(error) => {
                let words = format!("the question cannot be written as JSON: {error}");
                return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words));
            }
        };
        let (env, only_env) = brief.variables(&line);
        let call = Call {
            args: argv.map(Into::into).collect(),
            cwd: brief.folder.clone(),
            scratch: brief.private.clone(),
            env,
            only_env,
            stdin,
            timeout: brief.timeout,
            stdout_limit_bytes: brief.reply_bytes,
            stderr_tail_bytes: STDERR_TAIL_BYTES,
            ..Call::new(&program)
        };
        match process::run(guard, call, cancel).await {
            Ok(_) if self.line(brief).as_ref() != Ok(&line) => {
                ReviewerReply::failed(NoVerdict::Unavailable, SCRIPT_EDITED)
            }
            Ok(ended) => told(&program, ended, brief),
            Err(error) => ReviewerReply::failed(
                NoVerdict::Unavailable,
                format!("`{program}` could not be run: {error}"),
            ),
        }
    }
}

/// The digest of a command line: its words, its model, and the bytes of the files that words name.
pub(super) fn digest_of_words(domain: &str, words: &[String], model: Option<&str>, root: &Path) -> Digest {
    let mut parts = Parts::new(domain);
    parts.maybe(model).count(words.len());
    for word in words {
        parts.text(word).maybe(installed::digest_of(&root.join(word), u64::MAX).as_ref().map(Digest::as_str));
    }
    parts.digest()
}

/// The question for the program. Its list of files is written as it is read: as a tree of values, each file would take more
/// than a kilobyte.
fn brief_json(brief: &Brief, model: Option<&str>) -> serde_json::Result<Vec<u8>> {
    let criteria: Vec<_> =
        brief.criteria.iter().map(|c| json!({ "name": c.name, "question": c.question })).collect();
    let assignment = match brief.asks {
        Asks::Rulings(_) => json!({ "rule": brief.rule, "file": brief.file(), "criteria": criteria }),
        Asks::Consultation(_) => json!({ "consult": brief.rule }),
    };
    serde_json::to_vec(&BriefJson {
        version: BRIEF_VERSION,
        assignment,
        system_prompt: &brief.system_prompt,
        payload: &brief.payload,
        schema: brief.shape().schema(),
        files: FilesJson(brief),
        model,
        timeout_seconds: brief.timeout.as_secs(),
    })
}

#[derive(Serialize)]
struct BriefJson<'a> {
    version: u32,
    assignment: Value,
    system_prompt: &'a str,
    payload: &'a str,
    schema: Value,
    files: FilesJson<'a>,
    model: Option<&'a str>,
    timeout_seconds: u64,
}

struct FilesJson<'a>(&'a Brief);

impl Serialize for FilesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(brief) = self;
        serializer.collect_seq(brief.files.iter().zip(&brief.shown).map(|(file, shown)| FileJson {
            path: &file.path,
            output: &shown.output,
            digest: &file.digest,
            size_bytes: file.size_bytes,
            inline: shown.body != Body::Listed,
        }))
    }
}

#[derive(Serialize)]
struct FileJson<'a> {
    path: &'a str,
    output: &'a str,
    digest: &'a Digest,
    size_bytes: u64,
    inline: bool,
}

fn told(program: &str, ended: Ended, brief: &Brief) -> ReviewerReply<ReplyBody> {
    let reply = Some(String::from_utf8_lossy(&ended.stdout).into_owned());
    let result = match failure(program, &ended, brief) {
        Some(failed) => Err(failed),
        None => String::from_utf8(ended.stdout.clone())
            .map(ReplyBody::Text)
            .map_err(|_| Failed::new(NoVerdict::Garbled, super::brief::NOT_UTF_8)),
    };
    ReviewerReply { result, reply, usage: usage(&ended) }
}

/// The cost beside the rulings: `usage` with `tokens_in`, `tokens_out` and `cost_usd`. Not started costs nothing.
fn usage(ended: &Ended) -> Option<Usage> {
    if matches!(ended.how, ProcessEnd::NotStarted { .. }) {
        return Some(Usage::nothing());
    }
    let said: Value = serde_json::from_slice(&ended.stdout).ok()?;
    let usage = said.get("usage")?.as_object()?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    Some(Usage {
        model: usage.get("model").and_then(Value::as_str).map(str::to_owned),
        tokens_in: count("tokens_in"),
        tokens_out: count("tokens_out"),
        cost_microusd: usage.get("cost_usd").and_then(Value::as_f64).and_then(microusd),
    })
}

/// Every way a program can end but with exit code 0.
fn failure(program: &str, ended: &Ended, brief: &Brief) -> Option<Failed> {
    let seconds = brief.timeout.as_secs();
    let (why, detail) = match &ended.how {
        ProcessEnd::Exited(0) => return None,
        ProcessEnd::TimedOut => (NoVerdict::Timeout, format!("did not answer within {seconds} seconds")),
        ProcessEnd::TooMuchOutput { limit_bytes } => {
            (NoVerdict::TooLong, format!("wrote more than {limit_bytes} bytes"))
        }
        ProcessEnd::Cancelled => (NoVerdict::Unavailable, "was cancelled".to_owned()),
        ProcessEnd::GuardLost => {
            (NoVerdict::Unavailable, "was lost: its guard ended unexpectedly".to_owned())
        }
        _ => (NoVerdict::Unavailable, end_words(ended)),
    };
    Some(Failed::new(why, format!("`{program}` {detail}")))
}

/// How a program ended, with the end of its error output.
pub(super) fn end_words(ended: &Ended) -> String {
    let stderr = text::visible_line(text::cut_front_words(&ended.stderr_tail, STDERR_TAIL_BYTES));
    let said = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
    match &ended.how {
        ProcessEnd::Exited(code) => format!("ended with exit code {code}{said}"),
        ProcessEnd::Signalled(signal) => format!("was ended by signal {signal}{said}"),
        ProcessEnd::NotStarted { reason } => format!("could not be started: {reason}"),
        _ => format!("ended unexpectedly{said}"),
    }
}
