//! `countersign config`: the settings in force and where they come from.

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use clap::Args;
use countersign_app::answer::v1::Setting;
use countersign_app::author::is_agent;
use countersign_app::project::{Project, current_folder};
use countersign_app::settings::{of_gates, schema, settings};

#[derive(Debug, Args)]
pub struct ConfigOptions {
    /// Show where each setting comes from
    #[arg(long)]
    pub show_origin: bool,
    /// Print the JSON schema of countersign.yml
    #[arg(long)]
    pub schema: bool,
}

pub async fn run(global: &Global, options: &ConfigOptions, printer: &Printer) -> Result<Answer, Failure> {
    if options.schema {
        let answer = schema();
        let text = serde_json::to_string_pretty(&answer.own.json_schema);
        let text = text.map_err(|error| Failure::internal(error.to_string()))?;
        return Ok(Answer::of(answer, text + "\n"));
    }
    let project = match Project::find(global.config.as_deref(), None) {
        Ok(project) => project,
        Err(failure) if options.show_origin => {
            // Gates do not use a file that is wrong, and a person wants to know what they use.
            let gate = of_gates(current_folder()?).await;
            printer.show(&of_gates_line(gate.as_deref()));
            return Err(failure);
        }
        Err(failure) => return Err(failure),
    };
    let answer = settings(&project).await;
    let line = |Setting { name, value, origin }: &Setting| match options.show_origin {
        true => format!("{name} = {value}    # {origin}\n"),
        false => format!("{name} = {value}\n"),
    };
    let mut text: String = answer.own.settings.iter().map(line).collect();
    if options.show_origin {
        text.push_str(&format!("{}\n", of_gates_line(answer.own.gate.as_deref())));
    }
    Ok(Answer::of(answer, text))
}

fn of_gates_line(gate: Option<&str>) -> String {
    let gate = match gate {
        Some(gate) => gate,
        None if is_agent() => "nothing before a person trusts it",
        None => "nothing before a person trusts it: countersign trust",
    };
    format!("# gates use {gate}")
}
