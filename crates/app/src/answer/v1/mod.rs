//! The answers of `countersign/1`, a file per use case. Keys and values are only added; readers ignore what they do not know.
//!
//! The comments are the descriptions in schemas and in docs/json.md. Fields that are skipped are for text alone.

mod costs;
mod dispute;
mod envelope;
mod events;
mod log;
mod look;
mod problem;
pub mod qr;
mod review;
pub mod run;
mod status;
pub mod task;
mod tools;
mod verdict;

pub use costs::{CostRow, Costs};
pub use dispute::{Disputed, JudgedAgain};
pub use envelope::{Answer, Failed, Null, OutcomeName, Version};
pub use events::Event;
pub use log::{Entry, Events, Log, ReviewRow, Reviews, Row};
pub use look::{
    Check, CheckState, Checks, Completions, Config, ConfigSchema, Demo, DoorFiles, Health, Help, Setting,
    Start, Step, Valid,
};
pub use problem::{Mistake, Problem, hint_of};
pub use review::{
    Assignment, AssignmentState, Cost, Decision, Dispute, File, Finding, Fixed, Lift, NotAnswered, Planned,
    Preview, Question, Review, Ruling,
};
pub use status::{ActiveReview, OpenStep, RunTask, Status, Workflow};
pub use tools::{OpenReview, OpenReviews, Progress, Submitted, Waited};
pub use verdict::{Shown, State, Stated, Verdict};
