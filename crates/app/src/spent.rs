//! Tokens and money that questions cost, as far as the reviewers report them.

use countersign_core::cost::{MICRO, dollars};
use countersign_core::review::Review;
use countersign_engine::ledger::{Call, Ledger, LedgerError};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Tokens and money.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Spent {
    /// Tokens of the questions, as far as they are known; null where none are.
    pub tokens_in: Option<u64>,
    /// Tokens of the replies, as far as they are known.
    pub tokens_out: Option<u64>,
    /// What they cost in dollars, as far as that is known (reported, or by `price`).
    #[serde(rename = "usd", serialize_with = "usd")]
    #[schemars(with = "Option<f64>")]
    pub microusd: Option<u64>,
    /// How many questions are not in `usd`.
    #[serde(rename = "questions_with_unknown_cost")]
    pub unknown: u64,
    /// How many questions are not in `tokens_in` and `tokens_out`.
    #[serde(rename = "questions_with_unknown_tokens")]
    pub tokens_unknown: u64,
}

impl Spent {
    /// The cost of the newest round of a review.
    pub async fn of(ledger: &Ledger, review: &Review) -> Result<Self, LedgerError> {
        let round = review.round().map_or(0, |round| round.n);
        let calls = ledger.calls(&review.id).await?;
        Ok(Self::sum(calls.iter().filter(|call| call.round == round)))
    }

    /// The sum over questions; the free checks are left out.
    pub fn sum<'c>(calls: impl Iterator<Item = &'c Call>) -> Self {
        let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
            (sum, None) => sum,
            (sum, Some(more)) => Some(sum.unwrap_or(0).saturating_add(more)),
        };
        let checks = countersign_core::plan::CHECKS;
        calls.filter(|call| call.reviewer != checks).fold(Self::default(), |sum, Call { report, .. }| Self {
            tokens_in: add(sum.tokens_in, report.tokens_in),
            tokens_out: add(sum.tokens_out, report.tokens_out),
            microusd: add(sum.microusd, report.cost_microusd),
            unknown: sum.unknown + u64::from(report.cost_microusd.is_none()),
            tokens_unknown: sum.tokens_unknown
                + u64::from(report.tokens_in.is_none() || report.tokens_out.is_none()),
        })
    }

    pub fn words(&self) -> String {
        let tokens = match (self.tokens_in, self.tokens_out) {
            (Some(input), Some(output)) => {
                let least = if self.tokens_unknown > 0 { "at least " } else { "" };
                format!("{least}{input} tokens in, {output} out, ")
            }
            _ => String::new(),
        };
        let cost = match (self.microusd, self.unknown) {
            (None, 0) => "cost nothing".to_owned(),
            (None, _) => "cost unknown".to_owned(),
            (Some(micro), 0) => format!("cost {}", dollars(micro)),
            (Some(micro), _) => format!("cost at least {} (some unknown)", dollars(micro)),
        };
        format!("{tokens}{cost}")
    }
}

fn usd<S: Serializer>(microusd: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_precision_loss, reason = "no project pays that much")]
    microusd.map(|micro| micro as f64 / MICRO as f64).serialize(serializer)
}
