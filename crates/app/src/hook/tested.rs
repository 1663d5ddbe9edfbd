//! The test of an installed hook: the program that agent programs will find is called as they call it, in a repository where
//! nothing is to be judged, so that no reviewer is asked.

use crate::project;
use countersign_core::text::visible_line;
use countersign_engine::git::Git;
use countersign_engine::installed;
use countersign_engine::process::{self, Call, Ended, ProcessEnd};
use countersign_engine::programs::{Hook, PROGRAMS};
use countersign_engine::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a hook may take that has nothing to judge.
const TEST_SECONDS: u64 = 10;
/// An event that no program has: a hook that reads its input refuses it.
const NO_EVENT: &str = "countersign-init";
const COMMIT: [&str; 11] = [
    "-c",
    "user.name=countersign",
    "-c",
    "user.email=countersign@localhost",
    "-c",
    "core.hooksPath=/dev/null",
    "commit",
    "--quiet",
    "--no-gpg-sign",
    "--allow-empty",
    "--message=empty",
];

/// Calls the hook as the agent program does, by its name on the `PATH`: which file was found there.
pub async fn test(program: &str) -> Result<Option<PathBuf>, String> {
    let Some(hook) = PROGRAMS.hooks().find(|hook| hook.program.name == program) else { return Ok(None) };
    let scratch = Scratch::new("hook").map_err(|error| error.to_string())?;
    // A folder of its own: that of the scratch has a file in it.
    let folder = scratch.path().join("project");
    std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let git = Git::at(&folder);
    git.run(["init", "--quiet", "--template="]).await.map_err(|error| error.to_string())?;
    git.run(COMMIT).await.map_err(|error| error.to_string())?;
    let path = std::env::var_os("PATH");
    let found = installed::find("countersign", &folder, path.as_deref());
    let found = found.ok_or("`countersign` is not on the PATH, where agents look for it")?;
    let refused = called(&found, &hook, &folder, NO_EVENT).await?;
    if refused.how == ProcessEnd::Exited(0) {
        return Err(format!("`{}` does not read its input", found.display()));
    }
    let ended = called(&found, &hook, &folder, hook.event).await?;
    match ended.how {
        ProcessEnd::Exited(0) => Ok(Some(found)),
        ProcessEnd::TimedOut => {
            Err(format!("`{}` did not answer within {TEST_SECONDS} seconds", found.display()))
        }
        _ => Err(visible_line(ended.stderr_tail.trim()).into_owned()),
    }
}

async fn called(found: &Path, hook: &Hook, folder: &Path, event: &str) -> Result<Ended, String> {
    let input = serde_json::json!({
        "session_id": "countersign-init", "cwd": folder, "hook_event_name": event, "stop_hook_active": false,
    });
    let guard = project::guard_program().map_err(|failure| failure.message)?;
    let call = Call {
        args: vec!["hook".into(), hook.program.name.into()],
        cwd: folder.to_owned(),
        // Below an agent program it names the project itself.
        env: hook.project_variable.iter().map(|name| (name.into(), folder.into())).collect(),
        stdin: input.to_string().into_bytes(),
        timeout: Duration::from_secs(TEST_SECONDS),
        ..Call::new(found)
    };
    process::run(&guard, call, &CancellationToken::new()).await.map_err(|error| error.to_string())
}
