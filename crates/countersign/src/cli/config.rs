//! `countersign config`: the settings in force and where they come from.

use super::{Failure, Global};
use crate::output::Answer;
use clap::Args;
use countersign_app::answer::v1::Setting;
use countersign_app::project::Project;
use countersign_app::settings::{schema, settings};

#[derive(Debug, Args)]
pub struct ConfigOptions {
    /// Show where each setting comes from
    #[arg(long)]
    pub show_origin: bool,
    /// Print the JSON schema of countersign.yml
    #[arg(long)]
    pub schema: bool,
}

pub async fn run(global: &Global, options: &ConfigOptions) -> Result<Answer, Failure> {
    if options.schema {
        let answer = schema();
        let text = serde_json::to_string_pretty(&answer.own.json_schema);
        let text = text.map_err(|error| Failure::internal(error.to_string()))?;
        return Ok(Answer::of(answer, text + "\n"));
    }
    let answer = settings(&Project::find(global.config.as_deref(), None)?).await;
    let line = |Setting { name, value, origin }: &Setting| match options.show_origin {
        true => format!("{name} = {value}    # {origin}\n"),
        false => format!("{name} = {value}\n"),
    };
    let mut text: String = answer.own.settings.iter().map(line).collect();
    if options.show_origin {
        let gate =
            answer.own.gate.as_deref().unwrap_or("nothing before a person trusts it: countersign trust");
        text.push_str(&format!("# gates use {gate}\n"));
    }
    Ok(Answer::of(answer, text))
}
