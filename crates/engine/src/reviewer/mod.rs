//! Reviewers: whoever rules on criteria. Each kind has a room of its own.

pub mod checks;
