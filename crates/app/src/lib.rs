//! The use cases of Countersign: a typed request in, a typed answer or a typed [`Failure`] out.
//!
//! Every way in calls these and nothing below them: the command line, the MCP server, HTTP, the screen of a run and hooks
//! of agents parse what was typed or sent, call a use case, and show what comes back. Nothing here parses a command line,
//! speaks HTTP, draws or prints.

mod accepting;
pub mod answer;
pub mod arguments;
pub mod author;
pub mod authority;
pub mod baseline;
pub mod change;
pub mod ci;
pub mod costs;
pub mod decide;
mod decision_mark;
pub mod dispute;
pub mod doctor;
pub mod doors;
pub mod excerpt;
mod failure;
pub mod feed;
pub mod find;
mod gates;
pub mod hook;
pub mod init;
pub mod jobs;
pub mod ledger;
pub mod ledger_place;
pub mod log;
#[cfg(test)]
mod made_up;
pub mod next;
pub mod notify;
pub mod page;
mod panel;
pub mod project;
pub mod qr;
pub mod reader;
pub mod reconcile;
pub mod review;
pub mod review_request;
pub mod rule;
pub mod run;
pub mod run_project;
pub mod server_state;
pub mod settings;
pub mod show;
pub mod signing;
pub mod spent;
pub mod staged;
pub mod start;
pub mod status;
pub mod submit;
pub mod task;
pub mod tasks;
pub mod time;
pub mod validate;

pub use failure::{Code, Failure, name_a_reviewer};
