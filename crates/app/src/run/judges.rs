//! The rules and reviewers of a task's change, from the trusted configuration.

use crate::Failure;
use crate::project::Project;
use crate::review_request::built_in_rules;
use countersign_core::rule::Rule;
use countersign_doors::run::judging::{Judging, ReviewConfigSource};
use countersign_engine::engine::Judge;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The name of the reviewer that the settings of a run give as a command.
const REVIEW_COMMAND: &str = "review_command";

pub struct ReviewCommand {
    pub words: Vec<String>,
    pub model: Option<String>,
}

pub struct TrustedJudges {
    /// The project with the trusted configuration.
    pub project: Arc<Project>,
    /// The reviewer of the run settings, used where no other one is configured.
    pub command: Option<ReviewCommand>,
    pub timeout: Duration,
}

impl TrustedJudges {
    fn find(&self, folder: &Path) -> Result<Judging, Failure> {
        let project = self.project.in_worktree(folder)?;
        let rules = match project.config.rules.is_empty() {
            true => built_in_rules()?,
            false => project.config.rules.iter().map(Rule::about_whole_files).collect(),
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
        let trusted = self.project.trusted_commit().map(str::to_owned);
        Ok(Judging { program, rules, policy: project.config.policy.clone(), trusted, planner })
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

impl ReviewConfigSource for TrustedJudges {
    fn at<'a>(
        &'a self,
        _base: &'a str,
        folder: &'a Path,
    ) -> Pin<Box<dyn Future<Output = Result<Judging, String>> + Send + 'a>> {
        Box::pin(async move { self.find(folder).map_err(|failure| failure.to_string()) })
    }
}
