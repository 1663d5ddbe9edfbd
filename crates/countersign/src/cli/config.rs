//! `countersign config`: the settings in force and where they come from.

use super::arguments::ConfigOptions;
use super::{Failure, Global};
use crate::output::Answer;
use countersign_app::project::Project;
use countersign_core::outcome::Outcome;
use countersign_engine::config;
use serde_json::json;

/// Shows the settings.
pub fn run(global: &Global, options: &ConfigOptions) -> Result<Answer, Failure> {
    if options.schema {
        let schema = config::schema();
        let text =
            serde_json::to_string_pretty(&schema).map_err(|error| Failure::internal(error.to_string()))?;
        return Ok(Answer::new(Outcome::Passed, text + "\n", json!({ "json_schema": schema })));
    }
    let project = Project::find(global.config.as_deref(), None)?;
    let mut text = String::new();
    let mut rows = vec![];
    for setting in project.config.settings() {
        let origin = setting.origin.to_string();
        text.push_str(&match options.show_origin {
            true => format!("{} = {}    # {origin}\n", setting.name, setting.value),
            false => format!("{} = {}\n", setting.name, setting.value),
        });
        rows.push(json!({ "name": setting.name, "value": setting.value, "origin": origin }));
    }
    let json = json!({ "root": project.config.root, "file": project.config.file, "settings": rows });
    Ok(Answer::new(Outcome::Passed, text, json))
}
