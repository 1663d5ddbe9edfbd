//! The list of tasks of a project with its settings.

use crate::project::Project;
use countersign_doors::run::config::{self, Loaded};
use countersign_doors::run::layout::Layout;
use countersign_engine::config::{Diagnostic, Place, Problems, Source};
use countersign_engine::yaml::read_file;
use std::path::Path;

pub struct RunProject {
    pub layout: Layout,
    /// The settings: the project's file, and over it `run:` of `countersign.yml`.
    pub settings: Loaded,
}

impl RunProject {
    pub fn of(project: &Project) -> Result<Self, Problems> {
        Self::at(project.root.path(), project.config.file.as_deref())
    }

    pub fn at(root: &Path, configuration: Option<&Path>) -> Result<Self, Problems> {
        let section = configuration.map(read_file).transpose()?;
        let settings = config::load(root, section.as_ref())?;
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
