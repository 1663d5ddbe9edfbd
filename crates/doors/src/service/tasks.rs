//! The tasks of a project: those of its plan, and those added by command, each a stream of the ledger.

use super::error::ServiceError;
use super::event;
use super::known::{self, Given, KnownPlan, Titles, TrustedPlan};
use super::lock;
use super::plan::{self, MAX_PLAN_BYTES, Plan, ReviewBlock};
use super::task::{Basis, Home, Task, TaskStatus};
use countersign_core::digest::Digest;
use countersign_core::ids::Subject;
use countersign_engine::ledger::{Ledger, Note};
use countersign_engine::workspace::{remove_unfinished, write_atomically};
use countersign_engine::yaml::{FileBytes, Source, quoted, read_at_most, unreadable};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const MAX_ID_BYTES: usize = 64;
const MAX_TEXT_BYTES: usize = 16 * 1024;
const MAX_LISTED: u32 = 1000;
/// More added tasks or plans than these are not read to find out whether a title is new.
const MAX_COMPARED: u32 = 10_000;

const STREAMS: &str = "task/";
const PLANS: &str = "plan";

fn stream(id: &str) -> String {
    format!("{STREAMS}{id}")
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTask {
    pub title: String,
    #[serde(default)]
    pub scope: Option<String>,
    #[serde(default)]
    pub acceptance: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Moved {
    status: TaskStatus,
}

#[derive(Clone)]
pub struct Tasks {
    pub ledger: Ledger,
    pub root: PathBuf,
    /// Its plan, relative to the root.
    pub plan: String,
    /// The same plan as a trusted commit has it; none where it has none.
    pub trusted: Option<TrustedPlan>,
    /// The titles that commits have, where the trusted one does not have this plan.
    pub elsewhere: Titles,
}

pub fn read_plan(path: &Path) -> Result<Option<plan::Reading>, ServiceError> {
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(plan::parse(&source(path)?)))
}

fn source(path: &Path) -> Result<std::sync::Arc<Source>, ServiceError> {
    let bytes = read_at_most(path, MAX_PLAN_BYTES)
        .map_err(|error| ServiceError::Plan(unreadable(path, &error.to_string()).into()))?;
    let file = FileBytes { path: path.to_owned(), bytes };
    Source::read_within(&file, MAX_PLAN_BYTES).map_err(|problem| ServiceError::Plan(problem.into()))
}

impl Tasks {
    fn plan_path(&self) -> PathBuf {
        self.root.join(&self.plan)
    }

    /// The plan, which must have no mistakes; empty where there is none.
    pub fn read(&self) -> Result<Plan, ServiceError> {
        if let Ok(real) = self.plan_path().canonicalize() {
            remove_unfinished(&real);
        }
        match read_plan(&self.plan_path())? {
            None => Ok(Plan::default()),
            Some(reading) => reading.valid().map_err(ServiceError::Plan),
        }
    }

    /// All tasks: those of the plan in order, then those added, the last changed first.
    pub async fn list(&self) -> Result<Vec<Task>, ServiceError> {
        let mut tasks = self.known().await?.tasks(&self.plan, &self.read()?);
        for stream in self.ledger.streams(STREAMS, MAX_LISTED).await? {
            let notes = self.ledger.notes(&stream).await?;
            tasks.extend(stream.strip_prefix(STREAMS).and_then(|id| fold(id, &notes)));
        }
        Ok(tasks)
    }

    /// A task by its id or its title in the plan.
    pub async fn find(&self, typed: &str) -> Result<Task, ServiceError> {
        let plan = self.read()?;
        let planned = match plan.find(typed) {
            Some(task) => Some(self.known().await?.task(&self.plan, &plan, task)),
            None => None,
        };
        // A plan takes over the id of an added task only with a title that was known before.
        let is_known = |task: &&Task| {
            let is_its_title = plan::folded(&task.known_as) == plan::folded(typed);
            task.basis != Basis::Unknown && (task.id == typed || is_its_title)
        };
        if let Some(task) = planned.as_ref().filter(is_known) {
            return Ok(task.clone());
        }
        self.added(typed).await?.or(planned).ok_or_else(|| ServiceError::no_task(typed))
    }

    /// The stream of the plan.
    fn plan_stream(&self) -> String {
        self.ledger.own(&Subject::new(PLANS, [self.plan.as_str()])).as_str().to_owned()
    }

    async fn known(&self) -> Result<KnownPlan, ServiceError> {
        let mut known = KnownPlan::new(self.trusted.clone(), self.elsewhere.clone());
        known.add_notes(&self.ledger.notes(&self.plan_stream()).await?);
        if known.is_first_sight() {
            self.add_elsewhere(&mut known.elsewhere).await?;
        }
        for event in event::latest(event::all(&self.ledger).await?) {
            let happened = event.happened();
            match happened.subject == self.ledger.own(&subject_of_title(&self.plan, &happened.title)).as_str()
            {
                true => known.add_reviewed(&happened.title, happened.status),
                false => known.elsewhere.add(&happened.title),
            }
        }
        Ok(known)
    }

    /// Adds the titles that the ledger has of added tasks and of other plans.
    async fn add_elsewhere(&self, titles: &mut Titles) -> Result<(), ServiceError> {
        let added = self.ledger.streams(STREAMS, MAX_COMPARED).await?;
        let plans = self.ledger.own(&Subject::new(PLANS, [""]));
        let plans = self.ledger.streams(plans.as_str(), MAX_COMPARED).await?;
        titles.too_many |= [&added, &plans].iter().any(|streams| streams.len() >= MAX_COMPARED as usize);
        for stream in added {
            let notes = self.ledger.notes(&stream).await?;
            if let Some(task) = stream.strip_prefix(STREAMS).and_then(|id| fold(id, &notes)) {
                titles.add(&task.id);
                titles.add(&task.title);
            }
        }
        for stream in plans.into_iter().filter(|stream| *stream != self.plan_stream()) {
            known::titles(&self.ledger.notes(&stream).await?).for_each(|title| titles.add(&title));
        }
        Ok(())
    }

    /// Records the plan as it is when it is first seen, where no trusted commit has it.
    pub async fn see_plan(&self, at_ms: i64) -> Result<(), ServiceError> {
        let plan = self.read()?;
        let known = self.known().await?;
        if plan.tasks.is_empty() || !known.is_first_sight() {
            return Ok(());
        }
        let stream = self.plan_stream();
        let body = serde_json::to_string(&Given::of(&plan, &known)).unwrap_or_default();
        let mut transaction = self.ledger.transaction().await?;
        let notes = transaction.notes(&stream).await?;
        if !notes.iter().any(|note| note.kind == known::GIVEN) {
            transaction.note(&stream, notes.len() as u64, &[(known::GIVEN, body)], at_ms).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Records the status that only the trusted plan gives a task.
    pub async fn record_given(&self, task: &Task, at_ms: i64) -> Result<(), ServiceError> {
        match &self.trusted {
            Some(trusted) if task.recorded != Some(task.status) && matches!(task.home, Home::Plan { .. }) => {
                self.note_status(task, task.status, Some(trusted.commit.clone()), at_ms).await
            }
            _ => Ok(()),
        }
    }

    async fn note_status(
        &self,
        task: &Task,
        status: TaskStatus,
        given_by: Option<String>,
        at_ms: i64,
    ) -> Result<(), ServiceError> {
        let (stream, body) = match &task.home {
            Home::Plan { .. } => {
                let moved = known::Moved { title: task.known_as.clone(), status, given_by };
                (self.plan_stream(), serde_json::to_string(&moved).unwrap_or_default())
            }
            Home::Ledger => (stream(&task.id), serde_json::to_string(&Moved { status }).unwrap_or_default()),
        };
        let mut transaction = self.ledger.transaction().await?;
        let seen = transaction.last_note(&stream).await?.map_or(0, |note| note.n);
        transaction.note(&stream, seen, &[(known::STATUS, body)], at_ms).await?;
        Ok(transaction.commit().await?)
    }

    pub async fn added(&self, id: &str) -> Result<Option<Task>, ServiceError> {
        Ok(if is_id(id) { fold(id, &self.ledger.notes(&stream(id)).await?) } else { None })
    }

    /// Adds a task. Adding the same task again changes nothing; another one with its id is refused.
    pub async fn add(&self, id: &str, new: &NewTask, at_ms: i64) -> Result<Task, ServiceError> {
        check(id, new)?;
        let stream = stream(id);
        let mut transaction = self.ledger.transaction().await?;
        let notes = transaction.notes(&stream).await?;
        if let Some(task) = fold(id, &notes) {
            let same =
                task.title == new.title && task.scope == new.scope && task.acceptance == new.acceptance;
            return if same {
                Ok(task)
            } else {
                Err(ServiceError::Taken(id.to_owned(), quoted(&task.title)))
            };
        }
        let body = serde_json::to_string(new).unwrap_or_default();
        transaction.note(&stream, notes.len() as u64, &[("task_added", body)], at_ms).await?;
        transaction.commit().await?;
        // Not by the plan, which may have mistakes: the task is added.
        self.added(id).await?.ok_or_else(|| ServiceError::no_task(id))
    }

    /// Sets the status of a task and its last review, if there is a new one: in the plan, then in the ledger, because
    /// a status that only the plan has does not count. Nothing where both are so already.
    pub async fn set(
        &self,
        task: &mut Task,
        status: TaskStatus,
        review: Option<&ReviewBlock>,
        at_ms: i64,
    ) -> Result<(), ServiceError> {
        if matches!(task.home, Home::Plan { .. }) {
            self.write_plan(&task.title, status, review)?;
            task.in_file = Some(status);
        }
        if task.recorded != Some(status) {
            self.note_status(task, status, None, at_ms).await?;
        }
        task.recorded = Some(status);
        task.status = status;
        Ok(())
    }

    /// The same with a record in any case, which says when it was.
    pub(super) async fn set_anew(
        &self,
        task: &mut Task,
        status: TaskStatus,
        at_ms: i64,
    ) -> Result<(), ServiceError> {
        task.recorded = None;
        self.set(task, status, None, at_ms).await
    }

    /// When a status of a task was last recorded.
    pub(super) async fn last_moved(&self, task: &Task) -> Result<Option<i64>, ServiceError> {
        let (stream, title) = match &task.home {
            Home::Plan { .. } => (self.plan_stream(), Some(plan::folded(&task.known_as))),
            Home::Ledger => (stream(&task.id), None),
        };
        let is_its = |note: &&Note| match (&title, note.kind.as_str()) {
            (None, known::STATUS) => true,
            (Some(title), known::STATUS) => serde_json::from_str::<known::Moved>(&note.body)
                .is_ok_and(|moved| plan::folded(&moved.title) == *title),
            _ => false,
        };
        Ok(self.ledger.notes(&stream).await?.iter().rfind(is_its).map(|note| note.at_ms))
    }

    /// Writes the recorded status of a task into the plan. The ledger stays as it is.
    pub fn set_right(&self, task: &Task, recorded: TaskStatus) -> Result<(), ServiceError> {
        self.write_plan(&task.title, recorded, None)
    }

    /// Under a lock, because two processes that write at once would lose a change.
    fn write_plan(
        &self,
        title: &str,
        status: TaskStatus,
        review: Option<&ReviewBlock>,
    ) -> Result<(), ServiceError> {
        let lock = self.lock_file("plan")?;
        lock.lock().map_err(ServiceError::io("the plan cannot be locked"))?;
        let path = self.plan_path();
        source(&path)?;
        let failed = || ServiceError::io(format!("{} cannot be written", path.display()));
        // With its byte order mark, which `Source` leaves out.
        let text = std::fs::read_to_string(&path).map_err(failed())?;
        let edited = plan::write_back(&text, title, status, review)?;
        if edited != text {
            // A link stays a link.
            let real = path.canonicalize().map_err(failed())?;
            write_atomically(&real, &edited).map_err(failed())?;
        }
        Ok(())
    }

    fn lock_file(&self, name: &str) -> Result<File, ServiceError> {
        let none = || io::Error::other("the ledger has no folder");
        let dir = self.ledger.dir().ok_or_else(none).map_err(ServiceError::io("tasks cannot be locked"))?;
        let failed = || ServiceError::io(format!("{} cannot be used", lock::folder(dir).display()));
        lock::open(dir, name).map_err(failed())
    }

    pub fn review_lock(&self, task: &Task) -> Result<File, ServiceError> {
        self.lock_file(&lock::name_of(self.subject(task).as_str()))
    }

    pub fn is_reviewed_now(&self, task: &Task) -> bool {
        let name = lock::name_of(self.subject(task).as_str());
        self.ledger.dir().is_some_and(|dir| lock::is_held(dir, &name))
    }

    /// The subject of all reviews of a task, by its title: ids in a plan change when a line is added.
    pub fn subject(&self, task: &Task) -> Subject {
        self.ledger.own(&match &task.home {
            Home::Plan { file } => subject_of_title(file, &task.known_as),
            Home::Ledger => Subject::new(super::DOOR, ["task", task.id.as_str()]),
        })
    }
}

fn subject_of_title(file: &str, title: &str) -> Subject {
    let digest = Digest::of(plan::folded(title).as_bytes());
    let short = digest.as_str().get(..16).unwrap_or(digest.as_str()).to_owned();
    Subject::new(super::DOOR, [file, short.as_str()])
}

/// Whether an added task may have this id, which must not look like the id of a planned one.
fn is_id(id: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.chars().all(sign) && !plan::is_planned_id(id)
}

fn check(id: &str, new: &NewTask) -> Result<(), ServiceError> {
    if !is_id(id) {
        let message = format!("{} is not a valid task id", quoted(id));
        let hint = format!(
            "up to {MAX_ID_BYTES} letters, digits, `-`, `_` and `.`, and not like `1.2`, a place in the plan"
        );
        return Err(ServiceError::usage(message, hint));
    }
    if new.title.trim().is_empty() || new.title.contains(['\n', '\r']) {
        return Err(ServiceError::usage("a title is one line of text", "countersign task add TITLE"));
    }
    let texts = [Some(&new.title), new.scope.as_ref(), new.acceptance.as_ref()];
    match texts.into_iter().flatten().any(|text| text.len() > MAX_TEXT_BYTES) {
        true => Err(ServiceError::usage(
            format!("a text of the task has more than {MAX_TEXT_BYTES} bytes"),
            "shorten the text, or refer to a file",
        )),
        false => Ok(()),
    }
}

fn fold(id: &str, notes: &[Note]) -> Option<Task> {
    let mut task: Option<Task> = None;
    for note in notes {
        match (note.kind.as_str(), &mut task) {
            ("task_added", None) => {
                let new: NewTask = serde_json::from_str(&note.body).ok()?;
                task = Some(Task {
                    id: id.to_owned(),
                    known_as: new.title.clone(),
                    title: new.title,
                    scope: new.scope,
                    acceptance: new.acceptance,
                    status: TaskStatus::Pending,
                    in_file: None,
                    recorded: Some(TaskStatus::Pending),
                    basis: Basis::Own,
                    home: Home::Ledger,
                });
            }
            ("task_status", Some(task)) => {
                task.status = serde_json::from_str::<Moved>(&note.body).ok()?.status;
                task.recorded = Some(task.status);
            }
            _ => {}
        }
    }
    task
}
