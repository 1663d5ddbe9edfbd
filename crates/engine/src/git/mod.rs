//! Git, by its own program: bounded, without prompts, and steered by nothing but our arguments.
//! What is judged stands in a repository that others write to. So no pager, no colours, no external diff, no
//! text conversion and, unless asked for, no hooks; variables that would lead git elsewhere are taken out.

mod anchor;
mod branch;
mod compared;
mod ignored;
mod judged;
mod kept;
mod kept_format;
mod lfs;
mod listing;
mod merged;
mod objects;
mod places;
mod room;
mod run;
mod snapshot;
mod staged;
mod status;
mod trusted;
mod verified;
mod walk;

pub use anchor::{Anchor, Checkout};
pub use branch::{BaseProblem, Branch};
pub use compared::Compared;
pub use judged::{JudgedFiles, JudgedFilesError, Keep};
pub use kept::Kept;
pub use merged::Merged;
pub use places::{Places, common_folder, is_repository, main_worktree};
pub use room::{CommitFiles, remove_unused};
pub use run::{FOREIGN, Git, GitError, program};
pub use snapshot::Snapshot;
pub use status::{Status, StatusEntry, Worktree};
pub use trusted::{PinnedRemote, RemoteTip};
pub use walk::{Unseen, UnseenReason};

use run::Result;
