//! The rules and reviewers of a task's change, from the configuration as of its base.

use crate::Failure;
use crate::change;
use crate::project::{self, Project};
use crate::review_request::built_in_rules;
use countersign_doors::run::judging::{Judging, ReviewConfigSource};
use countersign_engine::config::{self, FILE_NAME, Flags, Gathered};
use countersign_engine::engine::Judge;
use countersign_engine::git::{Git, GitError};
use std::path::Path;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

/// The name of the reviewer that the settings of a run give as a command.
const REVIEW_COMMAND: &str = "review_command";

pub struct ReviewCommand {
    pub words: Vec<String>,
    pub model: Option<String>,
}

pub struct AsOfBase {
    /// The configuration file and the reviewer of the command line.
    flags: Flags,
    /// The reviewer of the run settings, used where no other one is configured.
    command: Option<ReviewCommand>,
    timeout: Duration,
    /// The files of the project at the start of the run.
    gathered: Gathered,
    /// The last configuration that was read, by its blob id: mostly it is the same for all tasks.
    read: Mutex<Option<(String, Vec<u8>)>>,
}

impl AsOfBase {
    pub fn gather(flags: Flags, command: Option<ReviewCommand>, timeout: Duration) -> Result<Self, Failure> {
        let gathered = config::gather(&project::current_folder()?, &flags, &project::environment())?;
        Ok(Self { flags, command, timeout, gathered, read: Mutex::default() })
    }

    /// The configuration as of a commit; none where it has none.
    async fn configuration(&self, git: &Git, commit: &str) -> Result<Option<Vec<u8>>, GitError> {
        let Some((_, id)) = git.first_blob_at(commit, &[FILE_NAME]).await? else { return Ok(None) };
        let known = self.read.lock().ok().and_then(|read| read.clone());
        if let Some((_, bytes)) = known.filter(|(known, _)| *known == id) {
            return Ok(Some(bytes));
        }
        let bytes = git.blob(&id).await?;
        if let Ok(mut read) = self.read.lock() {
            *read = Some((id, bytes.clone()));
        }
        Ok(Some(bytes))
    }

    async fn find(&self, base: &str, folder: &Path) -> Result<Judging, Failure> {
        let (flags, environment) = (&self.flags, project::environment());
        let mut gathered = Gathered { root: folder.to_owned(), ..self.gathered.clone() };
        if flags.config.is_none() && environment.config.is_none() {
            let bytes = self.configuration(&Git::at(folder), base).await;
            if let Some(bytes) = bytes.map_err(|error| Failure::usage(error.to_string()))? {
                // The configuration of the base holds; a change of it is shown to a person elsewhere.
                let _ = change::put(bytes, base, &mut gathered);
            }
        }
        let project = Project::of(folder.to_owned(), &gathered, flags, &environment)?;
        let rules = match project.config.rules.is_empty() {
            true => built_in_rules()?,
            false => project.config.rules.clone(),
        };
        let mut panelists = match &self.command {
            Some(command) if project.config.reviewer.is_none() && project.config.reviewers.is_empty() => {
                project.free_text(REVIEW_COMMAND, &command.words, command.model.clone()).into_iter().collect()
            }
            _ => project.panelists()?,
        };
        for panelist in &mut panelists {
            panelist.timeout = panelist.timeout.or(Some(self.timeout));
        }
        let program = panelists.first().and_then(|panelist| program(&panelist.judge));
        let planner = project.planner_for(panelists)?;
        Ok(Judging { program, rules, policy: project.config.policy.clone(), planner })
    }
}

/// The program of a reviewer, for which the project may have its own prompt.
fn program(judge: &Judge) -> Option<String> {
    match judge {
        Judge::Command(command) => command.argv.first().cloned(),
        Judge::Marked(marked) => Some(marked.worker.name().to_owned()),
        Judge::Agent(agent) => Some(agent.program.name.to_owned()),
        Judge::Service(_)
        | Judge::Replay { .. }
        | Judge::TwoCall(_)
        | Judge::Library(_)
        | Judge::SelfReview => None,
    }
}

impl ReviewConfigSource for AsOfBase {
    fn at<'a>(
        &'a self,
        base: &'a str,
        folder: &'a Path,
    ) -> Pin<Box<dyn Future<Output = Result<Judging, String>> + Send + 'a>> {
        Box::pin(async move { self.find(base, folder).await.map_err(|failure| failure.to_string()) })
    }
}
