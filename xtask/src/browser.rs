//! What drives the page in a browser: Playwright and axe from npm, for the Chromium of the system.

use crate::agents::provide_npm;
use crate::cargo::{self, Workspace};
use crate::failure::Failure;
use std::path::PathBuf;

/// The variable that tells tests where they are.
pub const FOLDER_VARIABLE: &str = "COUNTERSIGN_BROWSER";

/// Installs them if needed, and returns their folder. `node` is the one that npm runs with.
pub fn run(workspace: &Workspace) -> Result<PathBuf, Failure> {
    cargo::step("browser driver", || provide_npm(workspace.root(), "browser", &[]))
}
