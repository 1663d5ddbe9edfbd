//! `run`, `retry`, `output`, `stop`: tasks done by agents, where nothing merges unreviewed.

pub mod arguments;
mod judges;
mod output;
mod retry;
mod show;
mod stop;
mod waiting;

pub use output::run as output;
pub use retry::run as retry;
pub use stop::run as stop;

use super::{Failure, Global};
use crate::ask::AtTerminal;
use crate::output::{Answer, Printer};
use crate::tui::{Left, Source, show};
use arguments::{HowOptions, ListOptions, RunOptions};
use countersign_app::Code;
use countersign_app::project::{Project, guard_program};
use countersign_core::outcome::Outcome;
use countersign_doors::run::config::{self, Loaded, RunConfig};
use countersign_doors::run::layout::Layout;
use countersign_doors::run::lock::{Holder, LockError, RunLock};
use countersign_doors::run::repo::Repo;
use countersign_doors::run::run::{Run, RunError, Stops};
use countersign_doors::run::schedule::Which;
use countersign_doors::run::settings::{HumanGate, Settings};
use countersign_doors::run::state::State;
use countersign_doors::run::task_file::TaskFile;
use countersign_engine::programs::{PROGRAMS, listed};
use countersign_engine::worker::Worker;
use countersign_engine::yaml::FileBytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use waiting::Waiting;

/// Said where a person cannot be asked, exactly so.
const HITL_WARNING: &str =
    "--hitl-review is ignored with --parallel or --tui: use --hitl-queue to decide from elsewhere";

/// Said where the settings want a person for every task, and the one at this terminal cannot be asked.
const HITL_SETTING_WARNING: &str = "`hitl_review: true` is in the settings, and with --parallel or --tui no person is asked at this terminal: every \
     task waits for a person after its review; use --hitl-queue to decide while the run goes on";

const HITL_WITHOUT_REVIEW: &str =
    "`hitl_review: true` is in the settings, and without a review no task waits for a person";

/// Runs tasks.
pub async fn run(
    global: &Global,
    options: RunOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let which = which(&options);
    let at = At::find(global, &options.list)?;
    let settings = at.settings(&options)?;
    let mut warnings = at.warnings.clone();
    if options.how.hitl_review && (options.parallel || options.tui) {
        warnings.push(HITL_WARNING.to_owned());
    }
    if settings.human == HumanGate::Later {
        warnings.push(if settings.review { HITL_SETTING_WARNING } else { HITL_WITHOUT_REVIEW }.to_owned());
    }
    let warnings = said(printer, warnings);
    if options.tui && !options.dry_run && !crate::terminal::is_there() {
        return Err(
            Failure::usage("--tui needs a terminal").hint("leave it away, and watch with `countersign tui`")
        );
    }
    if options.dry_run {
        let run = at.open(global, settings, &options.how, printer, cancel, false).await?;
        return dry_run(&run, &which).await;
    }
    let _lock = at.lock()?;
    let _ = std::fs::remove_file(at.layout.stop());
    let mut run = at.open(global, settings, &options.how, printer, cancel, !options.tui).await?;
    let waiting = Waiting::of(&mut run);
    let run = Arc::new(run);
    let finished = finish(run.clone(), &which, options.json_result, warnings);
    match options.tui {
        // Whoever is at the screen sees it.
        true => on_screen(&at, &run, printer, finished).await,
        false => waiting.told_during(&at.project, run.engine.ledger(), finished).await,
    }
}

/// Runs to the end with a screen, which may be closed before: the run goes on then.
async fn on_screen(
    at: &At,
    run: &Run,
    printer: &Printer,
    finished: impl Future<Output = Result<Answer, Failure>>,
) -> Result<Answer, Failure> {
    let over = CancellationToken::new();
    let finished = async {
        let _over = over.clone().drop_guard();
        finished.await
    };
    let source = Source { project: &at.project, layout: &at.layout, engine: Some(run.engine.clone()) };
    let shown = async {
        let left = show(source, over.clone()).await;
        match &left {
            Ok(Left::Quit) => {
                printer.note("the run goes on: `countersign tui` shows it again, Ctrl-C stops it")
            }
            Err(failure) => printer.warn(std::slice::from_ref(&failure.message)),
            Ok(Left::Closed | Left::Cancelled) => {}
        }
    };
    tokio::join!(finished, shown).0
}

/// Warnings are for the beginning of a run, which may take hours; programs find them in the object at its end.
fn said(printer: &Printer, warnings: Vec<String>) -> Vec<String> {
    printer.warn(&warnings);
    if printer.is_json() { warnings } else { vec![] }
}

/// Runs to the end and says what became of it.
async fn finish(
    run: Arc<Run>,
    which: &Which,
    json_result: bool,
    warnings: Vec<String>,
) -> Result<Answer, Failure> {
    let results = run.run(which).await.map_err(failure)?;
    let json = show::results_json(&results);
    let text = match json_result {
        true => format!("{json}\n"),
        false => show::results_text(&results),
    };
    let outcome = match run.stops.wanted() {
        true => Outcome::Interrupted,
        false => results.outcome(),
    };
    let mut answer = Answer::new(outcome, text, json);
    answer.warnings = warnings;
    Ok(answer)
}

async fn dry_run(run: &Run, which: &Which) -> Result<Answer, Failure> {
    let order = run.order(which).await.map_err(failure)?;
    let line = |task: &countersign_doors::run::tasks::Task| {
        let name = countersign_core::text::visible_line(&task.name).into_owned();
        format!("{}  {}  {name}\n", task.id, task.priority.word())
    };
    let text: String = match order.is_empty() {
        true => "nothing to do: no task can run\n".to_owned(),
        false => order.iter().map(line).collect(),
    };
    let ids: Vec<_> = order.iter().map(|task| task.id.clone()).collect();
    Ok(Answer::new(Outcome::Passed, text, serde_json::json!({ "order": ids })))
}

fn which(options: &RunOptions) -> Which {
    match (&options.tasks[..], &options.milestone, options.all) {
        ([], None, true) => Which::All,
        ([], Some(name), _) => Which::Milestone(name.clone()),
        ([], None, false) => Which::Next,
        (tasks, ..) => Which::These(tasks.to_vec()),
    }
}

/// A list of tasks and how it is run.
pub struct At {
    pub project: Project,
    pub layout: Layout,
    pub config: RunConfig,
    pub warnings: Vec<String>,
}

impl At {
    /// Finds the list of tasks that is meant.
    pub fn find(global: &Global, options: &ListOptions) -> Result<Self, Failure> {
        let project = Project::find(global.config.as_deref(), None)?;
        let root = project.root.path().to_owned();
        let section = project.config.file.as_ref().and_then(|path| {
            let bytes = std::fs::read(path).ok()?;
            Some(FileBytes { path: path.clone(), bytes })
        });
        let Loaded { config, warnings, .. } = config::load(&root, section.as_ref())?;
        let prefix = options.prefix.clone().unwrap_or_else(|| config.spec_prefix.clone());
        let layout = Layout::new(&root, &prefix).map_err(|bad| Failure::usage(bad.to_string()))?;
        if !layout.tasks().exists() {
            let shown = layout.tasks_name();
            return Err(Failure::usage(format!("there is no list of tasks: {shown} does not exist"))
                .hint("docs/run.md shows its form; --prefix PREFIX names another one"));
        }
        let warnings = warnings.iter().map(|warning| warning.message.clone()).collect();
        Ok(Self { project, layout, config, warnings })
    }

    /// The switches of the command line over those of the configuration.
    fn settings(&self, options: &RunOptions) -> Result<Settings, Failure> {
        let alone = !(options.parallel || options.tui);
        let at_once = options.max_concurrent.unwrap_or(self.config.max_concurrent) as usize;
        let mut settings = self.plain_settings(&options.how)?;
        settings.at_once = options.parallel.then_some(at_once);
        if options.parallel && !(settings.branch && settings.commit) {
            return Err(Failure::usage("several tasks at once need a branch and a commit each").hint(
                "leave --parallel away, or --no-branch and --no-commit (`create_git_branch` and `auto_commit` in the \
                 settings)",
            ));
        }
        if settings.human == HumanGate::Terminal && !alone {
            // The flag is ignored, as document 003 has it. What the settings want for every task is not.
            settings.human = if self.config.hitl_review { HumanGate::Later } else { HumanGate::Off };
        }
        Ok(settings)
    }

    pub fn plain_settings(&self, how: &HowOptions) -> Result<Settings, Failure> {
        let config = &self.config;
        let minutes = |minutes: u32| Duration::from_secs(u64::from(minutes) * 60);
        let mut commands = config.commands.clone();
        commands.test = commands.test.filter(|_| config.run_tests && !how.no_tests);
        commands.lint = commands.lint.filter(|_| config.run_lint);
        let settings = Settings {
            max_retries: how.max_retries.unwrap_or(config.max_retries).max(1),
            retry_delay: Duration::from_secs(config.retry_delay_seconds.into()),
            task_timeout: minutes(config.task_timeout_minutes),
            check_timeout: Duration::from_secs(config.check_timeout_seconds.into()),
            max_consecutive_failures: config.max_consecutive_failures.max(1),
            on_failure: config.on_task_failure,
            commands: countersign_doors::run::config::Commands { ..commands },
            lint_blocking: config.lint_blocking,
            review: config.run_review && !how.no_review,
            review_policy: config.review_policy,
            human: match (how.hitl_queue, how.hitl_review || config.hitl_review) {
                (true, _) => HumanGate::Queue,
                (false, true) => HumanGate::Terminal,
                (false, false) => HumanGate::Off,
            },
            commit: config.auto_commit && !how.no_commit,
            branch: config.create_git_branch && !how.no_branch,
            at_once: None,
            budget_microusd: micro(how.budget_usd.or(config.budget_usd))?,
            task_budget_microusd: micro(config.task_budget_usd)?,
            worktrees: self.worktrees(),
        };
        let worker = self.worker()?;
        let reports = matches!(&worker, Worker::Program { program, .. } if program.reports_cost);
        if !reports && settings.budget_microusd.or(settings.task_budget_microusd).is_some() {
            let reporting = PROGRAMS.reviewers().filter(|facts| facts.reports_cost).map(|facts| facts.name);
            let reporting = listed(reporting, "or");
            let words =
                format!("a budget needs an agent that says what it cost, and `{}` does not", worker.name());
            return Err(Failure::usage(words).hint(format!("use {reporting}, or leave the budget away")));
        }
        Ok(settings)
    }

    /// Where tasks that run at once have their worktrees: apart for each list, since another one may run too.
    fn worktrees(&self) -> PathBuf {
        let list = self.layout.tasks();
        let list = list.file_stem().unwrap_or_default();
        self.project.ledger_dir().join("worktrees").join(list)
    }

    fn worker(&self) -> Result<Worker, Failure> {
        let config = &self.config;
        let words = self.words(&config.claude_command, config.command_template.as_deref());
        Worker::from_words(&words, config.claude_model.clone())
            .ok_or_else(|| Failure::usage("`claude_command` is empty: there is nobody to do the tasks"))
    }

    /// The words of a command line, in which files of the project are named from anywhere.
    fn words(&self, command: &str, template: Option<&str>) -> Vec<String> {
        let command: Vec<&str> = command.split_whitespace().collect();
        let words = match template {
            Some(template) => template
                .split_whitespace()
                .flat_map(|word| if word == "{cmd}" { command.clone() } else { vec![word] })
                .collect(),
            None => command,
        };
        let root = self.project.root.path();
        let here = |word: &str| match word.contains('/') && root.join(word).is_file() {
            true => root.join(word).to_string_lossy().into_owned(),
            false => word.to_owned(),
        };
        words.into_iter().map(here).collect()
    }

    /// Who judges by the settings, where nobody else is configured.
    fn reviewer(&self) -> Option<judges::ReviewCommand> {
        let config = &self.config;
        let command = config.review_command.as_deref()?;
        let words = self.words(command, config.review_command_template.as_deref());
        Some(judges::ReviewCommand { words, model: config.review_model.clone() })
    }

    pub fn lock(&self) -> Result<RunLock, Failure> {
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

    /// Everything a run needs.
    pub async fn open(
        &self,
        global: &Global,
        settings: Settings,
        how: &HowOptions,
        printer: &Printer,
        cancel: &CancellationToken,
        on_screen: bool,
    ) -> Result<Run, Failure> {
        let root = self.project.root.path();
        let repo = Repo::open(root, self.config.main_branch.as_deref()).await;
        let repo = repo.map_err(|error| Failure::usage(error.to_string()))?;
        self.is_whole_repository(root)?;
        let timeout = Duration::from_secs(u64::from(self.config.review_timeout_minutes) * 60);
        let judges = judges::AsOfBase::gather(global, how.reviewer.clone(), self.reviewer(), timeout)?;
        let engine = self.project.engine(self.project.planner(None)?).await?;
        let tell = show::teller(printer.clone(), self.layout.progress(), on_screen);
        Ok(Run {
            engine,
            guard: guard_program()?,
            state: State::open(&self.layout).await.map_err(|error| failure(error.into()))?,
            tasks: TaskFile::new(&self.layout),
            layout: self.layout.clone(),
            repo,
            worker: self.worker()?,
            settings,
            judges: Arc::new(judges),
            people: Arc::new(AtTerminal { cancel: cancel.clone() }),
            environment: std::env::vars_os().collect(),
            tell: Arc::new(tell),
            stops: Stops { soft: cancel.clone(), hard: CancellationToken::new() },
            now,
            merging: tokio::sync::Mutex::new(()),
            spent_microusd: AtomicU64::new(0),
        })
    }

    /// Tasks are branches of a whole repository.
    fn is_whole_repository(&self, root: &Path) -> Result<(), Failure> {
        match root.join(".git").exists() {
            true => Ok(()),
            false => Err(Failure::usage(format!("`{}` is not the root of a git repository", root.display()))
                .hint("tasks are done on branches: run `git init`, or go to the root of the repository")),
        }
    }
}

fn micro(usd: Option<f64>) -> Result<Option<u64>, Failure> {
    match usd {
        None => Ok(None),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
        Some(usd) if usd.is_finite() && usd > 0.0 && usd < 1e9 => Ok(Some((usd * 1e6).round() as u64)),
        Some(usd) => Err(Failure::usage(format!("a budget of {usd} dollars is none"))),
    }
}

/// The time here, without a zone, as the state database has it.
pub fn now() -> String {
    jiff::Zoned::now().datetime().strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// A run that broke off.
pub fn failure(error: RunError) -> Failure {
    let (outcome, words) = (error.outcome(), error.to_string());
    match error {
        RunError::Engine(error) => error.into(),
        RunError::Tasks(countersign_doors::run::task_file::TaskFileError::Mistakes(problems)) => problems.into(),
        RunError::State(error) => Failure::new(outcome, Code::State, words).hint(error.hint()),
        RunError::Dirty(_) => Failure::new(outcome, Code::Dirty, words).hint(
            "commit them, or put them aside: git stash push -u -m 'before countersign run'; git stash pop brings them back",
        ),
        RunError::NoTask(_) => Failure::new(outcome, Code::NoTask, words).hint("`countersign status` lists the tasks"),
        _ => Failure::new(outcome, Code::Run, words),
    }
}
