//! The qr door: a review in many small items, verified one by one, in one state file that several processes
//! write to at once.

pub mod item;
mod loop_state;
pub mod ordered;
mod phase;
mod scope;
pub mod severity;
pub mod state;
pub mod transition;

pub use item::{Item, Status};
pub use loop_state::LoopState;
pub use phase::Phase;
pub use scope::Scope;
pub use state::State;
