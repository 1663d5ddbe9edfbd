//! What a run of tasks costs beside agents, tests and reviewers, and looking at a long list of them.

use crate::figures::{Sizes, each};
use crate::measure::{median_wall, peak_of_quick, run};
use crate::project::Project;
use crate::table::{Table, megabytes, time};
use anyhow::{Context, ensure};
use countersign_doors::run::layout::Layout;
use countersign_doors::run::state::State;
use serde_json::json;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The list whose state is looked at, and how often each of its tasks was tried.
const LISTED: usize = 10_000;
const TRIES: usize = 3;

const RULES: &str = "\
version: 1
rules: [{name: all, for: ['**'], criteria: [{name: Complete, ask: Is it complete?}]}]
";
const SETTINGS: &str = "\
claude_command: ./agent.sh
retry_delay_seconds: 0
commands: {test: 'true', lint: 'true'}
";
const AGENT: &str =
    "#!/bin/sh\nread -r line\nline=${line#'# '}\necho done >\"${line%%:*}.txt\"\necho TASK_COMPLETE\n";
const REPLY: &str = r#"{"passed": true, "feedback": "", "criteria_results": [
  {"criterion": "Complete", "passed": true, "feedback": null}]}"#;

fn list(tasks: usize) -> String {
    let mut text = "# Tasks\n".to_owned();
    for n in 1..=tasks {
        let _ = write!(text, "\n### TASK-{n:05}: Write page {n}\nP1 | TODO\n");
    }
    text
}

/// A repository with tasks, and somebody for each part who is done at once.
fn instant(tasks: usize) -> anyhow::Result<Project> {
    let project = Project::empty()?;
    for (name, text) in
        [("countersign.yml", RULES), ("spec-runner.config.yaml", SETTINGS), ("reply.json", REPLY)]
    {
        project.write(name, text)?;
    }
    project.write("spec/tasks.md", &list(tasks))?;
    // It runs in a folder of its own.
    let judge = format!("#!/bin/sh\nexec cat '{}'\n", project.root().join("reply.json").display());
    for (name, text) in [("agent.sh", AGENT), ("judge.sh", judge.as_str())] {
        project.write(name, text)?;
        std::fs::set_permissions(project.root().join(name), std::fs::Permissions::from_mode(0o755))?;
    }
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "Test"],
        &["config", "user.email", "test@example.invalid"],
        &["add", "-A"],
        &["commit", "-q", "-m", "begin"],
    ] {
        let ended = Command::new("git").args(words).current_dir(project.root()).status()?;
        ensure!(ended.success(), "git {words:?} ended with {ended}");
    }
    Ok(project)
}

fn all(project: &Project) -> Command {
    let judge = format!("command:{}", project.root().join("judge.sh").display());
    project.countersign(&["run", "--all", "--quiet", "--reviewer", &judge])
}

/// Tasks in a row where nobody else takes any time, and how often git is started for each.
pub fn tasks(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let count = sizes.tasks;
    let project = instant(count)?;
    let cost = run(&mut all(&project))?;
    let how =
        "`run --all`: a script as agent and as reviewer, `true` as tests and as lint, one after the other";
    let figure = format!("{count} tasks done, tested, judged and merged, wall for each");
    table.add(figure, each(cost.wall, count), "< 60 ms", how);
    let counted = count.min(20);
    let project = instant(counted)?;
    let folder = tempfile::tempdir()?;
    let calls = counting_git(folder.path())?;
    let mut command = all(&project);
    let path = std::env::var("PATH").unwrap_or_default();
    run(command.env("PATH", format!("{}:{path}", folder.path().display())))?;
    let started = std::fs::read(&calls)?.len();
    let how = format!("counted by a `git` that is found first, over {counted} tasks, in a run of its own");
    table.add("processes of git for each task", format!("{}", started / counted), "15", how);
    Ok(())
}

/// A `git` that writes a byte to a file and becomes the real one.
fn counting_git(folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|place| place.join("git"))
        .find(|git| git.is_file())
        .context("there is no git")?;
    let calls = folder.join("calls");
    let script = format!("#!/bin/sh\nprintf x >>'{}'\nexec '{}' \"$@\"\n", calls.display(), real.display());
    std::fs::write(folder.join("git"), script)?;
    std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755))?;
    Ok(calls)
}

/// What it takes to look at a long list with all that became of it.
pub fn status(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let project = Project::empty()?;
    project.write("spec/tasks.md", &list(LISTED))?;
    let attempt = |n: usize| {
        json!({
            "timestamp": "2026-02-23T10:15:00", "success": n == TRIES, "duration_seconds": 1.5, "cost_usd": 0.25,
            "error": (n < TRIES).then_some("tests failed"), "error_code": (n < TRIES).then_some("TEST_FAILURE"),
            "review_status": (n == TRIES).then_some("passed"),
        })
    };
    let attempts: Vec<_> = (1..=TRIES).map(attempt).collect();
    let one = json!({ "status": "success", "attempts": attempts });
    let all: serde_json::Map<_, _> = (1..=LISTED).map(|n| (format!("TASK-{n:05}"), one.clone())).collect();
    project.write("spec/.executor-state.json", &json!({ "tasks": all }).to_string())?;
    // Taken over as from a very old project, which is the quickest way to so many.
    let layout = Layout::new(project.root(), "")?;
    tokio::runtime::Runtime::new()?.block_on(async { State::open(&layout).await?.close().await })?;
    let figure = |what: &str| format!("`status` on {LISTED} tasks and {} attempts, {what}", LISTED * TRIES);
    let runs = sizes.runs.div_ceil(10);
    let wall = median_wall(runs, || project.countersign(&["status"]))?;
    let how = format!("the whole command, median of {runs} runs");
    table.add(figure("wall"), time(wall), "< 50 ms", how);
    let peak = peak_of_quick(&mut project.countersign(&["status"]))?;
    table.add(figure("memory"), megabytes(peak), "< 30 MB", "resident memory at its peak");
    Ok(())
}
