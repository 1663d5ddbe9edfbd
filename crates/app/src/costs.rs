//! The costs of questions, by day, reviewer and model.

use crate::Failure;
use crate::answer::v1::{Answer, CostRow, Costs};
use crate::project::Project;
use countersign_engine::ledger::{Cost, Ledger};
use jiff::{SignedDuration, Timestamp};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub async fn costs(project: &Project, days: u32) -> Result<Answer<Costs>, Failure> {
    let ledger = project.existing_ledger().await?;
    let costs = costs_of(ledger.as_ref(), days).await?;
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    Ok(Answer::passed(costs))
}

/// The costs of the last days, today included; without a ledger there are none.
pub async fn costs_of(ledger: Option<&Ledger>, days: u32) -> Result<Costs, Failure> {
    let since = Timestamp::now() - SignedDuration::from_hours(24 * i64::from(days.saturating_sub(1)));
    let since = since.as_millisecond() - since.as_millisecond().rem_euclid(DAY_MS);
    let costs = match ledger {
        None => vec![],
        Some(ledger) => ledger.costs(since).await?,
    };
    let total = total(&costs).into();
    Ok(Costs { days, rows: costs.into_iter().map(CostRow::from).collect(), total })
}

fn total(costs: &[Cost]) -> Cost {
    costs.iter().fold(Cost::default(), |sum, cost| Cost {
        questions: sum.questions + cost.questions,
        tokens_in: sum.tokens_in.saturating_add(cost.tokens_in),
        tokens_out: sum.tokens_out.saturating_add(cost.tokens_out),
        tokens_unknown: sum.tokens_unknown + cost.tokens_unknown,
        microusd: sum.microusd.saturating_add(cost.microusd),
        cost_unknown: sum.cost_unknown + cost.cost_unknown,
        ..sum
    })
}
