//! What the page in a browser shows, as typed data: the inbox, a review with its rounds and files, insights. It only reads.
//!
//! `countersign` draws it. A decision goes through [`crate::decide`], as everywhere.

mod actions;
mod diff;
mod files;
mod inbox;
mod insights;
mod matrix;
mod review;

pub use actions::possible;
pub use diff::{DiffRow, Sign};
pub use files::{FileView, Lines, PlacedFlaw};
pub use inbox::{Inbox, InboxRow, inbox};
pub use insights::{Bar, Insights, Share, insights};
pub use matrix::{Cell, Matrix, MatrixRow};
pub use review::{ReviewView, RoundLine, Ruler, Scope, review};
