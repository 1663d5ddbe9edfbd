//! Opens the door of workflows: agents do a job step by step, and every step is judged before the next begins.

use crate::Failure;
use crate::authority::FlagsFrom;
use crate::project::Project;
use crate::server_state::ServerState;
use countersign_core::plan::CHECKS;
use countersign_doors::jobs::{Jobs, Judged, Memory, Options, policy};
use countersign_engine::config::{self, Flags, Sees, UNKNOWN_REVIEWER};
use countersign_engine::engine::Engine;
use countersign_engine::installed;
use countersign_engine::programs::PROGRAMS;
use std::path::Path;
use std::sync::Arc;

/// The reviewer of a server without a runner: the author itself.
const SELF: &str = "self";

/// The configured reviewers, as for a runner of this name.
const CONFIGURED: &str = "auto";

#[derive(Clone, Debug)]
pub struct Judging {
    /// The reviewer instead of the configured ones: a configured name or a short form.
    pub runner: Option<String>,
    /// Whether the outputs of a step are judged before it counts as finished.
    pub quality_gate: bool,
    /// The failing call of a step that stops it, instead of the configured one.
    pub max_attempts: Option<u32>,
}

impl Judging {
    /// What counts for a server that an agent started: none of its flags, and an agent is not its own reviewer.
    pub fn without_flags() -> Self {
        Self { runner: Some(CONFIGURED.to_owned()), quality_gate: true, max_attempts: None }
    }

    /// Refuses a runner that no step could be judged by, so that a mistake shows when the server starts. What is only
    /// missing now, or cannot be known before a person has trusted the project, is a warning.
    pub async fn check_runner(&self, folder: &Path, config: Option<&Path>) -> Result<Vec<String>, Failure> {
        let Some(runner) = self.runner.as_deref().filter(|runner| *runner != CONFIGURED) else {
            return Ok(vec![]);
        };
        let wrong = |words: String| Failure::usage(format!("--external-runner {runner}: {words}"));
        if runner == CHECKS {
            return Err(wrong("checks answer no questions, and the reviews of steps ask some".to_owned())
                .hint(format!("name a reviewer, such as {}", PROGRAMS.reviewer_names())));
        }
        let path = std::env::var_os("PATH");
        let is_there = |program: &str| installed::find(program, folder, path.as_deref()).is_some();
        if let Some((_, line)) = runner.split_once(':').filter(|_| config::is_short_form(runner)) {
            let program = line.split_whitespace().next().unwrap_or_default();
            let is_file = !line.is_empty() && folder.join(line).is_file();
            return match is_file || (!program.is_empty() && is_there(program)) {
                true => Ok(vec![]),
                false => Err(wrong(format!("`{line}` was not found"))
                    .hint(format!("paths begin in {}", folder.display()))),
            };
        }
        if config::is_short_form(runner) {
            let is_missing = runner != SELF && !is_there(runner);
            let words = || {
                format!(
                    "`{runner}` is not installed, or not on the PATH of this server: no step can be judged"
                )
            };
            return Ok(is_missing.then(words).into_iter().collect());
        }
        let flags = Flags { config: config.map(Path::to_owned), reviewer: Some(runner.to_owned()) };
        match Project::for_gate(folder.to_owned(), &flags, FlagsFrom::Settings).await {
            Ok(_) => Ok(vec![]),
            Err(failure) if failure.diagnostics.iter().any(|one| one.code == UNKNOWN_REVIEWER) => {
                Err(failure)
            }
            // Every call says it again.
            Err(failure) => Ok(vec![failure.message]),
        }
    }

    /// The project for workflows: with the runner or the author as reviewer, and all reviews of a step at once.
    pub async fn project(&self, resident: &ServerState) -> Result<Project, Failure> {
        let reviewer = self.runner.clone().unwrap_or_else(|| SELF.to_owned());
        let project = resident.gate_project(Some(reviewer)).await?;
        let shows_project = project.config.jobs.sees == Sees::Project;
        Ok(Project { all_at_once: true, shows_project, ..project })
    }

    pub fn open(&self, project: &Project, engine: Engine, memory: Arc<Memory>, one_client: bool) -> Jobs {
        let judged = match (self.quality_gate, &self.runner) {
            (false, _) => Judged::ByNobody,
            (true, Some(_)) => Judged::ByReviewers,
            (true, None) => Judged::BySelf,
        };
        let policy = policy(&project.config, self.max_attempts);
        Jobs::new(engine, project.root.clone(), Options { judged, policy, one_client }, memory)
    }
}
