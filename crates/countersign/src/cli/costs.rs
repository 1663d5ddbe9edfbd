//! `countersign costs`: what questions have cost, by day, reviewer and model.

use super::{Failure, Global};
use crate::output::{Answer, bold, dim};
use clap::Args;
use countersign_app::answer::v1::Costs;
use countersign_app::costs::costs;
use countersign_app::project::Project;
use countersign_core::cost::dollars;
use countersign_core::text::visible_line;
use countersign_engine::ledger::Cost;

const COSTS_HELP: &str = "\
Examples:
  countersign costs            the last 30 days
  countersign costs --days 1   today (UTC)

Tokens and money are what reviewers report, or tokens at their configured price. What no reviewer
reported is unknown, shown as ?, and never counted as 0.";

#[derive(Debug, Args)]
#[command(after_help = COSTS_HELP)]
pub struct CostsOptions {
    /// How many days to look back, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub days: u32,
}

const COLUMNS: [&str; 7] = ["day", "reviewer", "model", "questions", "tokens in", "tokens out", "cost"];
/// The columns before this one are words, the others numbers.
const FIRST_NUMBER: usize = 3;

pub async fn run(global: &Global, options: CostsOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let answer = costs(&project, options.days).await?;
    let text = text(&answer.own);
    Ok(Answer::of(answer, text))
}

fn text(costs: &Costs) -> String {
    let Costs { days, rows: costs, total } = costs;
    if costs.is_empty() {
        let when = if *days == 1 { "today".to_owned() } else { format!("in the last {days} days") };
        return format!("no reviewer was asked {when}\n");
    }
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(costs.iter().map(|row| cells(&row.sums)));
    rows.push(cells(&Cost { day: "total".to_owned(), ..total.sums.clone() }));
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0))
        .collect();
    let last = rows.len() - 1;
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let line = line(row, &widths);
        out.push_str(&match i {
            0 => dim(&line),
            i if i == last => bold(&line),
            _ => line,
        });
        out.push('\n');
    }
    if total.sums.cost_unknown > 0 {
        let words = "+ ?: for some questions no reviewer reported a cost; unknown is not counted as 0\n";
        out.push_str(&dim(words));
    }
    out
}

fn line(row: &[String; 7], widths: &[usize]) -> String {
    let cell = |(i, cell): (usize, &String)| match i < FIRST_NUMBER {
        true => format!("{cell:<width$}", width = widths[i]),
        false => format!("{cell:>width$}", width = widths[i]),
    };
    row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

fn cells(cost: &Cost) -> [String; 7] {
    let known = |sum: String, unknown: u64| match unknown {
        0 => sum,
        all if all == cost.questions => "?".to_owned(),
        _ => format!("{sum} + ?"),
    };
    [
        cost.day.clone(),
        visible_line(&cost.reviewer).into_owned(),
        visible_line(cost.model.as_deref().unwrap_or("")).into_owned(),
        cost.questions.to_string(),
        known(cost.tokens_in.to_string(), cost.tokens_unknown),
        known(cost.tokens_out.to_string(), cost.tokens_unknown),
        known(dollars(cost.microusd), cost.cost_unknown),
    ]
}
