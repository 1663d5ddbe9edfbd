//! The Claude reviewer: the `claude` program in its judging form, once a question.

use super::{Brief, Failed, Told};
use crate::process::{self, Call, GuardProgram};
use crate::programs::claude::{self as program, Form, Heard};
use countersign_core::answer::{self, Answer};
use countersign_core::outcome::NoVerdict;
use serde_json::Value;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

const STDERR_TAIL_BYTES: usize = 2 * 1024;
/// What the program writes around a reply: the reply once more as text, and what it cost.
const AROUND_BYTES: usize = 64 * 1024;

/// The `claude` program, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claude {
    /// The model, where not the program's own choice.
    pub model: Option<String>,
    /// The part of our environment that it may have.
    pub environment: Vec<(OsString, OsString)>,
}

/// The reviewer's own things, beside what it may read.
struct Private {
    system_prompt_file: PathBuf,
    temporary: PathBuf,
}

impl Claude {
    /// What makes its answers its own: the model, as far as it is chosen by anybody but the program.
    pub fn identity(&self) -> String {
        let chosen = self.environment.iter().find(|(name, _)| name == "ANTHROPIC_MODEL");
        let chosen = chosen.map(|(_, model)| model.to_string_lossy().into_owned());
        let model = self.model.clone().or(chosen);
        format!("claude {}", model.as_deref().unwrap_or("default"))
    }

    /// Asks the program.
    pub async fn ask(&self, guard: &GuardProgram, brief: &Brief, cancel: &CancellationToken) -> Told {
        let prompt = program::prompt(&brief.payload, reads_files(brief));
        let most = program::PROMPT_MAX_BYTES;
        if prompt.len() > most {
            let words = format!(
                "the question has {} bytes and `claude` reads at most {most}: hand in less at once, or lower \
                 `prompt_bytes`, so that files are read one by one",
                prompt.len()
            );
            return Told::failed(NoVerdict::TooLong, words);
        }
        let call = match self.call(brief, prompt) {
            Ok(call) => call,
            Err(error) => {
                return Told::failed(NoVerdict::Unavailable, format!("nothing could be prepared: {error}"));
            }
        };
        match process::run(guard, call, cancel).await {
            Ok(ended) => told(program::hear(&ended), brief),
            Err(error) => Told::failed(NoVerdict::Unavailable, format!("`claude` could not be run: {error}")),
        }
    }

    fn call(&self, brief: &Brief, prompt: String) -> io::Result<Call> {
        let folder =
            brief.private.as_deref().ok_or_else(|| io::Error::other("there is no private folder"))?;
        let private = Private::prepare(folder, &brief.system_prompt)?;
        let form = Form {
            model: self.model.as_deref(),
            system_prompt_file: &private.system_prompt_file,
            reads_files: reads_files(brief),
        };
        let mut call = Call::new(program::PROGRAM);
        call.args = program::arguments(&form);
        call.cwd = brief.folder.clone();
        call.env = program::environment(&self.environment, &private.temporary, brief.call.as_str());
        call.only_env = true;
        call.scratch = Some(folder.to_owned());
        call.stdin = prompt.into_bytes();
        call.timeout = brief.timeout;
        call.stdout_limit_bytes = 2 * brief.reply_bytes + AROUND_BYTES;
        call.stderr_tail_bytes = STDERR_TAIL_BYTES;
        Ok(call)
    }
}

impl Private {
    fn prepare(folder: &Path, system_prompt: &str) -> io::Result<Self> {
        let own =
            Self { system_prompt_file: folder.join("system-prompt.md"), temporary: folder.join("temporary") };
        std::fs::create_dir(&own.temporary)?;
        std::fs::write(&own.system_prompt_file, system_prompt)?;
        Ok(own)
    }
}

/// Where everything it may see is in the question, it needs no tools.
fn reads_files(brief: &Brief) -> bool {
    brief.has_files_to_read() || brief.folder == brief.root
}

fn told(heard: Heard, brief: &Brief) -> Told {
    let Heard { said, usage } = heard;
    let reply = said.as_ref().ok().map(Value::to_string);
    let result = match said {
        Ok(said) => ruled(&said, brief),
        Err(problem) => Err(Failed::new(problem.why(), problem.words())),
    };
    Told { result, reply, usage }
}

fn ruled(said: &Value, brief: &Brief) -> Result<Answer, Failed> {
    let ruled =
        answer::interpret(said).and_then(|reply| answer::rule(reply, &brief.asked(), brief.accept_bare));
    ruled.map_err(|defect| Failed::new(defect.why(), defect.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_identity_is_the_model_that_was_chosen() {
        let claude = |model: Option<&str>, chosen: Option<&str>| Claude {
            model: model.map(str::to_owned),
            environment: chosen.map(|model| ("ANTHROPIC_MODEL".into(), model.into())).into_iter().collect(),
        };
        assert_eq!(claude(None, None).identity(), "claude default");
        assert_eq!(claude(None, Some("opus")).identity(), "claude opus");
        assert_eq!(claude(Some("sonnet"), Some("opus")).identity(), "claude sonnet");
    }
}
