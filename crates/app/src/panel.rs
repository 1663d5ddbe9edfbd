//! The reviewers of a project, configured or named on the command line, ready to be asked.

use crate::Failure;
use crate::project::Project;
use countersign_core::digest::Digest;
use countersign_engine::config::{
    self, AskSettings, KeySource, Origin, PROGRAM_CONCURRENCY, ProgramReviewer, ReviewerConfig, ReviewerKind,
    SERVICE_CONCURRENCY, Sees, ServiceReviewer,
};
use countersign_engine::engine::{Judge, Panelist};
use countersign_engine::installed;
use countersign_engine::programs::{Api, PROGRAMS, Vendor};
use countersign_engine::reviewer::service::Key;
use countersign_engine::reviewer::{Agent, Command, Marked, Service, replay};
use countersign_engine::worker::Worker;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const REPLAY_LIMIT_BYTES: u64 = 64 * 1024 * 1024;
const KEY_LIMIT_BYTES: u64 = 16 * 1024;

impl Project {
    pub fn panelists(&self) -> Result<Vec<Panelist>, Failure> {
        let all = self.each_reviewer().into_iter().map(|(_, panelist)| panelist);
        let all: Vec<_> = all.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        Ok(other_vendors_first(all, self.author))
    }

    /// The variables with keys that reviewers use and that are set.
    pub fn key_variables(&self) -> Vec<String> {
        let of = |kind: &ReviewerKind| -> Vec<String> {
            match kind {
                ReviewerKind::Program(program) => match &program.key_env {
                    Some(variable) => vec![variable.clone()],
                    None => {
                        program.program.credentials.variables.iter().map(|name| (*name).to_owned()).collect()
                    }
                },
                ReviewerKind::Service(service) => match &service.key {
                    Some(KeySource::Variable(variable)) => vec![variable.clone()],
                    Some(KeySource::File(_)) => vec![],
                    None => vec![own_key(service.api).to_owned()],
                },
                _ => vec![],
            }
        };
        let all = self.config.reviewers.iter().flat_map(|reviewer| of(&reviewer.kind));
        let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        all.filter(is_set).collect()
    }

    /// All reviewers by name: a panelist, or why there is none; `Ok(None)` for `checks`.
    pub fn each_reviewer(&self) -> Vec<(String, Result<Option<Panelist>, Failure>)> {
        let reviewers = &self.config.reviewers;
        let configured = |reviewer: &ReviewerConfig| (reviewer.name.clone(), self.configured(reviewer));
        match self.config.reviewer.as_deref() {
            // Without a configuration: the installed programs.
            None | Some(config::AUTO) if reviewers.is_empty() && self.config.file.is_none() => {
                let path = std::env::var_os("PATH");
                let is_there =
                    |name: &&str| installed::find(name, self.root.path(), path.as_deref()).is_some();
                let installed = PROGRAMS.reviewers().map(|facts| facts.name).filter(is_there);
                installed.map(|name| (name.to_owned(), self.short_form(name))).collect()
            }
            None | Some(config::AUTO) => reviewers.iter().map(configured).collect(),
            Some(name) => vec![(name.to_owned(), self.reviewer_named(name))],
        }
    }

    pub fn reviewer_named(&self, name: &str) -> Result<Option<Panelist>, Failure> {
        match self.config.reviewers.iter().find(|reviewer| reviewer.name == name) {
            Some(reviewer) => self.configured(reviewer),
            None => self.short_form(name),
        }
    }

    /// A reviewer of the configuration; none for `checks`.
    fn configured(&self, reviewer: &ReviewerConfig) -> Result<Option<Panelist>, Failure> {
        let name = &reviewer.name;
        Ok(Some(match &reviewer.kind {
            ReviewerKind::Command(command) => {
                let model = command.asked.model.clone();
                let judge = Judge::Command(Command { argv: command.argv.clone(), model });
                self.asked(name, judge, &command.asked)
            }
            ReviewerKind::Program(program) => self.asked(name, agent(program), &program.asked),
            ReviewerKind::Service(service) => self.asked(name, self.service(service), &service.asked),
            ReviewerKind::Replay { file } => self.replay(name, file)?,
            ReviewerKind::SelfReview => self.panelist(name, Judge::SelfReview),
            ReviewerKind::Checks => return Ok(None),
        }))
    }

    /// A reviewer that is named without being configured.
    fn short_form(&self, name: &str) -> Result<Option<Panelist>, Failure> {
        if let Some(program) = name.strip_prefix("command:").filter(|program| !program.trim().is_empty()) {
            let judge = Judge::Command(Command { argv: self.words(program), model: None });
            return Ok(Some(self.panelist(name, judge)));
        }
        if let Some(program) = name.strip_prefix("text:").filter(|program| !program.trim().is_empty()) {
            return Ok(self.free_text(name, &self.words(program), None));
        }
        if let Some(file) = name.strip_prefix("replay:").filter(|file| !file.is_empty()) {
            return Ok(Some(self.replay(name, &self.here.join(file))?));
        }
        if let Some(program) = PROGRAMS.reviewer(name) {
            let program = ProgramReviewer::plain(program);
            return Ok(Some(self.asked(name, agent(&program), &program.asked)));
        }
        if let Some(service) = config::short_service(name) {
            let service = service.map_err(|words| Failure::usage(format!("--reviewer: {words}")))?;
            return Ok(Some(self.asked(name, self.service(&service), &service.asked)));
        }
        match name {
            "self" => Ok(Some(self.panelist(name, Judge::SelfReview))),
            "checks" => Ok(None),
            _ => Err(Failure::usage(format!("unknown reviewer `{name}`")).hint(format!(
                "for example {}, anthropic:MODEL, openai:MODEL@URL, command:./judge.sh, or text:./review.sh",
                PROGRAMS.reviewer_names()
            ))),
        }
    }

    /// A program by its command line: a known one is asked in its own form, any other in free text.
    pub fn free_text(&self, name: &str, words: &[String], model: Option<String>) -> Option<Panelist> {
        Some(match Worker::from_words(words, model.clone())? {
            Worker::Program { program, .. } => {
                let mut program = ProgramReviewer::plain(program);
                program.asked.model = model;
                self.asked(name, agent(&program), &program.asked)
            }
            worker @ Worker::Command { .. } => {
                let judge = Judge::Marked(Marked { worker, environment: std::env::vars_os().collect() });
                Panelist { sees_project: true, ..self.panelist(name, judge) }
            }
        })
    }

    /// A command line as words; a path with spaces that exists is one word.
    pub fn words(&self, program: &str) -> Vec<String> {
        let typed = self.here.join(program);
        let absolute = |path: PathBuf| path.canonicalize().unwrap_or(path).to_string_lossy().into_owned();
        if typed.is_file() {
            return vec![absolute(typed)];
        }
        let mut words: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
        if let Some(first) = words.first_mut().filter(|first| first.contains('/')) {
            *first = absolute(self.here.join(&*first));
        }
        words
    }

    fn asked(&self, name: &str, judge: Judge, asked: &AskSettings) -> Panelist {
        let usual = match &judge {
            Judge::Service(_) => SERVICE_CONCURRENCY,
            _ => PROGRAM_CONCURRENCY,
        };
        let says_cost = matches!(&judge, Judge::Agent(agent) if agent.program.caps_cost);
        let vendor = vendor(&judge);
        let plain = self.panelist(name, judge);
        Panelist {
            window_tokens: asked.window_tokens.map(u64::from),
            price: asked.price,
            question_microusd: says_cost.then_some(asked.question_microusd),
            vendor,
            sees_project: asked.sees == Sees::Project || plain.sees_project,
            timeout: asked.timeout_seconds.map(|seconds| Duration::from_secs(seconds.into())),
            concurrency: asked.concurrency.map_or_else(|| self.at_once(usual), |count| count as usize),
            ..plain
        }
    }

    /// A service with its key. The vendor's address gets the vendor's key; any other only a key that is named for it.
    fn service(&self, service: &ServiceReviewer) -> Judge {
        let own_url = service.api.own_url();
        let own_key = own_key(service.api);
        let base_url = service.base_url.clone().unwrap_or_else(|| own_url.to_owned());
        let own = (base_url == own_url).then(|| KeySource::Variable(own_key.to_owned()));
        let key = service.key.clone().or(own).map(|source| key(&source)).transpose();
        let model = service.asked.model.clone().unwrap_or_default();
        Judge::Service(Service { api: service.api, base_url, model, key, reply_tokens: service.reply_tokens })
    }

    fn replay(&self, name: &str, file: &Path) -> Result<Panelist, Failure> {
        let path = self.root.path().join(file);
        let shown = path.display();
        let failure =
            |words: String| Failure::usage(format!("the recorded rulings `{shown}` cannot be used: {words}"));
        let size = std::fs::metadata(&path).map_err(|error| failure(error.to_string()))?.len();
        if size > REPLAY_LIMIT_BYTES {
            return Err(failure(format!("more than {REPLAY_LIMIT_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| failure(error.to_string()))?;
        let recording = Arc::new(replay::parse(&text).map_err(failure)?);
        let judge = Judge::Replay { recording, digest: Digest::of(text.as_bytes()) };
        Ok(self.panelist(name, judge))
    }

    fn at_once(&self, usual: usize) -> usize {
        if self.all_at_once { usize::MAX } else { usual }
    }

    pub fn panelist(&self, name: &str, judge: Judge) -> Panelist {
        let usual = self.config.limits.reviewers_at_once;
        let mut settings = self.config.settings().iter();
        let is_said = settings
            .any(|setting| setting.name == "limits.reviewers_at_once" && setting.origin != Origin::Default);
        let may_see_project = match &judge {
            Judge::Command(_) => true,
            Judge::Agent(agent) => agent.program.may_see_project,
            _ => false,
        };
        Panelist {
            name: name.to_owned(),
            judge,
            sees_project: self.shows_project && may_see_project,
            timeout: None,
            concurrency: if is_said { usual } else { self.at_once(usual) },
            window_tokens: None,
            price: None,
            question_microusd: None,
            vendor: None,
        }
    }
}

/// The variable of a vendor's own key.
fn own_key(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "ANTHROPIC_API_KEY",
        Api::OpenAi => "OPENAI_API_KEY",
    }
}

fn key(source: &KeySource) -> Result<Key, String> {
    let key = match source {
        KeySource::Variable(variable) => std::env::var(variable)
            .map_err(|_| format!("its key is in the variable {variable}, which is not set"))?,
        KeySource::File(file) => {
            let home = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
            let file = file.strip_prefix("~").map_or_else(|_| file.clone(), |rest| home().join(rest));
            let read = read_key(&file);
            read.map_err(|words| format!("its key cannot be read from `{}`: {words}", file.display()))?
        }
    };
    match key.trim() {
        "" => Err("its key is empty".to_owned()),
        key if key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Key::new(key)),
        _ => Err("its key has several lines or invalid characters".to_owned()),
    }
}

/// The text of a key's file. A pipe could block for ever, and half a key is none.
fn read_key(file: &Path) -> Result<String, String> {
    let found = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let read = opened.take(KEY_LIMIT_BYTES + 1).read_to_string(&mut text);
    match read.map_err(|error| error.to_string())? as u64 {
        0..=KEY_LIMIT_BYTES => Ok(text),
        _ => Err(format!("it has more than {KEY_LIMIT_BYTES} bytes, too many for a key")),
    }
}

/// The panel with reviewers of the author's own vendor last: a model is a poor judge of its own work. A self-review
/// keeps its place, since it is chosen by standing first.
fn other_vendors_first(panel: Vec<Panelist>, author: Option<Vendor>) -> Vec<Panelist> {
    let is_self = |panelist: &Panelist| matches!(panelist.judge, Judge::SelfReview);
    let stays: Vec<bool> = panel.iter().map(is_self).collect();
    let (selves, mut moving): (Vec<_>, Vec<_>) = panel.into_iter().partition(is_self);
    moving.sort_by_key(|panelist| author.is_some() && panelist.vendor == author);
    let (mut selves, mut moving) = (selves.into_iter(), moving.into_iter());
    stays.iter().filter_map(|stays| if *stays { selves.next() } else { moving.next() }).collect()
}

fn vendor(judge: &Judge) -> Option<Vendor> {
    match judge {
        Judge::Agent(agent) if agent.base_url.is_none() => agent.vendor(),
        // At another address the API may serve any model.
        Judge::Service(service) if service.base_url == service.api.own_url() => Some(match service.api {
            Api::Anthropic => Vendor::Anthropic,
            Api::OpenAi => Vendor::OpenAi,
        }),
        _ => None,
    }
}

/// An agent program, with its part of our environment.
fn agent(configured: &ProgramReviewer) -> Judge {
    let ProgramReviewer { program, base_url, key_env, asked } = configured;
    let agent = Agent::new(program, key_env.as_deref(), std::env::vars_os().collect());
    Judge::Agent(Agent { model: asked.model.clone(), base_url: base_url.clone(), ..agent })
}
