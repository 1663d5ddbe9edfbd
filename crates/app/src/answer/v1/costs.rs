//! What questions have cost.

use crate::spent::Spent;
use countersign_engine::ledger::Cost;
use schemars::JsonSchema;
use serde::Serialize;

/// What `costs` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Costs {
    /// How many days are looked at, today included.
    pub days: u32,
    /// By day, reviewer and model, newest day first.
    pub rows: Vec<CostRow>,
    /// All of it together; `day`, `reviewer` and `model` are null.
    pub total: CostRow,
}

/// What questions of a day to a reviewer have cost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CostRow {
    /// The day in UTC, `YYYY-MM-DD`.
    pub day: Option<String>,
    /// The reviewer.
    pub reviewer: Option<String>,
    /// The model that answered, or null.
    pub model: Option<String>,
    /// How many questions were asked.
    pub questions: u64,
    /// Tokens and money.
    #[serde(flatten)]
    pub spent: Spent,
    #[serde(skip)]
    pub sums: Cost,
}

impl From<Cost> for CostRow {
    fn from(sums: Cost) -> Self {
        let known = |sum: u64, unknown: u64| (unknown == 0 || unknown != sums.questions).then_some(sum);
        let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Self {
            day: named(&sums.day),
            reviewer: named(&sums.reviewer),
            model: sums.model.clone(),
            questions: sums.questions,
            spent: Spent {
                tokens_in: known(sums.tokens_in, sums.tokens_unknown),
                tokens_out: known(sums.tokens_out, sums.tokens_unknown),
                microusd: known(sums.microusd, sums.cost_unknown),
                unknown: sums.cost_unknown,
                tokens_unknown: sums.tokens_unknown,
            },
            sums,
        }
    }
}
