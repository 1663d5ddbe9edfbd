//! The settings in force with their origins, and the schema of the configuration.

use crate::answer::v1::{Answer, Config, ConfigSchema};
use crate::authority::FlagsFrom;
use crate::project::Project;
use countersign_engine::config::{self, Flags};
use std::path::PathBuf;

/// The settings of a question, and where gates take theirs from.
pub async fn settings(project: &Project) -> Answer<Config> {
    let config = &project.config;
    let (root, file, settings) = (config.root.clone(), config.file.clone(), config.settings().to_vec());
    let gate = of_gates(project.here.clone()).await;
    Answer::passed(Config { root, file, settings, gate })
}

/// What gates use in a folder, in words; none where no person has trusted the configuration yet.
pub async fn of_gates(here: PathBuf) -> Option<String> {
    let gate = Project::for_gate(here, &Flags::default(), FlagsFrom::Caller).await;
    gate.ok().and_then(|gate| gate.authority).map(|authority| authority.source.to_string())
}

pub fn schema() -> Answer<ConfigSchema> {
    Answer::passed(ConfigSchema { json_schema: config::schema() })
}
