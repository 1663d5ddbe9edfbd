//! `countersign costs`: what questions have cost, by day, reviewer and model.

use super::arguments::CostsOptions;
use super::{Failure, Global};
use crate::output::{Answer, bold, dim};
use countersign_app::project::Project;
use countersign_core::cost::{MICRO, dollars};
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_engine::ledger::Cost;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

const COLUMNS: [&str; 7] = ["day", "reviewer", "model", "questions", "tokens in", "tokens out", "cost"];
/// The columns before this one are words, the others numbers.
const FIRST_NUMBER: usize = 3;

/// Shows what was spent.
pub async fn run(global: &Global, options: CostsOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let since = Timestamp::now() - SignedDuration::from_hours(24 * i64::from(options.days - 1));
    let since = since.as_millisecond() - since.as_millisecond().rem_euclid(24 * 60 * 60 * 1000);
    let costs = match project.existing_ledger().await? {
        None => vec![],
        Some(ledger) => {
            let costs = ledger.costs(since).await?;
            ledger.close().await;
            costs
        }
    };
    let total = total(&costs);
    let json = json!({
        "days": options.days,
        "rows": costs.iter().map(row_json).collect::<Vec<_>>(),
        "total": row_json(&total),
    });
    Ok(Answer::new(Outcome::Passed, text(&costs, &total, options.days), json))
}

fn total(costs: &[Cost]) -> Cost {
    let none = Cost {
        day: String::new(),
        reviewer: String::new(),
        model: None,
        questions: 0,
        tokens_in: 0,
        tokens_out: 0,
        tokens_unknown: 0,
        microusd: 0,
        cost_unknown: 0,
    };
    costs.iter().fold(none, |sum, cost| Cost {
        questions: sum.questions + cost.questions,
        tokens_in: sum.tokens_in.saturating_add(cost.tokens_in),
        tokens_out: sum.tokens_out.saturating_add(cost.tokens_out),
        tokens_unknown: sum.tokens_unknown + cost.tokens_unknown,
        microusd: sum.microusd.saturating_add(cost.microusd),
        cost_unknown: sum.cost_unknown + cost.cost_unknown,
        ..sum
    })
}

fn text(costs: &[Cost], total: &Cost, days: u32) -> String {
    if costs.is_empty() {
        let when = if days == 1 { "today".to_owned() } else { format!("in the last {days} days") };
        return format!("nobody was asked {when}\n");
    }
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(costs.iter().map(cells));
    rows.push(cells(&Cost { day: "total".to_owned(), ..total.clone() }));
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
    if total.cost_unknown > 0 {
        let words = "+ ?: some of these questions did not say; what is unknown is not counted as nothing\n";
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

fn row_json(cost: &Cost) -> Value {
    let known =
        |sum: Value, unknown: u64| if unknown == cost.questions && unknown > 0 { Value::Null } else { sum };
    #[expect(clippy::cast_precision_loss, reason = "nobody pays that much")]
    let usd = cost.microusd as f64 / MICRO as f64;
    json!({
        "day": Some(&cost.day).filter(|day| !day.is_empty()),
        "reviewer": Some(&cost.reviewer).filter(|name| !name.is_empty()),
        "model": cost.model,
        "questions": cost.questions,
        "tokens_in": known(json!(cost.tokens_in), cost.tokens_unknown),
        "tokens_out": known(json!(cost.tokens_out), cost.tokens_unknown),
        "questions_with_unknown_tokens": cost.tokens_unknown,
        "usd": known(json!(usd), cost.cost_unknown),
        "questions_with_unknown_cost": cost.cost_unknown,
    })
}
