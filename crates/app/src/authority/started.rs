//! Which program a gate starts for a reviewer, or why it starts none: for people who look before they are told by a gate.

use countersign_engine::engine::{Judge, Surroundings};
use countersign_engine::worker::Worker;
use std::path::{Path, PathBuf};

/// None for a reviewer that is no program.
pub fn started(judge: &Judge, surroundings: &Surroundings, root: &Path) -> Option<Result<PathBuf, String>> {
    Some(match judge {
        Judge::Agent(agent) => surroundings.started_program(agent.program.name),
        // As a question starts it: outside of the project.
        Judge::Command(command) => surroundings.started_command(&command.argv, root, Path::new("/")),
        Judge::Marked(marked) => match &marked.worker {
            Worker::Command { argv, .. } => surroundings.started_command(argv, root, root),
            Worker::Program { path, .. } => {
                surroundings.started_command(std::slice::from_ref(path), root, root)
            }
        },
        _ => return None,
    })
}
