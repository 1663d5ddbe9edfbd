//! Reads a `job.yml`: a job, or all mistakes in it.

use super::written::WrittenJob;
use super::{Job, Step, Workflow, order, step, warnings::Warning, workflow};
use countersign_engine::yaml::{
    self, At, Diagnostic, Document, FileBytes, Place, ProblemList, Problems, quoted,
};
use std::ops::Range;
use std::path::{Component, Path};
use std::sync::Arc;

/// Reads a text file of the job, by its path from the job's folder. An error follows the name: "does not exist".
pub(super) type Files<'f> = &'f dyn Fn(&Path) -> Result<String, String>;

/// For all instructions of a job together.
const MAX_INSTRUCTIONS_BYTES: usize = 8 * 1024 * 1024;

const MAX_SUMMARY_CHARS: usize = 200;
/// Ids become parts of file names.
const MAX_ID_CHARS: usize = 100;
const GENERAL_HINT: &str = "`countersign help jobs` describes every key of a job.yml";
const MINIMAL: &str = "a job has `name`, `version`, `summary`, \
    `common_job_info_provided_to_all_steps_at_runtime` and `steps`";

#[derive(Debug)]
pub struct Reading {
    pub job: Arc<Job>,
    pub warnings: Vec<Diagnostic>,
    pub name: Place,
    /// What reviewers are told, with its place in the file.
    pub guidance: Vec<(Place, String)>,
    /// What the job lacks: it can be used without that.
    pub lost: Option<Lost>,
}

/// Workflows with a step whose files cannot be read.
#[derive(Clone, Debug)]
pub struct Lost {
    pub workflows: Vec<String>,
    pub problems: Problems,
}

pub fn read(file: &FileBytes, files: Files<'_>) -> Result<Reading, Problems> {
    let Document { sink, start, is_empty, value } =
        yaml::read::<WrittenJob>(file).map_err(|problem| Problems::from(hinted(problem)))?;
    let mut reader = Reader {
        sink,
        files,
        warnings: Vec::new(),
        bad_files: Vec::new(),
        guidance: Vec::new(),
        read_bytes: 0,
    };
    if is_empty {
        reader.sink.report_with_hint("empty", &(0..0), "the file is empty", MINIMAL);
    }
    let job = value.and_then(|written| job(&mut reader, &written, &start));
    let Reader { sink, mut warnings, bad_files, guidance, .. } = reader;
    let bad_files = Problems::of(bad_files);
    if let Some(problems) = Problems::of(sink.problems.iter().cloned().map(hinted).collect()) {
        return Err(Problems::together([problems.clone()].into_iter().chain(bad_files)).unwrap_or(problems));
    }
    warnings.sort_by_key(|warning| warning.place.span().start);
    warnings.dedup();
    match (job, bad_files) {
        (Some(Found { job, name, lost: workflows }), problems) if !job.workflows.is_empty() => {
            let lost = problems.map(|problems| Lost { workflows, problems });
            Ok(Reading { job: Arc::new(job), warnings, name: sink.place(&name), guidance, lost })
        }
        (_, Some(problems)) => Err(problems),
        // A missing field is reported above. This arm fails closed where it is not.
        (_, None) => {
            Err(Diagnostic::new("unreadable", sink.place(&start), "the job cannot be understood").into())
        }
    }
}

fn hinted(mut problem: Diagnostic) -> Diagnostic {
    problem.hint.get_or_insert_with(|| GENERAL_HINT.to_owned());
    problem
}

/// A job with the workflows that can be used, and the names of the others.
struct Found {
    job: Job,
    name: Range<usize>,
    lost: Vec<String>,
}

fn job(reader: &mut Reader<'_>, written: &WrittenJob, start: &Range<usize>) -> Option<Found> {
    let owner = ("the job", start);
    let name = reader.id(written.name.as_ref(), "name", owner);
    let version = version(reader, written.version.as_ref(), owner);
    let summary = reader.summary(written.summary.as_ref(), owner);
    let common_info = reader.text(
        written.common_job_info_provided_to_all_steps_at_runtime.as_ref(),
        "common_job_info_provided_to_all_steps_at_runtime",
        owner,
    );
    let listed = reader.sink.required(written.steps.as_ref(), "steps", owner);
    if let Some((_, span)) = listed.filter(|(list, _)| list.is_empty()) {
        reader.sink.report_with_hint("no-steps", span, "`steps` is empty", "a job has at least one step");
    }
    let list = listed.map(|(list, _)| list.as_slice()).unwrap_or_default();
    let mut steps = Vec::new();
    for at in list {
        let before = reader.bad_files.len();
        let step = step::step(reader, at);
        // A step is not done without one of its files.
        steps.extend(step.filter(|_| reader.bad_files.len() == before));
    }
    let known = order::Known::new(list);
    order::check(&mut reader.sink, list, &known);
    let workflows = workflow::workflows(reader, &written.workflows, &known);
    let has_all = |workflow: &Workflow| {
        let mut ids = workflow.entries.iter().flatten();
        ids.all(|id| steps.iter().any(|step: &Step| step.id == *id))
    };
    let (workflows, lost): (Vec<_>, Vec<_>) = workflows.into_iter().partition(has_all);
    let (name, span) = name?;
    let mut job = Job {
        name,
        version: version?,
        summary: summary?,
        common_info: common_info?,
        dir: reader.sink.folder().to_owned(),
        steps,
        workflows,
    };
    if written.workflows.items().is_empty() && reader.bad_files.is_empty() {
        job.workflows.push(workflow::of_all_steps(&job));
    }
    Some(Found { job, name: span, lost: lost.into_iter().map(|workflow| workflow.name).collect() })
}

fn version(reader: &mut Reader<'_>, field: Option<&At<String>>, owner: Owner<'_>) -> Option<String> {
    let (version, span) = reader.sink.required(field, "version", owner)?;
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if version.split('.').count() == 3 && version.split('.').all(number) {
        return Some(version.clone());
    }
    let message = format!("the version {} is not of the form N.N.N", quoted(version));
    reader.sink.report_with_hint("bad-version", span, message, "three numbers, such as `1.0.0`");
    None
}

/// The object that has a key, for messages: its name and its place.
type Owner<'o> = (&'o str, &'o Range<usize>);

pub(super) struct Reader<'f> {
    pub sink: ProblemList,
    files: Files<'f>,
    warnings: Vec<Diagnostic>,
    /// Files of steps that cannot be read: such steps are left out.
    bad_files: Vec<Diagnostic>,
    guidance: Vec<(Place, String)>,
    read_bytes: usize,
}

impl Reader<'_> {
    pub fn warn(&mut self, span: &Range<usize>, warning: Warning) {
        let Warning { code, message, hint } = warning;
        self.warnings.push(Diagnostic::new(code, self.sink.place(span), message).with_hint(hint));
    }

    pub fn guidance(&mut self, span: &Range<usize>, text: &str) {
        self.guidance.push((self.sink.place(span), text.to_owned()));
    }

    pub fn text(&mut self, field: Option<&At<String>>, key: &str, owner: Owner<'_>) -> Option<String> {
        let (text, span) = self.sink.required(field, key, owner)?;
        if text.trim().is_empty() {
            self.sink.report("empty", span, format!("`{key}` is empty"));
            return None;
        }
        Some(text.clone())
    }

    pub fn optional_text(&mut self, field: Option<&At<String>>, key: &str) -> Option<String> {
        self.text(Some(field?), key, ("", &(0..0)))
    }

    pub fn summary(&mut self, field: Option<&At<String>>, owner: Owner<'_>) -> Option<String> {
        let text = self.text(field, "summary", owner)?;
        let chars = text.chars().count();
        if chars > MAX_SUMMARY_CHARS {
            let message = format!("`summary` has {chars} characters, more than {MAX_SUMMARY_CHARS}");
            let span = field.map(|at| at.span.clone()).unwrap_or_default();
            self.sink.report_with_hint("too-long", &span, message, "write one short line");
            return None;
        }
        Some(text)
    }

    /// A name that can be part of a file name, and its place.
    pub fn id(
        &mut self,
        field: Option<&At<String>>,
        key: &str,
        owner: Owner<'_>,
    ) -> Option<(String, Range<usize>)> {
        let (id, span) = self.sink.required(field, key, owner)?;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let message = if !id.starts_with(|c: char| c.is_ascii_lowercase()) || !id.chars().all(fits) {
            format!("the {key} {} must be small letters, digits and `_`, a letter first", quoted(id))
        } else if id.len() > MAX_ID_CHARS {
            format!("the {key} is longer than {MAX_ID_CHARS} characters")
        } else {
            return Some((id.clone(), span.clone()));
        };
        self.sink.report_with_hint("bad-name", span, message, "such as `write_guide`");
        None
    }

    /// The text of a file of the job; `what` names its kind in messages.
    pub fn file(&mut self, at: &At<String>, what: &str) -> Option<String> {
        let path = at.value.as_ref()?;
        let read = match stays_inside(Path::new(path)) {
            _ if path.trim().is_empty() => Err("has no name".to_owned()),
            false => Err("is outside the job's folder".to_owned()),
            true if self.read_bytes > MAX_INSTRUCTIONS_BYTES => Err(format!(
                "is too large: all files of a job may have {MAX_INSTRUCTIONS_BYTES} bytes together"
            )),
            true => (self.files)(Path::new(path)),
        };
        let report = |why: String| {
            let hint = "paths begin in the folder of job.yml and stay in it";
            let message = format!("{what} {} {why}", quoted(path));
            Diagnostic::new("bad-file", self.sink.place(&at.span), message).with_hint(hint)
        };
        let text = read.map_err(|why| self.bad_files.push(report(why))).ok()?;
        self.read_bytes = self.read_bytes.saturating_add(text.len());
        Some(text)
    }
}

/// Whether a path stays in the folder it begins in, as far as its text says.
fn stays_inside(path: &Path) -> bool {
    let depth = path.components().try_fold(0_usize, |depth, part| match part {
        Component::CurDir => Some(depth),
        Component::Normal(_) => Some(depth + 1),
        Component::ParentDir => depth.checked_sub(1),
        Component::RootDir | Component::Prefix(_) => None,
    });
    depth.is_some()
}
