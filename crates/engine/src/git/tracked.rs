//! Which files git tracks.

use super::{Git, Result};
use std::path::Path;

/// Whether a folder is the root of a worktree, as far as files alone tell.
pub fn is_repository(root: &Path) -> bool {
    let git = root.join(".git");
    git.is_file() || git.join("HEAD").is_file()
}

impl Git {
    /// What the index holds at a path or below it, relative to the folder of this git. One process.
    pub async fn tracked(&self, path: &str) -> Result<Vec<String>> {
        let pathspec = format!(":(literal){path}");
        let said = self.run(["ls-files", "-z", "--", pathspec.as_str()]).await?;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }
}
