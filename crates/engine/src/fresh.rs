//! What differs with every call: the time, and random bytes for ids.

use countersign_core::ids::{ID_LETTERS, letters};
use std::time::{SystemTime, UNIX_EPOCH};

/// The time, in milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[derive(Debug, thiserror::Error)]
#[error("the system gave no random numbers: {0}")]
pub struct NoRandom(pub(crate) getrandom::Error);

pub fn random<const BYTES: usize>() -> Result<[u8; BYTES], NoRandom> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(NoRandom)?;
    Ok(bytes)
}

pub fn id() -> Result<String, NoRandom> {
    Ok(letters(random::<ID_LETTERS>()?))
}
