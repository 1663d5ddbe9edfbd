//! Git, by its own program: bounded, without prompts, and steered by nothing but our arguments.
//! What is judged stands in a repository that others write to. So no pager, no colours, no external diff, no
//! text conversion and, unless asked for, no hooks; variables that would lead git elsewhere are taken out.

mod anchor;
mod base;
mod branch;
mod error;
mod main_worktree;
mod places;
mod run;
mod status;
mod tracked;
mod worktrees;

pub use anchor::{Anchor, AnchorState, Checkout};
pub use base::BaseProblem;
pub use branch::Branch;
pub use error::GitError;
pub use main_worktree::main_worktree;
pub use places::Places;
pub use run::Git;
pub use status::{Status, StatusEntry};
pub use tracked::is_repository;
pub use worktrees::Worktree;

use error::Result;
