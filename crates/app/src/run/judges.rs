//! The rules and reviewers of a task's change, from the trusted configuration.

use crate::Failure;
use crate::authority::started;
use crate::project::Project;
use crate::review_request::built_in_rules;
use countersign_core::plan::{self, Reviewer};
use countersign_core::rule::Rule;
use countersign_doors::run::judging::{Judging, NoReviewer, ReviewConfigSource};
use countersign_engine::engine::{Judge, Panelist};
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
    /// Fails where a question could be put to no reviewer. One that is there is enough: it is asked where others are not.
    fn check(&self, folder: &Path) -> Result<(), NoReviewer> {
        let wrong = |words: String| NoReviewer { words, is_configured: false };
        let (project, rules, panelists) = self.parts(folder).map_err(|failure| wrong(failure.to_string()))?;
        let (surroundings, root) = (project.surroundings(), project.root.path().to_owned());
        let planner = project.planner_for(panelists.clone()).map_err(|failure| wrong(failure.to_string()))?;
        let reviewers = planner.panel.reviewers(planner.bounds.prompt_bytes);
        for rule in &rules {
            let judges = plan::judges(rule, &reviewers).map_err(|error| wrong(error.to_string()))?;
            let named = |judge: &Reviewer| panelists.iter().find(|panelist| panelist.name == judge.name);
            let why = |panelist: &Panelist| match &panelist.judge {
                Judge::Service(service) => service.check_key().err(),
                judge => started(judge, &surroundings, &root).and_then(Result::err),
            };
            let missing: Vec<String> = judges.iter().filter_map(named).filter_map(why).collect();
            if !judges.is_empty() && missing.len() == judges.len() {
                return Err(NoReviewer { words: missing.join("; "), is_configured: true });
            }
        }
        Ok(())
    }

    fn parts(&self, folder: &Path) -> Result<(Project, Vec<Rule>, Vec<Panelist>), Failure> {
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
        Ok((project, rules, panelists))
    }

    fn find(&self, folder: &Path) -> Result<Judging, Failure> {
        let (project, rules, panelists) = self.parts(folder)?;
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
    fn ready(&self, folder: &Path) -> Result<(), NoReviewer> {
        self.check(folder)
    }

    fn at<'a>(
        &'a self,
        _base: &'a str,
        folder: &'a Path,
    ) -> Pin<Box<dyn Future<Output = Result<Judging, String>> + Send + 'a>> {
        Box::pin(async move { self.find(folder).map_err(|failure| failure.to_string()) })
    }
}
