//! What the hook costs where nothing changed: it is called whenever an agent stops. Our own share beside git's.

use crate::figures::Sizes;
use crate::measure::{children_cpu, median_wall_fed, run_fed};
use crate::project::Project;
use crate::table::{Table, megabytes, time};
use anyhow::{Context, ensure};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository with a hook that was called once, and what its program writes to it.
struct Hooked {
    project: Project,
    input: PathBuf,
    folder: tempfile::TempDir,
}

impl Hooked {
    fn new(files: usize) -> anyhow::Result<Self> {
        let project = Project::with_files(files)?;
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
        let folder = tempfile::tempdir()?;
        let input = folder.path().join("input.json");
        let stop = json!({
            "session_id": "s", "cwd": project.root(), "hook_event_name": "Stop", "stop_hook_active": false,
            "last_assistant_message": "It is done.", "transcript_path": null,
        });
        std::fs::write(&input, stop.to_string())?;
        let hooked = Self { project, input, folder };
        run_fed(&mut hooked.command(None), &hooked.input)?;
        Ok(hooked)
    }

    /// The hook, with another git first on its PATH.
    fn command(&self, git: Option<&Path>) -> Command {
        let mut command = self.project.countersign(&["hook", "claude"]);
        if let Some(git) = git {
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{}:{path}", git.display()));
        }
        command
    }

    /// A `git` that keeps what the real one says to each call, and how often it was called.
    fn recording(&self) -> anyhow::Result<usize> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let real = std::env::split_paths(&path).map(|place| place.join("git")).find(|git| git.is_file());
        let real = real.context("there is no git")?;
        let kept = self.folder.path().display();
        let script = format!(
            "#!/bin/sh\nprintf x >>{kept}/calls\nn=$(wc -c <{kept}/calls)\n{} \"$@\" | tee {kept}/said-$n\n",
            real.display()
        );
        run_fed(&mut self.command(Some(&self.git("recording", &script)?)), &self.input)?;
        Ok(std::fs::read(self.folder.path().join("calls"))?.len())
    }

    /// A `git` that says the same again at once: whatever time is left is ours.
    fn replaying(&self) -> anyhow::Result<PathBuf> {
        let kept = self.folder.path().display();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *porcelain*) exec cat {kept}/said-1;; *) exec cat {kept}/said-2;; esac\n"
        );
        self.git("replaying", &script)
    }

    fn git(&self, name: &str, script: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("git"), script)?;
        std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755))?;
        Ok(folder)
    }
}

/// Nothing changed, in files that are all committed, and in files of which one is not.
pub fn unchanged(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let files = sizes.hooked;
    let hooked = Hooked::new(files)?;
    let runs = sizes.runs.div_ceil(5);
    let figure = |what: &str| format!("`hook`, nothing changed in {files} committed files, {what}");
    let how = format!("the whole command with git, median of {runs} runs");
    let wall = median_wall_fed(runs, &hooked.input, || hooked.command(None))?;
    table.add(figure("wall"), time(wall), "", how);
    let calls = hooked.recording()?;
    ensure!(calls == 2, "git was started {calls} times");
    let replaying = hooked.replaying()?;
    let with_replay = children_cpu(runs, &hooked.input, || hooked.command(Some(&replaying)))?;
    let replay = children_cpu(runs, &hooked.input, || Command::new(replaying.join("git")))?;
    let ours = with_replay.saturating_sub(replay * 2);
    let how = "CPU with a `git` that only repeats what the real one said, less what that one takes";
    table.add(figure("our own CPU"), time(ours), "< 15 ms", how);
    let whole = children_cpu(runs, &hooked.input, || hooked.command(None))?;
    let how = format!("CPU of the whole less our own; {calls} processes, `status` and `for-each-ref`");
    table.add(figure("CPU of git"), time(whole.saturating_sub(ours)), "", how);
    let cost = run_fed(&mut hooked.command(None), &hooked.input)?;
    table.add(figure("memory of ours"), megabytes(cost.peak_bytes), "< 15 MB", "resident memory at its peak");
    hooked.project.write("docs/000/page-00000.md", "# Page\n\nAnother text, which passes.\n")?;
    run_fed(&mut hooked.command(None), &hooked.input)?;
    let wall = median_wall_fed(runs, &hooked.input, || hooked.command(None))?;
    let figure =
        format!("`hook`, nothing changed in {files} files since one that is not committed passed, wall");
    table.add(figure, time(wall), "", format!("the whole command with git, median of {runs} runs"));
    Ok(())
}
