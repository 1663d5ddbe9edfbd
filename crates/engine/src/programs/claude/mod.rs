//! The `claude` program in its judging form: it reads, it does not write, and nothing of what it judges can
//! tell it how to work.

mod call;
mod environment;
mod heard;

pub use call::{Form, PROGRAM, PROMPT_MAX_BYTES, arguments, prompt};
pub use environment::{environment, is_kept};
pub use heard::{Heard, Kind, Problem, hear};
