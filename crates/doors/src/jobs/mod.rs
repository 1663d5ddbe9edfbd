//! The jobs door: agents work through a job step by step, and every step is judged before the next begins.

mod folder;
pub mod job;
pub mod library;
pub mod session;
