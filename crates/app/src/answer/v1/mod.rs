//! The answers of `countersign/1`. Keys and values are only added; readers ignore keys that they do not know.
//!
//! The comments are the descriptions in schemas and in docs/json.md. Fields that are skipped are for text alone.

pub mod baseline;
pub mod ci;
mod costs;
mod envelope;
mod judged;
pub mod ledger;
mod log;
mod look;
mod problem;
pub mod qr;
mod reconcile;
mod review;
pub mod run;
mod status;
pub mod task;
mod tools;
pub mod trust;
mod verdict;

pub use costs::{CostRow, Costs};
pub use envelope::{Answer, Failed, Null, OutcomeName, Version};
pub use judged::{Excerpt, JudgedFile, ShownFlaw};
pub use log::{Entry, Event, Events, ImportedRow, Log, ReviewRow, Reviews, Row};
pub use look::{
    Check, CheckState, Checks, Completions, Config, ConfigSchema, Demo, DoorFiles, Health, Help, Setting,
    Start, Step, Valid,
};
pub use problem::{Mistake, Problem, hint_of};
pub use reconcile::{Disagreement, Reconciled};
pub use review::{
    Assignment, AssignmentState, Cost, Decision, Dispute, File, Finding, LeftOut, LeftOutKind, Lift,
    NotAnswered, PassedAfterNotes, Planned, Preview, Question, Review, Ruling, Who,
};
pub use status::{ActiveReview, OpenStep, RunTask, Status, Workflow};
pub use tools::{OpenReview, OpenReviews, Progress, Submitted, Waited};
pub use verdict::{
    Coverage, Disputed, Fixed, Gates, JudgedAgain, State, Stated, Statement, Verdict, VerdictNotes,
};
