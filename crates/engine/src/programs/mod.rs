//! Agent programs: how each is called, and what it means by what it says. One module a program, pure.

pub mod claude;

/// What a program says about a call of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens of the question, with those the service had kept from before.
    pub tokens_in: Option<u64>,
    /// Tokens of the reply.
    pub tokens_out: Option<u64>,
    /// The price in millionths of a dollar.
    pub cost_microusd: Option<u64>,
}
