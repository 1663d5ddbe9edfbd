//! The commands `run`, `retry`, `output` and `stop`. The run itself is in the run door.

mod judges;
mod settings;
mod waiting;

pub use settings::RunSwitches;

use crate::Failure;
use crate::answer::v1::run::{Output, Results, Stop};
use crate::author;
use crate::authority::FlagsFrom;
use crate::decide::{Action, Decide, decide};
use crate::project::{Project, current_folder, guard_program};
use crate::run_project::RunProject;
use countersign_core::outcome::Outcome;
use countersign_core::text::counted;
use countersign_doors::run::config::RunConfig;
use countersign_doors::run::layout::Layout;
use countersign_doors::run::lock::{self, Holder, LockError, RunLock};
use countersign_doors::run::log;
use countersign_doors::run::repo::Repo;
use countersign_doors::run::run::{HumanGate, Run, RunParts};
use countersign_doors::run::schedule::Selection;
use countersign_doors::run::settings::Settings;
use countersign_doors::run::tasks::Task;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, Listener};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use waiting::Waiting;

pub struct Request {
    pub which: Selection,
    pub retry: Option<Retry>,
    /// Whether several run at once, each in its own worktree.
    pub parallel: bool,
    pub max_concurrent: Option<u32>,
    /// Whether a screen shows the run, so that it asks and notifies no person.
    pub on_screen: bool,
    pub how: RunSwitches,
}

pub struct Retry {
    pub task: String,
    /// Whether its branch is deleted first.
    pub fresh: bool,
}

pub struct List {
    pub project: Arc<Project>,
    pub layout: Layout,
    config: RunConfig,
    warnings: Vec<String>,
}

impl List {
    /// The list of a command that only looks.
    pub fn find(named: Option<&Path>, prefix: Option<&str>) -> Result<Self, Failure> {
        let project = Project::find(named, None)?;
        let run = RunProject::of(&project)?;
        Self::of(project, run, prefix)
    }

    /// The list of a run, with the trusted configuration and settings.
    pub async fn find_for_gate(
        named: Option<&Path>,
        prefix: Option<&str>,
        reviewer: Option<String>,
    ) -> Result<Self, Failure> {
        let flags = Flags { config: named.map(Path::to_owned), reviewer };
        let project = Project::for_gate(current_folder()?, &flags, FlagsFrom::Caller).await?;
        let run = RunProject::for_gate(&project).await?;
        Self::of(project, run, prefix)
    }

    fn of(project: Project, run: RunProject, prefix: Option<&str>) -> Result<Self, Failure> {
        let RunProject { mut layout, settings } = run;
        let project = Arc::new(project);
        if let Some(prefix) = prefix {
            let found = Layout::new(project.root.path(), prefix);
            layout = found.map_err(|bad| Failure::usage(bad.to_string()))?;
        }
        if !layout.tasks().exists() {
            let shown = layout.tasks_name();
            return Err(Failure::usage(format!("there is no list of tasks: {shown} does not exist"))
                .hint("`countersign help run` shows the format; --prefix PREFIX names another list"));
        }
        let of_settings = settings.warnings.iter().map(|warning| warning.message.clone());
        let warnings = project.notices().into_iter().chain(of_settings).collect();
        Ok(Self { project, layout, config: settings.config, warnings })
    }

    pub fn plan(self, request: Request) -> Result<Plan, Failure> {
        let settings = self.settings(&request)?;
        let mut warnings = self.warnings.clone();
        warnings.extend(settings::ignored(&request, &settings).map(str::to_owned));
        Ok(Plan { list: self, request, settings, warnings })
    }

    /// The log of an attempt at a task; without a number, of the last one.
    pub fn output(&self, task: &str, attempt: Option<u32>) -> Result<Output, Failure> {
        let logs = self.layout.logs();
        let all = log::all(&logs, task);
        let file = match attempt {
            Some(attempt) => Some(log::path(&logs, task, attempt)).filter(|file| file.exists()),
            None => all.last().cloned(),
        };
        let Some(file) = file else {
            return Err(Failure::usage(format!("there is no output of `{task}`")).hint(format!(
                "this task has output for {}; `countersign status` lists the tasks",
                counted(all.len(), "attempt", "attempts")
            )));
        };
        let bytes = std::fs::read(&file)
            .map_err(|error| Failure::internal(format!("`{}` cannot be read: {error}", file.display())))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Output { task: task.to_owned(), file, attempts: all.len(), text })
    }

    pub fn stop(&self) -> Result<Stop, Failure> {
        let failed = |error: std::io::Error| Failure::internal(format!("the run cannot be stopped: {error}"));
        let holder = lock::holder(&self.layout.lock()).map_err(failed)?;
        if holder.is_some() {
            std::fs::write(self.layout.stop(), "").map_err(failed)?;
        }
        Ok(Stop { stopping: holder.is_some(), holder })
    }

    fn lock(&self) -> Result<RunLock, Failure> {
        let command: Vec<String> = std::env::args().skip(1).collect();
        let holder = Holder {
            pid: std::process::id(),
            command: command.join(" "),
            since: now(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        };
        RunLock::take(&self.layout.lock(), &holder).map_err(|error| match error {
            LockError::Held(_) => {
                Failure::usage(error.to_string()).hint("wait for it, or end it with `countersign stop`")
            }
            LockError::Io { .. } => Failure::internal(error.to_string()),
        })
    }
}

pub struct Plan {
    pub list: List,
    /// Warnings to show before it begins.
    pub warnings: Vec<String>,
    request: Request,
    settings: Settings,
}

impl Plan {
    pub async fn order(self, people: Arc<dyn HumanGate>) -> Result<Vec<Task>, Failure> {
        let run = Run::open_to_look(self.parts(people, CancellationToken::new()).await?).await?;
        Ok(run.order(&self.request.which).await?)
    }

    /// Takes the lock and opens the run. `cancel` stops it after the current step.
    pub async fn start(
        self,
        people: Arc<dyn HumanGate>,
        listener: Listener,
        cancel: &CancellationToken,
    ) -> Result<UnderWay, Failure> {
        let lock = self.list.lock()?;
        let _ = std::fs::remove_file(self.list.layout.stop());
        let (waiting, waits) = Waiting::listen(cancel.clone());
        let run = Arc::new(Run::open(self.parts(people, cancel.clone()).await?).await?);
        run.engine.listen(waits);
        run.engine.listen(listener);
        let Self { list, request, .. } = self;
        if let Some(retry) = &request.retry {
            release(&list.project, &run, retry).await?;
        }
        // The screen shows waiting tasks.
        let waiting = (!request.on_screen).then_some(waiting);
        Ok(UnderWay { list, run, which: request.which, waiting, _lock: lock })
    }

    async fn parts(
        &self,
        people: Arc<dyn HumanGate>,
        cancel: CancellationToken,
    ) -> Result<RunParts, Failure> {
        let project = &self.list.project;
        let root = project.root.path();
        let repo = Repo::open(root, self.list.config.main_branch.as_deref()).await;
        let repo = repo.map_err(|error| Failure::usage(error.to_string()))?;
        if !root.join(".git").exists() {
            return Err(Failure::usage(format!("`{}` is not the root of a git repository", root.display()))
                .hint("tasks are done on branches: run `git init`, or go to the root of the repository"));
        }
        let branch = self.list.layout.integration_branch();
        let repo = if self.settings.integrates() { repo.onto(branch) } else { repo };
        let judges = self.list.judges();
        Ok(RunParts {
            engine: project.engine(project.planner(None)?).await?,
            guard: guard_program()?,
            layout: self.list.layout.clone(),
            repo,
            worker: self.list.worker()?,
            settings: self.settings.clone(),
            judges: Arc::new(judges),
            people,
            stop: cancel,
            now,
        })
    }
}

pub struct UnderWay {
    pub list: List,
    run: Arc<Run>,
    which: Selection,
    /// None where people are not notified.
    waiting: Option<Waiting>,
    _lock: RunLock,
}

impl UnderWay {
    pub fn engine(&self) -> Engine {
        self.run.engine.clone()
    }

    /// Runs to the end, and notifies people of tasks that wait.
    pub async fn finish(self) -> Result<(Outcome, Results), Failure> {
        let ran = self.run.run(&self.which);
        let results = match self.waiting {
            Some(waiting) => waiting.told_during(&self.list.project, self.run.engine.ledger(), ran).await?,
            None => ran.await?,
        };
        let outcome = if self.run.stop.is_cancelled() { Outcome::Interrupted } else { results.outcome() };
        let branch = self.run.settings.integrates().then(|| self.run.repo.main.clone());
        Ok((outcome, Results { branch, ..Results::from(&results) }))
    }
}

/// Resets a task. Only a person resets a task that a person rejected.
async fn release(project: &Project, run: &Run, retry: &Retry) -> Result<(), Failure> {
    let Retry { task, fresh } = retry;
    let by = author::actor();
    if run.was_rejected(task).await? && !by.may_decide() {
        return Err(Failure::usage(format!("a person rejected {task}, so only a person may retry it"))
            .hint(author::way_out()));
    }
    if let Some(review) = run.stopped_review(task).await? {
        let reason = Some(format!("retry of {task}"));
        let given = Decide { action: Action::Unblock, by, reason, about: review.digest().cloned() };
        decide(project, &run.engine, &review.id, given).await?;
    }
    Ok(run.begin_again(task, *fresh).await?)
}

/// The local time without a zone, as in the state database.
pub fn now() -> String {
    jiff::Zoned::now().datetime().strftime("%Y-%m-%dT%H:%M:%S").to_string()
}
