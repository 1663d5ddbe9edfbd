//! The settings in force with their origins, and the schema of the configuration.

use crate::answer::v1::{Answer, Config, ConfigSchema};
use crate::project::Project;
use countersign_engine::config;

pub fn settings(project: &Project) -> Answer<Config> {
    let config = &project.config;
    let (root, file, settings) = (config.root.clone(), config.file.clone(), config.settings().to_vec());
    Answer::passed(Config { root, file, settings })
}

pub fn schema() -> Answer<ConfigSchema> {
    Answer::passed(ConfigSchema { json_schema: config::schema() })
}
