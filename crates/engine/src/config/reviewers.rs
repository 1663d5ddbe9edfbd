//! Reviewers: what they mean, and which keys belong to which kind.

use super::address::{address, variable};
use super::written::{WrittenPrice, WrittenReviewer};
use super::written_use::WrittenUse;
use crate::programs::{Api, Facts, PROGRAMS};
use crate::yaml::{At, Named, Place, Sink, quoted};
use countersign_core::cost::{MICRO, Price};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use std::path::PathBuf;

/// How many questions a program gets at once unless it says otherwise.
pub const PROGRAM_CONCURRENCY: usize = 4;
/// How many questions a service gets at once unless it says otherwise.
pub const SERVICE_CONCURRENCY: usize = 8;
/// How many tokens the reply of a service may have unless it says otherwise.
pub(super) const DEFAULT_REPLY_TOKENS: u32 = 8192;
/// What a question to a program that reports its own cost may cost under a budget in dollars.
const DEFAULT_QUESTION_MICROUSD: u64 = MICRO;

/// The name that stands for "the first reviewer that can answer".
pub const AUTO: &str = "auto";

/// Whether a name from outside stands for a reviewer that needs no configuration.
pub fn is_short_form(name: &str) -> bool {
    name.starts_with("command:")
        || name.starts_with("text:")
        || name.starts_with("replay:")
        || matches!(name, "self" | "checks")
        || PROGRAMS.reviewer(name).is_some()
}

/// A reviewer that may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewerConfig {
    /// How rules, flags and reports call it.
    pub name: String,
    /// What it is.
    pub kind: ReviewerKind,
    /// Where it was written.
    pub place: Place,
}

/// The kinds of reviewers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewerKind {
    /// A program of the user's.
    Command(CommandReviewer),
    /// An agent program.
    Program(ProgramReviewer),
    /// A service that is asked over HTTP.
    Service(ServiceReviewer),
    /// Recorded rulings.
    Replay {
        /// The file they are in.
        file: PathBuf,
    },
    /// The author, asked to look again.
    SelfReview,
    /// Only the deterministic checks of the criteria.
    Checks,
}

impl ReviewerKind {
    /// How it is asked, where it is.
    pub fn asked(&self) -> Option<&Asked> {
        match self {
            Self::Command(command) => Some(&command.asked),
            Self::Program(program) => Some(&program.asked),
            Self::Service(service) => Some(&service.asked),
            Self::Replay { .. } | Self::SelfReview | Self::Checks => None,
        }
    }
}

/// A program that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandReviewer {
    /// The program and its arguments; at least the program.
    pub argv: Vec<String>,
    /// How it is asked. Its model is passed on with the question.
    pub asked: Asked,
}

/// An agent program that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramReviewer {
    /// Which one.
    pub program: &'static Facts,
    /// Where its service is, where not at the program's own choice.
    pub base_url: Option<String>,
    /// The variable that holds the key of that service.
    pub key_env: Option<String>,
    /// How it is asked.
    pub asked: Asked,
}

impl ProgramReviewer {
    /// A program as it is.
    pub fn plain(program: &'static Facts) -> Self {
        Self { program, base_url: None, key_env: None, asked: Asked::default() }
    }
}

/// A service that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceReviewer {
    /// What it speaks.
    pub api: Api,
    /// Where it is, without a slash at the end; the vendor's own service where nobody says so.
    pub base_url: Option<String>,
    /// Where its key is, where somebody says so.
    pub key: Option<KeySource>,
    /// The most tokens of a reply.
    pub reply_tokens: u32,
    /// How it is asked; it has a model.
    pub asked: Asked,
}

/// Where a key is. Keys themselves are never part of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// In a variable of the environment.
    Variable(String),
    /// In a file.
    File(PathBuf),
}

/// How a reviewer is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The model, where not the reviewer's own choice.
    pub model: Option<String>,
    /// What it may look at.
    pub sees: Sees,
    /// How long a question may take; without it, that depends on the number of files.
    pub timeout_seconds: Option<u32>,
    /// How many questions may be under way at once, where it says so.
    pub concurrency: Option<u32>,
    /// How many tokens fit into a question and its reply.
    pub window_tokens: Option<u32>,
    /// What its tokens cost.
    pub price: Option<Price>,
    /// The most that a question may cost, for a program that can be told so.
    pub question_microusd: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            model: None,
            sees: Sees::Given,
            timeout_seconds: None,
            concurrency: None,
            window_tokens: None,
            price: None,
            question_microusd: DEFAULT_QUESTION_MICROUSD,
        }
    }
}

/// What a reviewer may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sees {
    /// The files of the question, in a folder of their own.
    Given,
    /// The whole project.
    Project,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Project,
    User,
}

/// The reviewers of a list; `None` if one of them could not be understood.
pub(super) fn reviewers(
    sink: &mut Sink,
    owner: Owner,
    written: &[At<WrittenReviewer>],
) -> Option<Vec<ReviewerConfig>> {
    let mut names = Vec::new();
    let mut good = Vec::new();
    for at in written {
        let Some(value) = &at.value else { continue };
        let name = sink.name(value.name.as_ref(), ("this reviewer", &at.span));
        if let Some(named) = name.as_ref().filter(|named| named.name == AUTO) {
            sink.report(
                "bad-name",
                &named.span,
                "`auto` means the first reviewer that can answer, so none can be called that",
            );
        }
        names.extend(name.clone());
        let kind = kind(sink, owner, value, &at.span);
        good.extend(name.zip(kind).map(|(Named { name, span }, kind)| ReviewerConfig {
            name,
            kind,
            place: sink.place(&span),
        }));
    }
    sink.unique("the reviewer", str::to_owned, names.iter());
    (good.len() == written.len()).then_some(good)
}

fn kind(
    sink: &mut Sink,
    owner: Owner,
    written: &WrittenReviewer,
    span: &Range<usize>,
) -> Option<ReviewerKind> {
    let (kind, _) = sink.required(written.r#use.as_ref(), "use", ("this reviewer", span))?;
    refuse_foreign_keys(sink, *kind, written);
    match kind {
        WrittenUse::Command => command(sink, owner, written, span).map(ReviewerKind::Command),
        WrittenUse::Program(facts) => program(sink, facts, written),
        WrittenUse::Service(api) => service(sink, *api, written, span),
        WrittenUse::Replay => replay(sink, written, span),
        WrittenUse::SelfReview => Some(ReviewerKind::SelfReview),
        WrittenUse::Checks => Some(ReviewerKind::Checks),
    }
}

/// Reports keys that mean nothing for this kind of reviewer.
fn refuse_foreign_keys(sink: &mut Sink, kind: WrittenUse, written: &WrittenReviewer) {
    fn span<T>(given: Option<&At<T>>) -> Option<Range<usize>> {
        given.map(|at| at.span.clone())
    }
    let WrittenReviewer {
        name: _, r#use: _, command, file, sees, timeout_seconds, concurrency, model, ..
    } = written;
    let WrittenReviewer {
        base_url, key_env, key_file, reply_tokens, window_tokens, price, question_usd, ..
    } = written;
    type Of = fn(WrittenUse) -> bool;
    let program: Of = WrittenUse::is_program;
    let service: Of = WrittenUse::is_service;
    let asked: Of = |kind| kind.is_program() || kind.is_service();
    let placed: Of = WrittenUse::chooses_service;
    let keys: [(&str, Of, Option<Range<usize>>); 13] = [
        ("command", |kind| kind == WrittenUse::Command, span(command.as_ref())),
        ("file", |kind| kind == WrittenUse::Replay, span(file.as_ref())),
        ("sees", program, span(sees.as_ref())),
        ("timeout_seconds", asked, span(timeout_seconds.as_ref())),
        ("concurrency", asked, span(concurrency.as_ref())),
        ("model", asked, span(model.as_ref())),
        ("base_url", placed, span(base_url.as_ref())),
        ("key_env", placed, span(key_env.as_ref())),
        ("key_file", service, span(key_file.as_ref())),
        ("reply_tokens", service, span(reply_tokens.as_ref())),
        ("window_tokens", asked, span(window_tokens.as_ref())),
        ("price", asked, span(price.as_ref())),
        ("question_usd", WrittenUse::caps_cost, span(question_usd.as_ref())),
    ];
    for (key, belongs_to, span) in keys {
        if let Some(span) = span.filter(|_| !belongs_to(kind)) {
            let message = format!("`{key}` means nothing for `use: {}`", kind.word());
            let uses = WrittenUse::all(PROGRAMS).filter(|kind| belongs_to(*kind));
            let uses: Vec<_> = uses.map(|kind| format!("`{}`", kind.word())).collect();
            let hint = format!("it belongs to `use:` {}", uses.join(", "));
            sink.report_with_hint("misplaced-key", &span, message, hint);
        }
    }
}

fn command(
    sink: &mut Sink,
    owner: Owner,
    written: &WrittenReviewer,
    span: &Range<usize>,
) -> Option<CommandReviewer> {
    let asked = asked(sink, written);
    let owner_of_key = ("a reviewer with `use: command`", span);
    let (list, list_span) = sink.required(written.command.as_ref(), "command", owner_of_key)?;
    let argv: Vec<String> = list.iter().map(|at| at.value.clone()).collect::<Option<_>>()?;
    if let Some(problem) = argv_problem(owner, &argv) {
        sink.report("bad-command", list_span, problem);
        return None;
    }
    Some(CommandReviewer { argv, asked: asked? })
}

fn program(sink: &mut Sink, program: &'static Facts, written: &WrittenReviewer) -> Option<ReviewerKind> {
    let asked = asked(sink, written);
    let sees = written.sees.as_ref().filter(|at| matches!(at.value, Some(Sees::Project)));
    if let Some(at) = sees.filter(|_| !program.may_see_project) {
        let name = program.name;
        let message = format!("`{name}` cannot be kept from instructions that lie about in a project");
        sink.report_with_hint("bad-sees", &at.span, message, "leave `sees` away, or ask another reviewer");
        return None;
    }
    let (base_url, key_env) = (base_url(sink, written), key_env(sink, written));
    Some(ReviewerKind::Program(ProgramReviewer {
        program,
        base_url: base_url?,
        key_env: key_env?,
        asked: asked?,
    }))
}

fn service(
    sink: &mut Sink,
    api: Api,
    written: &WrittenReviewer,
    span: &Range<usize>,
) -> Option<ReviewerKind> {
    let word = written.r#use.as_ref()?.value?.word();
    let owner = format!("a reviewer with `use: {word}`");
    let named = sink.required(written.model.as_ref(), "model", (&owner, span)).is_some();
    let asked = asked(sink, written);
    let (base_url, key) = (base_url(sink, written), key(sink, written));
    let reply_tokens = read(written.reply_tokens.as_ref())?.map_or(DEFAULT_REPLY_TOKENS, |count| count.get());
    named.then_some(())?;
    Some(ReviewerKind::Service(ServiceReviewer {
        api,
        base_url: base_url?,
        key: key?,
        reply_tokens,
        asked: asked?,
    }))
}

fn asked(sink: &mut Sink, written: &WrittenReviewer) -> Option<Asked> {
    let default = Asked::default();
    let model = text(sink, written.model.as_ref(), "model");
    let price = price(sink, written.price.as_ref());
    Some(Asked {
        sees: read(written.sees.as_ref())?.unwrap_or(default.sees),
        timeout_seconds: read(written.timeout_seconds.as_ref())?.map(|count| count.get()),
        concurrency: read(written.concurrency.as_ref())?.map(|count| count.get()),
        window_tokens: read(written.window_tokens.as_ref())?.map(|count| count.get()),
        question_microusd: read(written.question_usd.as_ref())?
            .map_or(default.question_microusd, |usd| usd.micro()),
        model: model?,
        price: price?,
    })
}

fn price(sink: &mut Sink, written: Option<&At<WrittenPrice>>) -> Option<Option<Price>> {
    let Some(at) = written else { return Some(None) };
    let price = at.value.as_ref()?;
    let owner = ("this price", &at.span);
    let input = sink.required(price.input_usd_per_million.as_ref(), "input_usd_per_million", owner);
    let input = input.map(|(usd, _)| usd.micro());
    let output = sink.required(price.output_usd_per_million.as_ref(), "output_usd_per_million", owner);
    let output = output.map(|(usd, _)| usd.micro());
    Some(Some(Price { input_microusd: input?, output_microusd: output? }))
}

/// The address of a service, without a slash at its end, a query or a fragment.
fn base_url(sink: &mut Sink, written: &WrittenReviewer) -> Option<Option<String>> {
    let Some(given) = text(sink, written.base_url.as_ref(), "base_url")? else { return Some(None) };
    let span = written.base_url.as_ref().map(|at| at.span.clone()).unwrap_or_default();
    let example = "for example `http://127.0.0.1:8080/v1`";
    let url = address(sink, ("base_url", &span), &given, (example, "key_env"))?;
    if url.query().is_some() || url.fragment().is_some() {
        let message = "`base_url` ends before any `?` or `#`";
        sink.report_with_hint("bad-address", &span, message, "leave away what follows");
        return None;
    }
    // As whoever connects reads it: one place has one address, and what is added goes behind the path.
    Some(Some(url.as_str().trim_end_matches('/').to_owned()))
}

fn key_env(sink: &mut Sink, written: &WrittenReviewer) -> Option<Option<String>> {
    let Some(name) = text(sink, written.key_env.as_ref(), "key_env")? else { return Some(None) };
    let span = written.key_env.as_ref().map(|at| at.span.clone()).unwrap_or_default();
    variable(sink, ("key_env", &span), name).map(Some)
}

fn key(sink: &mut Sink, written: &WrittenReviewer) -> Option<Option<KeySource>> {
    let variable = key_env(sink, written);
    let file = text(sink, written.key_file.as_ref(), "key_file");
    match (variable?, file?) {
        (Some(_), Some(_)) => {
            let span = written.key_file.as_ref().map(|at| at.span.clone()).unwrap_or_default();
            sink.report("two-keys", &span, "there is a `key_env` and a `key_file`, and one key is enough");
            None
        }
        (Some(name), None) => Some(Some(KeySource::Variable(name))),
        (None, Some(file)) => {
            let folder = sink.folder().to_owned();
            let file = if file.starts_with("~/") { PathBuf::from(file) } else { folder.join(file) };
            Some(Some(KeySource::File(file)))
        }
        (None, None) => Some(None),
    }
}

pub(super) fn argv_problem(owner: Owner, argv: &[String]) -> Option<String> {
    let Some(program) = argv.first().filter(|program| !program.trim().is_empty()) else {
        return Some("`command` names no program".into());
    };
    if argv.iter().any(|arg| arg.contains('\0')) {
        return Some("a command cannot hold a zero byte".into());
    }
    // Taken from the project, such a program would be chosen by whoever wrote what is judged.
    let from_project = program.contains('/') && !program.starts_with('/');
    (owner == Owner::User && from_project).then(|| {
        format!("{} would be taken from the judged project; give a full path or a name", quoted(program))
    })
}

fn replay(sink: &mut Sink, written: &WrittenReviewer, span: &Range<usize>) -> Option<ReviewerKind> {
    sink.required(written.file.as_ref(), "file", ("a reviewer with `use: replay`", span))?;
    let file = text(sink, written.file.as_ref(), "file")??;
    let folder = sink.folder().to_owned();
    Some(ReviewerKind::Replay { file: folder.join(file) })
}

/// An optional text that, if given, says something.
fn text(sink: &mut Sink, field: Option<&At<String>>, key: &str) -> Option<Option<String>> {
    let Some(at) = field else { return Some(None) };
    let text = at.value.as_ref()?;
    if text.trim().is_empty() || text.contains('\0') {
        sink.report("wrong-value", &at.span, format!("`{key}` cannot be {}", quoted(text)));
        return None;
    }
    Some(Some(text.clone()))
}

/// An optional value: outside `None` if it is given and could not be read.
fn read<T: Copy>(field: Option<&At<T>>) -> Option<Option<T>> {
    match field {
        None => Some(None),
        Some(at) => at.value.map(Some),
    }
}
