//! The list of tasks of a project with its settings.

use crate::Failure;
use crate::project::Project;
use countersign_doors::run::config::{self, Loaded};
use countersign_doors::run::layout::Layout;
use countersign_doors::run::layout::SETTINGS;
use countersign_engine::config::{Diagnostic, FileBytes, Place, Problems, Source};
use countersign_engine::git::Git;
use countersign_engine::yaml::read_file;
use std::path::Path;

pub struct RunProject {
    pub layout: Layout,
    /// The settings: the project's file, and over it `run:` of `countersign.yml`.
    pub settings: Loaded,
}

impl RunProject {
    pub fn of(project: &Project) -> Result<Self, Problems> {
        Self::with(project.root.path(), config::load(project.root.path(), project.file.as_ref())?)
    }

    pub fn at(root: &Path, configuration: Option<&Path>) -> Result<Self, Problems> {
        let section = configuration.map(read_file).transpose()?;
        Self::with(root, config::load(root, section.as_ref())?)
    }

    /// The same with the trusted settings, whatever lies in the working tree.
    pub async fn for_gate(project: &Project) -> Result<Self, Failure> {
        let root = project.root.path();
        let Some(commit) = project.trusted_commit() else {
            return Ok(Self::with(root, config::load_from(None, project.file.as_ref())?)?);
        };
        let found = Git::at(root).first_file_at(commit, &SETTINGS).await;
        let found = found.map_err(|error| Failure::usage(error.to_string()))?;
        let file = found.map(|(which, bytes)| FileBytes { path: root.join(SETTINGS[which]), bytes });
        Ok(Self::with(root, config::load_from(file.as_ref(), project.file.as_ref())?)?)
    }

    fn with(root: &Path, settings: Loaded) -> Result<Self, Problems> {
        let layout = Layout::new(root, &settings.config.spec_prefix).map_err(|wrong| {
            let place = Place::start_of(&Source::new(root, ""));
            Diagnostic::new("bad-prefix", place, wrong.to_string())
        })?;
        Ok(Self { layout, settings })
    }

    pub fn has_tasks(&self) -> bool {
        self.layout.tasks().symlink_metadata().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_15_a_configuration_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(RunProject::at(folder.path(), None).is_ok());
        // A folder of that name cannot be read as a file.
        assert!(RunProject::at(folder.path(), Some(folder.path())).is_err());
        assert!(RunProject::at(folder.path(), Some(&folder.path().join("gone.yml"))).is_err());
    }
}
