//! A reviewer that answers in free text: any program that reads a prompt and ends with a marker such as
//! `REVIEW_PASSED`. It runs in the project and may fix what it finds; the engine reads the files again afterwards. The
//! marker must carry the id of its question, which the judged work cannot know.

use super::brief::NOT_UTF_8;
use super::{Brief, Failed, ReviewerReply, command};
use crate::process::{GuardProgram, ProcessEnd};
use crate::surroundings::Line;
use crate::worker::{OUTPUT_BYTES, WorkRequest, Worker};
use countersign_core::answer::{self, read_marked};
use countersign_core::outcome::NoVerdict;
use countersign_core::prompt;
use std::ffi::OsString;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// A program that answers in free text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The program, and how it gets its prompt.
    pub worker: Worker,
    pub environment: Vec<(OsString, OsString)>,
}

impl Marked {
    /// What makes its answers its own: its words, its model, and the bytes of the files they name.
    pub fn identity(&self, root: &Path) -> String {
        let (words, model) = match &self.worker {
            Worker::Command { argv, model } => (argv.as_slice(), model.as_deref()),
            Worker::Program { path, model, .. } => (std::slice::from_ref(path), model.as_deref()),
        };
        format!("text {}", command::digest_of_words("marked/1", words, model, root))
    }

    /// The worker as it may be started, and its line.
    fn trusted_worker(&self, brief: &Brief) -> Result<(Worker, Line), String> {
        let words = match &self.worker {
            Worker::Command { argv, .. } => argv.clone(),
            Worker::Program { path, more, .. } => [path].into_iter().chain(more).cloned().collect(),
        };
        let line = brief.surroundings.line(&words, &brief.root, &brief.root)?;
        let worker = match self.worker.clone() {
            Worker::Command { model, .. } => Worker::Command { argv: line.words.clone(), model },
            Worker::Program { program, model, .. } => {
                let (path, more) = line.words.split_first().ok_or("the command is empty")?;
                Worker::Program { program, path: path.clone(), model, more: more.to_vec() }
            }
        };
        Ok((worker, line))
    }

    /// Asks the program, and comes back with what its text says. What that comes to depends on the files it left.
    pub async fn ask(
        &self,
        guard: &GuardProgram,
        brief: &Brief,
        cancel: &CancellationToken,
    ) -> ReviewerReply<answer::Marked> {
        let word = brief.call.as_str();
        let prompt = prompt::marked_prompt(&brief.system_prompt, &brief.payload, word);
        let (worker, line) = match self.trusted_worker(brief) {
            Ok(trusted) => trusted,
            Err(words) => return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words)),
        };
        let own = self.environment.iter().cloned().chain(line.variables.clone()).collect();
        let (environment, _) = brief.surroundings.variables(&brief.root, own);
        let request = WorkRequest {
            prompt: &prompt,
            folder: &brief.root,
            timeout: brief.timeout,
            mark: word,
            environment: &environment,
            tap: None,
        };
        let worked = match worker.work(guard, request, cancel).await {
            Ok(worked) => worked,
            Err(error) => {
                let words = format!("`{}` could not be run: {error}", self.worker.name());
                return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words));
            }
        };
        let reply = Some(String::from_utf8_lossy(&worked.ended.stdout).into_owned());
        if !line.scripts.is_empty() && self.trusted_worker(brief).map(|(_, now)| now).as_ref() != Ok(&line) {
            let failed = Failed::new(NoVerdict::Unavailable, command::SCRIPT_EDITED);
            return ReviewerReply { result: Err(failed), reply, usage: worked.usage };
        }
        let most = brief.reply_bytes.min(OUTPUT_BYTES - 1);
        let result = match (&worked.ended.how, &worked.said) {
            (ProcessEnd::TimedOut, _) => {
                let seconds = brief.timeout.as_secs();
                let words = format!("`{}` did not answer within {seconds} seconds", self.worker.name());
                Err(Failed::new(NoVerdict::Timeout, words))
            }
            // Only the end of a longer output is kept, and findings may be in the dropped part.
            (_, Ok(said)) if said.len() > most => {
                let words = format!("`{}` wrote more than {most} bytes", self.worker.name());
                Err(Failed::new(NoVerdict::TooLong, words))
            }
            (_, Ok(_)) if std::str::from_utf8(&worked.ended.stdout).is_err() => {
                Err(Failed::new(NoVerdict::Garbled, NOT_UTF_8))
            }
            (_, Ok(said)) => {
                read_marked(said, Some(word)).map_err(|defect| Failed::new(defect.why(), defect.to_string()))
            }
            (_, Err(_)) => {
                let words = format!("`{}` {}", self.worker.name(), command::end_words(&worked.ended));
                Err(Failed::new(NoVerdict::Unavailable, words))
            }
        };
        ReviewerReply { result, reply, usage: worked.usage }
    }
}
