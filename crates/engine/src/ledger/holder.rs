//! Holders: which process does what is due for a review. How others learn that it is gone is the store's matter.

use super::store::Kept;

/// This process, for as long as it is there.
pub struct Holder {
    pub(super) id: String,
    pub(super) _lease: Kept,
}

impl Holder {
    /// The name other processes ask about.
    pub fn id(&self) -> &str {
        &self.id
    }
}
