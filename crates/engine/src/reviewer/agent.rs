//! An agent program as a reviewer: in its judging form, once a question, and again where its service has too much to do.

use super::brief::NOT_UTF_8;
use super::{Brief, Failed, ReviewerReply, patience};
use crate::http::retry::{self, GivenUp};
use crate::private;
use crate::process::{Call, Ended, GuardProgram};
use crate::programs::{self, Facts, Form, Kind, ParsedOutput, Problem, ReplyBody, Setup, Usage, Vendor};
use crate::scratch::Scratch;
use countersign_core::outcome::NoVerdict;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const STDERR_TAIL_BYTES: usize = 8 * 1024;
/// What a program writes around a reply: the reply once more as text, what it did, and what it cost.
const AROUND_BYTES: usize = 256 * 1024;
/// The same where it reads files: some programs write whatever they read.
const READING_BYTES: usize = 16 * 1024 * 1024;

/// The longest record of a program's own that is read: it has the question in it, several times.
const RECORD_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What came of one try: what is told, or a failure that may pass.
type Tried = Result<ReviewerReply<ReplyBody>, retry::Failed<ParsedOutput>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub program: &'static Facts,
    /// The model, where not the program's own choice.
    pub model: Option<String>,
    /// Where its service is, where not at the program's own choice.
    pub base_url: Option<String>,
    /// The variable that holds the key of that service.
    pub key_env: Option<String>,
    /// The part of our environment that it may have.
    pub environment: Vec<(OsString, OsString)>,
}

impl Agent {
    /// A program with the part of `ours` that it may have.
    pub fn new(program: &'static Facts, key_env: Option<&str>, ours: Vec<(OsString, OsString)>) -> Self {
        let environment = programs::kept(program, key_env, ours);
        Self { program, model: None, base_url: None, key_env: key_env.map(str::to_owned), environment }
    }

    /// The same with the part of another environment that it may have.
    pub(crate) fn in_environment(self, ours: Vec<(OsString, OsString)>) -> Self {
        let environment = programs::kept(self.program, self.key_env.as_deref(), ours);
        Self { environment, ..self }
    }

    /// What makes its answers its own: the model and the service, as far as they are not the program's choice.
    pub fn identity(&self) -> String {
        let service = self.base_url.as_deref().map(|url| format!(" at {url}")).unwrap_or_default();
        format!("{} {}{service}", self.program.name, self.chosen_model().as_deref().unwrap_or("default"))
    }

    /// The model, where it is not the program's choice.
    fn chosen_model(&self) -> Option<String> {
        let variable = self.program.model_variable.and_then(|name| self.variable(name));
        self.model.clone().or_else(|| variable.map(|model| model.to_string_lossy().into_owned()))
    }

    /// Who makes its model: the program's vendor, or what the model's name says where it serves several.
    pub fn vendor(&self) -> Option<Vendor> {
        let named = || Vendor::named(self.model.as_deref()?.split('/').next()?);
        self.program.vendor.or_else(named)
    }

    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = self.environment.iter().find(|(known, _)| known == name)?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// The sign-in: a variable, or a file. A system's key store is not read.
    pub fn sign_in(&self) -> Option<String> {
        let credentials = &self.program.credentials;
        let named = self.key_env.as_deref().into_iter().chain(credentials.variables.iter().copied());
        let mut set = named.filter(|name| self.variable(name).is_some());
        set.next().map(str::to_owned).or_else(|| self.credentials().map(|file| file.display().to_string()))
    }

    fn credentials(&self) -> Option<PathBuf> {
        let file = self.program.credentials.file(|name| self.variable(name).map(OsStr::to_owned))?;
        file.is_file().then_some(file)
    }

    pub async fn ask(
        &self,
        guard: &GuardProgram,
        brief: &Brief,
        cancel: &CancellationToken,
    ) -> ReviewerReply {
        self.ask_raw(guard, brief, cancel).await.and_then(|said| brief.ruled(&said))
    }

    /// Asks the program, and comes back with what it said.
    pub async fn ask_raw(
        &self,
        guard: &GuardProgram,
        brief: &Brief,
        cancel: &CancellationToken,
    ) -> ReviewerReply<ReplyBody> {
        let deadline = Instant::now() + brief.timeout;
        let is_first = AtomicBool::new(true);
        let once = || {
            let again = !is_first.swap(false, Ordering::Relaxed);
            async move {
                match again {
                    false => self.once(guard, brief, cancel).await,
                    true => self.once_more(guard, brief, deadline, cancel).await,
                }
            }
        };
        let GivenUp { last, left_alone, .. } =
            match retry::HTTP.run(deadline, brief.call.as_str(), once).await {
                Ok(told) => return told,
                Err(given_up) => given_up,
            };
        let wait = left_alone.map(|wait| move |problem: Problem| problem.asking_to_wait(wait));
        let parsed = last.why;
        let said = match wait {
            Some(wait) => parsed.said.map_err(wait),
            None => parsed.said,
        };
        self.told(ParsedOutput { said, ..parsed })
    }

    fn told(&self, parsed: ParsedOutput) -> ReviewerReply<ReplyBody> {
        told(parsed, |problem| {
            let words = problem.words(&self.program.called);
            match self.chosen_model().filter(|_| problem.kind == Kind::Rejected) {
                // Some services do not say what they do not know.
                Some(model) if !words.contains(&model) => format!("{words}; the model is `{model}`"),
                _ => words,
            }
        })
    }

    /// The same question in a folder of its own: what the program left in the first one is not there.
    async fn once_more(
        &self,
        guard: &GuardProgram,
        brief: &Brief,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Tried {
        let unusable = |error: io::Error| {
            let words = format!("no private folder for the reviewer: {error}");
            ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words))
        };
        let scratch = match Scratch::new("question") {
            Ok(scratch) => scratch,
            Err(error) => return Ok(unusable(error)),
        };
        let mut brief = brief.clone();
        if brief.folder != brief.root && !brief.has_files_to_read() {
            brief.folder = scratch.path().join("files");
            if let Err(error) = private::make_folder(&brief.folder) {
                return Ok(unusable(error));
            }
        }
        brief.private = Some(scratch.path().to_owned());
        brief.timeout = deadline.saturating_duration_since(Instant::now());
        self.once(guard, &brief, cancel).await
    }

    /// Runs the program once.
    async fn once(&self, guard: &GuardProgram, brief: &Brief, cancel: &CancellationToken) -> Tried {
        let facts = self.program;
        let (call, record) = match self.prepare(brief) {
            Ok(prepared) => prepared,
            Err(failed) => return Ok(ReviewerReply::not_asked(failed)),
        };
        let ended = match patience::run(guard, call, cancel, facts.patience).await {
            Ok(ended) => ended,
            Err(error) => {
                let words = format!("{} could not be run: {error}", facts.called.name);
                return Ok(ReviewerReply::failed(NoVerdict::Unavailable, words));
            }
        };
        let parsed = (facts.parse_output)(&ended);
        let said = parsed.said.and_then(|said| check_answer(facts, &ended, record, brief).map(|()| said));
        let asked_for = match &said {
            Err(problem) if problem.may_pass() && !facts.sends_again && !cancel.is_cancelled() => {
                problem.asked_for()
            }
            _ => return Ok(self.told(ParsedOutput { said, ..parsed })),
        };
        Err(retry::Failed { why: ParsedOutput { said, ..parsed }, may_pass: true, asked_for })
    }

    /// The call of a question and the program's own record, begun.
    fn prepare(&self, brief: &Brief) -> Result<(Call, Option<File>), Failed> {
        let (facts, name) = (self.program, self.program.called.name);
        if brief.folder == brief.root && !facts.may_see_project {
            let words = format!(
                "{name} would follow instruction files of the project that it judges: remove `sees: project`, or \
                 ask another reviewer"
            );
            return Err(Failed::new(NoVerdict::Unavailable, words));
        }
        let program = brief.surroundings.program(facts.name);
        let program = program.map_err(|words| Failed::new(NoVerdict::Unavailable, words))?;
        let prepared = self.prepare_call(brief, program);
        let prepared = prepared.and_then(|call| Ok((call, begin_record(facts, brief)?)));
        let (call, record) = prepared.map_err(|error| {
            Failed::new(NoVerdict::Unavailable, format!("nothing could be prepared: {error}"))
        })?;
        if call.stdin.len() > facts.prompt_max_bytes {
            let instead = match facts.reads_files {
                true => ", or lower `prompt_bytes`, so that files are read one by one",
                false => "",
            };
            let words = format!(
                "the question has {} bytes and {name} reads at most {}: submit less at once{instead}",
                call.stdin.len(),
                facts.prompt_max_bytes
            );
            return Err(Failed::new(NoVerdict::TooLong, words));
        }
        Ok((call, record))
    }

    fn prepare_call(&self, brief: &Brief, program: OsString) -> io::Result<Call> {
        let facts = self.program;
        let private =
            brief.private.as_deref().ok_or_else(|| io::Error::other("there is no private folder"))?;
        let credentials = self.credentials();
        let reads_files = reads_files(facts, brief);
        let setup = (facts.prepare)(&Form {
            model: self.model.as_deref(),
            base_url: self.base_url.as_deref(),
            key_env: self.key_env.as_deref(),
            system_prompt: &brief.system_prompt,
            payload: &brief.payload,
            shape: brief.shape(),
            reads_files,
            folder: &brief.folder,
            private,
            credentials: credentials.as_deref(),
            environment: &self.environment,
            most_microusd: brief.most_microusd,
        });
        let temporary = private.join("temporary");
        private::make_folder(&temporary)?;
        write_setup(&setup, private)?;
        let around = if reads_files { READING_BYTES } else { AROUND_BYTES };
        let call = brief.call.as_str();
        let mut set = brief.surroundings.call_variables(&brief.folder);
        set.extend(setup.set);
        Ok(Call {
            args: setup.args,
            cwd: brief.folder.clone(),
            env: programs::environment(facts, &self.environment, set, &temporary, call),
            only_env: true,
            stdin: setup.prompt.into_bytes(),
            scratch: Some(private.to_owned()),
            timeout: brief.timeout,
            stdout_limit_bytes: 2 * brief.reply_bytes + around,
            stderr_tail_bytes: STDERR_TAIL_BYTES,
            ..Call::new(program)
        })
    }
}

/// The file of the program's own record, begun and held: the guard removes the folder before it can be read.
fn begin_record(facts: &Facts, brief: &Brief) -> io::Result<Option<File>> {
    let (Some(record), Some(private)) = (facts.record, &brief.private) else { return Ok(None) };
    let path = private.join(record.file);
    private::make_new_file(&path)?;
    File::open(path).map(Some)
}

/// Whether an answer may count: its bytes are UTF-8, the record says that it is whole, and the files were opened.
fn check_answer(facts: &Facts, ended: &Ended, record: Option<File>, brief: &Brief) -> Result<(), Problem> {
    if std::str::from_utf8(&ended.stdout).is_err() {
        return Err(Problem::new(Kind::Garbled, NOT_UTF_8));
    }
    if let (Some(facts), Some(file)) = (facts.record, record) {
        let mut bytes = vec![];
        // Of one that cannot be read, or not to its end, nothing says that the reply is whole.
        let _ = file.take(RECORD_MAX_BYTES).read_to_end(&mut bytes);
        (facts.check)(&bytes)?;
    }
    match (facts.opened)(ended) {
        Some(0) if brief.unshown > 0 => {
            let words = format!("its record shows that it opened no file (files to read: {})", brief.unshown);
            Err(Problem::new(Kind::Unread, &words))
        }
        _ => Ok(()),
    }
}

/// Writes the program's own things.
fn write_setup(setup: &Setup, folder: &Path) -> io::Result<()> {
    let place = |path: &Path| -> io::Result<PathBuf> {
        let path = folder.join(path);
        path.parent().map_or(Ok(()), private::make_folders)?;
        Ok(path)
    };
    for (path, text) in &setup.files {
        private::write(&place(path)?, text)?;
    }
    for (path, target) in &setup.links {
        std::os::unix::fs::symlink(target, place(path)?)?;
    }
    Ok(())
}

/// Whether it gets tools to read files: only if the question lacks some, and the program can be held to a folder.
fn reads_files(facts: &Facts, brief: &Brief) -> bool {
    facts.reads_files && brief.has_files_to_read() || brief.folder == brief.root
}

/// A reply, with its cost; `words` says a problem for people.
pub(super) fn told(parsed: ParsedOutput, words: impl Fn(&Problem) -> String) -> ReviewerReply<ReplyBody> {
    let ParsedOutput { said, usage } = parsed;
    let reply = said.as_ref().ok().map(ReplyBody::text);
    let free = said.as_ref().err().is_some_and(Problem::cost_nothing);
    let usage = match &said {
        Ok(_) => usage.map(Usage::of_answer),
        Err(_) if free => Some(usage.unwrap_or_default().of_refusal()),
        // It was asked something, so a count of 0 is none.
        Err(_) => usage.map(Usage::of_answer),
    };
    let result = said.map_err(|problem| Failed::new(problem.why(), words(&problem)));
    ReviewerReply { result, reply, usage }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn others_cannot_read_the_private_home_of_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let text = ("home/.codex/config.toml".into(), "x".to_owned());
        write_setup(&Setup { files: vec![text], ..Setup::default() }, folder.path()).unwrap();
        for (path, mode) in [("home", 0o700), ("home/.codex", 0o700), ("home/.codex/config.toml", 0o600)] {
            let found = std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode, "{path}");
        }
    }

    #[test]
    fn its_identity_is_the_model_that_was_chosen() {
        let claude = |model: Option<&str>, chosen: Option<&str>| Agent {
            model: model.map(str::to_owned),
            ..Agent::new(
                &programs::claude::FACTS,
                None,
                chosen.map(|model| ("ANTHROPIC_MODEL".into(), model.into())).into_iter().collect(),
            )
        };
        assert_eq!(claude(None, None).identity(), "claude default");
        assert_eq!(claude(None, Some("opus")).identity(), "claude opus");
        assert_eq!(claude(Some("sonnet"), Some("opus")).identity(), "claude sonnet");
        let elsewhere = Agent { base_url: Some("http://x".into()), ..claude(None, None) };
        assert_eq!(elsewhere.identity(), "claude default at http://x");
    }
}
