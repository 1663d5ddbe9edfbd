//! What the hook costs where nothing changed: it is called whenever an agent stops. Beside it `git status`, in the same run.

use crate::figures::Sizes;
use crate::measure::{children_cpu, median_wall_fed, median_walls, run_fed};
use crate::project::Project;
use crate::table::{Table, megabytes, time};
use anyhow::ensure;
use serde_json::json;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How often everything is read: that takes seconds.
const COLD_RUNS: usize = 5;
/// Longer than the clock of a file system needs to move on: younger files are read in any case.
const SETTLED: Duration = Duration::from_millis(500);
const CALLS_MAX: usize = 20;

/// A repository whose hook was called, and what its program writes to it.
struct Hooked {
    project: Project,
    input: PathBuf,
    _folder: tempfile::TempDir,
}

impl Hooked {
    fn new(files: usize) -> anyhow::Result<Self> {
        let project = Project::with_pages(files)?;
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@example.invalid"],
            &["add", "-A"],
            &["commit", "-q", "-m", "begin"],
            &["status", "-s"],
        ] {
            let ended = Command::new("git").args(words).current_dir(project.root()).status()?;
            ensure!(ended.success(), "git {words:?} ended with {ended}");
        }
        let folder = tempfile::tempdir()?;
        let input = folder.path().join("input.json");
        let stop = json!({
            "session_id": "s", "cwd": project.root(), "hook_event_name": "Stop", "stop_hook_active": false,
            "last_assistant_message": "It is done.", "transcript_path": null,
        });
        std::fs::write(&input, stop.to_string())?;
        let hooked = Self { project, input, _folder: folder };
        hooked.call_until_kept()?;
        Ok(hooked)
    }

    /// Calls the hook until it writes nothing more to what it keeps.
    fn call_until_kept(&self) -> anyhow::Result<()> {
        let list = self.project.ledger().join("room");
        let written = |list: &Path| -> Option<_> {
            std::fs::read_dir(list).ok()?.flatten().find_map(|entry| entry.metadata().ok()?.modified().ok())
        };
        for _ in 0..CALLS_MAX {
            std::thread::sleep(SETTLED);
            let before = written(&list);
            let said = self.hook().stdin(File::open(&self.input)?).output()?;
            let words = String::from_utf8_lossy(&said.stdout);
            ensure!(said.status.success() && said.stdout.is_empty(), "the hook says: {words}");
            if before.is_some() && written(&list) == before {
                return Ok(());
            }
        }
        anyhow::bail!("the hook writes its list anew at every call")
    }

    fn hook(&self) -> Command {
        self.project.countersign(&["hook", "claude"])
    }

    /// The hook with nothing kept.
    fn cold(&self) -> Command {
        let mut command = self.hook();
        command.env("CI", "true");
        command
    }

    fn status(&self) -> Command {
        let mut command = Command::new("git");
        command.arg("status").current_dir(self.project.root());
        command
    }
}

/// Nothing changed in this many committed files.
pub fn unchanged(files: usize, sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let hooked = Hooked::new(files)?;
    let runs = sizes.runs.div_ceil(5);
    let figure = |what: &str| format!("`hook`, nothing changed in {files} committed files, {what}");
    let commands: [&dyn Fn() -> Command; 2] = [&|| hooked.status(), &|| hooked.hook()];
    let [status, kept] = median_walls(runs, &hooked.input, commands)?;
    let cold = median_wall_fed(COLD_RUNS, &hooked.input, || hooked.cold())?;
    let how = format!("with the index of the user, untracked files shown; median of {runs} runs");
    table.add(format!("`git status`, {files} committed files, wall"), time(status), "", how);
    let times = |wall: Duration| {
        format!("{}, {:.2} times `git status`", time(wall), wall.as_secs_f64() / status.as_secs_f64())
    };
    let how = format!("the whole command, in turn with `git status`; median of {runs} runs");
    table.add(figure("room kept, wall"), times(kept), "< 2.5 times", how);
    let how = format!("every file and tree is read, as in CI; median of {COLD_RUNS} runs");
    table.add(figure("room cold, wall"), times(cold), "", how);
    let whole = children_cpu(runs, &hooked.input, || hooked.hook())?;
    table.add(figure("room kept, CPU"), time(whole), "", "all processes and threads, git's included");
    let cost = run_fed(&mut hooked.hook(), &hooked.input)?;
    let how = "resident memory at its peak, without git";
    table.add(figure("room kept, memory"), megabytes(cost.peak_bytes), "", how);
    let cost = run_fed(&mut hooked.cold(), &hooked.input)?;
    table.add(figure("room cold, memory"), megabytes(cost.peak_bytes), "", how);
    Ok(())
}
