//! A listener on the output of a running program.

use std::fmt;
use std::sync::Arc;

/// Gets every piece of a program's output and error output while it runs, so it must be quick.
#[derive(Clone)]
pub struct Tap(Arc<dyn Fn(&[u8]) + Send + Sync>);

impl Tap {
    /// Calls a function with each piece.
    pub fn new(hear: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    /// Hands a piece on.
    pub fn hear(&self, piece: &[u8]) {
        (self.0)(piece);
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
