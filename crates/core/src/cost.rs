//! Prices, spending and budgets, in millionths of a dollar. An unknown cost is never taken for 0.

use serde::{Deserialize, Serialize};

/// Millionths of a dollar in a dollar.
pub const MICRO: u64 = 1_000_000;

/// What a reviewer's tokens cost, per million of them, in millionths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Tokens of the question.
    pub input_microusd: u64,
    /// Tokens of the reply.
    pub output_microusd: u64,
}

impl Price {
    /// The price of so many tokens, rounded up.
    pub fn of(&self, tokens_in: u64, tokens_out: u64) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = part(tokens_in, self.input_microusd) + part(tokens_out, self.output_microusd);
        u64::try_from(sum.div_ceil(u128::from(MICRO))).unwrap_or(u64::MAX)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Tokens of questions and replies.
    pub tokens: u64,
    pub microusd: u64,
}

impl Spending {
    pub fn and(self, more: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(more.tokens),
            microusd: self.microusd.saturating_add(more.microusd),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetOf {
    Review,
    /// Everything that is asked in a day.
    Day,
}

impl BudgetOf {
    /// In words, after "the budget of the".
    pub fn name(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Day => "day",
        }
    }
}

/// How much may be spent; none is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microusd: Option<u64>,
}

impl Budget {
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `more` may still be spent; else, in words, why not.
    pub fn allow(&self, spent: Spending, more: Spending) -> Result<(), String> {
        let after = spent.and(more);
        if let Some(most) = self.tokens.filter(|most| after.tokens > *most) {
            return Err(format!(
                "{} tokens of {most} are spent or reserved, and this question may need {}",
                spent.tokens, more.tokens
            ));
        }
        match self.microusd.filter(|most| after.microusd > *most) {
            Some(_) if more.microusd == u64::MAX => {
                Err("the price of this reviewer is unknown: set its `price`".to_owned())
            }
            Some(most) => Err(format!(
                "{} of {} are spent or reserved, and this question may cost {}",
                dollars(spent.microusd),
                dollars(most),
                dollars(more.microusd)
            )),
            None => Ok(()),
        }
    }
}

pub fn dollars(microusd: u64) -> String {
    // Four decimals are enough, unless the amount is smaller.
    match microusd {
        0 => "$0".to_owned(),
        1..100 => format!("${}.{:06}", microusd / MICRO, microusd % MICRO),
        _ => format!("${}.{:04}", microusd / MICRO, microusd % MICRO / 100),
    }
}

/// What a question costs is made of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Everything that is sent or may be read.
    pub bytes: u64,
    pub reply_tokens: u64,
}

impl Size {
    /// The most a question can need: no token is shorter than a byte.
    pub fn worst(&self, price: Option<Price>, question_microusd: Option<u64>) -> Spending {
        let priced = price.map(|price| price.of(self.bytes, self.reply_tokens));
        Spending {
            tokens: self.bytes.saturating_add(self.reply_tokens),
            microusd: priced.or(question_microusd).unwrap_or(u64::MAX),
        }
    }

    /// What a question is likely to need: an early estimate, the reviewer decides whether it fits.
    pub fn likely_tokens(&self) -> u64 {
        self.bytes.div_ceil(BYTES_PER_TOKEN).saturating_add(self.reply_tokens)
    }
}

pub fn likely_bytes(tokens: u64) -> u64 {
    tokens.saturating_mul(BYTES_PER_TOKEN)
}

/// Fewer than most texts have, so that an estimate is rather too high.
const BYTES_PER_TOKEN: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn spending(tokens: u64, microusd: u64) -> Spending {
        Spending { tokens, microusd }
    }

    #[test]
    fn a_budget_is_reached_before_it_is_exceeded() {
        let budget = Budget { tokens: Some(10_000), microusd: Some(MICRO) };
        let allowed = |spent, more| budget.allow(spent, more).is_ok();
        assert!(allowed(spending(0, 0), spending(10_000, MICRO)));
        assert!(allowed(spending(9_000, 0), spending(1_000, 0)));
        assert!(!allowed(spending(9_000, 0), spending(1_001, 0)));
        assert!(!allowed(spending(0, 900_000), spending(0, 100_001)));
        assert!(!allowed(spending(u64::MAX, 0), spending(u64::MAX, 0)));
        let words = budget.allow(spending(9_000, 0), spending(1_001, 0)).unwrap_err();
        assert_eq!(words, "9000 tokens of 10000 are spent or reserved, and this question may need 1001");
        let words = budget.allow(spending(0, 900_000), spending(0, 200_000)).unwrap_err();
        assert_eq!(words, "$0.9000 of $1.0000 are spent or reserved, and this question may cost $0.2000");
    }

    #[test]
    fn what_is_not_known_is_never_within_a_budget_of_money() {
        let unknown = Size { bytes: 1, reply_tokens: 1 }.worst(None, None);
        assert_eq!(unknown.tokens, 2);
        let money = Budget { tokens: None, microusd: Some(1_000 * MICRO) };
        assert!(money.allow(Spending::default(), unknown).unwrap_err().contains("`price`"));
        assert!(Budget::default().allow(spending(u64::MAX, u64::MAX), unknown).is_ok());
    }

    #[test]
    fn amounts_are_short_and_never_rounded_to_nothing() {
        let table =
            [(0, "$0"), (1, "$0.000001"), (99, "$0.000099"), (4500, "$0.0045"), (12_345_678, "$12.3456")];
        for (microusd, words) in table {
            assert_eq!(dollars(microusd), words);
        }
    }

    #[test]
    fn a_price_is_per_million_and_rounded_up() {
        let price = Price { input_microusd: 3 * MICRO, output_microusd: 15 * MICRO };
        let table = [(0, 0, 0), (1, 0, 3), (0, 1, 15), (1_000_000, 0, 3 * MICRO), (10_000, 1_000, 45_000)];
        for (tokens_in, tokens_out, microusd) in table {
            assert_eq!(price.of(tokens_in, tokens_out), microusd);
        }
        let cheap = Price { input_microusd: 1, output_microusd: 0 };
        assert_eq!(cheap.of(1, 0), 1);
        assert_eq!(price.of(u64::MAX, u64::MAX), u64::MAX);
    }
}
