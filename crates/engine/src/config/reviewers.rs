//! Reviewers: what they mean, and which keys belong to which kind.

use super::at::At;
use super::diagnostic::quoted;
use super::sink::{Named, Sink};
use super::source::Place;
use super::written::{WrittenReviewer, WrittenSees, WrittenUse};
use std::ops::Range;
use std::path::PathBuf;

/// How many questions a program gets at once unless it says otherwise.
pub(super) const DEFAULT_CONCURRENCY: u32 = 4;

/// The name that stands for "the first reviewer that can answer".
pub const AUTO: &str = "auto";

/// Whether a name from outside stands for a reviewer that needs no configuration.
pub fn is_short_form(name: &str) -> bool {
    name.starts_with("command:")
        || name.starts_with("replay:")
        || matches!(name, "claude" | "self" | "checks")
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
    /// The `claude` program.
    Claude(AgentReviewer),
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

/// A program that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandReviewer {
    /// The program and its arguments; at least the program.
    pub argv: Vec<String>,
    /// How it is asked. Its model is passed on with the question.
    pub asked: AgentReviewer,
}

/// How a program is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentReviewer {
    /// The model, where not the program's own choice.
    pub model: Option<String>,
    /// What it may look at.
    pub sees: Sees,
    /// How long a question may take; without it, that depends on the number of files.
    pub timeout_seconds: Option<u32>,
    /// How many questions may be under way at once.
    pub concurrency: u32,
}

impl Default for AgentReviewer {
    fn default() -> Self {
        Self { model: None, sees: Sees::Given, timeout_seconds: None, concurrency: DEFAULT_CONCURRENCY }
    }
}

/// What a reviewer may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// The files of the question, in a folder of their own.
    Given,
    /// The whole project.
    Project,
}

/// Whose file the reviewers are in.
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
        WrittenUse::Claude => agent(sink, written).map(ReviewerKind::Claude),
        WrittenUse::Replay => replay(sink, written, span),
        WrittenUse::SelfReview => Some(ReviewerKind::SelfReview),
        WrittenUse::Checks => Some(ReviewerKind::Checks),
    }
}

/// The kinds that are programs.
const PROGRAMS: &[WrittenUse] = &[WrittenUse::Command, WrittenUse::Claude];

/// A key that means nothing for a kind is a misunderstanding worth hearing about.
fn refuse_foreign_keys(sink: &mut Sink, kind: WrittenUse, written: &WrittenReviewer) {
    let WrittenReviewer { name: _, r#use: _, command, file, sees, timeout_seconds, concurrency, model } =
        written;
    let span = |given: Option<&Range<usize>>| given.cloned();
    let keys = [
        ("command", &[WrittenUse::Command][..], span(command.as_ref().map(|at| &at.span))),
        ("file", &[WrittenUse::Replay], span(file.as_ref().map(|at| &at.span))),
        ("sees", PROGRAMS, span(sees.as_ref().map(|at| &at.span))),
        ("timeout_seconds", PROGRAMS, span(timeout_seconds.as_ref().map(|at| &at.span))),
        ("concurrency", PROGRAMS, span(concurrency.as_ref().map(|at| &at.span))),
        ("model", PROGRAMS, span(model.as_ref().map(|at| &at.span))),
    ];
    for (key, belongs_to, span) in keys {
        if let Some(span) = span.filter(|_| !belongs_to.contains(&kind)) {
            let message = format!("`{key}` means nothing for `use: {}`", kind.word());
            let uses: Vec<_> = belongs_to.iter().map(|kind| format!("`use: {}`", kind.word())).collect();
            let hint = format!("it belongs to {}", uses.join(" and "));
            sink.report_with_hint("misplaced-key", &span, message, hint);
        }
    }
}

impl WrittenUse {
    fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Claude => "claude",
            Self::Replay => "replay",
            Self::SelfReview => "self",
            Self::Checks => "checks",
        }
    }
}

fn command(
    sink: &mut Sink,
    owner: Owner,
    written: &WrittenReviewer,
    span: &Range<usize>,
) -> Option<CommandReviewer> {
    let asked = agent(sink, written);
    let owner_of_key = ("a reviewer with `use: command`", span);
    let (list, list_span) = sink.required(written.command.as_ref(), "command", owner_of_key)?;
    let argv: Vec<String> = list.iter().map(|at| at.value.clone()).collect::<Option<_>>()?;
    if let Some(problem) = argv_problem(owner, &argv) {
        sink.report("bad-command", list_span, problem);
        return None;
    }
    Some(CommandReviewer { argv, asked: asked? })
}

fn agent(sink: &mut Sink, written: &WrittenReviewer) -> Option<AgentReviewer> {
    let model = text(sink, written.model.as_ref(), "model");
    Some(AgentReviewer {
        sees: read(written.sees.as_ref())?.map_or(Sees::Given, WrittenSees::meaning),
        timeout_seconds: read(written.timeout_seconds.as_ref())?.map(|count| count.get()),
        concurrency: read(written.concurrency.as_ref())?.map_or(DEFAULT_CONCURRENCY, |count| count.get()),
        model: model?,
    })
}

fn argv_problem(owner: Owner, argv: &[String]) -> Option<String> {
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
    let folder = sink.source.path().parent().map(PathBuf::from).unwrap_or_default();
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

impl WrittenSees {
    fn meaning(self) -> Sees {
        match self {
            Self::Given => Sees::Given,
            Self::Project => Sees::Project,
        }
    }
}
