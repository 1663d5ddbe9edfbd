//! The qr door: a review in many small items, verified one by one. The state of a phase is one JSON file with a lock.

pub mod asking;
mod door;
mod file;
mod item;
pub mod items_input;
mod material;
mod modules;
mod next;
mod on_record;
mod ordered;
mod phase;
mod plan;
mod prompts;
pub mod replies;
mod restoring;
mod scope;
pub mod severity;
pub mod state;
pub mod texts;
pub mod transition;

pub use door::{Qr, QrError};
pub use file::{FileError, Loaded, StateDir, read_state};
pub use item::{Item, Status};
pub use material::Materials;
pub use modules::{FOLDER as MODULES_FOLDER, Modules};
pub use next::{Here, next_line, shell_word};
pub use on_record::OnRecord;
pub use phase::Phase;
pub use state::State;
pub use transition::LoopState;

/// The first part of the subjects of this door.
pub const DOOR: &str = "qr";
