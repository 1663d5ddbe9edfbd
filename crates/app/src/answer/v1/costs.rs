//! What questions have cost.

use countersign_core::cost::MICRO;
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
    /// Who was asked.
    pub reviewer: Option<String>,
    /// The model that answered, or null.
    pub model: Option<String>,
    /// How many questions were asked.
    pub questions: u64,
    /// Tokens of the questions, as far as they are known; null where nothing is.
    pub tokens_in: Option<u64>,
    /// Tokens of the replies, as far as they are known.
    pub tokens_out: Option<u64>,
    /// How many questions are not in these sums.
    pub questions_with_unknown_tokens: u64,
    /// What they cost in dollars, as far as it is known.
    pub usd: Option<f64>,
    /// How many questions are not in this sum.
    pub questions_with_unknown_cost: u64,
    /// The sums as they are, for text.
    #[serde(skip)]
    pub sums: Cost,
}

impl From<Cost> for CostRow {
    fn from(sums: Cost) -> Self {
        let known = |unknown: u64| unknown == 0 || unknown != sums.questions;
        let tokens = |sum: u64| Some(sum).filter(|_| known(sums.tokens_unknown));
        let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        #[expect(clippy::cast_precision_loss, reason = "no project pays that much")]
        let usd = sums.microusd as f64 / MICRO as f64;
        Self {
            day: named(&sums.day),
            reviewer: named(&sums.reviewer),
            model: sums.model.clone(),
            questions: sums.questions,
            tokens_in: tokens(sums.tokens_in),
            tokens_out: tokens(sums.tokens_out),
            questions_with_unknown_tokens: sums.tokens_unknown,
            usd: Some(usd).filter(|_| known(sums.cost_unknown)),
            questions_with_unknown_cost: sums.cost_unknown,
            sums,
        }
    }
}
