//! The qr door: a review in many small items, verified one by one, in one state file that several processes
//! write to at once.

pub mod asking;
mod door;
pub mod file;
pub mod given;
pub mod item;
mod loop_state;
pub mod material;
pub mod modules;
mod next;
mod note;
mod on_record;
pub mod ordered;
mod phase;
pub mod plan;
pub mod prompts;
pub mod replies;
mod scope;
pub mod scope_digest;
pub mod severity;
pub mod state;
pub mod transition;
pub mod words;

pub use door::{Qr, QrError};
pub use file::{FileError, StateDir};
pub use item::{Item, Status};
pub use loop_state::LoopState;
pub use next::{Here, shell_word};
pub use note::Note;
pub use on_record::OnRecord;
pub use phase::Phase;
pub use scope::Scope;
pub use state::State;

/// The first part of its subjects.
pub const DOOR: &str = "qr";
