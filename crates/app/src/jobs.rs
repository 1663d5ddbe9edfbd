//! Opens the door of workflows: agents do a job step by step, and every step is judged before the next begins.

use crate::Failure;
use crate::project::Project;
use crate::server_state::ServerState;
use countersign_doors::jobs::{Jobs, Judged, Memory, Options, policy};
use countersign_engine::engine::Engine;
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

    /// The project for workflows: with the runner or the author as reviewer, and all reviews of a step at once.
    pub async fn project(&self, resident: &ServerState) -> Result<Project, Failure> {
        let reviewer = self.runner.clone().unwrap_or_else(|| SELF.to_owned());
        Ok(Project { all_at_once: true, ..resident.gate_project(Some(reviewer)).await? })
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
