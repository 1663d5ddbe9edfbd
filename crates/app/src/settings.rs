//! The settings in force and where they come from.

use crate::answer::v1::{Answer, Config, ConfigSchema, Setting};
use crate::project::Project;
use countersign_engine::config;

/// The settings of a project.
pub fn settings(project: &Project) -> Answer<Config> {
    let setting = |setting: &config::Setting| Setting {
        name: setting.name,
        value: setting.value.clone(),
        origin: setting.origin.to_string(),
    };
    let settings = project.config.settings().iter().map(setting).collect();
    Answer::passed(Config { root: project.config.root.clone(), file: project.config.file.clone(), settings })
}

/// The JSON schema of the configuration.
pub fn schema() -> Answer<ConfigSchema> {
    Answer::passed(ConfigSchema { json_schema: config::schema() })
}
