//! What questions cost: prices, and how much may be spent.
//!
//! Money is counted in millionths of a dollar. What nobody said is unknown, and never taken for nothing.

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

#[cfg(test)]
mod tests {
    use super::*;

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
