//! The answers of `countersign/1`, a file per use case. Keys and values are only added; readers ignore what they do not know.

pub mod qr;
pub mod run;
pub mod task;
