//! Reviewers: what they mean, which keys belong to which kind, and the addresses of services.

use super::settings::Dollars;
use super::written::WrittenReviewer;
use super::written_use::WrittenUse;
use crate::programs::{Api, Facts, PROGRAMS};
use crate::yaml::{At, Named, Place, ProblemList, quoted};
use countersign_core::cost::{MICRO, Price};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;
use url::Url;

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
        || short_service(name).is_some()
        || matches!(name, "self" | "checks")
        || PROGRAMS.reviewer(name).is_some()
}

/// The service that a name stands for: `anthropic:MODEL`, `openai:MODEL`, or `openai:MODEL@URL` for another address; or why
/// that cannot be one. None for other names.
pub fn short_service(name: &str) -> Option<Result<ServiceReviewer, String>> {
    let services = [("anthropic:", Api::Anthropic), ("openai:", Api::OpenAi)];
    let (api, rest) = services.iter().find_map(|(prefix, api)| Some((*api, name.strip_prefix(prefix)?)))?;
    // Names of models may have an `@` themselves.
    let at = ["@http://", "@https://"].iter().find_map(|begin| rest.find(begin));
    let (model, url) = at.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])));
    if model.trim().is_empty() || model.contains(char::is_control) {
        return Some(Err(format!("`{name}` names no model: for example `openai:gpt-5-mini`")));
    }
    let base_url = match url.map(plain_address).transpose() {
        Ok(url) => url,
        Err(words) => return Some(Err(words)),
    };
    let asked = AskSettings { model: Some(model.to_owned()), ..AskSettings::default() };
    Some(Ok(ServiceReviewer { api, base_url, key: None, reply_tokens: DEFAULT_REPLY_TOKENS, asked }))
}

/// An address without a slash at its end, and without anything that would be a secret.
fn plain_address(given: &str) -> Result<String, String> {
    let url = Url::parse(given).map_err(|error| format!("`{given}` is not an address: {error}"))?;
    let is_plain = url.query().is_none() && url.fragment().is_none();
    if !is_plain || !url.username().is_empty() || url.password().is_some() || url.host().is_none() {
        return Err(format!("`{given}` has more than a host and a path; a key is configured as `key_env`"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewerConfig {
    /// How rules, flags and reports call it.
    pub name: String,
    pub kind: ReviewerKind,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewerKind {
    Command(CommandReviewer),
    Program(ProgramReviewer),
    Service(ServiceReviewer),
    Replay {
        file: PathBuf,
    },
    /// The author, asked to look again.
    SelfReview,
    /// Only the deterministic checks of the criteria.
    Checks,
}

impl ReviewerKind {
    pub fn asked(&self) -> Option<&AskSettings> {
        match self {
            Self::Command(command) => Some(&command.asked),
            Self::Program(program) => Some(&program.asked),
            Self::Service(service) => Some(&service.asked),
            Self::Replay { .. } | Self::SelfReview | Self::Checks => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandReviewer {
    /// The program and its arguments; at least the program.
    pub argv: Vec<String>,
    /// How it is asked. Its model is passed on with the question.
    pub asked: AskSettings,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramReviewer {
    pub program: &'static Facts,
    /// Where its service is, where not at the program's own choice.
    pub base_url: Option<String>,
    /// The variable that holds the key of that service.
    pub key_env: Option<String>,
    pub asked: AskSettings,
}

impl ProgramReviewer {
    pub fn plain(program: &'static Facts) -> Self {
        Self { program, base_url: None, key_env: None, asked: AskSettings::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceReviewer {
    pub api: Api,
    /// Where it is, without a slash at the end; by default the vendor's own service.
    pub base_url: Option<String>,
    /// Where its key is, if that is configured.
    pub key: Option<KeySource>,
    pub reply_tokens: u32,
    pub asked: AskSettings,
}

/// Where a key is. Keys themselves are never part of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    Variable(String),
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskSettings {
    /// The model, where not the reviewer's own choice.
    pub model: Option<String>,
    pub sees: Sees,
    /// How long a question may take; without it, that depends on the number of files.
    pub timeout_seconds: Option<u32>,
    /// How many questions may be under way at once, where it says so.
    pub concurrency: Option<u32>,
    /// How many tokens fit into a question and its reply.
    pub window_tokens: Option<u32>,
    pub price: Option<Price>,
    /// The most that a question may cost, for a program that can be told so.
    pub question_microusd: u64,
}

impl Default for AskSettings {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    sink: &mut ProblemList,
    owner: Owner,
    written: &[At<WrittenReviewer>],
) -> Option<Vec<ReviewerConfig>> {
    let mut names = Vec::new();
    let mut good = Vec::new();
    for at in written {
        let Some(value) = &at.value else { continue };
        let name = sink.name(value.name.as_ref(), ("this reviewer", &at.span));
        if let Some(named) = name.as_ref().filter(|named| named.name == AUTO) {
            let message =
                "`auto` means the first reviewer that can answer, so no reviewer can have this name";
            sink.report("bad-name", &named.span, message);
        }
        names.extend(name.clone());
        let kind = Reader { sink, owner, written: value, span: &at.span }.kind();
        good.extend(name.zip(kind).map(|(Named { name, span }, kind)| ReviewerConfig {
            name,
            kind,
            place: sink.place(&span),
        }));
    }
    sink.unique("the reviewer", str::to_owned, names.iter());
    (good.len() == written.len()).then_some(good)
}

/// One entry of the list while it is read. In the results an outer `None` stands for what could not be read, which is
/// reported already; an inner one for what is not given.
struct Reader<'a> {
    sink: &'a mut ProblemList,
    owner: Owner,
    written: &'a WrittenReviewer,
    span: &'a Range<usize>,
}

impl<'a> Reader<'a> {
    fn kind(&mut self) -> Option<ReviewerKind> {
        let owner = ("this reviewer", self.span);
        let (kind, _) = self.sink.required(self.written.r#use.as_ref(), "use", owner)?;
        self.refuse_foreign_keys(*kind);
        match *kind {
            WrittenUse::Command => self.command(),
            WrittenUse::Program(facts) => self.program(facts),
            WrittenUse::Service(api) => self.service(api),
            WrittenUse::Replay => {
                self.required(WrittenUse::Replay, self.written.file.as_ref(), "file")?;
                let (file, _) = self.text(self.written.file.as_ref(), "file")??;
                Some(ReviewerKind::Replay { file: self.sink.folder().join(file) })
            }
            WrittenUse::SelfReview => Some(ReviewerKind::SelfReview),
            WrittenUse::Checks => Some(ReviewerKind::Checks),
        }
    }

    /// Reports keys that mean nothing for this kind of reviewer.
    fn refuse_foreign_keys(&mut self, kind: WrittenUse) {
        fn span<T>(given: &Option<At<T>>) -> Option<&Range<usize>> {
            given.as_ref().map(|at| &at.span)
        }
        type Of = fn(WrittenUse) -> bool;
        let (program, service): (Of, Of) = (WrittenUse::is_program, WrittenUse::is_service);
        let asked: Of = |kind| kind.is_program() || kind.is_service();
        let written = self.written;
        let keys: [(&str, Of, Option<&Range<usize>>); 13] = [
            ("command", |kind| kind == WrittenUse::Command, span(&written.command)),
            ("file", |kind| kind == WrittenUse::Replay, span(&written.file)),
            ("sees", program, span(&written.sees)),
            ("timeout_seconds", asked, span(&written.timeout_seconds)),
            ("concurrency", asked, span(&written.concurrency)),
            ("model", asked, span(&written.model)),
            ("base_url", WrittenUse::chooses_service, span(&written.base_url)),
            ("key_env", WrittenUse::chooses_service, span(&written.key_env)),
            ("key_file", service, span(&written.key_file)),
            ("reply_tokens", service, span(&written.reply_tokens)),
            ("window_tokens", asked, span(&written.window_tokens)),
            ("price", asked, span(&written.price)),
            ("question_usd", WrittenUse::caps_cost, span(&written.question_usd)),
        ];
        for (key, belongs_to, span) in keys {
            if let Some(span) = span.filter(|_| !belongs_to(kind)) {
                let message = format!("`{key}` has no meaning for `use: {}`", kind.word());
                let uses = WrittenUse::all(PROGRAMS).filter(|kind| belongs_to(*kind));
                let uses: Vec<_> = uses.map(|kind| format!("`{}`", kind.word())).collect();
                let hint = format!("it belongs to `use:` {}", uses.join(", "));
                self.sink.report_with_hint("misplaced-key", span, message, hint);
            }
        }
    }

    fn command(&mut self) -> Option<ReviewerKind> {
        let asked = self.asked();
        let (list, span) = self.required(WrittenUse::Command, self.written.command.as_ref(), "command")?;
        let argv = argv(self.sink, self.owner, list, span)?;
        Some(ReviewerKind::Command(CommandReviewer { argv, asked: asked? }))
    }

    fn program(&mut self, program: &'static Facts) -> Option<ReviewerKind> {
        let asked = self.asked();
        let sees = self.written.sees.as_ref().filter(|at| matches!(at.value, Some(Sees::Project)));
        if let Some(at) = sees.filter(|_| !program.may_see_project) {
            let name = program.name;
            let message = format!(
                "`{name}` cannot be used with `sees: project`: it would obey the instruction files of the project that it reviews"
            );
            let hint = "remove `sees`, or use another reviewer";
            self.sink.report_with_hint("bad-sees", &at.span, message, hint);
            return None;
        }
        let (base_url, key_env) = (self.base_url(), self.key_env());
        let (base_url, key_env, asked) = (base_url?, key_env?, asked?);
        Some(ReviewerKind::Program(ProgramReviewer { program, base_url, key_env, asked }))
    }

    fn service(&mut self, api: Api) -> Option<ReviewerKind> {
        let written = self.written;
        let model = self.required(WrittenUse::Service(api), written.model.as_ref(), "model");
        let asked = self.asked();
        let (base_url, key) = (self.base_url(), self.key());
        let reply_tokens = read(written.reply_tokens.as_ref())?;
        let reply_tokens = reply_tokens.map_or(DEFAULT_REPLY_TOKENS, |count| count.get());
        model?;
        let (base_url, key, asked) = (base_url?, key?, asked?);
        Some(ReviewerKind::Service(ServiceReviewer { api, base_url, key, reply_tokens, asked }))
    }

    fn asked(&mut self) -> Option<AskSettings> {
        let (default, written) = (AskSettings::default(), self.written);
        let model = self.text(written.model.as_ref(), "model");
        let price = self.price();
        Some(AskSettings {
            sees: read(written.sees.as_ref())?.unwrap_or(default.sees),
            timeout_seconds: read(written.timeout_seconds.as_ref())?.map(|count| count.get()),
            concurrency: read(written.concurrency.as_ref())?.map(|count| count.get()),
            window_tokens: read(written.window_tokens.as_ref())?.map(|count| count.get()),
            question_microusd: read(written.question_usd.as_ref())?
                .map_or(default.question_microusd, |usd| usd.micro()),
            model: model?.map(|(model, _)| model.to_owned()),
            price: price?,
        })
    }

    fn price(&mut self) -> Option<Option<Price>> {
        let Some(at) = &self.written.price else { return Some(None) };
        let price = at.value.as_ref()?;
        let mut micro = |field: &Option<At<Dollars>>, key| {
            let given = self.sink.required(field.as_ref(), key, ("this price", &at.span));
            given.map(|(usd, _)| usd.micro())
        };
        let input = micro(&price.input_usd_per_million, "input_usd_per_million");
        let output = micro(&price.output_usd_per_million, "output_usd_per_million");
        Some(Some(Price { input_microusd: input?, output_microusd: output? }))
    }

    /// The address of a service, without a slash at its end, a query or a fragment.
    fn base_url(&mut self) -> Option<Option<String>> {
        let Some((given, span)) = self.text(self.written.base_url.as_ref(), "base_url")? else {
            return Some(None);
        };
        let example = "for example `http://127.0.0.1:8080/v1`";
        let url = address(self.sink, ("base_url", span), given, (example, "key_env"))?;
        if url.query().is_some() || url.fragment().is_some() {
            let message = "`base_url` cannot contain `?` or `#`";
            let hint = "remove that sign and everything after it";
            self.sink.report_with_hint("bad-address", span, message, hint);
            return None;
        }
        // In the normal form of the URL library: one place has one address, and what is added goes behind the path.
        Some(Some(url.as_str().trim_end_matches('/').to_owned()))
    }

    fn key_env(&mut self) -> Option<Option<String>> {
        let Some((name, span)) = self.text(self.written.key_env.as_ref(), "key_env")? else {
            return Some(None);
        };
        variable(self.sink, ("key_env", span), name.to_owned()).map(Some)
    }

    fn key(&mut self) -> Option<Option<KeySource>> {
        let variable = self.key_env();
        let file = self.text(self.written.key_file.as_ref(), "key_file");
        match (variable?, file?) {
            (Some(_), Some((_, span))) => {
                let message = "`key_env` and `key_file` are both set; use one of them";
                self.sink.report("two-keys", span, message);
                None
            }
            (Some(name), None) => Some(Some(KeySource::Variable(name))),
            (None, Some((file, _))) if file.starts_with("~/") => Some(Some(KeySource::File(file.into()))),
            (None, Some((file, _))) => Some(Some(KeySource::File(self.sink.folder().join(file)))),
            (None, None) => Some(None),
        }
    }

    fn required<T>(
        &mut self,
        kind: WrittenUse,
        field: Option<&'a At<T>>,
        key: &str,
    ) -> Option<(&'a T, &'a Range<usize>)> {
        let owner = format!("a reviewer with `use: {}`", kind.word());
        self.sink.required(field, key, (&owner, self.span))
    }

    /// An optional text that, if given, says something.
    fn text(
        &mut self,
        field: Option<&'a At<String>>,
        key: &str,
    ) -> Option<Option<(&'a str, &'a Range<usize>)>> {
        let Some(at) = field else { return Some(None) };
        let text = at.value.as_ref()?;
        if text.trim().is_empty() || text.contains('\0') {
            self.sink.report("wrong-value", &at.span, format!("`{key}` cannot be {}", quoted(text)));
            return None;
        }
        Some(Some((text, &at.span)))
    }
}

/// The words of a command, if they can be run.
pub(super) fn argv(
    sink: &mut ProblemList,
    owner: Owner,
    list: &[At<String>],
    span: &Range<usize>,
) -> Option<Vec<String>> {
    let argv: Vec<String> = list.iter().map(|at| at.value.clone()).collect::<Option<_>>()?;
    let program = argv.first().filter(|program| !program.trim().is_empty());
    // A program of the project would be chosen by the author of the judged work.
    let from_project = |program: &&String| program.contains('/') && !program.starts_with('/');
    let problem = match program {
        None => "`command` names no program".into(),
        Some(_) if argv.iter().any(|arg| arg.contains('\0')) => "a command cannot hold a zero byte".into(),
        Some(program) if owner == Owner::User && from_project(&program) => {
            format!(
                "{} is a relative path, so the program would come from the project that is reviewed; write a full path, or only a program name",
                quoted(program)
            )
        }
        Some(_) => return Some(argv),
    };
    sink.report("bad-command", span, problem);
    None
}

/// An optional value: outside `None` if it is given and could not be read.
fn read<T: Copy>(field: Option<&At<T>>) -> Option<Option<T>> {
    field.map_or(Some(None), |at| at.value.map(Some))
}

/// Reads the address of a key. A sign-in does not belong into it: the variable that `key_env` names holds it.
pub(super) fn address(
    sink: &mut ProblemList,
    (key, span): (&str, &Range<usize>),
    given: &str,
    (example, key_env): (&str, &str),
) -> Option<Url> {
    let Ok(url) = Url::parse(given) else {
        sink.report_with_hint("bad-address", span, format!("`{key}` is not an address"), example);
        return None;
    };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        let message = format!("`{key}` begins with `http://` or `https://`");
        sink.report_with_hint("bad-address", span, message, example);
        return None;
    }
    if !url.username().is_empty() || url.password().is_some() {
        let hint = format!("name the variable that holds the key in `{key_env}`");
        let message = format!("`{key}` contains a user name or password");
        sink.report_with_hint("sign-in-in-address", span, message, hint);
        return None;
    }
    Some(url)
}

/// The name of a variable that holds a key.
pub(super) fn variable(
    sink: &mut ProblemList,
    (key, span): (&str, &Range<usize>),
    name: String,
) -> Option<String> {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit()) {
        return Some(name);
    }
    // What is there may be the key itself, so it is not repeated.
    let message = format!("`{key}` is the name of a variable, with letters, digits and `_`");
    let hint = "write the key into a variable or a file, never here";
    sink.report_with_hint("bad-variable", span, message, hint);
    None
}
